"""The screen and its keys, tested with the pixels of a guest's screen. The letters of the firmware's font are learned
from the rule catalogue, whose text is also on the serial line."""
import collections
import json
import pathlib
import re

import pytest

from boots import EFI, EFI_BUILT, FIRMWARE_AGAIN, ICOUNT, IMAGE_BUILT, qemu
from harness import BY_INSTRUCTIONS_WITH_SLEEP
from screens import Glyphs, screen
from stick import copy_of_stick, mtools, stick_with_options

# tests in one worker share the learned letters
pytestmark = [EFI_BUILT, pytest.mark.xdist_group("letters")]

SMALL, SMALL_PIXELS = (80, 25), (640, 480)
LARGE, LARGE_PIXELS = (160, 53), (1280, 1024)
ONE_CORE, TWO_CORES = ["--cpus", "1"], ["--cpus", "2"]
SHORT = ["profile=quick", "duration=10ms"]
# the shell comes from a separate package, because Debian's firmware has had none since 2026
EFI_SHELL = pathlib.Path("/usr/share/efi-shell-x64/shellx64.efi")
SHELL = (80, 50)  # text mode of EDK II's shell on a screen of LARGE_PIXELS

# Colours of EDK II's GraphicsConsole: EFI_LIGHTGRAY, EFI_BLUE and others.
BLACK, GRAY, BLUE = b"\x00\x00\x00", b"\x98\x98\x98", b"\x00\x00\x98"
BARS = {"pass": b"\x00\x98\x00", "warn": b"\x98\x98\x00", "fail": b"\x98\x00\x00"}
INKS = {"pass": b"\x00\xff\x00", "warn": b"\xff\xff\x00", "fail": b"\xff\x00\x00",
        "absent": b"\x00\x98\x98", "n.d.": b"\x00\x98\x98"}
PAGES = ["Summary", "Histograms", "Clock 1 of 12: tsc", "Cores", "Findings", "About", "Timers"]


class Reader:
    """Reads a guest's screen as text."""

    def __init__(self, shown, letters):
        self.shown, self._letters = shown, letters

    def rows(self, picture=None):
        picture = picture or self.shown.picture()
        return [self._letters.read(picture, row) for row in range(picture.rows)]

    def wait_for(self, holds):
        return self.shown.wait_until(lambda picture: holds(self.rows(picture)),
                                     lambda picture: "\n".join(self.rows(picture)))

    def title(self, words):
        """Wait until the title has WORDS. Check that the bar at the bottom, which is drawn last, matches the title."""
        name = words.split()[0][:3]  # the bar of a narrow screen uses short words

        def holds(picture):
            title, bar = (self._letters.read(picture, row) for row in (0, picture.rows - 1))
            at = bar.find(name)
            return f"   {words} " in title and at >= 0 and picture.cell(picture.rows - 1, at)[0] == BLUE
        return self.shown.wait_until(holds, lambda picture: "\n".join(self.rows(picture)))


def same(seen, wanted):
    """Return true if two lists of rows have the same text. A tilde equals any letter, because it stands for an unknown
    letter."""
    return len(seen) == len(wanted) and all(
        len(a) == len(b) and all(x in (y, "~") for x, y in zip(a, b)) for a, b in zip(seen, wanted))


def last_line(rows):
    """Return the number of the document's last visible line, which the title shows, or 0 if it shows none."""
    found = re.search(r"lines \d+-(\d+) of \d+", rows[0])
    return int(found[1]) if found else 0


def drawn(picture):
    """Return true if the screen is complete. The bar at the bottom is drawn last."""
    return picture.cell(picture.rows - 1, 1)[0] in (GRAY, BLUE)


@pytest.fixture(scope="module")
def letters():
    glyphs = Glyphs()
    with screen(LARGE, LARGE_PIXELS, ["rules"], *ONE_CORE, *BY_INSTRUCTIONS_WITH_SLEEP) as shown:
        shown.wait_for_serial(b"BARETICK TEXT END")
        picture = shown.wait_until(drawn, lambda _: "nothing was drawn")
        reader, text, shown_to = Reader(shown, glyphs), shown.text(), LARGE[1] - 2
        glyphs.learn_all(picture, text[:shown_to])
        while shown_to < len(text):  # all pages are shown, so that all letters of the rules are learned
            shown.press("pgdn")
            picture = reader.wait_for(lambda rows: (end := last_line(rows)) > shown_to and same(
                rows[1:-1], text[end - LARGE[1] + 2:end]))
            shown_to = last_line(reader.rows(picture))
            glyphs.learn_all(picture, text[shown_to - LARGE[1] + 2:shown_to])
        # A document has no pages to choose. It can be scrolled only to its end.
        reader.wait_for(lambda rows: same([" ".join(rows[-1].split())],
                                          ["R restart P power off Q quit arrows, PgUp, PgDn scroll"]))
        shown.press("end", "down", "pgdn")
        reader.wait_for(lambda rows: same(rows[1:-1], text[-(LARGE[1] - 2):]))
        shown.press("q")  # q returns to the firmware, which has nothing to boot except its shell
        shown.wait_for_serial(*FIRMWARE_AGAIN)
    return glyphs


def section(lines, start, end):
    """Return the lines of the text report from START up to END, without empty lines at their end."""
    lines = lines[lines.index(start):lines.index(end)]
    while not lines[-1]:
        lines.pop()
    return lines


def stolen(report):
    """Return the part of the title after the verdict, which warns that too much time was stolen."""
    quality = report["quality"]
    if quality["reliable_tails"] is not False:
        return ""
    share = re.match(r"[\d.]+ %", quality["text"])
    return f" {share[0]} stolen " if share else " tails unreliable "


def check_bars(picture, report):
    columns, rows, verdict = picture.columns, picture.rows, report["verdict"]
    top = [picture.cell(0, column)[0] for column in range(columns)]
    bottom = [picture.cell(rows - 1, column)[0] for column in range(columns - 1)]
    inks = collections.Counter({BARS[verdict]: len(verdict) + 2})
    inks[BARS["warn"]] += len(stolen(report))
    assert collections.Counter(top) == +inks + collections.Counter({GRAY: columns - inks.total()})
    assert set(bottom) == {GRAY, BLUE}
    # the last cell must stay empty, because a letter in it would scroll the screen
    assert picture.cell(rows - 1, columns - 1)[0] == BLACK
    assert {picture.cell(row, column)[0] for row in range(1, rows - 1) for column in range(columns)} == {BLACK}


def from_verdict(rows):
    """Return the rows from the verdict on. A row "answer" must come before the verdict."""
    first = next(i for i, row in enumerate(rows) if row.startswith("verdict  "))
    assert any(row.startswith("answer   ") for row in rows[:first])
    return rows[first:]


def after_verdict(rows, report):
    """Return the first row after the verdict and the stolen time. Both may continue in rows that start with blanks."""
    stolen, following = [row for row in rows[1:] if not row.startswith(" ")][:2]
    assert report["quality"]["text"] and stolen.startswith("stolen "), rows
    return following


def word_of(clock):
    """Return a clock's word in the tables: its verdict, or n.d. if it passed but some of its rules are not
    determined."""
    return "n.d." if clock["verdict"] == "pass" and clock["not_determined"] else clock["verdict"]


def find_row(clock, rows):
    """Return the number of the table's row for CLOCK, or 0 if it is not there, or not yet drawn up to the clock's word."""
    return next((number for number, row in enumerate(rows) if row.split(" ")[0] == clock["id"]
                 and row[:79].endswith(f" {word_of(clock)}")), 0)


def find_head(rows):
    """Return the number of the row with the table's head, or 0 if it is not drawn yet."""
    return next((number for number, row in enumerate(rows) if row.startswith("clock ")), 0)


def check_clocks(reader, report):
    """Check that each clock's row ends with its verdict, in the verdict's colour. The screen shows the first lines of the page
    Summary. If long sentences above the table push its last rows off the screen, scroll to these rows. On a busy host a
    picture may be taken before a row is complete."""
    def list_visible(rows):
        return report["clocks"][:len(rows) - find_head(rows) - 2]
    picture = reader.wait_for(lambda rows: find_head(rows) and all(find_row(clock, rows) for clock in list_visible(rows)))
    rows = reader.rows(picture)
    seen = list_visible(rows)
    check_verdicts(picture, rows, find_head(rows) + 1, seen)
    if further := report["clocks"][len(seen):]:
        end = last_line(rows)
        reader.shown.press("pgdn")
        picture = reader.wait_for(lambda rows: last_line(rows) > end and all(find_row(clock, rows) for clock in further))
        rows = reader.rows(picture)
        check_verdicts(picture, rows, find_row(further[0], rows), further)


def check_verdicts(picture, rows, first, clocks):
    """Check that the rows of CLOCKS follow each other from the row FIRST on, and the colours of their verdicts."""
    for number, clock in enumerate(clocks, first):
        assert find_row(clock, rows) == number, rows
        assert picture.cell(number, len(rows[number][:79].rstrip()) - 1)[1] == INKS[word_of(clock)]


def report_of(shown):
    said = shown.serial().replace(b"\r", b"").decode("ascii", "replace")
    return json.loads(said.split("BARETICK REPORT BEGIN\n")[1].split("BARETICK REPORT END")[0])


def test_80x25_every_page_by_its_key_and_restart(letters):
    with screen(SMALL, SMALL_PIXELS, SHORT, *TWO_CORES, *BY_INSTRUCTIONS_WITH_SLEEP) as shown:
        reader = Reader(shown, letters)
        shown.wait_for_serial(b"baretick ")
        shown.press("p", "ret", "end")  # while no keys are offered, these keys must neither power off nor scroll
        shown.wait_for_serial(b"Waiting for a key")
        text, report = shown.text(), report_of(shown)
        last = shown.serial().replace(b"\r", b"").partition(b"BARETICK REPORT END")[2].splitlines()[1:]
        assert last == [b"Waiting for a key: P powers off, R restarts"]
        picture = reader.title(PAGES[0])
        check_bars(picture, report)
        check_clocks(reader, report)
        assert from_verdict(reader.rows(picture))[0].startswith(f"verdict  {report['verdict'].upper()}, ")
        assert after_verdict(from_verdict(reader.rows(picture)), report) == "No report was saved on the boot volume, because of save=off."
        for key, page in enumerate(PAGES):
            shown.press(str(key + 1))
            check_bars(reader.title(page), report)
        shown.press("3", "3")
        reader.title("Clock 2 of 12: tsc_lfence")
        shown.press("right")
        reader.title("Clock 3 of 12: tsc_rdtscp")
        shown.press("left", "left", "left")
        reader.title("Histograms")

        # The page about the cores has the same lines as the serial line. It is scrolled by pages and by lines, to both
        # ends and no further.
        cores = section(text, "Latency with the bracket on each core, by APIC id (* = boot core, BSP)",
                        "Specified behaviour")
        rows = SMALL[1] - 2
        shown.press("4", "up", "pgup")
        reader.wait_for(lambda seen: same(seen[1:-1], cores[:rows]))
        shown.press("down")
        reader.wait_for(lambda seen: same(seen[1:-1], cores[1:rows + 1]))
        shown.press("end", "down", "spc")
        reader.wait_for(lambda seen: same(seen[1:-1], cores[-rows:]) and seen[0].endswith(
            f"lines {len(cores) - rows + 1}-{len(cores)} of {len(cores)}"))
        shown.press("home")
        reader.wait_for(lambda seen: same(seen[1:-1], cores[:rows]))
        shown.press("tab")
        reader.title("Findings")
        shown.press("q", "esc")  # the cores were started, so no return to the firmware is possible
        # only one core waits for a key, and it must sleep; otherwise the share would be 1
        assert shown.processor_share(2) < 0.6
        reader.title("Findings")
        shown.press("r")
        # because of -no-reboot, a reset ends QEMU
        assert shown.wait_for_event("SHUTDOWN")["data"]["reason"] == "guest-reset"


@IMAGE_BUILT
def test_an_error_in_the_options_restarts_the_machine_if_nobody_presses_a_key(tmp_path):
    """An error in the options gives the user a minute to press a key. Then the machine must restart. Instructions drive
    the guest's time, so that the minute passes as fast as the host can run."""
    stick = stick_with_options(tmp_path, "colour=red\n")
    with screen(SMALL, SMALL_PIXELS, [], *ONE_CORE, "--boot", "usb", "--image", stick, *qemu(*ICOUNT)) as shown:
        shown.wait_for_serial(b"If no key is pressed, this machine restarts within a minute.")
        # because of -no-reboot, a reset ends QEMU
        assert shown.wait_for_event("SHUTDOWN")["data"]["reason"] == "guest-reset"


@IMAGE_BUILT
def test_the_page_of_an_error_has_a_line_for_each_sentence(letters, tmp_path):
    stick = stick_with_options(tmp_path, "profile=quik\n")
    with screen(SMALL, SMALL_PIXELS, [], *ONE_CORE, *BY_INSTRUCTIONS_WITH_SLEEP, "--boot", "usb", "--image", stick) as shown:
        Reader(shown, letters).wait_for(lambda rows: any(same([row], ["Nothing was measured."]) for row in rows))
        shown.press("p")
        assert shown.wait_for_event("SHUTDOWN")["data"]["reason"] == "guest-shutdown"


def test_160x53_shows_clocks_that_disagree_with_findings_and_picture_beside_them_and_powers_off(letters):
    with screen(LARGE, LARGE_PIXELS, [*SHORT, "tsc_hz=2000000000"], *ONE_CORE, *BY_INSTRUCTIONS_WITH_SLEEP) as shown:
        reader = Reader(shown, letters)
        shown.wait_for_serial(b"BARETICK REPORT END")
        report = report_of(shown)
        # in a guest all timers count as one source, so it is unknown if they or the given rate are wrong
        assert report["verdict"] == "warn"
        picture = reader.title("Summary")
        check_bars(picture, report)
        check_clocks(reader, report)
        rows = reader.rows(picture)
        assert rows[1][81:] == "Findings" and rows[3][81:].startswith("warn  rate-disagree: By their nominal rates ")
        assert picture.cell(3, 81)[1] == INKS["warn"]
        assert any(row.startswith("Latency with the bracket") for row in rows)
        assert any(row[81:] == "TSC synchronisation of the cores" for row in rows)
        assert any("Timing a row of a database" in row[81:] for row in rows)
        # All sections of the page Summary start on its first screen, but the histogram may continue on the next screen.
        assert any(re.match(r"[<~]= +[\d.]+ ?[nmu]s\b", row) for row in rows), "\n".join(rows)
        shown.press("5")
        rows = reader.rows(reader.title("Findings"))
        assert rows[1][81:] == "Clocks by preference: by Linux's rating class, then by cost" and any(row.startswith("      What to do: ") for row in rows)
        shown.press("p")
        assert shown.wait_for_event("SHUTDOWN")["data"]["reason"] == "guest-shutdown"


@IMAGE_BUILT
def test_a_key_does_not_wait_for_the_serial_line(tmp_path):
    """The key R is pressed while the report is saved. The stick is slow (20 writes a second) until the key is pressed,
    so the serial line has sent no byte of a block yet. The machine must restart without waiting for the serial line."""
    slow = qemu("-set", "drive.stick.throttling.iops-write=20")
    with screen(SMALL, SMALL_PIXELS, [*SHORT, "cores=off", "clocks=tsc"], *ONE_CORE, "--boot", "usb", "--image",
                copy_of_stick(tmp_path), *slow) as shown:
        shown.wait_for_serial(b"Saving the report")
        shown.press("r")
        shown.ask("block_set_io_throttle", device="stick", bps=0, bps_rd=0, bps_wr=0, iops=0, iops_rd=0, iops_wr=0)
        assert shown.wait_for_event("SHUTDOWN")["data"]["reason"] == "guest-reset"
        said = shown.serial().replace(b"\r", b"")
    assert b"Report saved on the boot volume in \\baretick\\0001\n" in said
    assert re.findall(rb"^BARETICK ([A-Z]+) CUT after 0 of [1-9]\d+ bytes$", said, re.M) == [b"TEXT", b"CSV", b"RECORD", b"REPORT"]
    assert b" BEGIN" not in said.partition(b"Report saved")[2]


@IMAGE_BUILT
def test_the_shell_gets_its_own_screen_back_with_the_summary_above_its_prompt(letters, tmp_path):
    stick, script = copy_of_stick(tmp_path), tmp_path / "script"
    script.write_text("FS0:\r\nbaretick.efi\r\necho came back\r\n")
    if EFI_SHELL.exists():
        mtools(stick, "mcopy", "-o", EFI_SHELL, "::/EFI/BOOT/BOOTX64.EFI")
    else:
        mtools(stick, "mdeltree", "::/EFI")  # without a loader on the stick, the firmware starts its own shell
    mtools(stick, "mcopy", EFI, "::/baretick.efi")
    mtools(stick, "mcopy", script, "::/startup.nsh")
    with screen(SHELL, LARGE_PIXELS, [*SHORT, "cores=off"], *ONE_CORE, *BY_INSTRUCTIONS_WITH_SLEEP, "--boot", "usb", "--image", stick) as shown:
        reader = Reader(shown, letters)
        shown.wait_for_serial(b"BARETICK REPORT END")
        report = report_of(shown)
        shown.press("q")
        picture = reader.wait_for(lambda rows: any(same([row], ["came back"]) for row in rows))
        rows = from_verdict(reader.rows(picture))
        assert rows[0].startswith(f"verdict  {report['verdict'].upper()}, ")
        assert same([after_verdict(rows, report)], ["Report saved on the boot volume in \\baretick\\0001"])
        for clock in report["clocks"]:
            assert any(row.split(" ")[0] == clock["id"] and row.endswith(f" {word_of(clock)}") for row in rows), rows
        assert {picture.cell(row, column)[0] for row in range(SHELL[1]) for column in range(SHELL[0])} == {BLACK}
