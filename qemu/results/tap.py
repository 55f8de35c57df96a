"""Writes the cases of a run as TAP version 13."""
from results.sanitize import clean


def plain(text):
    """Return TEXT as a part of one line, without #, which would start a directive of TAP."""
    return clean(text).replace("#", " ").strip()


def render(cases):
    """Return the cases as TAP output."""
    lines = ["TAP version 13", f"1..{len(cases)}"]
    for number, case in enumerate(cases, 1):
        name, text = plain(f"{case.group}: {case.name}"), plain(case.text)
        if case.outcome == "skip":
            lines.append(f"ok {number} - {name} # SKIP {text}")
            continue
        lines.append(f"{'not ok' if case.outcome in ('fail', 'error') else 'ok'} {number} - {name}")
        if text:
            lines.append(f"# {case.outcome}: {text}")
    return lines
