"""Operates a guest like a user at its screen and keyboard. It sends keys, and reads text from the pixels of the
screen."""
import contextlib
import functools
import hashlib
import json
import operator
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time

from harness import FAST_TCG
from machine import command
from runner import arguments

# size of a character cell in pixels: UEFI 2.10, 34.3.1, EFI_GLYPH_WIDTH and EFI_GLYPH_HEIGHT
GLYPH_COLUMNS, GLYPH_ROWS = 8, 19
BOUND_S = 300
POLL_S = 0.05


class Picture:
    """The pixels of one screen, divided into character cells. The text area is in the middle of the screen."""

    def __init__(self, path, columns, rows):
        data = path.read_bytes()
        magic, size, depth, self.pixels = data.split(b"\n", 3)
        assert (magic, depth) == (b"P6", b"255"), data[:20]
        self._width, height = map(int, size.split())
        self.columns, self.rows = columns, rows
        self._left = (self._width - columns * GLYPH_COLUMNS) // 2
        self._top = (height - rows * GLYPH_ROWS) // 2
        self._lines = {}

    def _row_pixels(self, row):
        line = 3 * self._width
        first = (self._top + row * GLYPH_ROWS) * line
        return self.pixels[first:first + GLYPH_ROWS * line]

    def row_key(self, row):
        """Return a key that rows have in common only if they look the same in the same text mode."""
        return self.columns, hashlib.sha256(self._row_pixels(row)).digest()

    def cell(self, row, column):
        """Return (background colour, text colour, shape) of a cell. An empty cell has its background as text colour."""
        if row not in self._lines:
            pixels, line = self._row_pixels(row), 3 * self._width
            self._lines[row] = [pixels[at:at + line] for at in range(0, len(pixels), line)]
        first = 3 * (self._left + column * GLYPH_COLUMNS)
        part = operator.itemgetter(slice(first, first + 3 * GLYPH_COLUMNS))
        return decode(b"".join(map(part, self._lines[row])))


class Torn(Exception):
    """A cell has several text colours, because the picture was taken while the firmware moved its rows."""


@functools.lru_cache(maxsize=None)  # a cache saves time, because most cells have one of a few contents
def decode(cell):
    pixels = [cell[at:at + 3] for at in range(0, len(cell), 3)]
    background = pixels[0]  # the first pixel of a cell always has the background colour
    inks = set(pixels) - {background}
    if len(inks) > 1:
        raise Torn(inks)
    lines = [pixels[at:at + GLYPH_COLUMNS] for at in range(0, len(pixels), GLYPH_COLUMNS)]
    shape = bytes(sum((pixel != background) << x for x, pixel in enumerate(line)) for line in lines)
    return background, (inks or {background}).pop(), shape


class Glyphs:
    """The shapes of the firmware's letters, which are learned from a screen with known text. The text of each row is kept by a
    digest of the row's pixels, because most rows are in many pictures."""

    def __init__(self):
        self._letters, self._texts = {bytes(GLYPH_ROWS): " "}, {}

    def learn(self, picture, row, text):
        key = picture.row_key(row)
        if self._texts.get(key) == text.rstrip():
            return
        for column, letter in enumerate(text):
            shape = picture.cell(row, column)[2]
            assert self._letters.setdefault(shape, letter) == letter, (row, column, letter)
        self._texts[key] = text.rstrip()

    def learn_all(self, picture, lines):
        """Learn the letters from LINES, the known text below the title."""
        for row, line in enumerate(lines, 1):
            self.learn(picture, row, line.ljust(picture.columns))

    def read(self, picture, row):
        """Return the text of ROW. An unknown letter becomes a tilde."""
        key = picture.row_key(row)
        text = self._texts.get(key)
        if text is None:
            text = "".join(self._letters.get(picture.cell(row, column)[2], "~") for column in range(picture.columns)).rstrip()
            if "~" not in text:  # its letter may be learned later
                self._texts[key] = text
        return text


class Screen:
    """A guest with a screen. SIZE is the number of columns and rows of the screen's text mode."""

    def __init__(self, folder, process, near, size):
        self._folder, self._process, self._socket, self._size = folder, process, near, size
        self._messages = near.makefile("rw")
        self._messages.readline()  # skips the greeting of QEMU's protocol
        self.events = []
        self.ask("qmp_capabilities")

    def _hear(self):
        message = json.loads(self._messages.readline())
        if "event" in message:
            self.events.append(message)
        return message

    def ask(self, name, **values):
        self._messages.write(json.dumps({"execute": name, "arguments": values}) + "\n")
        self._messages.flush()
        while "return" not in (message := self._hear()):
            assert "event" in message, message

    def wait_for_serial(self, *texts):
        """Wait until the output on the serial line contains one of TEXTS."""
        end = time.monotonic() + BOUND_S
        while not any(text in self.serial() for text in texts):
            assert time.monotonic() < end and self._process.poll() is None, self.serial()[-2000:]
            time.sleep(POLL_S)

    def serial(self):
        return (self._folder / "serial").read_bytes()

    def text(self):
        """Return the lines of the text report on the serial line."""
        said = self.serial().replace(b"\r", b"").decode("ascii", "replace")
        return said.split("BARETICK TEXT BEGIN\n")[1].split("BARETICK TEXT END")[0].splitlines()

    def press(self, *keys):
        for key in keys:
            self.ask("send-key", keys=[{"type": "qcode", "data": part} for part in key.split("+")], **{"hold-time": 20})
            time.sleep(2 * POLL_S)

    def save(self, path):
        self.ask("screendump", filename=str(path), format="png")

    def picture(self):
        path = self._folder / "picture"
        self.ask("screendump", filename=str(path))
        return Picture(path, *self._size)

    def wait_until(self, holds, say):
        """Return the first picture that makes HOLDS(picture) true. If there is no such picture in time, fail with the
        message SAY(last picture). A picture is judged only if it has changed, because reading its text takes most of the
        time."""
        end, judged = time.monotonic() + BOUND_S, None
        while True:
            picture = self.picture()
            if picture.pixels != judged:
                judged = picture.pixels
                with contextlib.suppress(Torn):
                    if holds(picture):
                        return picture
            assert time.monotonic() < end, say(picture)
            time.sleep(POLL_S)

    def processor_share(self, seconds):
        """Return the share of a host's processor that the guest uses within SECONDS."""
        before = self._processor_seconds()
        time.sleep(seconds)
        return (self._processor_seconds() - before) / seconds

    def _processor_seconds(self):
        fields = pathlib.Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def wait_for_event(self, name):
        self._socket.settimeout(BOUND_S)
        while not (found := [event for event in self.events if event["event"] == name]):
            self._hear()
        return found[0]


@contextlib.contextmanager
def screen(size, pixels, words, *more):
    """Start a guest with the options WORDS and a screen of PIXELS whose text mode is SIZE. The guest ends with the
    `with` block."""
    video = ["-vga", "none", "-device", f"VGA,edid=on,xres={pixels[0]},yres={pixels[1]}"]
    run = arguments.parse_run_arguments([*map(str, [*FAST_TCG, *more]), *(f"--qemu-arg={word}" for word in video), "--", "exit=ask", *words])
    arguments.read_baseline(run)
    arguments.check_run(run)
    arguments.prepend_runner_options(run)
    near, far = socket.socketpair()
    private = command.PrivateFiles()
    with tempfile.TemporaryDirectory(prefix="baretick-") as name, near, far, contextlib.closing(private):
        folder = pathlib.Path(name)
        run.out = str(folder)
        near.settimeout(BOUND_S)
        with open(folder / "serial", "wb") as serial:
            words = command.build_command(run, "tcg", private, far.fileno())
            process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=serial,
                                       pass_fds=[far.fileno(), *private.fds], start_new_session=True)
        try:
            far.close()
            yield Screen(folder, process, near, size)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
