"""The pictures that the README shows: there, whole, small; and what makes them keeps their colours."""
import re
import struct
import zlib

import pytest

from test_page import ROOT
import pictures

README = (ROOT / "README.md").read_text()
SIZE_MAX = 150_000
NAMES = ["compare", "dark", "light"]


def chunks(data):
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, found = 8, []
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0] == zlib.crc32(kind + body)
        found.append((kind, body))
        at += size + 12
    return found


def pixels(data):
    """The rows of pixels of a PNG with a palette and no filters."""
    parts = dict(chunks(data))
    width, height, depth, colour = struct.unpack(">IIBB", parts[b"IHDR"][:10])
    assert (depth, colour) == (8, 3)
    palette = list(zip(*[iter(parts[b"PLTE"])] * 3))
    raw = zlib.decompress(parts[b"IDAT"])
    assert len(raw) == height * (width + 1) and not any(raw[::width + 1])
    return [[palette[place] for place in raw[at + 1:at + 1 + width]] for at in range(0, len(raw), width + 1)]


@pytest.mark.parametrize("name", NAMES)
def test_picture_is_a_whole_png_of_the_pages_width_and_small(name):
    data = (ROOT / "tests" / "page" / "pictures" / f"{name}.png").read_bytes()
    assert chunks(data)[-1] == (b"IEND", b"") and len(data) < SIZE_MAX
    rows = pixels(data)
    assert len(rows[0]) == pictures.WIDTH and len(rows) > 800
    brightness = sum(rows[0][0])
    assert brightness < 100 if name == "dark" else brightness > 700  # the corner is the page's ground


def test_readme_shows_each_and_all_of_its_links_to_files_resolve():
    links = re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", README)
    assert sorted(link for link in links if link.endswith(".png")) == [f"tests/page/pictures/{name}.png" for name in NAMES]
    assert [link for link in links if not (ROOT / link).exists()] == []


def filtered(rows, kinds):
    """As a PNG of 3 channels, row by row with the filters KINDS: PNG, 9.2 "Filter types for filter method 0"."""
    raw, before = b"", bytes(3 * len(rows[0]))
    for row, kind in zip(rows, kinds):
        line = bytes(sum(row, ()))
        raw += bytes([kind])
        for i, value in enumerate(line):
            left, corner = (line[i - 3], before[i - 3]) if i >= 3 else (0, 0)
            up = before[i]
            raw += bytes([(value - (0, left, up, (left + up) // 2, pictures.paeth(left, up, corner))[kind]) & 255])
        before = line
    body = zlib.compress(raw)
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + kind + part + struct.pack(">I", zlib.crc32(kind + part))
        for kind, part in ((b"IHDR", header), (b"IDAT", body), (b"IEND", b"")))


@pytest.mark.parametrize("guess, triple", [(10, (10, 9, 5)), (9, (3, 9, 5)), (5, (2, 7, 5)), (3, (3, 6, 5)), (7, (7, 7, 7))])
def test_paeth_takes_the_nearest_of_three(guess, triple):
    """PNG, 9.4: left, up, corner; the first of equals."""
    assert pictures.paeth(*triple) == guess


def test_few_colours_stay_what_they_are_whatever_the_filters():
    rows = [[((x * 40) & 255, (y * 50) & 255, (x * y * 7) & 255) for x in range(5)] for y in range(5)]
    assert len({pixel for row in rows for pixel in row}) <= pictures.EXACT
    assert pixels(pictures.packed(filtered(rows, [0, 1, 2, 3, 4]))) == rows


def test_many_colours_become_near_ones():
    rows = [[(x, y, x ^ y) for x in range(64)] for y in range(64)]
    made = pixels(pictures.packed(filtered(rows, [0] * 64)))
    assert len({pixel for row in made for pixel in row}) <= pictures.COLOURS
    assert max(abs(a - b) for row, other in zip(rows, made) for one, two in zip(row, other) for a, b in zip(one, two)) < 24
