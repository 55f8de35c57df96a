"""Makes the output of qemu/fleet: 80 columns, the worst rows first, a limited number of rows."""
import textwrap

from lab import words
from results.sanitize import clean

WIDTH = 80
ROWS_MAX = 20      # most rows of each part; the page has all
SENTENCES_MAX = 3  # most sentences of each row


def wrapped(text, first="", rest=None):
    return textwrap.wrap(clean(text), WIDTH, initial_indent=first, subsequent_indent=rest if rest is not None else " " * len(first),
                         break_on_hyphens=False)


def part(title, rows):
    """Print ROWS of (heading, sentence) below TITLE, grouped by heading. Print nothing without rows."""
    found = {}
    for heading, sentence in rows:
        found.setdefault(heading, []).append(sentence)
    if not found:
        return
    yield ""
    yield title
    for heading in list(found)[:ROWS_MAX]:
        yield from wrapped(heading, "  ", "    ")
        for sentence in found[heading][:SENTENCES_MAX]:
            yield from wrapped(sentence, "    ", "      ")
        if len(found[heading]) > SENTENCES_MAX:
            yield f"    ... and {len(found[heading]) - SENTENCES_MAX:,} more of it"
    if len(found) > ROWS_MAX:
        yield f"  ... and {len(found) - ROWS_MAX:,} more, in the page"


def lines(answers, new, taken, again, refused, folder):
    """Yield the lines of the summary."""
    yield (f"{words.count(taken, 'report')} taken, {again:,} in already, {refused:,} skipped; "
           f"{answers.runs:,} in the data set")
    yield f"{words.count(answers.known, 'machine')} known, of {words.count(answers.kind_count, 'kind')}"
    if answers.unknown:
        yield from wrapped(words.unknown(answers.unknown))
    if answers.not_done:
        yield f"{words.count(answers.not_done, 'run')} not done"
    for sentence in words.reservations(answers):
        yield from wrapped(sentence)

    def mark(kind, row, what):
        return "new: " if (kind, row["who"], what, row["subject"]) in new else ""
    yield from part("Unlike their kind", [
        *((mark("figure", row, row["measure"]) + answers.name(row["run"]), words.outlier(row)) for row in answers.outliers),
        *((mark("trait", row, row["measure"]) + answers.name(row["run"]), words.unlike(row)) for row in answers.unlike)])
    if not answers.outliers and not answers.unlike:
        yield ""
        yield "No machine is proven to be unlike its kind."
    yield from part("Two groups in one kind", ((row["kind"], words.group(row)) for row in answers.groups))
    yield from part("Failed", ((mark("failure", row, row["rule"]) + answers.name(row["run"]), words.failure(row))
                               for row in answers.failures))
    yield from part("Kernels whose rate of the TSC is off", ((answers.name(row["run"]), words.kernel(row))
                                                             for row in answers.kernels))
    for span in ("the run before", "last week"):
        yield from part(f"Changed since {span}", ((answers.name(row["run"]), words.change(row))
                                                  for row in answers.changes if row["span"] == span))
    yield from part("What a version did", ((step, sentence) for step, _, said in words.versions(answers.versions) for sentence in said))
    yield from part("Not determined: fewer than five machines of a kind are known",
                    ((row["kind"] if row["kind"] != "-" else "of no vendor or product", f"{words.count(row['machines'], 'machine')} known")
                     for row in words.undetermined(answers.kinds)))
    yield ""
    yield from wrapped(f"{len(new):,} of the outliers and failures {'is' if len(new) == 1 else 'are'} new. "
                       f"The page: {folder}/fleet.html")
