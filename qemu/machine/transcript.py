"""Parses baretick's output on the serial line: lines for people, and blocks for programs.

A block is between the lines `BARETICK <NAME> BEGIN` and `BARETICK <NAME> END sha256=<hex>`. The SHA-256 covers the lines in
between with their newlines, without carriage returns. If a user ended the output of a block early by a key at the machine, the
line `BARETICK <NAME> CUT after N of M bytes` comes in place of its END. Its BEGIN may be missing.
"""
import copy
import hashlib
import re
import time

from readers import console
from machine.events import PHASES
from results import reports

ESCAPE = re.compile(rb"\x1b(?:\[[0-9;?=]*[A-Za-z]|[()][0-9A-B]|[=>])")
# The firmware may print its own text or a cursor sequence in front of the application's first line.
FIRST = re.compile(rb"(?:^|\x00)(baretick .*)$", re.DOTALL)
PHASE = re.compile(rb"^phase: ([a-z-]+)$")
SLOW = re.compile(rb"^instruction: (\d{1,9}) TSC ticks$")
LEFT = re.compile(r"^progress: \d{1,3}% .*, (\d{1,9}) s left")
BEGIN = re.compile(rb"^BARETICK ([A-Z]+) BEGIN$")
END = re.compile(rb"^BARETICK ([A-Z]+) END sha256=([0-9a-f]{64})$")
CUT = re.compile(rb"^BARETICK ([A-Z]+) CUT after (\d{1,9}) of (\d{1,9}) bytes$")
# The first line of EDK II's exception handler, which then stops the processor (UefiCpuPkg, CpuExceptionHandlerLib).
CRASH = re.compile(rb"^!!!! X64 Exception Type - (.+?) *(?:CPU Apic ID.*)?$")
# Messages of EDK II. It prints REFUSED, and does not start the application, if the firmware's keys do not trust the image.
UNBOOTABLE = b"No bootable option or device was found"
REFUSED = re.compile(rb"(?:Access Denied|Security Violation)")
# Start of the line that the UEFI application prints on the firmware's console before it reads anything.
STARTING = b"Starting baretick "
# First line of the last part of the text report (TABLE_DURATIONS in src/render/sections/table_sections.h). This part fills many
# screens, so POINTER is shown in its place.
DETAIL = b"Durations of each clock's reads with the bracket, in pg_test_timing's format"
NOT_RESTORED = ("show", "size")  # fields that keep their values when the machine returns to a snapshot
POINTER = DETAIL + b": report.txt"


# Limits for the output of a machine: the length of a line, the length of a block, and the number of reported faults.
LINE_MAX = 256 << 10
BLOCK_MAX = reports.SIZE_MAX
ERROR = "error: "
# This prefix is removed from error messages, because it would not help the user, who gave the options after `--`. qemu/run passed
# them on by fw_cfg.
FROM_RUNNER = "In fw_cfg opt/baretick/options: "
BLOCKS = ("TEXT", "CSV", "RECORD", "REPORT", "COMPACT")  # with serial=compact, COMPACT comes in place of REPORT
FAULTS_MAX = 5
NAME_MAX = 32
PLAIN = bytes(c if 0x20 <= c < 0x7F else ord(" ") if c == ord("\t") else ord("?") for c in range(256))


def make_printable(line):
    """Return LINE as text that is safe to show on a terminal."""
    return ESCAPE.sub(b"", line).translate(PLAIN).decode("ascii")


class Transcript:
    """Parses the serial line's bytes, which parse_bytes() receives. Calls SHOW with each line that is meant for people."""

    def __init__(self, show):
        self.show = show
        self.phase_starts = {}  # time of the first start of each phase, by time.monotonic(); "" is the application's start
        self.size = 0         # number of received bytes, including the output of the firmware
        self.last_line = ""   # last line that was meant for people, except lines of progress
        self.last_progress = ""  # last line of progress, or last start of a phase, since last_line
        self.instruction_ticks = None  # TSC ticks of one instruction, if the application found that this is long
        self.left_s = None    # seconds that the run still takes, by its last line of progress, or None
        self.error = ""       # the sentence in which the application gives the reason why it did not run
        self.blocks = {}      # the bytes of each block whose SHA-256 is correct, by its name in BLOCKS
        self.report = None    # the parsed block REPORT, or None
        self.refused = ""     # the firmware's message if it refused an unsigned application
        self.crash = None  # the exception that stopped the firmware, or None
        self.is_starting = False  # true after the line STARTING
        self.unbootable = False  # true if the firmware reported that there is nothing to boot
        self.faults = []      # sentences about damaged blocks, each with the reason
        self._budget = reports.Budget()  # limits for all reports on the serial line
        self.left_early = False  # true if a key cut off a block
        self._rest = bytearray()
        self._cut = False     # true if the current line is too long
        self._block = None    # name of the block whose END has not arrived, or None
        self._body = None     # the bytes of this block so far, or None if they are too many
        self._detail = False  # true while the part of the text that starts with DETAIL is received, which is not shown

    @property
    def has_started(self):
        """True if the application's first line was seen."""
        return "" in self.phase_starts

    @property
    def is_measuring(self):
        """True if a phase started, and no part of the report was seen."""
        return len(self.phase_starts) > 1 and not self.blocks and not self._block and not self.is_output_over

    @property
    def is_report_complete(self):
        return self.report is not None and "TEXT" in self.blocks

    @property
    def is_output_over(self):
        """True if no more output will come: the report is complete, the application has printed why there is no report, or a
        key has cut a block off.
        """
        return self.is_report_complete or bool(self.error) or self.left_early

    def parse_bytes(self, data):
        self.size += len(data)
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._append_to_line(line)
            self._end_line()
        self._append_to_line(rest)

    def _append_to_line(self, data):
        """Append DATA to the current line."""
        self._cut |= len(self._rest) + len(data) > LINE_MAX
        self._rest += data[:max(0, LINE_MAX - len(self._rest))]

    def _end_line(self):
        line, cut = bytes(self._rest.replace(b"\r", b"")), self._cut
        self._rest.clear()
        self._cut = False
        if cut and self._block:
            self._body = None
        elif cut:
            line += b"..."
        self._parse_line(line)

    def use_blocks_from_stick(self, blocks):
        """Use BLOCKS from the stick, in place of blocks from the serial line. Raise ValueError if the report is damaged."""
        self.report = reports.parse_report(blocks["REPORT"])
        self.blocks = blocks
        for line in blocks["TEXT"].splitlines():
            self._show_summary_line(line)

    def save_state(self):
        """Return the present state, which restore_state() can restore."""
        return {name: copy.copy(value) for name, value in vars(self).items() if name not in NOT_RESTORED}

    def restore_state(self, mark):
        """Restore MARK, the result of save_state() at the time of a snapshot. The machine has returned to this snapshot, and will
        print its output since the snapshot again.
        """
        vars(self).update(mark)

    def drop_all_output(self):
        """Forget the output of a machine that was reset. The application will start again."""
        self.restore_state(Transcript(None).save_state())

    def close(self):
        """Handle the end of the serial line. A last line without a newline counts."""
        if self._rest:
            progress = self.last_progress
            self._end_line()
            self.last_progress = self.last_progress and progress  # a line of progress without a newline may be incomplete
        if self._block:
            self._drop_block("ends in the middle")

    def _parse_line(self, line):
        begin, end, cut, phase = (kind.match(line) for kind in (BEGIN, END, CUT, PHASE))
        if not self.crash and (words := CRASH.match(line)):
            self.crash = make_printable(words[1])
        if begin:
            self._note_phase_start("")
            if self._block:
                self._drop_block("has no end")
            self._block, self._body, self._detail = begin[1].decode(), bytearray(), False
        elif end:
            self._end_block(end[1].decode(), end[2].decode())
        elif cut and self.has_started:
            self._handle_block_cut_by_key_press(*(part.decode() for part in cut.groups()))
        elif self._block:
            self._append_to_block(line)
            if self._block == "TEXT":
                self._show_summary_line(line)
        elif self.has_started and phase:
            if phase[1].decode() in PHASES:
                self._note_phase_start(phase[1].decode())
            self.last_progress = make_printable(line)
        elif self.has_started and not self.blocks and (slow := SLOW.match(line)):
            self.instruction_ticks = int(slow[1])
        elif self.has_started and self.report is None:  # the firmware prints again after the report, which is not shown
            self._show_line(line)
        else:
            first = FIRST.search(ESCAPE.sub(b"\x00", line))
            if first:
                self._note_phase_start("")
                self._show_line(first[1].replace(b"\x00", b""))
            elif not self.has_started and STARTING in line:
                self.is_starting = True
            elif not self.has_started and UNBOOTABLE in line:
                self.unbootable = True
            elif not self.has_started and not self.refused and (words := REFUSED.search(line)):
                self.refused = words[0].decode()

    def _note_phase_start(self, phase):
        self.phase_starts.setdefault(phase, time.monotonic())

    def _show_line(self, line):
        line = make_printable(line)
        if left := LEFT.match(line):
            self.left_s = int(left[1])
        if line.startswith("progress: "):
            self.last_progress = line.strip()
        # A line at the end of the output may be only the start of a line of progress.
        elif line.strip() and not "progress: ".startswith(line):
            self.last_line, self.last_progress = line.strip(), ""
        if line.startswith(ERROR):  # not shown here, because the runner prints it once, at the end
            self.error = line.removeprefix(ERROR).removeprefix(FROM_RUNNER)
            return
        self.show(line)

    def _show_summary_line(self, line):
        if line == DETAIL:
            self._detail = True
            self._show_line(POINTER)
        if not self._detail:
            self._show_line(line)

    def _append_to_block(self, line):
        if self._block not in BLOCKS or self._body is not None and len(self._body) + len(line) >= BLOCK_MAX:
            self._body = None
        if self._body is not None:
            self._body += line
            self._body += b"\n"

    def _add_block_fault(self, name, how):
        if len(self.faults) < FAULTS_MAX:
            self.faults.append(f"the {name.lower()[:NAME_MAX]} on the serial line {how}")

    def _drop_block(self, how):
        self._add_block_fault(self._block, how)
        self._block = None

    def _handle_block_cut_by_key_press(self, name, sent, size):
        """Handle the block NAME, which a key at the machine cut off."""
        self._add_block_fault(name, f"was cut by a key at the machine, after {sent} of {size} bytes")
        self._block, self.left_early = None, True

    def _end_block(self, name, told):
        if name != self._block:
            self._add_block_fault(name, "has no beginning")
            return
        self._block = None
        if name not in BLOCKS:
            return  # an unknown block, which a later release may send
        if self._body is None:
            self._add_block_fault(name, f"is longer than {BLOCK_MAX >> 20} MiB, or has a line of more than {LINE_MAX >> 10} KiB")
            return
        data, self._body = bytes(self._body), None
        found = hashlib.sha256(data).hexdigest()
        if found != told:
            self._add_block_fault(name, f"is damaged: its SHA-256 is {found[:16]}..., the line says {told[:16]}...")
        elif name == "COMPACT":
            self._decompress_report(data)
        elif name != "REPORT" or self._parse_report(data, self._budget):
            self.blocks[name] = data

    def _decompress_report(self, data):
        """Decompress the report that the option serial=compact prints, and use it as the block REPORT."""
        try:
            body = console.decompress_report(b"".join(line.partition(b":")[2] for line in data.splitlines()), self._budget)
        except ValueError as error:
            self._add_block_fault("output", str(error))
            return
        if self._parse_report(body, None):  # decompress_report() has subtracted it from the budget
            self.blocks["REPORT"] = body

    def _parse_report(self, data, budget):
        try:
            self.report = reports.parse_report(data, budget)
        except ValueError as error:
            self._add_block_fault("REPORT", str(error))
        return self.report is not None
