"""report.html: the report put into the page that `make` builds, byte for byte as src/render/json/html.c does it."""
import html
import re

MARK = b"@REPORT@"
# The long lists of exact durations, which the page does not draw. Quotes inside a string have a backslash before
# them, so that no string holds this.
EXACT = re.compile(rb'"exact": \[(?:[^"\[\]]|"ns"|"count")*\]')
STRING_OR_SPACE = re.compile(rb'("(?:[^"\\]|\\.)*")|[ \n]+')
BARE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>baretick: no page</title></head>
<body><p>{reason} The figures are in report.json beside this file; this is report.txt:</p>
<pre>{text}</pre></body></html>
"""


def render(template, body):
    """The page of the report whose JSON, in ASCII, is BODY."""
    brief = STRING_OR_SPACE.sub(rb"\1", EXACT.sub(b'"exact": null', body))
    # In JSON a < stands in strings alone, and there it may be escaped: none can then end the page's <script>.
    return template.replace(MARK, brief.replace(b"<", b"\\u003c"), 1)


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
