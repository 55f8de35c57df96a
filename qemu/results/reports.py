"""What a report is: checked against the schema that ships, and made for a run that gave none."""
import functools
import json
import math
import os

from results import older

HOME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "src", "report")
ORDER = {"pass": 0, "warn": 1, "fail": 2}
NEEDED = ("schema", "verdict", "clocks", "id", "rule")  # whatever else is missing, or null, was not measured
TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def shipped(name):
    """What stands in the file NAME of src/report."""
    with open(os.path.join(HOME, name), encoding="ascii") as file:
        return json.load(file)


def incomplete(reason, accelerator, elapsed_ms):
    """A report of a run that gave none, as the schema has it: nothing in it was measured."""
    report = _blank(shipped("report.schema.json")["$defs"]["not_done"])
    report.update(elapsed_ms=elapsed_ms, reason=reason)
    report["machine"]["accelerator"] = accelerator
    return report


def _blank(node):
    if "required" in node:
        return {key: _blank(node["properties"].get(key, {})) for key in node["required"]}
    return node.get("const")


def parse(data):
    """The report in DATA; ValueError with a sentence where it is none that can be read on."""
    try:
        report = json.loads(data.decode("ascii"), parse_constant=_finite, parse_float=_finite, parse_int=_whole)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON in ASCII: {error}") from error
    schema, validator = _schema()
    found = report.get("schema") if isinstance(report, dict) else None
    if found == older.SCHEMA:
        report = older.to_current(report, schema)
    elif found != schema:
        but = f", but of {json.dumps(found)[:40]}" if isinstance(found, str) else ""
        raise ValueError(f"is not of schema {schema}{but}")
    flaw = _flaw(report, validator)
    if flaw:
        raise ValueError(f"is not as schema {found} has it: {flaw}")
    return report


@functools.cache
def _schema():
    """The schema's name, and what sees whether a report is of it."""
    import jsonschema  # takes as long as all other imports together, and not every run has a report
    definitions = shipped("report.schema.json")["$defs"]
    name = definitions["report"]["properties"]["schema"]["const"]
    return name, jsonschema.Draft7Validator(_lenient(definitions["report"], definitions))


def _finite(word):
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:40]} is no number")
    return number


def _whole(word):
    _finite(word)
    return int(word)


def _lenient(node, definitions, needed=True):
    """The part NODE of the schema, but for what a later release may add and an earlier one lacks: its types are left,
    what is NEEDED, and null wherever it is not."""
    while "$ref" in node or "oneOf" in node:  # one of: null, or what is referred to
        choice = node if "$ref" in node else next(each for each in node["oneOf"] if "$ref" in each)
        node = definitions[choice["$ref"].rpartition("/")[2]]
    values = node.get("enum", [node["const"]] if "const" in node else [])
    types = node.get("type", [TYPES[type(value)] for value in values])
    lenient = {"type": [types] if isinstance(types, str) else sorted(set(types))}
    if not needed:
        lenient["type"].append("null")
    lenient["required"] = [key for key in node.get("required", []) if key in NEEDED]
    lenient["properties"] = {key: _lenient(each, definitions, key in NEEDED)
                             for key, each in node.get("properties", {}).items()}
    if "items" in node:
        lenient["items"] = _lenient(node["items"], definitions)
    return lenient


def _flaw(report, validator):
    """The first place where REPORT is not as VALIDATOR has it; None: there is none."""
    try:
        error = next(validator.iter_errors(report), None)
        if error is None:
            return None
        where = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.absolute_path).lstrip(".")
        if error.validator == "required":
            missing = next(key for key in error.validator_value if key not in error.instance)
            return f"{where or 'it'} has no {missing}"
        wanted = error.validator_value[0]
        return f"{where} is " + {"object": "no object", "array": "no list"}.get(wanted, json.dumps(error.instance)[:40])
    except RecursionError:
        return "it is nested too deeply"


def write(path, data):
    """Whole or not at all: somebody may be reading the last one."""
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)
