"""Prepares the folder of a run (option --out), and locks it, so that only one run at a time uses it. A report in the folder is
replaced only by a new report.
"""
import contextlib
import fcntl
import json
import os
import shutil
import stat

from machine import command
from machine.command import UserError
from results import files, reports
from results.sanitize import clean_text

FILES = ["report.json", "report.html", "report.txt", "report.csv"]
# The file with the raw readings. A machine with many cores does not send it.
RECORD = "report.record"
LOGS = ["serial.log", "qemu.log"]
STICK = "stick.img"
EARLIER = "earlier"  # subfolder of DIR that keeps the last report until there is a newer report
INPUTS = ("qemu", "efi", "image", "firmware", "baseline", "matrix")
# Size of the report.json that is written at a run's start. If the run fails, its reason replaces these bytes, so that it
# can be saved even if the disk is full by then. At first the reason is NOT_ENDED.
RESERVED = 4096
REASON_MAX = 1000
NOT_ENDED = "the run was ended before it could leave its report"


class Unwritable(UserError):
    """The folder cannot be written, so there is no place for the report."""

    def __init__(self, error):
        super().__init__(f"--out: {error.filename} cannot be written: {error.strerror}")


class Folder:
    """The folder of RUN. It is locked until close(), so that no other run uses it."""

    def __init__(self, run):
        self._lock = None
        try:
            if run.inner and os.path.islink(run.out):
                raise UserError(f"--out: {run.out} is a link, and not the folder that the runner has made")
            os.makedirs(run.out, exist_ok=True)
            self._lock = lock_folder(run.out)
            check_inputs(run)
        except OSError as error:
            self.close()
            raise Unwritable(error) from error
        except UserError:
            self.close()
            raise

    def close(self):
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def lock_folder(out):
    """Return a descriptor that locks the folder OUT while it is open. The lock is on the folder itself, so no lock file stays
    behind.
    """
    fd = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        by = describe_lock_holder(os.fstat(fd))
        os.close(fd)
        raise UserError(f"--out: {out} is in use by another run{by}") from None
    except OSError:
        pass  # ignored, because this file system has no locks
    return fd


def describe_lock_holder(status):
    """Return a text about the process that locks a file, from the kernel's list /proc/locks (proc(5)). STATUS is the result of
    os.stat() for the file."""
    inode = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        with open("/proc/locks", encoding="ascii") as locks:
            rows = [line.split() for line in locks]
        pid = next(row[4] for row in rows if row[1] == "FLOCK" and row[5] == inode)
        with open(f"/proc/{int(pid)}/cmdline", "rb") as file:
            words = os.fsdecode(file.read(REASON_MAX)).replace("\0", " ").strip()
    except (OSError, StopIteration, IndexError, ValueError):
        return ""
    return f": process {pid}, {clean_text(words)}"


def check_inputs(run):
    """Raise UserError if an input of the run is also an output, under any name."""
    variables = None
    with contextlib.suppress(UserError, OSError):
        variables = command.find_variables_file(run.firmware) if run.firmware else None
    inputs = [*((f"--{name}", getattr(run, name)) for name in INPUTS), ("--firmware", variables)]
    inputs[0] = "--qemu", shutil.which(run.qemu)
    wrong = []
    kept = [os.path.join(EARLIER, name) for name in [*FILES, RECORD, *LOGS]]
    for name in [*FILES, RECORD, *LOGS, STICK, *kept, *(f"{name}.new" for name in [*FILES, RECORD, STICK])]:
        path = os.path.join(run.out, name)
        for option, given in inputs:
            if given and is_same_file(given, path) and not allows_overwriting_input(run, option, given, name):
                wrong.append(f"{option}: {given} is {path}, which this run would overwrite")
    if wrong:
        raise UserError(*dict.fromkeys(wrong))


def is_same_file(one, other):
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def allows_overwriting_input(run, option, given, name):
    """Return True if the input GIVEN may also be the output NAME. A baseline may be the last report, because the baseline is
    read before the folder is emptied. An image may be the stick of the last run, because QEMU writes to it without a copy.
    """
    if option == "--baseline":
        return name in (FILES[0], os.path.join(EARLIER, FILES[0])) and not os.path.islink(os.path.join(run.out, name))
    return option == "--image" and name == STICK and is_stick_of_last_run(given, run.out)


def is_stick_of_last_run(image, out):
    """Return True if IMAGE is the stick that an earlier run left in OUT, and not a link to a file elsewhere."""
    path = os.path.join(out, STICK)
    status = os.lstat(path) if os.path.lexists(path) else None
    return bool(status and stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and is_same_file(image, path))


def empty_folder(run):
    """Empty DIR, so that files of an earlier run are not taken for files of this run. A report is moved to DIR/earlier."""
    run.cleared = True
    try:
        if has_report(run.out):
            move_report_to_earlier(run.out)
        for name in [*FILES, RECORD, *LOGS, STICK, *(f"{name}.new" for name in [*FILES, RECORD])]:
            path = os.path.join(run.out, name)
            if os.path.lexists(path) and not (name == STICK and run.image and is_stick_of_last_run(run.image, run.out)):
                os.remove(path)
        for name in LOGS:
            files.create_file(os.path.join(run.out, name)).close()
        if not run.list:
            with files.create_file(os.path.join(run.out, FILES[0])) as file:
                files.write_all_bytes(file, make_incomplete_report_bytes(NOT_ENDED).ljust(RESERVED))
    except OSError as error:
        raise Unwritable(error) from error


def has_report(folder):
    """Return True if FOLDER has a report with measurements. Return False if it has no report, or a report with only a reason."""
    path = os.path.join(folder, FILES[0])
    try:
        return not os.path.islink(path) and bool(reports.parse_report(files.read_file(path, reports.SIZE_MAX))["clocks"])
    except (OSError, ValueError):
        return False


def find_last_report(out):
    """Return the folder of the last report in OUT, or None if there is no report."""
    return next((folder for folder in (out, os.path.join(out, EARLIER)) if has_report(folder)), None)


def move_report_to_earlier(out):
    remove_earlier_report(out)
    os.makedirs(os.path.join(out, EARLIER), exist_ok=True)
    for name in [*FILES, RECORD, *LOGS]:
        with contextlib.suppress(FileNotFoundError):
            os.replace(os.path.join(out, name), os.path.join(out, EARLIER, name))


def remove_earlier_report(out):
    """Remove the report in DIR/earlier, and no other file. A link with the name DIR/earlier is not followed."""
    kept = os.path.join(out, EARLIER)
    if os.path.islink(kept) or os.path.isfile(kept):
        os.remove(kept)
    for name in [*FILES, RECORD, *LOGS]:
        with contextlib.suppress(FileNotFoundError):
            os.remove(os.path.join(kept, name))
    with contextlib.suppress(OSError):  # the folder does not exist, or has other files and is kept
        os.rmdir(kept)


def make_incomplete_report_bytes(reason):
    return (json.dumps(reports.make_incomplete_report(reason[:REASON_MAX], None, 0), indent=2) + "\n").encode("ascii")


def write_incomplete_report(run, reason):
    """Overwrite report.json with REASON. This works even on a full disk, because empty_folder() reserved RESERVED bytes for the
    file.
    """
    path = os.path.join(run.out, FILES[0])
    if os.path.exists(path):
        files.overwrite_file(path, make_incomplete_report_bytes(reason).ljust(RESERVED))
