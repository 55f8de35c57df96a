#!/usr/bin/env python3
"""Writes the report's JSON schema, and the table of metrics in src/report/README.md, from report.def.

Usage: make_schema.py [--check] SRC.

The comment before a row of report.def is its description, and the comment before TABLE describes all objects of the
table. With --check nothing is written, and a file that differs is an error.
"""
import json
import pathlib
import re
import subprocess
import sys
import textwrap

SRC = pathlib.Path(sys.argv[-1]).resolve()
SCHEMA = SRC / "report" / "report.schema.json"
README = SRC / "report" / "README.md"
COLUMNS = 120

# Text for the C preprocessor, which turns report.def into JSON: a list for each table. A row of the table becomes the list
# [key, kind, table or null, condition, metric, unit]. SCHEMA() becomes an object. An object belongs to the schema of the
# row before it, or of the table if there is no such row.
ROWS = """
#undef true
#define TABLE(name, type, layout) #name: [
#define END(name) null],
#define SCHEMA(...) {__VA_ARGS__},
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
%s
"MATRIX_CORES": REPORT_MATRIX_CORES}
"""


# Matches a comment and the row after it. Further lines of a row start with a tab or a blank.
COMMENTED = re.compile(r"^/\*((?:(?!\*/)[\s\S])*)\*/\n([A-Z]+\(.*\n(?:[\t ].*\n)*)", re.M)


def read_tables():
    """Return {table: [its rows and the objects that are added to them]}, as the preprocessor reads report.def."""
    _, _, text = (SRC / "render" / "fields" / "report.def").read_text().partition("*/")
    rows = COMMENTED.sub(lambda each: f'{each[2]} SCHEMA("description": {json.dumps(" ".join(re.sub(r"(?m)^ [*] ?", "", each[1]).split()))})\n', text)
    done = subprocess.run(["gcc", "-E", "-P", "-I", SRC, "-imacros", "report/report.h", "-imacros", "report/report_sizes.h",
                           "-x", "c", "-"], input=ROWS % rows, check=True, text=True, capture_output=True)
    return json.loads(re.sub(r"\b(\d+)u\b", r"\1", done.stdout))


def ref(name):
    return {"$ref": f"#/$defs/{name}"}


def or_null(node):
    """Return NODE, a part of the schema, changed so that its value may also be null."""
    if "$ref" in node:
        return {"oneOf": [{"type": "null"}, node]}
    return {**node, "type": [node["type"], "null"]}


COUNT = {"type": "integer", "minimum": 0}
TEXT = {"type": "string", "minLength": 1}
INTERVALS = {"ns": "whole_interval_or_null", **dict.fromkeys(("ppm", "hertz", "ns_as_ms", "ps_as_ns", "ps_as_ms"), "interval_or_null")}
KINDS = {"word": TEXT, "phrase": TEXT, "text": or_null(TEXT), "id": ref("id"), "rule": ref("rule"), "flag": {"type": "boolean"}, "verdict": TEXT,
         "count": COUNT, "whole": {"type": "integer"}, "milli": {"type": "number", "minimum": 0}, "micro": {"type": "number", "minimum": 0},
         "middle": {"type": ["integer", "null"]}, **{kind: ref(name) for kind, name in INTERVALS.items()},
         "pair": ref("pair_or_null"), "matrix": ref("matrix_or_null")}
NULL_ALREADY = {"text", "middle", "pair", "matrix", *INTERVALS}


class Tables:
    def __init__(self):
        self.rows, self.added = {}, {}
        for name, items in read_tables().items():
            if name == "MATRIX_CORES":
                self.matrix_cores = items
                continue
            rows = self.rows[name] = []
            added = self.added[name] = {}
            for item in items[:-1]:
                if isinstance(item, dict):
                    added.update(item)
                else:
                    added = {}
                    rows.append((*item, added))

    def object(self, name):
        """Return the schema of an object with the rows of table NAME. For a table of a single value, return the
        value's schema."""
        rows = self.rows[name]
        if rows[0][0] == "":
            return self.value(*rows[0])
        return {**self.added[name], "type": "object", "additionalProperties": False, "required": [row[0] for row in rows],
                "properties": {row[0]: self.value(*row) for row in rows}}

    def of_table(self, name):
        """Return a reference to the table's schema. For a table of a single value, return the value's schema itself."""
        return self.object(name) if self.rows[name][0][0] == "" else ref(name)

    def value(self, key, kind, table, condition, *rest):
        *metric, added = rest
        below = table and self.of_table(table)
        node = {"object": below, "list": {"type": "array", "items": below},
                "map": {"type": "object", "additionalProperties": below}}[kind] if table else KINDS[kind]
        may_be_null = condition != "true" or kind in NULL_ALREADY
        if "const" in added:
            node = {}
        elif "enum" in added:
            node, added = {}, {**added, "enum": added["enum"] + [None] * may_be_null}
        elif may_be_null and kind not in NULL_ALREADY:
            node = or_null(node)
        node = {**node, **added}
        node = {key: node[key] for key in ("description", *node) if key in node}
        return {**node, "csv": metric} if any(metric) else node


def interval(kind):
    return {"type": ["object", "null"], "additionalProperties": False, "required": ["value", "low", "high"],
            "properties": dict.fromkeys(("value", "low", "high"), {"type": kind})}


def constant(value):
    return {"const": value}


def make_not_done(report):
    """Return the schema of the report that the runner makes for a run that sent no report."""
    machine = [key for key in report["machine"]["required"] if key not in ("identity", "paravirtual")]
    properties = {
        "schema": report["report"]["properties"]["schema"],
        "tool": constant({"name": "baretick", "version": None, "commit": None}),
        **dict.fromkeys(("options", "started_at"), {"type": "null"}),
        "elapsed_ms": COUNT,
        "machine": {"type": "object", "additionalProperties": False, "required": machine,
                    "properties": {**dict.fromkeys(machine, {"type": "null"}), "accelerator": {"enum": ["kvm", "tcg", None]}}},
        **dict.fromkeys(("clocks", "rates", "cores"), constant([])),
        **dict.fromkeys(("skew", "interference"), {"type": "null"}),
        **dict.fromkeys(("behaviours", "findings", "advice", "notes"), constant([])),
        "verdict": constant("incomplete"),
        "reason": TEXT}
    return {"additionalProperties": False, "required": list(properties), "properties": properties}


def make_schema(tables):
    objects = {name: tables.object(name) for name, rows in reversed(tables.rows.items()) if rows[0][0]}
    cores = tables.matrix_cores
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The clocks of one machine, measured in one run. null: not measured.",
        "description": "A report with the key reason was made by the runner, for a run that sent no report. csv: the metric and the unit of the "
                       "row in report.csv. A metric that ends in _ is continued by the name of a clock or of a rule. The csv of a map is put "
                       "before the metrics of its objects. A new key, or a new word (a clock's id, a rule, a state, an option's value, a unit), "
                       "keeps baretick.report/1, so readers must ignore unknown ones. This file lists the words of its own release. "
                       "The version becomes baretick.report/2 if a key is removed or changes its name, type, unit or meaning, if it may "
                       "newly be null, or if a verdict or a severity is added.",
        "type": "object",
        "if": {"required": ["reason"]}, "then": ref("not_done"), "else": ref("report"),
        "$defs": {
            "not_done": make_not_done(objects), **objects,
            "id": {"type": "string", "pattern": "^[a-z][a-z0-9_]*$"},
            "rule": {"description": "id in the catalogue", "type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
            "interval_or_null": interval("number"),
            "whole_interval_or_null": {"description": "value is the middle; low and high are rounded outwards", **interval("integer")},
            "pair_or_null": {"type": ["array", "null"], "items": COUNT, "minItems": 2, "maxItems": 2},
            "matrix_or_null": {
                "description": "[low, high] in ns of the column's core against the row's, in the order of cores; null above "
                               f"{cores} cores, and above 64 in a report from a serial line",
                "type": ["array", "null"], "maxItems": cores,
                "items": {"type": "array", "maxItems": cores,
                          "items": {"type": ["array", "null"], "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}}},
        }}


def laid_out(node, indent=0, before=0):
    """Return NODE as JSON. An object or a list is on one line if there is space. BEFORE is the length of the text
    before it on this line."""
    line = json.dumps(node, ensure_ascii=False)
    if indent + before + len(line) < COLUMNS and indent or not node or not isinstance(node, (dict, list)):
        return line
    inner, margin = indent + 2, "\n" + " " * indent
    if isinstance(node, list) and isinstance(node[0], str):
        return "[" + textwrap.fill(line[1:-1], COLUMNS - inner).replace("\n", margin + " ") + "]"
    if isinstance(node, list):
        first, parts, last = "[", [laid_out(each, inner) for each in node], "]"
    else:
        first, parts, last = "{", [f'"{key}": {laid_out(each, inner, len(key) + 4)}' for key, each in node.items()], "}"
    return first + ",".join(f"{margin}  {part}" for part in parts) + margin + last


# Lists of the report whose elements have their own rows in report.csv. For each list: the name of an element, and the
# first part of the names of its metrics.
SUBJECTS = {"clocks": ("a clock", ""), "rates": ("a clock", ""), "claims": ("a clock", "SOURCE_"), "cores": ("a core", ""),
            "intervals": ("a timer and a core", "MODE_NS_"), "calibrations": ("the TSC or the LAPIC timer", "LOOP_"),
            "findings": ("a clock or a core", "")}
CONTINUED = {"rate_against_": "rate_against_CLOCK", "finding_": "finding_RULE"}


def find_metrics(tables, table="report", place="", subject="the run", prefix=""):
    """Yield (subject, metric, unit, place in report.json, description) for the metrics of TABLE and of the tables
    below it."""
    for key, kind, below, _, *metric, added in tables.rows[table]:
        inner = f"{place}.{key}".strip(".")
        if kind == "list" and key in SUBJECTS:
            yield from find_metrics(tables, below, inner + "[]", *SUBJECTS[key])
        elif kind == "map" and subject == "a core":
            yield from find_metrics(tables, tables.rows[below][0][2], inner, "a clock and a core", prefix + metric[0])
        elif kind == "object":
            yield from find_metrics(tables, below, inner, subject, prefix)
        elif any(metric):
            yield subject, prefix + CONTINUED.get(metric[0], metric[0]), metric[1], inner, added.get("description", "")


def make_readme(tables):
    """Return src/report/README.md with its table of metrics replaced by the present one."""
    before, head, after = README.read_text().partition("| metric | of | unit | in `report.json` | |\n|---|---|---|---|---|\n")
    rows = "".join(f"| `{metric}` | {subject} | {unit} | `{place}` | {said} |\n"
                   for subject, metric, unit, place, said in find_metrics(tables))
    return before + head + rows + after[re.search(r"^(?!\|)", after, re.M).start():]


def main():
    tables = Tables()
    made = {SCHEMA: laid_out(make_schema(tables)) + "\n", README: make_readme(tables)}
    for path, text in made.items():
        if sys.argv[1] != "--check":
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path.relative_to(SRC)} is not as report.def has it: make schema writes it")


if __name__ == "__main__":
    main()
