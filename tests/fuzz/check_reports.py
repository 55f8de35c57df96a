#!/usr/bin/python3
"""Checks reports that fuzz_replay made from changed records.

The schema must accept each report, and so must the programs that read reports.

usage: check_reports.py FILE

FILE has the JSON of a report on each line (FUZZ_REPORTS in fuzz_replay.c). Equal lines are checked once.
"""
import hashlib
import json
import pathlib
import sys
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "qemu"), str(ROOT / "tests" / "lib")]
sys.dont_write_bytecode = True

from next import compare  # noqa: E402
from readers import gather, rows  # noqa: E402
from results import baseline, cases, junit, reports, summary, tap  # noqa: E402
from shape import check_schema  # noqa: E402

KERNEL = {"tsc": {"believed_hz": 1e9, "refined_hz": None, "source": None, "unstable": None}, "clocksource": "tsc", "log_is_whole": True}
SUMMARY_MAX = 1 << 20


def is_clean(lines):
    return all(line.isprintable() for line in lines)


def check_report(line, before):
    """Check the report LINE. It is compared with the report BEFORE. Return the report."""
    check_schema(json.loads(line))
    report = reports.parse_report(line)
    comparison = baseline.Comparison(before, report, baseline.TOLERANCE) if before else None
    made = cases.make_cases(report, None, comparison)
    lines = tap.format_tap(made)
    assert is_clean(lines) and sum(line.startswith(("ok ", "not ok ")) for line in lines) == len(made)
    assert len(xml.fromstring(junit.format_junit(made, 1.0, cases.collect_properties(report)))) >= len(made)
    text = summary.format_summary(report, None, comparison)
    assert text.isascii() and is_clean(text.splitlines()) and len(text) < SUMMARY_MAX
    assert is_clean(compare.format_comparison(KERNEL, report))
    tables = rows.make_rows(gather.parse_report(line), hashlib.sha256(line).hexdigest(), "report", None, "")
    assert all(is_clean(filter(lambda value: isinstance(value, str), row.values())) for table in tables.values() for row in table)
    return report


def main(path):
    lines, before = sorted(set(pathlib.Path(path).read_bytes().splitlines())), None
    for number, line in enumerate(lines):
        try:
            before = check_report(line, before)
        except Exception as error:
            broken = pathlib.Path(f"{path}.{number}.json")
            broken.write_bytes(line)
            sys.exit(f"{broken}: {type(error).__name__}: {str(error)[:1000]}")
    print(f"{len(lines)} reports are as the schema has them")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
