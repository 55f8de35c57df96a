"""Makes the output of qemu/fleet: 80 columns, the worst rows first, a limited number of rows."""
import textwrap

from lab import migration, words
from results.sanitize import clean_text

WIDTH = 80
ROWS_MAX = 20      # maximum number of rows of each part of the summary; fleet.html has all rows
SENTENCES_MAX = 3  # maximum number of sentences of each row


def wrap_text(text, first="", rest=None):
    return textwrap.wrap(clean_text(text), WIDTH, initial_indent=first, subsequent_indent=rest if rest is not None else " " * len(first),
                         break_on_hyphens=False)


def format_section(title, rows):
    """Print ROWS of (heading, sentence) below TITLE, grouped by heading. Print nothing without rows."""
    found = {}
    for heading, sentence in rows:
        found.setdefault(heading, []).append(sentence)
    if not found:
        return
    yield ""
    yield title
    for heading in list(found)[:ROWS_MAX]:
        yield from wrap_text(heading, "  ", "    ")
        for sentence in found[heading][:SENTENCES_MAX]:
            yield from wrap_text(sentence, "    ", "      ")
        if len(found[heading]) > SENTENCES_MAX:
            yield f"    ... and {len(found[heading]) - SENTENCES_MAX:,} more"
    if len(found) > ROWS_MAX:
        yield f"  ... and {len(found) - ROWS_MAX:,} more, in the page"


def format_summary(answers, new, taken, again, refused, folder):
    """Yield the lines of the summary."""
    yield (f"{words.format_count(taken, 'report')} added, {again:,} already stored, {refused:,} skipped; "
           f"{answers.runs:,} in the data set")
    yield f"{words.format_count(answers.known, 'machine')} known, of {words.format_count(answers.kind_count, 'kind')}"
    if answers.unknown:
        yield from wrap_text(words.describe_unknown_machines(answers.unknown))
    if answers.not_done:
        yield f"{words.format_count(answers.not_done, 'run')} not done"
    for sentence in words.describe_limitations(answers):
        yield from wrap_text(sentence)

    def format_new_mark(kind, row, what):
        return "new: " if (kind, row["who"], what, row["subject"]) in new else ""
    yield from format_section("Unlike their kind", [
        *((format_new_mark("figure", row, row["measure"]) + answers.get_machine_name(row["run"]), words.describe_outlier(row)) for row in answers.outliers),
        *((format_new_mark("trait", row, row["measure"]) + answers.get_machine_name(row["run"]), words.describe_unusual_trait(row)) for row in answers.unlike)])
    if not answers.outliers and not answers.unlike:
        yield ""
        yield "No machine is proven to be unlike its kind."
    yield from format_section("Two groups in one kind", ((row["kind"], words.describe_two_machine_groups(row)) for row in answers.groups))
    yield from format_section("Failed", (
        (format_new_mark("failure", row, row["rule"]) + answers.get_machine_name(row["run"]), words.describe_failure(row))
        for row in answers.failures))
    yield from format_section("Not done", ((answers.get_machine_name(row["run"]), row["reason"]) for row in answers.undone))
    yield from format_section("Kernels whose rate of the TSC is off", ((answers.get_machine_name(row["run"]), words.describe_kernel_tsc_rate(row))
                                                                       for row in answers.kernels))
    yield from format_section("Migration of a guest without TSC scaling", migration.describe_pairs(
        [(answers.get_machine_name(row["run"]), (row["hz_value"], row["hz_low"], row["hz_high"])) for row in answers.tsc_rates]))
    for span in ("the run before", "last week"):
        yield from format_section(f"Changed since {span}", ((answers.get_machine_name(row["run"]), words.describe_machine_change(row))
                                                            for row in answers.changes if row["span"] == span))
    yield from format_section("Effects of version changes", (
        (step, sentence) for step, _, said in words.describe_version_changes(answers.versions) for sentence in said))
    yield from format_section("Not determined: fewer than five machines of a kind are known",
                              ((row["kind"] if row["kind"] != "-" else "vendor or product unknown", f"{words.format_count(row['machines'], 'machine')} known")
                               for row in words.find_kinds_with_few_machines(answers.kinds)))
    yield ""
    yield from wrap_text(f"{len(new):,} of the outliers and failures {'is' if len(new) == 1 else 'are'} new. "
                       f"The page: {folder}/fleet.html")
