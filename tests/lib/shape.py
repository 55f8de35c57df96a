"""The report's shape: as the schema has it, and as the table of fields does, from which the C writes reports."""
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "src" / "report" / "report.schema.json").read_text())
REPORT = SCHEMA["$defs"]["report"]
TABLE = ROOT / "src" / "render" / "fields" / "report.def"

# What the preprocessor makes of a row: [key, kind, table or null, null where there is none, metric, unit].
ROWS = """
#define TABLE(name, type, layout) #name: [
#define END(name) null],
#define FIELD(key, kind, figure, ...) [key, #kind, null, "true", ##__VA_ARGS__],
#define MAYBE(key, kind, condition, figure, ...) [key, #kind, null, #condition, ##__VA_ARGS__],
#define PAIR(key, condition, a, b) [key, "pair", null, #condition],
#define OBJECT(key, table, condition, address) [key, "object", #table, #condition],
#define LIST(key, table, condition, array, size) [key, "list", #table, #condition],
#define BARS(key, table, array, size) [key, "list", #table, "not in a compact report"],
#define MAP(key, table, array, size, prefix) [key, "map", #table, "true", prefix, ""],
#define EXACT(key) [key, "list", "exact", "not in a page"],
#define MATRIX(key, condition, offsets) [key, "matrix", null, #condition],
{
#include "%s"
"": []}
"""
NUMBERS = {"count": "integer", "whole": "integer", "middle": "integer", "milli": "number", "micro": "number"}
INTERVALS = {"ns": "integer", "ns_as_ms": "number", "ps_as_ns": "number", "ps_as_ms": "number", "ppm": "number", "hertz": "number"}
TYPES = {"word": "string", "text": "string", "verdict": "string", "flag": "boolean", "pair": "array", "object": "object",
         "list": "array", "map": "object", "matrix": "array", **NUMBERS, **dict.fromkeys(INTERVALS, "object")}
NULL_BY_KIND = {"text", "middle", *INTERVALS}
WORDS = {str: "string", bool: "boolean", int: "integer", type(None): "null"}


def tables():
    """{table: its rows}, as the compiler reads them."""
    done = subprocess.run(["gcc", "-E", "-P", "-I", ROOT / "src", "-x", "c", "-"], input=ROWS % TABLE, check=True, text=True, capture_output=True)
    return {name: rows[:-1] for name, rows in json.loads(done.stdout).items() if name}


def constant(name):
    """The number that the header calls NAME."""
    text = "".join(path.read_text() for path in sorted((ROOT / "src").glob("*/*.h")))
    return int(re.search(rf"^#define {name}\s+(\d+)", text, re.M).group(1))


def resolved(node):
    """[NODE without $ref and oneOf, each that it may be]."""
    if "$ref" in node:
        return resolved(SCHEMA["$defs"][node["$ref"].rpartition("/")[2]])
    return [each for choice in node["oneOf"] for each in resolved(choice)] if "oneOf" in node else [node]


def types(node):
    """Those that a value of NODE may have."""
    for each in resolved(node):
        if "type" in each:
            yield from [each["type"]] if isinstance(each["type"], str) else each["type"]
        else:
            yield from (WORDS[type(word)] for word in each.get("enum", [each.get("const")]))


def part(node, key):
    """What NODE says of KEY: `properties`, `items`, ...; None: nothing."""
    return next((each[key] for each in resolved(node) if key in each), None)


def properties(node):
    return part(node, "properties") or {}


def differences(rows_of, name="report", node=REPORT, place="report"):
    """Where the table NAME and the schema's NODE are not the same, each in words; ROWS_OF are all tables."""
    rows = {row[0]: row for row in rows_of[name]}
    if list(rows) == [""]:
        yield from _different(rows_of, rows[""], node, place)
        return
    known = properties(node)
    yield from (f"{place}.{key} is not in the schema" for key in rows if key not in known)
    yield from (f"{place}.{key} is not in the table" for key in known if key not in rows)
    yield from (f"{place}.{key} may be missing" for key in known if key not in part(node, "required"))
    if part(node, "additionalProperties") is not False:
        yield f"{place} may have more"
    for key in rows.keys() & known.keys():
        yield from _different(rows_of, rows[key], known[key], f"{place}.{key}")


def _different(rows_of, row, node, place):
    _, kind, table, condition, *csv = row
    wanted = {TYPES[kind]} | ({"null"} if condition != "true" or kind in NULL_BY_KIND else set())
    if set(types(node)) != wanted:
        yield f"{place} is {kind}: {sorted(wanted)} in the table, {sorted(set(types(node)))} in the schema"
    if node.get("csv", []) != (csv if any(csv) else []):
        yield f"{place} has {csv} in the table, {node.get('csv')} in the schema"
    if kind in INTERVALS and {key: list(types(each)) for key, each in properties(node).items()} != dict.fromkeys(
            ("value", "low", "high"), [INTERVALS[kind]]):
        yield f"{place} is no interval of {INTERVALS[kind]}s in the schema"
    if table:
        below = {"list": "items", "map": "additionalProperties"}.get(kind)
        yield from differences(rows_of, table, part(node, below) if below else node, place)
