"""Writes the files of a run: a fixed set of files in its folder, and files for other programs."""
import base64
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import sys
import textwrap

from machine.boot import EXIT_FAIL, EXIT_NOT_DONE, EXIT_PASS
from machine.command import UserError
from machine.console import Console
from results import baseline, cases, files, junit, page, reports, summary, tap
from results.sanitize import clean_text
from runner import folder
from runner.arguments import BUILD, OUTPUTS
from runner.folder import FILES, INPUTS, LOGS, RECORD

# Maps each byte of a block to a printable byte, so that no file has escape sequences for terminals.
PLAIN = bytes(c if c == ord("\n") or 0x20 <= c < 0x7F else ord(" ") if c == ord("\t") else ord("?") for c in range(256))
COLUMNS = 79
NO_BREAK = "\u00a0"  # textwrap breaks no line at this space
# Units of the answer, which no line break may part from their number. src/render/layout/layout.c has the same rule.
UNITS = r"(?:%|[pnum]?s|[kMG]?Hz|pp[mb])"
ANSWER_MAX = 600  # maximum number of characters of the answer's line; the application writes fewer (src/report/report.h, struct report_answer)
# Header of the CSV for a run without results, as in src/render/csv/csv.c.
CSV_HEADER = b"run,clock,core,metric,value,low,high,unit,machine\n"


def check_outputs(run):
    """Raise UserError if a file that an option names cannot be written. Before that, remove such options from RUN, because the
    caller writes the error into the other files."""
    taken = {os.path.realpath(os.path.join(run.out, name)): "--out" for name in [*FILES, RECORD, *LOGS]}
    for name in INPUTS:
        if getattr(run, name):
            taken.setdefault(os.path.realpath(getattr(run, name)), f"--{name}")
    wrong = []
    for name in [name for name in OUTPUTS if getattr(run, name)]:
        path = getattr(run, name)
        other = taken.setdefault(os.path.realpath(path), f"--{name}")
        flaw = f"{other} uses this file" if other != f"--{name}" else None if path != "-" else "it is not a file name"
        flaw = flaw or explain_unwritable_file(run, path, name == "summary")
        if not flaw and name == "screenshot" and not path.lower().endswith(".png"):
            flaw = "a picture is a PNG, and its name ends in .png"
        if flaw:
            wrong.append(f"--{name}: {path} cannot be written: {flaw}")
            setattr(run, name, None)
    if wrong:
        raise UserError(*wrong)


def explain_unwritable_file(run, path, added):
    try:
        files.open_output(path, True, is_in_run_folder(run, path)).close()
        if not added and os.path.isfile(path) and not os.path.islink(path):
            os.remove(path)  # removed, so that the file of an earlier run is not taken for a new file
    except OSError as error:
        return error.strerror
    except ValueError as error:
        return str(error)
    return None


def is_in_run_folder(run, path):
    """Return True if PATH is in the run's folder. The runner makes no links in this folder, so the caller refuses a link there."""
    return os.path.realpath(os.path.dirname(os.path.abspath(path))) == os.path.realpath(run.out)


def save_results(run, console, accelerator, status, problem, elapsed_s):
    """Write the report in all formats. Return the exit status and the problem, or None if there is no problem. The status is
    worse than STATUS if the report is worse than the baseline."""
    if run.list and not problem:
        return status, None  # there is no report to write, because baretick only printed a list
    transcript = run.transcript
    whole = transcript is not None and transcript.report is not None and not transcript.faults
    blocks = transcript.blocks if transcript else {}
    text = (blocks.get("TEXT") or f"No report: {problem}.\n".encode("ascii", "backslashreplace")).translate(PLAIN)
    if whole:
        report, body = transcript.report, blocks["REPORT"]
    else:
        report = reports.make_incomplete_report(problem, accelerator, round(elapsed_s * 1000))
        body = (json.dumps(report, indent=2) + "\n").encode("ascii")
    record = decode_record(blocks, report) if whole else None
    flaw = save_report(run, whole, body, text, (blocks.get("CSV") or CSV_HEADER).translate(PLAIN), record)
    if whole and "RECORD" in blocks and record is None and not flaw:
        flaw = "the record of the run is lost: its SHA-256 is not the one in the report"
    if flaw:
        console.print_sentence(flaw)
        status, problem = EXIT_NOT_DONE if status in (EXIT_PASS, EXIT_FAIL) else status, problem or flaw
    comparison = None
    if run.baseline and whole and not problem:
        comparison = compare_with_baseline(run, console, report)
        status = EXIT_FAIL if comparison.regression_sentences else status
    if run.fail_on == "warn" and report["verdict"] == "warn" and whole and not problem and status == EXIT_PASS:
        console.print_sentence("the verdict is warn, and --fail-on warn was given")
        status = EXIT_FAIL
    flaw = explain_stolen_time(run, report) if whole and not problem else None
    if flaw:
        console.print_sentence(flaw)
        status, problem = (EXIT_NOT_DONE, flaw) if status == EXIT_PASS else (status, problem)
    if transcript:
        for line in format_report_location(run.out, whole):
            console.show_line(line)
    last = None if whole else folder.find_last_report(run.out)
    if last:
        console.show_line(f"The report of the last run is in {last}")
    flaw = write_outputs(run, report, problem, comparison, elapsed_s)
    if flaw:
        console.print_sentence(flaw)
        status, problem = EXIT_NOT_DONE if status in (EXIT_PASS, EXIT_FAIL) else status, problem or flaw
    for line in format_short_answer(report):
        console.show_line(line)
    return status, problem


def decode_record(blocks, report):
    """Return the bytes of report.record, or None if they are missing or their SHA-256 is not the one in REPORT."""
    expected = report.get("record")
    try:
        record = base64.b64decode(blocks.get("RECORD", b""))
    except ValueError:
        return None
    return record if isinstance(expected, dict) and hashlib.sha256(record).hexdigest() == expected.get("sha256") else None


def save_report(run, whole, body, text, csv, record):
    """Write the files of the report. If no machine was started, keep the report of an earlier run. Return a sentence if a file
    could not be written.
    """
    if not run.cleared:
        if folder.has_report(run.out):
            return None
        folder.empty_folder(run)
    flaw = write_report_files(run, body, page.read_template(os.path.join(BUILD, "page.html")), text, csv, record)
    return flaw


def write_report_files(run, body, template, text, csv, record):
    """Write the files of the report. Return a sentence if a file could not be written. If report.json could not be replaced,
    overwrite the present report.json with that sentence."""
    written = False
    try:
        files.replace_file(os.path.join(run.out, "report.json"), body)
        written = True
        html = page.insert_report(template, body) if template else page.make_minimal_page(text)
        files.replace_file(os.path.join(run.out, "report.html"), html)
        files.replace_file(os.path.join(run.out, "report.txt"), text)
        files.replace_file(os.path.join(run.out, "report.csv"), csv)
        if record:
            files.replace_file(os.path.join(run.out, RECORD), record)
    except OSError as error:
        flaw = f"the report cannot be written: {files.format_error(error)}"
        if not written:
            with contextlib.suppress(OSError):
                folder.write_incomplete_report(run, flaw)
        return flaw
    return None


def compare_with_baseline(run, console, report):
    comparison = baseline.Comparison(run.before, report, run.tolerance or baseline.TOLERANCE)
    for note in comparison.notes:
        console.print_sentence(f"about the comparison: {note}")
    for sentence in comparison.regression_sentences:
        console.print_sentence(f"worse than the baseline: {sentence}")
    if comparison.sentence_without_regressions:
        console.print_sentence(comparison.sentence_without_regressions)
    return comparison


def explain_stolen_time(run, report):
    """Return a sentence if more time was stolen than --max-stolen allows. Such a host slowed down the measurements, so a pass
    means little. A failure stays a failure, because the whole interval of the failed value is beyond its limit.
    """
    if run.max_stolen is None:
        return None
    stolen = reports.get_stolen_percent(report)
    if stolen is None:
        return "it is not known how much time was stolen: --max-stolen cannot be checked"
    if stolen <= run.max_stolen:
        return None
    return (f"{stolen:g} % of the observed time was stolen, more than the {run.max_stolen:g} % of --max-stolen: "
            "measure again on a host that is less busy")


def format_short_answer(report):
    """Return the last lines for the terminal: the short answer in the report, or nothing if there is no report."""
    answer = report.get("answer") or {}
    text = re.sub(rf"(?<=\d) (?={UNITS}(?![A-Za-z]))", NO_BREAK, clean_text(answer.get("text") or "", ANSWER_MAX))
    return [line.replace(NO_BREAK, " ") for line in textwrap.wrap(text, COLUMNS)]


def format_report_location(out, whole):
    """Return lines that say where the report is and how to open its page, or where to look for the cause of a problem."""
    if not whole:
        return [f"The files of the run are in {out}: serial.log (the machine's output), "
                "qemu.log (QEMU's command line and messages), and report.json, which has the reason"]
    address = pathlib.Path(out, "report.html").absolute().as_uri()
    left = [*FILES, RECORD] if os.path.exists(os.path.join(out, RECORD)) else FILES
    earlier = os.path.join(out, folder.EARLIER)
    before = [f"The report of the run before is in {earlier}. The page compares both: choose {earlier}/report.json there. To compare the next run "
              f"with this one: qemu/run --baseline {out}/report.json"] if folder.has_report(earlier) else []
    return [*before, f"The report is in {out}: {', '.join(left)}", f"Open the page in a browser: {address}"]


def write_outputs_without_run(run, problem):
    """Write the same files as write_outputs(), for a call that started no run."""
    run.event = []
    return write_outputs(run, reports.make_incomplete_report(problem, None, 0), problem, None, 0.0)


def write_outputs(run, report, problem, comparison, elapsed_s):
    """Write the files for other programs. Return a sentence if a file could not be written."""
    found = cases.make_cases(report, problem, comparison, run.event, run.fail_on)
    run.suite = functools.partial(junit.make_suite, found, elapsed_s, cases.collect_properties(report))
    outputs = [("junit", False, lambda: junit.format_junit(found, elapsed_s, cases.collect_properties(report))),
               ("summary", True, lambda: summary.format_summary(report, problem, comparison).encode("ascii"))]
    flaws = []
    for name, added, render in outputs:
        path = getattr(run, name)
        try:
            if path:
                with files.open_output(path, added, is_in_run_folder(run, path)) as file:
                    files.write_all_bytes(file, render())
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            flaws.append(f"--{name}: {path} cannot be written: {why}")
    if run.tap:
        lines = Console(sys.stdout)
        for line in tap.format_tap(found):
            lines.show_line(line)
    return "; ".join(flaws)
