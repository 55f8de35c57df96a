"""Writes the runner's output: the guest's lines as soon as they arrive, and the runner's own sentences."""
import os
import select
import shutil
import sys
import time

from machine import interruption
from results.sanitize import clean_text

PIECE = 512     # bytes of a write; a stream that is ready accepts this many without blocking
PATIENCE_S = 0.1


class Console:
    """Shows lines on STREAM. If STREAM is None, shows nothing. On a terminal the progress line is redrawn in place. If the
    program that reads STREAM is slow, writing waits until DEADLINE (time.monotonic()). After that, nothing more is written, but
    the run continues, because its report is needed.
    """

    def __init__(self, stream, name="qemu/run"):
        self.stream, self.name, self.drawn = stream, name, False
        self.deadline = float("inf")
        self.terminal = stream is not None and stream.isatty()
        self._errors = sys.stderr
        self._last = None  # the last line that was shown

    def show_line(self, line):
        last, self._last = self._last, line
        if line == last and line.startswith("progress: "):
            return
        line = clean_text(line)
        if self.terminal and line.startswith("progress: "):
            width = shutil.get_terminal_size().columns - 1
            self._write_output("\r" + line[len("progress: "):][:width] + "\x1b[K")
            self.drawn = True
            return
        self.erase_progress()
        self._write_output(line + "\n")

    def erase_progress(self):
        """Erase the progress line, so that the next output starts on an empty line."""
        if self.drawn:
            self._write_output("\r\x1b[K")
            self.drawn = False

    def print_sentence(self, sentence):
        """Show SENTENCE, a message of qemu/run itself."""
        self.erase_progress()
        if not self._write_to_stream(self._errors, f"{self.name}: {clean_text(' '.join(sentence.split()))}\n"):
            self._errors = None

    def _write_output(self, text):
        if not self._write_to_stream(self.stream, text):
            self.stream = None

    def _write_to_stream(self, stream, text):
        """Write TEXT. Return False if the program that read the output has ended."""
        if stream is None:
            return False
        data = text.encode(stream.encoding or "ascii", "backslashreplace")
        ready = select.poll()
        try:
            ready.register(stream.fileno(), select.POLLOUT)
            while data:
                if ready.poll(PATIENCE_S * 1000):
                    data = data[os.write(stream.fileno(), data[:PIECE]):]
                elif interruption.is_requested() or time.monotonic() >= self.deadline:
                    return False
        except OSError:
            return False
        return True
