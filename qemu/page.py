"""report.html: the report put into the page that `make` builds, as the application itself does on its volume."""
import html
import json

MARK = b"@REPORT@"
BARE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>baretick: no page</title></head>
<body><p>{reason} The figures are in report.json beside this file; this is report.txt:</p>
<pre>{text}</pre></body></html>
"""


def render(template, report):
    """The page of REPORT, without the long lists of exact durations, which it does not draw: as src/html.c makes it."""
    clocks = [{**clock, "latency": {**clock["latency"], "exact": None}} if clock.get("latency") else clock
              for clock in report["clocks"]]
    # No string can then end the <script> that the JSON stands in.
    body = json.dumps({**report, "clocks": clocks}, separators=(",", ":")).replace("<", "\\u003c")
    return template.replace(MARK, body.encode("ascii"), 1)


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
