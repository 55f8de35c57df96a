#!/usr/bin/env python3
"""`make pictures` makes the pictures in the READMEs. Three show the top of a report's page down to the first chart: one
in light colours, one in dark colours, and one with a comparison. One shows the screen at the end of a run.

Usage: pictures.py REPORT.html OTHER.json SCREEN.png FOLDER"""
import base64
import io
import pathlib
import sys

from PIL import Image

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import browser as chromium  # noqa: E402

WIDTH = 1120
COLOURS = 64  # number of colours in a picture; fewer colours make a smaller file


def save(image, path):
    image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


def take(page, last):
    """Take a picture of the page from its top to the end of the element LAST. The table of costs is hidden, because the
    README has it as text."""
    page.evaluate("document.getElementById('costs')?.remove()")
    page.evaluate("window.scrollTo(0, 0)")
    page.settle()
    bottom = page.evaluate(f"document.getElementById('{last}').getBoundingClientRect().bottom")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": round(bottom), "scale": 1}
    answer = page.call("Page.captureScreenshot", captureBeyondViewport=True, format="png", clip=clip)
    return Image.open(io.BytesIO(base64.b64decode(answer["data"])))


def main(report, other, screen, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    save(Image.open(screen), folder / "screen.png")
    browser = chromium.Browser()
    try:
        for name, dark, last in (("light", False, "chart-histogram"), ("dark", True, "chart-histogram"),
                                 ("compare", False, "chart-compare-medians")):
            page = browser.open(report, width=WIDTH, dark=dark)
            if name == "compare":
                page.choose_file("#compare-file", other)
                page.wait("document.getElementById('compare')")
            save(take(page, last), folder / f"{name}.png")
            page.close()
    finally:
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__.strip())
    if not chromium.find():
        sys.exit(f"pictures: none of {', '.join(chromium.NAMES)} is installed")
    main(*sys.argv[1:])
