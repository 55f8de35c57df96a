"""Reads the reports on a stick's image with mtools. The contents come through a pipe, so no file of the image is
written to disk.
"""
import os
import subprocess
import threading

from results import reports

LIST_MAX = 1 << 20   # maximum number of bytes of a list of names
REPORTS_MAX = 10_000  # maximum number of reports on one stick
WAIT_S = 60          # time limit for a list, because damaged folders can form a circle
PARTITIONS = ("@@1M", "")  # offset of the file system, in an image of `make image`, and in an image without a partition table


class UnreadableStick(Exception):
    """The stick cannot be read; the message is a sentence that says why."""


def _run_mtools(words, size_max):
    """Return at most SIZE_MAX + 1 bytes of mtools' output, or None if it failed or did not finish in time."""
    try:
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env={"PATH": "/usr/bin:/bin", "MTOOLS_SKIP_CHECK": "1", "LC_ALL": "C.UTF-8"}) as process:
            killer = _start_timer(WAIT_S, process.kill)
            try:
                data = process.stdout.read(size_max + 1)
            finally:
                killer.cancel()
                process.kill() if len(data) > size_max else None
            return data if process.wait() == 0 or len(data) > size_max else None
    except FileNotFoundError as error:
        raise UnreadableStick("cannot be read: there are no mtools (the package mtools)") from error


def _start_timer(seconds, call):
    timer = threading.Timer(seconds, call)
    timer.daemon = True
    timer.start()
    return timer


class Report:
    """A report on a stick. LEFT is a list with the number of bytes that may still be read from this stick. It starts with the
    stick's size, because the files of a damaged file system may share their bytes.
    """

    def __init__(self, path, partition, name, left):
        self._path, self._partition, self.name, self._left = path, partition, name, left

    def decode_json(self):
        """Return the bytes of the report. Raise ValueError if it cannot be read."""
        data = read_file(self._path, self._partition, self.name, reports.SIZE_MAX)
        self._left[0] -= len(data)
        if self._left[0] < 0:
            raise ValueError("is not read, because the reports before it have more bytes than the stick")
        return data


def list_reports(path):
    """Return a Report for each JSON report in the stick's folder baretick, and for each table (.csv) that has no JSON report of the
    same name.
    """
    left = [os.path.getsize(path)]
    return [Report(path, partition, name, left) for partition, name in list_report_names(path)]


def list_report_names(path):
    """Return (partition, name) for each report that list_reports() returns."""
    for partition in PARTITIONS:
        data = _run_mtools(["mdir", "-/", "-b", "-i", path + partition, "::/baretick"], LIST_MAX)
        if data is not None:
            break
    else:
        raise UnreadableStick("has no folder baretick that mtools can read")
    if len(data) > LIST_MAX:
        raise UnreadableStick("has too many files in its folder baretick: its folders may form a loop")
    every = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    found = [name for name in every if name.lower().endswith(".json")]
    json = {name[:-5].lower() for name in found}
    found += [name for name in every if name.lower().endswith(".csv") and name[:-4].lower() not in json]
    return [(partition, name) for name in sorted(found)[:REPORTS_MAX]]


def read_file(path, partition, name, size_max):
    """Return the bytes of the file NAME in PARTITION of the image PATH."""
    data = _run_mtools(["mtype", "-i", path + partition, name], size_max)
    if data is None:
        raise ValueError("cannot be read by mtools")
    if len(data) > size_max:
        raise ValueError(f"is longer than {size_max >> 20} MiB")
    return data
