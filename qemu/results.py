"""What a run leaves behind for other programs: a report in every case, JUnit, TAP, and a comparison."""
import json
import os
import xml.etree.ElementTree as xml

from command import Wrong
from transcript import SCHEMA

ORDER = {"pass": 0, "warn": 1, "fail": 2}


def incomplete(reason, accelerator, elapsed_ms):
    """A report of a run that gave none: nothing in it was measured."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "baretick", "version": None, "commit": None},
        "options": None, "started_at": None, "elapsed_ms": elapsed_ms,
        "machine": {"cpu": None, "hypervisor": None, "firmware": None, "accelerator": accelerator,
                    "cores_listed": None, "cores_started": None, "fence": None,
                    "tsc_is_invariant": None, "tsc_hz": None, "tsc_source": None},
        "clocks": [], "rates": [], "cores": [], "skew": None, "interference": None, "behaviours": [],
        "findings": [], "advice": [], "notes": [], "verdict": "incomplete", "reason": reason,
    }


def write(path, data):
    """Whole or not at all: somebody may be reading the last one."""
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


def write_json(path, value):
    write(path, (json.dumps(value, indent=2) + "\n").encode("ascii"))


def cases(report, problem):
    """(name, outcome, sentence) of each clock and of the run: pass, warn, fail, skip or error."""
    found = []
    for clock in report["clocks"]:
        verdict = clock.get("verdict")
        texts = [f.get("text") or f.get("rule") or "" for f in report.get("findings") or []
                 if f.get("clock") == clock["id"]]
        if verdict == "absent":
            found.append((clock["id"], "skip", clock.get("reason") or "absent"))
        elif verdict in ORDER:
            found.append((clock["id"], verdict, " ".join(texts)))
        else:
            found.append((clock["id"], "error", f"its verdict is {verdict}"))
    others = [f for f in report.get("findings") or [] if not f.get("clock")]
    failed = [f.get("text") or "" for f in others if f.get("severity") == "fail"]
    if problem:
        found.append(("run", "error", problem))
    elif failed:
        found.append(("run", "fail", " ".join(failed)))
    else:
        found.append(("run", "pass", " ".join(f.get("text") or "" for f in others)))
    return found


def write_junit(path, report, problem, elapsed_s):
    rows = cases(report, problem)
    count = {outcome: sum(row[1] == outcome for row in rows) for outcome in ("fail", "error", "skip")}
    suite = xml.Element("testsuite", name="baretick", tests=str(len(rows)), time=f"{elapsed_s:.3f}",
                        failures=str(count["fail"]), errors=str(count["error"]),
                        skipped=str(count["skip"]))
    for name, outcome, text in rows:
        case = xml.SubElement(suite, "testcase", classname="baretick", name=name)
        element = {"fail": "failure", "error": "error", "skip": "skipped"}.get(outcome)
        if element:
            xml.SubElement(case, element, message=text)
        elif text:
            xml.SubElement(case, "system-out").text = text
    write(path, xml.tostring(suite, encoding="utf-8", xml_declaration=True) + b"\n")


def tap(report, problem):
    rows = cases(report, problem)
    lines = ["TAP version 13", f"1..{len(rows)}"]
    for number, (name, outcome, text) in enumerate(rows, 1):
        text = text.replace("#", "")
        if outcome == "skip":
            lines.append(f"ok {number} - {name} # SKIP {text}")
        else:
            lines.append(f"{'not ok' if outcome in ('fail', 'error') else 'ok'} {number} - {name}")
            if text:
                lines.append(f"# {outcome}: {text}")
    return lines


def load_baseline(path):
    try:
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    except (OSError, ValueError) as error:
        raise Wrong(f"--baseline: {path} cannot be read: {error}") from error
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise Wrong(f"--baseline: {path} is not a report of schema {SCHEMA}")
    if report.get("verdict") == "incomplete":
        raise Wrong(f"--baseline: {path} is an incomplete report: it has nothing to compare with")
    return report


def worse(baseline, report):
    """A sentence for each clock that was better, or was there, in BASELINE."""
    now = {clock["id"]: clock for clock in report["clocks"]}
    sentences = []
    for before in baseline["clocks"]:
        name, was = before["id"], before.get("verdict")
        if was not in ORDER:
            continue
        after = now.get(name)
        verdict = after.get("verdict") if after else None
        if verdict not in ORDER:
            why = after.get("reason") if after else None
            sentences.append(f"{name} is gone, it was {was}" + (f": {why}" if why else ""))
        elif ORDER[verdict] > ORDER[was]:
            sentences.append(f"{name} is {verdict}, it was {was}")
    return sentences
