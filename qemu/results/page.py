"""report.html: the report put into the page that `make` builds, byte for byte as src/render/json/html.c does it."""
import html
import json

MARK = b"@REPORT@"
BARE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>baretick: no page</title></head>
<body><p>{reason} The figures are in report.json in the same folder. This is report.txt:</p>
<pre>{text}</pre></body></html>
"""


def hidden(skew):
    """The tournaments that the page does not draw: it draws one."""
    later = skew.get("later") or []
    return [skew, *later[:-1]] if later and skew.get("shown") == "last" else later


def render(template, body):
    """The page of the report whose JSON is BODY."""
    try:
        report = json.loads(body)
        for latency in filter(None, (clock.get("latency") for clock in report["clocks"])):
            if "exact" in latency:
                latency["exact"] = None  # long lists, which the page does not draw, as these:
        for tournament in hidden(report.get("skew") or {}):
            tournament["matrix"] = None
        body = json.dumps(report, separators=(",", ":")).encode("ascii")
    except RecursionError:
        pass  # so much of it is nested: then as it came
    # In JSON a < stands in strings alone, and there it may be escaped: none can then end the page's <script>.
    return template.replace(MARK, body.replace(b"<", b"\\u003c"), 1)


def read_template(path):
    """The page as it was built; None where there is none."""
    try:
        with open(path, "rb") as file:
            template = file.read()
    except OSError:
        return None
    return template if MARK in template else None


def bare(text):
    """A page that needs no template."""
    return BARE.format(reason="There is no page for this report: `make` builds it, build/page.html.",
                       text=html.escape(text.decode("utf-8", "replace"))).encode()
