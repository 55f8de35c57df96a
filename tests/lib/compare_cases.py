"""Makes pairs of reports. qemu/run --baseline and the report's page must find the same changes for the worse in the second one."""
import copy
import json
import pathlib

TESTS = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "goldens" / "clean.json"
CASES = json.loads((TESTS / "report" / "compare_cases.json").read_text())


def find_part(parts, name):
    """Return the clock, or the first row of the interrupt source, with this NAME."""
    return next(part for part in parts if name in (part.get("id"), part.get("source")))


def change(report, changes):
    """Change REPORT by CHANGES. A key is a path: its first word is a clock, a source of interrupts or a key of the report.
    The value "gone" removes a clock or a source, and "+" adds the value to a list.
    """
    for path, value in changes.items():
        first, *middle = path.split(".")
        parts = next((report[name] for name in ("clocks", "intervals")
                      if first in [part.get("id") or part.get("source") for part in report[name]]), None)
        if path.startswith("+"):
            report[path[1:]].append(copy.deepcopy(value))
        elif value == "gone":
            parts[:] = [part for part in parts if first not in (part.get("id"), part.get("source"))]
        else:
            at = find_part(parts, first) if parts is not None else report
            *keys, last = middle if parts is not None else [first, *middle]
            for key in keys:
                at = at[int(key) if isinstance(at, list) else key]
            at[last] = copy.deepcopy(value)
    return report


def make_pairs():
    """Yield (name, baseline, report, set of the expected (name, what))."""
    base = json.dumps(change(json.loads(GOLDEN.read_text()), CASES["base"]))
    for case in CASES["cases"]:
        before, now = (change(json.loads(base), case.get(key, {})) for key in ("before", "now"))
        yield case["name"], before, now, {tuple(each) for each in case["worse"]}
