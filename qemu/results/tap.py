"""Writes the test cases of a run as TAP (Test Anything Protocol) version 13."""
from results.sanitize import clean_text


def escape_text(text):
    """Return TEXT on one line, and without #, which would start a directive of TAP."""
    return clean_text(text).replace("#", " ").strip()


def format_tap(cases):
    """Return the test cases as TAP output."""
    lines = ["TAP version 13", f"1..{len(cases)}"]
    for number, case in enumerate(cases, 1):
        name, text = escape_text(f"{case.group}: {case.name}"), escape_text(case.text)
        if case.outcome == "skip":
            lines.append(f"ok {number} - {name} # SKIP {text}")
            continue
        lines.append(f"{'not ok' if case.outcome in ('fail', 'error') else 'ok'} {number} - {name}")
        if text:
            lines.append(f"# {case.outcome}: {text}")
    return lines
