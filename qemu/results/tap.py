"""The cases of a run as TAP version 13."""
from results.sanitize import clean


def plain(text):
    """TEXT as a part of one line: a # there would begin a directive."""
    return clean(text).replace("#", " ").strip()


def render(cases):
    """Its lines."""
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
