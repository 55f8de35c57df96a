"""What baretick says on the serial line: the lines for people, and the blocks for programs.

A block stands between `BARETICK <NAME> BEGIN` and `BARETICK <NAME> END sha256=<hex>`; the sum is taken
over the lines between, each with its newline and without carriage returns.
"""
import copy
import hashlib
import re
import time

from results import reports

ESCAPE = re.compile(rb"\x1b(?:\[[0-9;?=]*[A-Za-z]|[()][0-9A-B]|[=>])")
# The firmware's chatter may leave its own text, or a cursor sequence, in front of the first line.
FIRST = re.compile(rb"(?:^|\x00)(baretick .*)$", re.DOTALL)
PHASE = re.compile(rb"^phase: ([a-z-]+)$")
BEGIN = re.compile(rb"^BARETICK ([A-Z]+) BEGIN$")
END = re.compile(rb"^BARETICK ([A-Z]+) END sha256=([0-9a-f]{64})$")
# From this line on the text is detail that fills many screens: src/render/sections/table_sections.h, TABLE_DURATIONS.
DETAIL = b"Durations of each clock's reads, as pg_test_timing prints them"
LASTING = ("show", "size", "begun")  # of a transcript, whatever becomes of the machine
POINTER = DETAIL + b": report.txt"


def printable(line):
    """LINE as text that is safe to show on a terminal."""
    plain = ESCAPE.sub(b"", line).decode("ascii", "replace")
    return "".join(c if c.isprintable() and ord(c) < 0x7F or c == "\t" else "?" for c in plain)


class Transcript:
    """Fed with serial bytes as they come; calls SHOW with each line that is for people."""

    def __init__(self, show):
        self.show = show
        self.begun = {}       # when each phase began first, by time.monotonic(); "" is the application's start
        self.size = 0         # bytes fed, the firmware's included
        self.last_line = ""   # for people, without progress
        self.error = ""       # the application's own sentence on why it did not run
        self.blocks = {}      # by name: the bytes of each block whose sum is right
        self.report = None    # the block REPORT, parsed, else None
        self.faults = []      # sentences on damaged blocks
        self._rest = bytearray()
        self._block = None    # name of the open block
        self._lines = []
        self._detail = False  # what follows in the text is not shown

    @property
    def started(self):
        """The application's first line was seen."""
        return "" in self.begun

    @property
    def complete(self):
        return self.report is not None and "TEXT" in self.blocks

    @property
    def over(self):
        """Nothing more is to come: the report is there, or the application said why there are none."""
        return self.complete or bool(self.error)

    def feed(self, data):
        self.size += len(data)
        if b"\n" not in data:
            self._rest += data
            return
        lines = (bytes(self._rest) + data).split(b"\n")
        self._rest = bytearray(lines.pop())
        for line in lines:
            self._line(line.replace(b"\r", b""))

    def mark(self):
        """What back_to() wants to have this moment again."""
        return copy.deepcopy({name: value for name, value in vars(self).items() if name not in LASTING})

    def back_to(self, mark):
        """The machine was set back to the moment of MARK: what it said since then it has never said."""
        vars(self).update(mark)

    def close(self):
        """The line is dead: what stands without a newline is a line too."""
        if self._rest:
            self._line(bytes(self._rest).replace(b"\r", b""))
            self._rest = bytearray()
        if self._block:
            self._abandon("ends in the middle")

    def _line(self, line):
        begin, end, phase = BEGIN.match(line), END.match(line), PHASE.match(line)
        if begin:
            self._begins("")
            if self._block:
                self._abandon("has no end")
            self._block, self._lines, self._detail = begin[1].decode(), [], False
        elif end:
            self._finish(end[1].decode(), end[2].decode())
        elif self._block:
            self._lines.append(line)
            if self._block == "TEXT":
                self._say_text(line)
        elif self.started and phase:
            self._begins(phase[1].decode())
        elif self.started and self.report is None:  # what follows the report is the firmware's again
            self._say(line)
        else:
            first = FIRST.search(ESCAPE.sub(b"\x00", line))
            if first:
                self._begins("")
                self._say(first[1].replace(b"\x00", b""))

    def _begins(self, phase):
        self.begun.setdefault(phase, time.monotonic())

    def _say(self, line):
        line = printable(line)
        if line.strip() and not line.startswith("progress: "):
            self.last_line = line.strip()
        if line.startswith("error: "):
            self.error = line[len("error: "):]
        self.show(line)

    def _say_text(self, line):
        if line == DETAIL:
            self._detail = True
            self._say(POINTER)
        if not self._detail:
            self._say(line)

    def _abandon(self, how):
        self.faults.append(f"the {self._block.lower()} on the serial line {how}")
        self._block = None

    def _finish(self, name, told):
        if name != self._block:
            self.faults.append(f"the {name.lower()} on the serial line has no beginning")
            return
        self._block = None
        data = b"".join(line + b"\n" for line in self._lines)
        found = hashlib.sha256(data).hexdigest()
        if found != told:
            self.faults.append(f"the {name.lower()} on the serial line is damaged: its SHA-256 is "
                               f"{found[:16]}..., the line says {told[:16]}...")
        elif name != "REPORT" or self._accept(data):
            self.blocks[name] = data

    def _accept(self, data):
        try:
            self.report = reports.parse(data)
        except ValueError as error:
            self.faults.append(f"the report on the serial line {error}")
        return self.report is not None
