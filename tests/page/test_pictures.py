"""The pictures in the READMEs must exist, be complete and be small."""
from PIL import Image
import pytest

from test_page import ROOT
import pictures

FOLDER = ROOT / "tests" / "pictures"
SHOWN_IN = {"light": ["README.md", "src/page/README.md"], "dark": ["src/page/README.md"], "compare": ["src/page/README.md"],
            "screen": ["src/render/screen/README.md"], "enrol": ["boot/README.md"]}
SIZE_MAX = 150_000
PAGES, SCREEN, ENROL = ["compare", "dark", "light"], "screen", "enrol"


def picture(name):
    path = FOLDER / f"{name}.png"
    assert path.stat().st_size < SIZE_MAX
    image = Image.open(path)
    assert image.format == "PNG"
    return image.convert("RGB")  # makes Pillow read the whole file


@pytest.mark.parametrize("name", PAGES)
def test_picture_of_a_page_has_its_width_and_ground(name):
    image = picture(name)
    assert image.width == pictures.WIDTH and image.height > 800
    brightness = sum(image.getpixel((0, 0)))
    assert brightness < 100 if name == "dark" else brightness > 700


def test_picture_of_the_screen_has_bars_at_top_and_bottom():
    """The rows at the top and at the bottom must be bars of the same colour. The picture is as large as OVMF's screen,
    and character cells have 8 x 19 pixels: see tests/boot/screens.py."""
    image = picture(SCREEN)
    rows = image.height // 19
    top = (image.height - rows * 19) // 2
    title, bar, black = (image.getpixel((image.width // 2, top + row * 19 + 1)) for row in (0, rows - 1, rows - 2))
    assert title == bar and min(bar) > 100 and max(black) < 20


def test_picture_of_the_enrolment_has_six_screens_of_which_no_two_are_the_same():
    """The picture must have six different screens of MokManager, white and black on blue, two in each row."""
    image = picture(ENROL)
    width, height = image.width // 2, image.height // 3
    screens = [image.crop((x, y, x + width, y + height)) for y in range(0, 3 * height, height) for x in (0, width)]
    assert (width, height) == (640, 480) and len({screen.tobytes() for screen in screens}) == 6
    for screen in screens:
        count, colour = max(screen.getcolors())
        assert colour[2] > 100 > colour[0] + colour[1] and count > width * height // 2


def test_each_is_shown_where_a_reader_looks_for_it():
    assert sorted(SHOWN_IN) == sorted(path.stem for path in FOLDER.glob("*.png")) == sorted([*PAGES, SCREEN, ENROL])
    for name, readmes in SHOWN_IN.items():
        for readme in readmes:
            assert f"tests/pictures/{name}.png" in (ROOT / readme).read_text(), readme
