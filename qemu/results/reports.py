"""Checks reports against the shipped schema, and makes a report for a run that has sent no report."""
import functools
import json
import math
import os

from results.sanitize import clean_text

HOME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "src", "report")
ORDER = {"pass": 0, "warn": 1, "fail": 2}
# Keys that a report must have. If any other key is missing or null, its value was not measured.
NEEDED = ("schema", "verdict", "clocks", "id", "rule")
# The kernel's data about its clocks, which nextboot --collect writes next to report.json.
KERNEL, KERNEL_SCHEMA = "kernel.json", "baretick.kernel/1"
SIZE_MAX = 16 << 20    # bytes, twice the limit of src/report/report_sizes.h for a machine of 64 cores
# Maximum number of values in a report. Each value takes at most 200 bytes of memory. A report with twelve clocks and all their
# exact durations has fewer values.
VALUES_MAX = 1_500_000
COUNT_MAX = 1000        # maximum number of reports in a table, in a console's log, or on a serial line
# Keys whose words decide whether a test fails. An unknown word is an error, because it could hide a failure.
STRICT = ("verdict", "severity", "outcome")
# Maximum lengths of lists that are searched once for each item of another list. They are a hundred times the usual lengths.
LISTS_MAX = {"clocks": 256, "findings": 4096, "behaviours": 4096, "advice": 4096}
SHOWN_MAX = 40          # maximum number of characters of a wrong value in a sentence
TYPES = {dict: "object", list: "array", str: "string", bool: "boolean", int: "integer", float: "number",
         type(None): "null"}
KINDS = {"object": [dict], "array": [list], "string": [str], "boolean": [bool], "integer": [int],
         "number": [int, float], "null": [type(None)]}


def read_report_definition(name):
    """Return the contents of the JSON file NAME in src/report."""
    with open(os.path.join(HOME, name), "rb") as file:
        return json.load(file)


def make_incomplete_report(reason, accelerator, elapsed_ms):
    """Return a report for a run that has sent no report. It follows the schema, and has no figures."""
    report = _make_blank_value(read_report_definition("report.schema.json")["$defs"]["not_done"])
    report.update(elapsed_ms=elapsed_ms, reason=clean_text(reason))
    report["machine"]["accelerator"] = accelerator
    return report


def _make_blank_value(node):
    if "required" in node:
        return {key: _make_blank_value(node["properties"].get(key, {})) for key in node["required"]}
    return node.get("const")


def get_stolen_percent(report):
    """Return the share of the observed time that was stolen, in percent, or None if it is not known."""
    stolen = (report.get("quality") or {}).get("stolen_percent")
    return stolen if isinstance(stolen, (int, float)) and not isinstance(stolen, bool) else None


class Budget:
    """Limits for all reports of one file or one serial line together: their number, bytes and values. Without these limits, a
    small file could contain many reports that each need a second to parse.
    """

    def __init__(self, reports=2):
        """Allow as many bytes and values as REPORTS of the largest reports have. Allow more reports if they are smaller."""
        self.count, self.size, self.values = COUNT_MAX, reports * SIZE_MAX, reports * VALUES_MAX

    def spend(self, size, values):
        """Subtract a report with SIZE bytes and VALUES values. Raise ValueError if too little is left for it."""
        self.count, self.size, self.values = self.count - 1, self.size - size, self.values - values
        self.check()

    def check(self):
        """Raise ValueError if nothing is left."""
        if min(self.count, self.size, self.values) < 0:
            raise ValueError("is not read, because the reports before it are too many or too long")


def count_values(data):
    """Return an upper bound of the number of values in the JSON DATA."""
    return sum(map(data.count, (b",", b":", b"[", b"{")))


def parse_report(data, budget=None):
    """Return the checked report in DATA. Raise ValueError with a sentence if it is not valid. BUDGET limits all reports of a
    file."""
    if budget:
        budget.spend(len(data), count_values(data))
    return check_report(parse_json(data))


def parse_json(data):
    """Parse DATA, with limits on its size. The result is not checked against the schema."""
    if len(data) > SIZE_MAX:
        raise ValueError(f"is longer than {SIZE_MAX >> 20} MiB")
    if count_values(data) > VALUES_MAX:
        raise ValueError(f"has more than {VALUES_MAX:,} values")
    try:
        return json.loads(data.decode("ascii"), parse_constant=_parse_finite_number, parse_float=_parse_finite_number, parse_int=_parse_whole_number)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON in ASCII: {error}") from error


def check_report(report):
    """Return REPORT, which parse_json() returned. Raise ValueError if it does not match the schema."""
    schema = read_schema_name()
    found = report.get("schema") if isinstance(report, dict) else None
    if found != schema:
        but = f", but of {json.dumps(found[:SHOWN_MAX])}" if isinstance(found, str) else ""
        raise ValueError(f"is not of schema {schema}{but}")
    flaw = _find_schema_mismatch(report, _read_shape(), "")
    if flaw:
        raise ValueError(f"is not as schema {found} has it: {flaw}")
    return report


def read_schema_name():
    """Return the value of the key `schema` in today's reports."""
    return _read_definitions()["report"]["properties"]["schema"]["const"]


@functools.cache
def _read_definitions():
    return read_report_definition("report.schema.json")["$defs"]


@functools.cache
def _read_shape():
    """Return the expected shape of a report."""
    definitions = _read_definitions()
    return _make_lenient_schema(definitions["report"], definitions)


def _parse_finite_number(word):
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:SHOWN_MAX]} is no number")
    return number


def _parse_whole_number(word):
    _parse_finite_number(word)
    return int(word)


def _make_lenient_schema(node, definitions, needed=True):
    """Return the part NODE of the schema without details that differ between releases. Types and the NEEDED keys stay required.
    All other keys may be null.
    """
    while "$ref" in node or "oneOf" in node:  # each "oneOf" contains null and a reference
        choice = node if "$ref" in node else next(each for each in node["oneOf"] if "$ref" in each)
        node = definitions[choice["$ref"].rpartition("/")[2]]
    values = node.get("enum", [node["const"]] if "const" in node else [])
    types = node.get("type", [TYPES[type(value)] for value in values])
    types = [types] if isinstance(types, str) else sorted(set(types))
    lenient = {"types": [*types, *([] if needed else ["null"])]}
    lenient["kinds"] = tuple(kind for name in lenient["types"] for kind in KINDS[name])
    lenient["required"] = [key for key in node.get("required", []) if key in NEEDED]
    lenient["properties"] = {key: _make_lenient_schema(each, definitions, key in NEEDED)
                             for key, each in node.get("properties", {}).items()}
    for key in set(STRICT) & set(lenient["properties"]):
        lenient["properties"][key]["words"] = node["properties"][key].get("enum")
    lenient["items"] = _make_lenient_schema(node["items"], definitions) if "items" in node else None
    return lenient


def _find_schema_mismatch(value, node, where):
    """Return the first place where VALUE does not match NODE, or None. WHERE is the place of VALUE in the report. Keys that
    the schema does not have are skipped, so the recursion is at most as deep as the schema.
    """
    whole = isinstance(value, float) and "integer" in node["types"] and value.is_integer()
    if not whole and (not isinstance(value, node["kinds"]) or isinstance(value, bool) and bool not in node["kinds"]):
        wanted = {"object": "no object", "array": "no list"}.get(node["types"][0])
        return f"{where or 'it'} is {wanted or _format_value(value)}"
    if isinstance(value, str) and node.get("words") and value not in node["words"]:
        return f"{where or 'it'} is {_format_value(value)}"
    if isinstance(value, dict):
        missing = next((key for key in node["required"] if key not in value), None)
        if missing:
            return f"{where or 'it'} has no {missing}"
        for key, inner in node["properties"].items():
            flaw = _find_schema_mismatch(value[key], inner, f"{where}.{key}" if where else key) if key in value else None
            if flaw:
                return flaw
    if isinstance(value, list) and node["items"]:
        if len(value) > LISTS_MAX.get(where, len(value)):
            return f"{where} has more than {LISTS_MAX[where]} items"
        for at, item in enumerate(value):
            flaw = _find_schema_mismatch(item, node["items"], f"{where}[{at}]")
            if flaw:
                return flaw
    return None


def _format_value(value):
    if isinstance(value, (dict, list)):
        return "a list" if isinstance(value, list) else "an object"
    return json.dumps(value[:SHOWN_MAX] if isinstance(value, str) else value)[:SHOWN_MAX]
