"""Test that src/analysis/facts.def, the list of the facts in a record, has a row for each member of its structs."""
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).parent.parent
DEF = (ROOT / "src/analysis/facts.def").read_text()
# one variable for each table, so that the compiler describes its struct
OBJECTS = """
#include "analysis/facts.h"
#define TABLE(name, type) type object_of_##name;
#include "analysis/facts.def"
"""
ROW = re.compile(r"^(\w+)\((.*)\)")


def read_tables():
    """Return {table: (paths of members in rows, paths of members that are left out)}."""
    tables, rows = {}, None
    for line in DEF.splitlines():
        if not (row := ROW.match(line)):
            continue
        kind, words = row[1], [word.strip() for word in row[2].split(",")]
        if kind == "TABLE":
            rows = tables[words[0]] = (set(), set())
        elif kind == "LEFT_OUT":
            rows[1].update(words)
        elif kind != "END":
            rows[0].update({words[1], words[3]} if kind == "LIST" else {words[1]})
    return tables


def read_debug_entries(path):
    """Return {offset: {tag, attributes, children}} of the debug information of the object file PATH."""
    entries, stack = {}, []
    text = subprocess.run(["readelf", "--debug-dump=info", path], check=True, text=True, capture_output=True).stdout
    for line in text.splitlines():
        if entry := re.match(r" <(\w+)><(\w+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)", line):
            new = entries[entry[2]] = {"tag": entry[3], "children": []}
            del stack[int(entry[1], 16):]
            if stack:
                stack[-1]["children"].append(new)
            stack.append(new)
        elif stack and (attribute := re.match(r"\s+<\w+>\s+DW_AT_(name|type)\s*:\s*(?:\(.*\): )?(.*?)\s*$", line)):
            stack[-1][attribute[1]] = attribute[2].removeprefix("<0x").removesuffix(">")
    return entries


def list_members(entries, offset):
    """Return the members of the struct at OFFSET, as (name, offset of the type)."""
    entry = entries[offset]
    while entry["tag"] in ("typedef", "const_type"):
        entry = entries[entry["type"]]
    return [(child["name"], child["type"]) for child in entry["children"] if child["tag"] == "member"] \
        if entry["tag"] == "structure_type" else []


def find_members_without_row(entries, offset, rows, left_out, path=""):
    """Yield the members of the struct at OFFSET that have no row. Remove the names of all other members from LEFT_OUT."""
    for name, of_type in list_members(entries, offset):
        member = path + name
        if member in rows or member in left_out:
            left_out.discard(member)
        elif any(row.startswith(member + ".") for row in rows | left_out):
            yield from find_members_without_row(entries, of_type, rows, left_out, member + ".")
        else:
            yield member


def test_each_member_of_a_fact_has_a_row(tmp_path):
    """Without this test, a new member that is only used before a record is written would be empty in its replay."""
    subprocess.run(["gcc", "-g", "-c", "-x", "c", "-I", ROOT / "src", "-", "-o", tmp_path / "facts.o"], check=True,
                   text=True, input=OBJECTS)
    entries = read_debug_entries(tmp_path / "facts.o")
    types = {entry["name"].removeprefix("object_of_"): entry["type"] for entry in entries.values()
             if entry["tag"] == "variable" and entry.get("name", "").startswith("object_of_")}
    tables = read_tables()
    assert types.keys() == tables.keys()
    missing = [f"{table}: {member}" for table, (rows, left_out) in tables.items()
               for member in find_members_without_row(entries, types[table], rows, left_out)]
    assert not missing, "neither a row nor LEFT_OUT in src/analysis/facts.def:\n" + "\n".join(missing)
    assert not any(left_out for _, left_out in tables.values()), "no such member"
