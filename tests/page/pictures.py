#!/usr/bin/env python3
"""`make pictures`: the top of a report's page, light, dark and beside another report, as the README shows it.

Usage: pictures.py REPORT.html OTHER.json FOLDER
"""
import base64
import collections
import pathlib
import struct
import sys
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import browser as chromium  # noqa: E402

WIDTH = 1120
COLOURS = 128  # a palette's: PNG, 11.2.2 "PLTE"
EXACT = 32     # of them: the commonest as they are, which areas have; the rest is edges of letters and lines
CELL_BITS = 4  # of each channel: rarer colours that differ in the rest of it may become one


def paeth(left, up, corner):
    """PNG, 9.4 "Filter type 4: Paeth"."""
    guess = left + up - corner
    return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]


def rows_of(data):
    """The rows of pixels of the PNG in DATA, 8 bits of each of 3 channels, as Chromium writes it."""
    width, height, depth, colour = struct.unpack(">IIBB", data[16:26])
    assert (depth, colour) == (8, 2)
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    raw, before = zlib.decompress(packed), bytes(3 * width)
    for start in range(0, len(raw), 3 * width + 1):
        row, how = bytearray(raw[start + 1:start + 1 + 3 * width]), raw[start]
        for i in range(len(row) if how else 0):
            left, corner = (row[i - 3], before[i - 3]) if i >= 3 else (0, 0)
            row[i] = row[i] + (0, left, before[i], (left + before[i]) // 2, paeth(left, before[i], corner))[how] & 255
        before = bytes(row)
        yield list(zip(*[iter(before)] * 3))


def palette_of(rows):
    """A colour's place in the palette, and the palette."""
    counts = collections.Counter(pixel for row in rows for pixel in row)
    common = [colour for colour, _ in counts.most_common()]
    cells = {}
    for colour in common:
        cells.setdefault(tuple(channel >> 8 - CELL_BITS for channel in colour), colour)
    palette = list(dict.fromkeys([*common[:EXACT], *cells.values()]))[:COLOURS]

    def nearest(colour):
        return min(range(len(palette)), key=lambda i: sum((a - b) ** 2 for a, b in zip(palette[i], colour)))
    return {colour: nearest(colour) for colour in common}, palette


def packed(data):
    """The PNG in DATA with a palette: a third of its size."""
    rows = list(rows_of(data))
    places, palette = palette_of(rows)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)
    raw = b"".join(b"\0" + bytes(places[pixel] for pixel in row) for row in rows)
    chunks = [(b"IHDR", header), (b"PLTE", bytes(sum(palette, ()))), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks)


def take(page, last):
    """The page from its top to the end of the element LAST."""
    page.evaluate("window.scrollTo(0, 0)")
    page.settle()
    bottom = page.evaluate(f"document.getElementById('{last}').getBoundingClientRect().bottom")
    clip = {"x": 0, "y": 0, "width": WIDTH, "height": round(bottom), "scale": 1}
    answer = page.call("Page.captureScreenshot", captureBeyondViewport=True, format="png", clip=clip)
    return packed(base64.b64decode(answer["data"]))


def main(report, other, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    browser = chromium.Browser()
    try:
        for name, dark, last in (("light", False, "chart-percentiles"), ("dark", True, "chart-percentiles"),
                                 ("compare", False, "chart-compare-medians")):
            page = browser.open(report, width=WIDTH, dark=dark)
            if name == "compare":
                page.choose_file("#compare-file", other)
                page.wait("document.getElementById('compare')")
            (folder / f"{name}.png").write_bytes(take(page, last))
            page.close()
    finally:
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    if not chromium.find():
        sys.exit(f"pictures: none of {', '.join(chromium.NAMES)} is installed")
    main(*sys.argv[1:])
