"""What QEMU says besides the serial line: its messages, in qemu.log and for the runner's own sentences."""
import os
import shlex

from results import files

KEPT_MAX = 16 << 20  # of them in the file; a QEMU that talks without end fills no disk
LAST_MAX = 64 << 10  # of them in memory


class Words:
    """FILE gets the first of them, and in the end the last."""

    def __init__(self, file):
        self._file, self._kept, self._left_out, self._last = file, 0, 0, b""

    def begin(self, command):
        """A process more is started."""
        self._last = b""
        files.write_all(self._file, os.fsencode(f"$ {shlex.join(command)}\n"))

    def take(self, data):
        self._last = (self._last + data)[-LAST_MAX:]
        kept = data[:KEPT_MAX - self._kept]
        self._kept += len(kept)
        self._left_out += len(data) - len(kept)
        if kept:
            files.write_all(self._file, kept)

    def close(self):
        if self._left_out:
            files.write_all(self._file, b"\n[%d bytes more; the last of them were:]\n%s" % (self._left_out, self._last))
            self._left_out = 0

    def lines(self):
        """Those of the process that was started last."""
        text = self._last.decode("utf-8", "replace")
        return [line.strip() for line in text.splitlines() if line.strip()]
