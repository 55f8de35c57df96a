"""Collects QEMU's own messages, for the file qemu.log and for the runner's sentences."""
import os
import shlex

from results import files

KEPT_MAX = 16 << 20  # maximum number of bytes in the file, so that endless messages do not fill the disk
LAST_MAX = 64 << 10  # number of the latest bytes that are kept in memory


class QemuMessages:
    """Writes the first KEPT_MAX bytes of QEMU's messages to FILE, and on close() also the last LAST_MAX bytes."""

    def __init__(self, file):
        self._file, self._kept, self._left_out, self._last = file, 0, 0, b""

    def write_command_line(self, command):
        """Write a command line to the file, before its QEMU process starts."""
        self._last = b""
        files.write_all_bytes(self._file, os.fsencode(f"$ {shlex.join(command)}\n"))

    def add_output(self, data):
        self._last = (self._last + data)[-LAST_MAX:]
        kept = data[:KEPT_MAX - self._kept]
        self._kept += len(kept)
        self._left_out += len(data) - len(kept)
        if kept:
            files.write_all_bytes(self._file, kept)

    def close(self):
        if self._left_out:
            files.write_all_bytes(self._file, b"\n[%d bytes more; the last of them were:]\n%s" % (self._left_out, self._last))
            self._left_out = 0

    def list_lines(self):
        """Return the last lines that the latest QEMU process has printed."""
        text = self._last.decode("utf-8", "replace")
        return [line.strip() for line in text.splitlines() if line.strip()]
