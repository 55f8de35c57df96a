"""Judges a run again: baretick-replay makes a new report from the record (the raw readings) that the run saved with its report."""
import os
import stat
import subprocess
import tempfile

from results import files, reports

RECORD = ".record"  # extension of a record: report.record is next to report.json
WAIT_S = 60         # time limit for one record, in seconds
NAME = "baretick-replay: "  # start of each sentence in which the program says why there is no report
STATUS = {"pass": 0, "warn": 0, "fail": 1, "incomplete": 2}  # exit status of the program for each verdict


class Damaged(Exception):
    """No report can be made from a record. The message is a sentence with the reason."""


class Rejudged:
    """Counts reports that were judged again, reports without a record, and damaged records."""

    def __init__(self, program):
        self.program = program
        self.again = self.without = 0
        self.damaged = []  # for each damaged record, its path and a sentence with the reason

    def add(self, other):
        self.again += other.again
        self.without += other.without
        self.damaged += other.damaged


def find_record_of_report(path):
    """Return the path of the record next to the JSON report PATH, or None. Links are not followed."""
    stem, extension = os.path.splitext(path)
    record = os.path.abspath(stem + RECORD)
    if extension.lower() != ".json":
        return None
    try:
        return record if stat.S_ISREG(os.lstat(record).st_mode) else None
    except (OSError, ValueError):
        return None


def make_report_files(program, record, folder):
    """Let PROGRAM make the files of the report in FOLDER from the file RECORD. Return the JSON report. Raise Damaged unless PROGRAM
    ends with the status of the report's verdict, because a program that dies may leave a report, too.
    """
    try:
        done = subprocess.run([program, record, "--out", folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, timeout=WAIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Damaged(f"took longer than {WAIT_S} s.") from None
    reasons = [line.removeprefix(NAME).removeprefix(f"{record}: ")
               for line in done.stderr.decode(errors="replace").splitlines() if line.startswith(NAME)]
    try:
        if done.returncode < 0:
            raise Damaged(f"{NAME}signal {-done.returncode} ended the program.")
        data = files.read_file(os.path.join(folder, "report.json"), reports.SIZE_MAX)
        if reasons or STATUS.get(reports.parse_report(data)["verdict"]) != done.returncode:
            raise FileNotFoundError
        return data
    except (FileNotFoundError, ValueError):
        raise Damaged(reasons[-1] if reasons else f"{NAME}the program ended with status {done.returncode}.") from None


def make_report_from_record(program, record):
    """Return the JSON report that PROGRAM makes from the file RECORD. See make_report_files()."""
    with tempfile.TemporaryDirectory(prefix="baretick-") as folder:
        return make_report_files(program, record, folder)
