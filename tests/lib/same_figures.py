"""Collects the figures of a text report by clock and by name. A name is the heading of a column or a phrase. A clock
must not have two different figures under one name."""
import re

FIGURE = r"[\d.]+ ?[num]?p?s"
COLUMN = re.compile(r"a read|read in|at least|\S+")  # matches a column's heading: three headings have two words, all others one
SENTENCES = (rf"\b(\w+): ({FIGURE}) a read", rf"Linux takes (\w+) \(({FIGURE})\)")


def find_columns(head):
    """Return (name, start, end) of each column after the first. If a name occurs twice in HEAD, only its first column
    is returned: in the table of stolen time, the second is without the reads that were hit."""
    found, start = [], 0
    for match in COLUMN.finditer(head):
        found.append((match[0], start, match.end()))
        start = match.end()
    names = [name for name, _, _ in found]
    return [column for i, column in enumerate(found) if i and names.index(column[0]) == i]


def get_cell(line, start, end):
    """Return the figure below a heading. A figure may extend beyond its column."""
    def whole(at):
        return line.find(" ", at) if " " in line[at:] else len(line)
    return line[whole(start):whole(end)].strip()


def read_table_figures(lines, clocks):
    """Yield (name, clock, figure) of each cell in tables with a row for each clock."""
    head = []
    for line in lines:
        if line.startswith("clock "):
            # a clock may have several rows in a table with a column "source", and a row for each divergence of clocks
            head = [] if " source " in line or " advanced by " in line else find_columns(line)
        elif not line:
            head = []
        name = line.split(" ", 1)[0].rstrip("!")
        if name in clocks:
            yield from ((column, name, get_cell(line, start, end)) for column, start, end in head)


def read_boot_core_figures(lines, clocks):
    """Yield (name, clock, figure) of the boot core's row in the table of cores."""
    for above, head, row in zip(lines, lines[1:], lines[2:]):
        if re.fullmatch(r" +core( +p50 +p99)+", head) and re.match(r" +\d+\* ", row) and set(above.split()) <= set(clocks):
            names = [(column, clock) for clock in above.split() for column in ("p50", "p99")]
            figures = re.findall(rf"{FIGURE}|(?<= )-(?= |$)", row.partition("*")[2])
            yield from ((column, clock, figure) for (column, clock), figure in zip(names, figures, strict=True))


def read_sentence_figures(text, report, clocks):
    """Yield (name, clock, figure) of sentences. A figure is of the row by whose method a kernel reads the clock."""
    rows = {"hpet": "hpet_32"} if "hpet_32" in clocks else {}
    of_linux = {row["clock"]: row["read_by"] for row in report["taken"] if row["system"].startswith("Linux")}
    for sentence, row_of in zip(SENTENCES, (rows, of_linux), strict=True):
        yield from (("a read", row_of.get(clock, clock), figure) for clock, figure in re.findall(sentence, text))


def collect_figures(text, report):
    """Return all figures as {(name, clock): [figure, ...]}."""
    present = [clock["id"] for clock in report["clocks"] if clock["state"] == "present"]
    lines, flowing = text.splitlines(), " ".join(text.split())
    found = {}
    for name, clock, figure in [*read_table_figures(lines, present), *read_boot_core_figures(lines, present),
                                *read_sentence_figures(flowing, report, present)]:
        found.setdefault((name, clock), []).append(figure.replace(" ", ""))
    return found


def check_figures(text, report):
    """Assert that no clock has two different figures under one name."""
    found = collect_figures(text, report)
    assert {key: figures for key, figures in found.items() if len(set(figures)) > 1} == {}
    return found
