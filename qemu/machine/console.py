"""What the runner shows and says: the guest's lines as they come, and sentences of its own."""
import os
import shutil
import sys


class Console:
    """Shows lines on STREAM, or nowhere; on a terminal the progress line is drawn over itself."""

    def __init__(self, stream, name="qemu/run"):
        self.stream, self.name, self.drawn = stream, name, False
        self.terminal = stream is not None and stream.isatty()
        self._last = None  # line that was shown

    def show(self, line):
        last, self._last = self._last, line
        if line == last and line.startswith("progress: "):
            return
        if self.terminal and line.startswith("progress: "):
            width = shutil.get_terminal_size().columns - 1
            self._write("\r" + line[len("progress: "):][:width] + "\x1b[K")
            self.drawn = True
            return
        self.finish()
        self._write(line + "\n")

    def finish(self):
        """Wipes the progress line, so that what comes next has a line of its own."""
        if self.drawn:
            self._write("\r\x1b[K")
            self.drawn = False

    def say(self, sentence):
        """A sentence of the runner's own."""
        self.finish()
        try:
            print(f"{self.name}: {' '.join(sentence.split())}", file=sys.stderr, flush=True)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())

    def _write(self, text):
        if self.stream is None:
            return
        try:
            self.stream.write(text)
            self.stream.flush()
        except BrokenPipeError:
            # Nobody reads any more: the run goes on, for its report.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            self.stream = None
