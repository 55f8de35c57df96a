"""Helpers for the report's structure, as the schema defines it."""
import json
import pathlib

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "report" / "report.schema.json").read_text())
REPORT = SCHEMA["$defs"]["report"]
_check_ref = jsonschema.Draft202012Validator.VALIDATORS["$ref"]
_accepted = set()


def _check_ref_once(validator, ref, part, schema):
    """Check PART of a report by the schema that REF names, unless an equal part was accepted before. Most parts of a report
    are equal to a part of another report, and the package jsonschema is slow."""
    key = ref, json.dumps(part)
    if key in _accepted:
        return
    errors = list(_check_ref(validator, ref, part, schema))
    if not errors:
        _accepted.add(key)
    yield from errors


_validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"$ref": _check_ref_once})(SCHEMA)


def check_schema(report):
    """Check that a report follows the schema."""
    _validator.validate(report)


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
