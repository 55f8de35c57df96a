"""The report's shape, as the schema has it."""
import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "report" / "report.schema.json").read_text())
REPORT = SCHEMA["$defs"]["report"]


def resolved(node):
    """[NODE without $ref and oneOf, each that it may be]."""
    if "$ref" in node:
        return resolved(SCHEMA["$defs"][node["$ref"].rpartition("/")[2]])
    return [each for choice in node["oneOf"] for each in resolved(choice)] if "oneOf" in node else [node]


def part(node, key):
    """What NODE says of KEY: `properties`, `items`, ...; None: nothing."""
    return next((each[key] for each in resolved(node) if key in each), None)


def properties(node):
    return part(node, "properties") or {}
