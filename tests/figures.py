#!/usr/bin/env python3
"""Compares the figures of two versions of baretick. Usage: figures.py OLD NEW, two folders of reports.

`BARETICK_REPORTS=FOLDER build/unit/measure/test_catalogue` writes the reports of all its simulated machines to FOLDER.
They have the same figures at each run. Every number, boolean and state is compared with the value that has the same
path in the other report. Texts may differ. Keys and outcomes that schema /2 renamed count as the same. Prints each
difference. The exit status is 0 without a difference.
"""
import json
import pathlib
import sys

RENAMED = {"meetings": "pingpongs", "apart": "off_majority", "watched_ns": "observed_ns"}
RENAMED_IN_SKEW = {"players": "cores", "width": "concurrency"}
OUTCOMES = {"kept": "passed", "broken": "failed", "not seen": "not_checked"}
WORDS = {"text", "reason", "title", "cause", "advice", "source", "tsc_source", "schema", "unit", "schedule_reason", "found_by", "sha256"}
# Keys that are new in schema /2. In a finding, `limit` existed before, so there it is compared.
SINCE_2 = {"series", "not_determined", "p50_within_ns", "p90_within_ns", "p99_within_ns", "p999_within_ns", "drifts", "severity", "limit"}
UNTOLD = {"tool", "notes", "elapsed_ms"}


def figures(value, place="", parent=""):
    """Return {place: figure} for every value that is not text."""
    if isinstance(value, dict):
        found = {}
        for key, item in value.items():
            key = RENAMED.get(key, key)
            key = RENAMED_IN_SKEW.get(key, key) if parent == "skew" else key
            if key in WORDS and not isinstance(item, (dict, list)) or key in UNTOLD and not place:
                continue
            found |= figures(item, f"{place}.{key}", key)
        return found
    if isinstance(value, list):
        found = {f"{place}.length": len(value)}
        for number, item in enumerate(value):
            found |= figures(item, f"{place}[{number}]", parent)
        return found
    return {place: OUTCOMES.get(value, value) if isinstance(value, str) else value}


def differences(old, new):
    """Yield a sentence for each difference between the figures of two reports."""
    before, after = figures(old), figures(new)
    for place in sorted(before.keys() | after.keys()):
        if place not in before and place.rsplit(".", 1)[-1] in SINCE_2:
            continue
        if place not in before or place not in after or before[place] != after[place]:
            yield f"{place}: {before.get(place, 'not there')} -> {after.get(place, 'not there')}"


def main(old, new):
    names = sorted(path.name for path in old.glob("*.json"))
    if not names or names != sorted(path.name for path in new.glob("*.json")):
        sys.exit(f"figures: {old} and {new} do not hold the same reports")
    count, told = 0, 0
    for name in names:
        reports = [json.loads((folder / name).read_text()) for folder in (old, new)]
        count += len(figures(reports[0]))
        for sentence in differences(*reports):
            print(f"{name} {sentence}")
            told += 1
    print(f"{len(names)} reports, {count} figures, {told} differences")
    return 1 if told else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])))
