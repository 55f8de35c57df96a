"""The pictures that the README shows: there, whole, small."""
import re

from PIL import Image
import pytest

from test_page import ROOT
import pictures

FOLDER = ROOT / "tests" / "pictures"
README = (ROOT / "README.md").read_text()
SIZE_MAX = 150_000
PAGES, SCREEN = ["compare", "dark", "light"], "screen"


def picture(name):
    path = FOLDER / f"{name}.png"
    assert path.stat().st_size < SIZE_MAX
    image = Image.open(path)
    assert image.format == "PNG"
    return image.convert("RGB")  # all of it is read


@pytest.mark.parametrize("name", PAGES)
def test_picture_of_a_page_has_its_width_and_ground(name):
    image = picture(name)
    assert image.width == pictures.WIDTH and image.height > 800
    brightness = sum(image.getpixel((0, 0)))
    assert brightness < 100 if name == "dark" else brightness > 700


def test_picture_of_the_screen_has_bars_at_top_and_bottom():
    """As large as OVMF makes it by itself, in cells of 8 x 19 pixels: see tests/boot/screens.py."""
    image = picture(SCREEN)
    rows = image.height // 19
    top = (image.height - rows * 19) // 2
    title, bar, black = (image.getpixel((image.width // 2, top + row * 19 + 1)) for row in (0, rows - 1, rows - 2))
    assert title == bar and min(bar) > 100 and max(black) < 20


def test_readme_shows_each_and_all_of_its_links_to_files_resolve():
    links = re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", README)
    assert sorted(link for link in links if link.endswith(".png")) == [
        f"tests/pictures/{name}.png" for name in sorted([*PAGES, SCREEN])]
    assert [link for link in links if not (ROOT / link).exists()] == []
