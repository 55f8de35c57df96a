"""What a run leaves behind: the same files in its folder whatever happened, and what other programs read."""
import json
import os
import pathlib
import sys

import baseline
import junit
import page
import results
import summary
import tap
from arguments import BUILD
from boot import EXIT_FAIL
from command import Wrong
from console import Console

FILES = ["report.json", "report.html", "report.txt", "report.csv"]
LOGS = ["serial.log", "qemu.log"]
CSV_HEADER = b"run,clock,core,metric,value,low,high,unit\n"  # of a run that measured nothing: src/csv.c


def clear(run):
    """What an earlier run left must not be taken for this one's."""
    try:
        os.makedirs(run.out, exist_ok=True)
        for name in [*FILES, *LOGS, "stick.img"]:
            path = os.path.join(run.out, name)
            if os.path.lexists(path):
                os.remove(path)
        for name in LOGS:
            with open(os.path.join(run.out, name), "wb"):
                pass
    except OSError as error:
        raise Wrong(f"--out: {error}") from error


def leave(run, console, accelerator, status, problem, elapsed_s):
    """Writes the report in every form; the exit status, which a comparison may make worse."""
    said = run.transcript
    whole = said is not None and said.report is not None and not said.faults
    blocks = said.blocks if said else {}
    text = blocks.get("TEXT") or f"No report: {problem}.\n".encode(errors="backslashreplace")
    if whole:
        report, body = said.report, blocks["REPORT"]
    else:
        why = problem or "the rules were asked for, and nothing was measured"
        report = results.incomplete(why, accelerator, round(elapsed_s * 1000))
        body = (json.dumps(report, indent=2) + "\n").encode("ascii")
    template = page.read_template(os.path.join(BUILD, "page.html"))
    results.write(os.path.join(run.out, "report.json"), body)
    results.write(os.path.join(run.out, "report.html"), page.render(template, body) if template else page.bare(text))
    results.write(os.path.join(run.out, "report.txt"), text)
    results.write(os.path.join(run.out, "report.csv"), blocks.get("CSV") or CSV_HEADER)
    comparison = None
    if run.baseline and whole and not problem:
        comparison = compare(run, console, report)
        status = EXIT_FAIL if comparison.worse else status
    if whole and not problem and console.stream and not run.tap:
        console.show(place(run.out))
    hand_on(run, report, problem, comparison, elapsed_s)
    return status


def compare(run, console, report):
    comparison = baseline.Comparison(run.before, report, run.tolerance or baseline.TOLERANCE)
    for note in comparison.notes:
        console.say(f"beside the baseline, {note}")
    for sentence in comparison.worse:
        console.say(f"worse than the baseline: {sentence}")
    return comparison


def place(out):
    """Where the report is, and how its page is looked at."""
    shown = min(out, os.path.relpath(out), key=len)
    address = pathlib.Path(out, "report.html").absolute().as_uri()
    return f"The report is in {shown}: {', '.join(FILES)}\nOpen the page in a browser: {address}"


def hand_on(run, report, problem, comparison, elapsed_s):
    cases = results.cases(report, problem, comparison)
    if run.junit:
        with open(run.junit, "wb") as file:
            file.write(junit.render(cases, elapsed_s))
    if run.summary:
        with open(run.summary, "a", encoding="ascii") as file:
            file.write(summary.render(report, problem, comparison))
    if run.tap:
        Console(sys.stdout).show(tap.render(cases))
