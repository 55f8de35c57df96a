"""Writes the runner's output: lines of the guest as they come, and sentences of the runner."""
import os
import select
import shutil
import sys
import time

from machine import interruption
from results.sanitize import clean

PIECE = 512     # bytes of a write; a stream that is ready accepts so many without a wait
PATIENCE_S = 0.1


class Console:
    """Shows lines on STREAM, or nowhere. On a terminal the progress line is redrawn in place. If the reader is slow, it waits
    until UNTIL (time.monotonic()) and then stops writing. The run goes on, because its report is needed."""

    def __init__(self, stream, name="qemu/run"):
        self.stream, self.name, self.drawn = stream, name, False
        self.until = float("inf")
        self.terminal = stream is not None and stream.isatty()
        self._errors = sys.stderr
        self._last = None  # the line shown last

    def show(self, line):
        last, self._last = self._last, line
        if line == last and line.startswith("progress: "):
            return
        line = clean(line)
        if self.terminal and line.startswith("progress: "):
            width = shutil.get_terminal_size().columns - 1
            self._show("\r" + line[len("progress: "):][:width] + "\x1b[K")
            self.drawn = True
            return
        self.finish()
        self._show(line + "\n")

    def finish(self):
        """Erase the progress line, so that the next output starts on an empty line."""
        if self.drawn:
            self._show("\r\x1b[K")
            self.drawn = False

    def say(self, sentence):
        """Show a sentence of the runner."""
        self.finish()
        if not self._write(self._errors, f"{self.name}: {clean(' '.join(sentence.split()))}\n"):
            self._errors = None

    def _show(self, text):
        if not self._write(self.stream, text):
            self.stream = None

    def _write(self, stream, text):
        """Return False if the reader is gone."""
        if stream is None:
            return False
        data = text.encode(stream.encoding or "ascii", "backslashreplace")
        ready = select.poll()
        try:
            ready.register(stream.fileno(), select.POLLOUT)
            while data:
                if ready.poll(PATIENCE_S * 1000):
                    data = data[os.write(stream.fileno(), data[:PIECE]):]
                elif interruption.asked() or time.monotonic() >= self.until:
                    return False
        except OSError:
            return False
        return True
