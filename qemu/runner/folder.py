"""The folder of a run: held by one run at a time, empty of what an earlier one left, and nothing in it that is read."""
import contextlib
import fcntl
import json
import os
import shutil
import stat

from machine import command
from machine.command import Wrong
from results import files, reports
from results.plain import clean

FILES = ["report.json", "report.html", "report.txt", "report.csv"]
LOGS = ["serial.log", "qemu.log"]
STICK = "stick.img"
INPUTS = ("qemu", "efi", "image", "firmware", "baseline", "matrix")
RESERVED = 4096  # bytes: what report.json has from the beginning, for a disk that is full at the end
REASON_MAX = 1000
NOT_ENDED = "the run was ended before it could leave its report"


class Folder:
    """RUN's folder, from here on this process's alone; until close()."""

    def __init__(self, run):
        self._lock = None
        try:
            if run.inner and os.path.islink(run.out):
                raise Wrong(f"--out: {run.out} is a link, and not the folder that the runner has made")
            os.makedirs(run.out, exist_ok=True)
            self._lock = hold(run.out)
            check_inputs(run)
            clear(run)
        except OSError as error:
            self.close()
            raise Wrong(f"--out: {error.filename} cannot be written: {error.strerror}") from error
        except Wrong:
            self.close()
            raise

    def close(self):
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def hold(out):
    """A descriptor that holds the folder OUT while it is open: by a lock on the folder itself, which leaves no file."""
    fd = os.open(out, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        by = holder(os.fstat(fd))
        os.close(fd)
        raise Wrong(f"--out: {out} is in use by another run{by}") from None
    except OSError:
        pass  # this file system has no locks
    return fd


def holder(status):
    """Which process has the lock on the file of STATUS, by the kernel's list: proc(5), /proc/locks."""
    inode = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    try:
        with open("/proc/locks", encoding="ascii") as locks:
            rows = [line.split() for line in locks]
        pid = next(row[4] for row in rows if row[1] == "FLOCK" and row[5] == inode)
        with open(f"/proc/{int(pid)}/cmdline", "rb") as file:
            words = os.fsdecode(file.read(REASON_MAX)).replace("\0", " ").strip()
    except (OSError, StopIteration, IndexError, ValueError):
        return ""
    return f": process {pid}, {clean(words)}"


def check_inputs(run):
    """Nothing that is read may be what is written, under whatever name."""
    variables = None
    with contextlib.suppress(Wrong, OSError):
        variables = command.variables_of(run.firmware) if run.firmware else None
    inputs = [*((f"--{name}", getattr(run, name)) for name in INPUTS), ("--firmware", variables)]
    inputs[0] = "--qemu", shutil.which(run.qemu)
    wrong = []
    for name in [*FILES, *LOGS, STICK, *(f"{name}.new" for name in [*FILES, STICK])]:
        path = os.path.join(run.out, name)
        for option, given in inputs:
            if given and same(given, path) and not may_be(run, option, given, name):
                wrong.append(f"{option}: {given} is {path}, which the run writes: it would be lost")
    if wrong:
        raise Wrong(*dict.fromkeys(wrong))


def same(one, other):
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def may_be(run, option, given, name):
    """The last report is a baseline, read before it is replaced; the last stick goes on, if it is no link."""
    if option == "--baseline":
        return name == "report.json" and not os.path.islink(os.path.join(run.out, name))
    return option == "--image" and name == STICK and goes_on(given, run.out)


def goes_on(image, out):
    """Whether IMAGE is the stick that an earlier run left in OUT, and no other name of a file elsewhere."""
    path = os.path.join(out, STICK)
    status = os.lstat(path) if os.path.lexists(path) else None
    return bool(status and stat.S_ISREG(status.st_mode) and status.st_nlink == 1 and same(image, path))


def clear(run):
    """What an earlier run left must not be taken for this one's."""
    for name in [*FILES, *LOGS, STICK, *(f"{name}.new" for name in FILES)]:
        path = os.path.join(run.out, name)
        if os.path.lexists(path) and not (name == STICK and run.image and goes_on(run.image, run.out)):
            os.remove(path)
    for name in LOGS:
        files.fresh(os.path.join(run.out, name)).close()
    if not run.list:
        with files.fresh(os.path.join(run.out, FILES[0])) as file:
            files.write_all(file, unfinished(NOT_ENDED).ljust(RESERVED))


def unfinished(reason):
    return (json.dumps(reports.incomplete(reason[:REASON_MAX], None, 0), indent=2) + "\n").encode("ascii")


def say_why(run, reason):
    """Into what report.json has from the beginning: REASON, where nothing else can be written."""
    path = os.path.join(run.out, FILES[0])
    if os.path.exists(path):
        files.overwrite(path, unfinished(reason).ljust(RESERVED))
