"""What a run leaves behind: the same files in its folder whatever happened, and what other programs read."""
import json
import os
import pathlib
import sys

from machine.boot import EXIT_FAIL
from machine.command import Wrong, same_file
from machine.console import Console
from results import baseline, cases, junit, page, reports, summary, tap
from runner.arguments import BUILD, INPUTS, OUTPUTS

FILES = ["report.json", "report.html", "report.txt", "report.csv"]
LOGS = ["serial.log", "qemu.log"]
CSV_HEADER = b"run,clock,core,metric,value,low,high,unit\n"  # of a run that measured nothing: src/render/csv/csv.c


def clear(run):
    """What an earlier run left must not be taken for this one's."""
    try:
        os.makedirs(run.out, exist_ok=True)
        for name in [*FILES, *LOGS, "stick.img"]:
            path = os.path.join(run.out, name)
            if os.path.lexists(path) and not (run.image and same_file(path, run.image)):
                os.remove(path)
        for name in LOGS:
            with open(os.path.join(run.out, name), "wb"):
                pass
    except OSError as error:
        raise Wrong(f"--out: {error.filename} cannot be written: {error.strerror}") from error


def check_outputs(run):
    """Whether the files that options name can be written. One that can't isn't tried again, and its name is said."""
    taken = {os.path.realpath(os.path.join(run.out, name)): "--out" for name in [*FILES, *LOGS]}
    for name in INPUTS:
        if getattr(run, name):
            taken.setdefault(os.path.realpath(getattr(run, name)), f"--{name}")
    wrong = []
    for name in [name for name in OUTPUTS if getattr(run, name)]:
        path = getattr(run, name)
        other = taken.setdefault(os.path.realpath(path), f"--{name}")
        flaw = f"it is {other}'s" if other != f"--{name}" else None if path != "-" else "it is no file's name"
        flaw = flaw or why_not_written(path, name == "summary")
        if not flaw and name == "screenshot" and not path.lower().endswith(".png"):
            flaw = "a picture is a PNG, and its name ends in .png"
        if flaw:
            wrong.append(f"--{name}: {path} cannot be written: {flaw}")
            setattr(run, name, None)
    if wrong:
        raise Wrong(wrong[0])


def why_not_written(path, appended):
    try:
        with open(path, "ab"):
            pass
        if not appended and os.path.isfile(path) and not os.path.islink(path):
            os.remove(path)  # an earlier run's must not be taken for this one's
    except OSError as error:
        return error.strerror
    return None


def leave(run, console, accelerator, status, problem, elapsed_s):
    """Writes the report in every form; the exit status, which a comparison may make worse."""
    if run.rules and not problem:
        return status  # the list was shown
    said = run.transcript
    whole = said is not None and said.report is not None and not said.faults
    blocks = said.blocks if said else {}
    text = blocks.get("TEXT") or f"No report: {problem}.\n".encode(errors="backslashreplace")
    if whole:
        report, body = said.report, blocks["REPORT"]
    else:
        report = reports.incomplete(problem, accelerator, round(elapsed_s * 1000))
        body = (json.dumps(report, indent=2) + "\n").encode("ascii")
    template = page.read_template(os.path.join(BUILD, "page.html"))
    reports.write(os.path.join(run.out, "report.json"), body)
    reports.write(os.path.join(run.out, "report.html"), page.render(template, body) if template else page.bare(text))
    reports.write(os.path.join(run.out, "report.txt"), text)
    reports.write(os.path.join(run.out, "report.csv"), blocks.get("CSV") or CSV_HEADER)
    comparison = None
    if run.baseline and whole and not problem:
        comparison = compare(run, console, report)
        status = EXIT_FAIL if comparison.worse else status
    if said:
        console.show(place(run.out, whole))
    hand_on(run, report, problem, comparison, elapsed_s)
    return status


def compare(run, console, report):
    comparison = baseline.Comparison(run.before, report, run.tolerance or baseline.TOLERANCE)
    for note in comparison.notes:
        console.say(f"beside the baseline, {note}")
    for sentence in comparison.worse:
        console.say(f"worse than the baseline: {sentence}")
    return comparison


def place(out, whole):
    """Where the report is, and how its page is looked at; else where to look for what went wrong."""
    if not whole:
        return (f"What there is of the run is in {out}: serial.log (all that the machine said), "
                "qemu.log (QEMU's command line and what it said), and report.json, which has the reason")
    address = pathlib.Path(out, "report.html").absolute().as_uri()
    return f"The report is in {out}: {', '.join(FILES)}\nOpen the page in a browser: {address}"


def hand_on(run, report, problem, comparison, elapsed_s):
    found = cases.of(report, problem, comparison, run.event)
    if run.junit:
        with open(run.junit, "wb") as file:
            file.write(junit.render(found, elapsed_s))
    if run.summary:
        with open(run.summary, "a", encoding="ascii") as file:
            file.write(summary.render(report, problem, comparison))
    if run.tap:
        Console(sys.stdout).show(tap.render(found))
