"""Finds reports in the log of a serial console: the block REPORT, and the lines of serial=compact, which src/render/json/compact.h
describes.

For the lines of serial=compact, the log may have a time stamp in front of each line, and lines of a kernel between the lines of the
report. The log may also be in a JSON string. A damaged report results in a sentence with the reason.
"""
import base64
import hashlib
import re
import zlib

from results import reports

COLUMNS = 72
# Three alternatives: the first line of a report, a line of its body, and its last line. They consist only of characters that log
# programs do not escape when they wrap a log.
MARK = re.compile(rb"(?P<begin>BARETICK COMPACT BEGIN)|bt(?P<number>[0-9]{4,5}):(?P<text>[A-Za-z0-9_-]{1,72})|"
                  rb"BARETICK COMPACT END sha256(?:=|\\u003d)(?P<sum>[0-9a-f]{64})")
LINES_MAX = 10_000  # maximum number of lines of a report; a report has at most 48 KiB, about 700 lines
CUT = " The console may keep only the end of its log."
BLOCK_BEGIN = re.compile(rb"^BARETICK REPORT BEGIN\r?\n", re.MULTILINE)
BLOCK_END = re.compile(rb"^BARETICK REPORT END sha256=([0-9a-f]{64})\r?$", re.MULTILINE)


class Block:
    """The block REPORT in a log: the lines between its BEGIN and its END."""

    def __init__(self, body, checksum, budget):
        self._body, self._sum = body, checksum   # the checksum is None if the log ends before END
        self._budget = budget  # limits for all reports of the log

    def decode_json(self):
        """Return the report in JSON. Raise ValueError if it is damaged."""
        if self._sum is None:
            raise ValueError("has a block REPORT without an end")
        self._budget.spend(len(self._body), reports.count_values(self._body))
        if hashlib.sha256(self._body).hexdigest().encode() != self._sum:
            raise ValueError("has a damaged block REPORT: its SHA-256 is not the one in its last line")
        return self._body


class Compact:
    """The lines of one report in a log. Some lines may be missing."""

    def __init__(self, budget):
        self.budget = budget  # limits for all reports of the log
        self.lines = {}   # text of each line, by line number
        self.sum = None   # SHA-256 in the last line; None if the log ends before it

    def add_line(self, number, text):
        """Add the line NUMBER. Return False if this line belongs to another report: it is line 1, and this report already has
        several lines, or this report has another text for the line NUMBER.
        """
        if self.lines.get(number, text) != text or number == 1 and len(self.lines) > 1:
            return False
        self.lines[number] = text
        return True

    def decode_json(self):
        """Return the report in JSON. Raise ValueError if it is damaged."""
        if not self.lines:
            raise ValueError("has a compact report without lines" + ("" if self.sum else " and without an end"))
        last = max(self.lines)
        if last > LINES_MAX:
            raise ValueError(f"has a compact report with more than {LINES_MAX:,} lines")
        missing = [number for number in range(1, last + 1) if number not in self.lines]
        if missing:
            begins = missing[0] == 1 and missing[-1] == len(missing)
            raise ValueError(f"has a compact report without {format_line_numbers(missing)} of {last}{'' if self.sum else ' or more'}."
                             f"{CUT if begins else ''}")
        if self.sum is None:
            raise ValueError(f"has a compact report that ends after line {last}, before its last line")
        for number in range(1, last):
            if len(self.lines[number]) != COLUMNS:
                raise ValueError(f"has a compact report whose line {number} of {last} is cut, or has other text in it")
        body = b"".join(b"bt%04d:%s\n" % (number, self.lines[number]) for number in range(1, last + 1))
        if hashlib.sha256(body).hexdigest().encode() != self.sum:
            raise ValueError("has a damaged compact report: its SHA-256 is not the one in its last line")
        return decompress_report(b"".join(self.lines[number] for number in range(1, last + 1)), self.budget)


def format_line_numbers(numbers):
    more = f" and {len(numbers) - 1} other lines" if len(numbers) > 2 else f" and line {numbers[1]}" if len(numbers) == 2 else ""
    return f"line {numbers[0]}{more}"


def decompress_report(text, budget):
    """Return the JSON of the report that TEXT has in compressed form, and subtract it from BUDGET. Raise ValueError if it is
    damaged, or larger than BUDGET.
    """
    budget.check()
    unzip = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        data = unzip.decompress(base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4)), reports.SIZE_MAX + 1)
    except (ValueError, zlib.error) as error:
        budget.spend(reports.SIZE_MAX, 0)  # it may have taken as long as the largest report
        raise ValueError(f"has a compact report that cannot be unpacked: {error}") from error
    budget.spend(len(data), reports.count_values(data))
    if len(data) > reports.SIZE_MAX:
        raise ValueError(f"has a compact report that is longer than {reports.SIZE_MAX >> 20} MiB")
    if not unzip.eof:
        raise ValueError("has a compact report whose packed text has no end")
    return data


def remove_nul_bytes(data):
    """Return DATA without the zeros of UTF-16, the encoding in which some shells save a log."""
    return data.replace(b"\0", b"")


def is_console_log(data):
    """Return True if DATA is the log of a console with at least a part of a report."""
    data = remove_nul_bytes(data)
    if BLOCK_BEGIN.search(data):
        return True
    if b"bt0" not in data and b"BARETICK COMPACT" not in data or b'"baretick.report/' in data[:200]:
        return False  # a report in JSON is no log; its label may contain the words of a log, so the start of DATA is checked
    return any(mark["begin"] or mark["sum"] or len(mark["text"]) == COLUMNS for mark in MARK.finditer(data))


def find_reports(data):
    """Return a Block or Compact for each report in the log DATA, including damaged ones. Raise ValueError if there are too many."""
    data = remove_nul_bytes(data)
    return find_blocks(data) or find_compact_reports(data)


def find_blocks(data):
    found, budget = [], reports.Budget()
    begins = list(BLOCK_BEGIN.finditer(data))
    if len(begins) > reports.COUNT_MAX:
        raise ValueError(f"has more than {reports.COUNT_MAX:,} blocks REPORT")
    for begin, following in zip(begins, [*begins[1:], None]):
        end = BLOCK_END.search(data, begin.end(), following.start() if following else len(data))
        body = data[begin.end():end.start() if end else len(data)].replace(b"\r", b"")
        found.append(Block(body, end and end[1], budget))
    return found


def find_compact_reports(data):
    found, budget = [], reports.Budget()
    current = None
    for mark in MARK.finditer(data):
        if len(found) > reports.COUNT_MAX:
            raise ValueError(f"has more than {reports.COUNT_MAX:,} compact reports")
        if mark["number"]:
            number, text = int(mark["number"]), mark["text"]
            if current is None or not current.add_line(number, text):
                current = Compact(budget)
                current.add_line(number, text)
                found.append(current)
        elif mark["begin"]:
            current = Compact(budget)
            found.append(current)
        else:
            if current is None:
                current = Compact(budget)
                found.append(current)
            current.sum = mark["sum"]
            current = None
    return found
