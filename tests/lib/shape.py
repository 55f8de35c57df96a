"""Helpers for the report's structure, as the schema defines it."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "report" / "report.schema.json").read_text())
REPORT = SCHEMA["$defs"]["report"]


def resolved(node):
    """Return the alternatives of NODE, with $ref and oneOf resolved."""
    if "$ref" in node:
        return resolved(SCHEMA["$defs"][node["$ref"].rpartition("/")[2]])
    return [each for choice in node["oneOf"] for each in resolved(choice)] if "oneOf" in node else [node]


def part(node, key):
    """Return the value of KEY in NODE, for example of `properties` or `items`, or None."""
    return next((each[key] for each in resolved(node) if key in each), None)


def properties(node):
    return part(node, "properties") or {}
