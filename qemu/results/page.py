"""Makes report.html: inserts the report into the page that `make` has built. The application does
this in src/render/json/html.c, and makes the same bytes.
"""
import html
import json

MARK = b"@REPORT@"
BARE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>baretick: no page</title></head>
<body><p>{reason} The figures are in report.json in the same folder. This is report.txt:</p>
<pre>{text}</pre></body></html>
"""


def list_undrawn_passes(skew):
    """Return the measurement passes that the page does not draw. It draws only one pass."""
    later = skew.get("later") or []
    return [skew, *later[:-1]] if later and skew.get("shown") == "last" else later


def insert_report(template, body):
    """Return TEMPLATE, the built page, with the report whose JSON is BODY."""
    try:
        report = json.loads(body)
        for latency in filter(None, (clock.get("latency") for clock in report["clocks"])):
            if "exact" in latency:
                latency["exact"] = None  # removes the long lists exact and matrix, which the page does not draw
        for tournament in list_undrawn_passes(report.get("skew") or {}):
            tournament["matrix"] = None
        body = json.dumps(report, separators=(",", ":")).encode("ascii")
    except RecursionError:
        pass  # the report is too deeply nested to be parsed, so BODY is used unchanged
    # In JSON a < occurs only in strings, where it may be escaped. After the replacement, no string can end the page's <script>.
    return template.replace(MARK, body.replace(b"<", b"\\u003c"), 1)


def read_template(path):
    """Return the built page, or None if there is none."""
    try:
        with open(path, "rb") as file:
            template = file.read()
    except OSError:
        return None
    return template if MARK in template else None


def make_minimal_page(text):
    """Return a minimal page with TEXT, for use if the built page is missing."""
    return BARE.format(reason="There is no page for this report: `make` builds it, build/page.html.",
                       text=html.escape(text.decode("utf-8", "replace"))).encode()
