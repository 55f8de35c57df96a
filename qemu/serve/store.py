"""Accesses the folder DIR of the server. The server sends the files in DIR/options to clients, and stores reports in DIR/reports.
Symbolic links are not followed.
"""
import contextlib
import datetime
import errno
import fcntl
import itertools
import os
import re
import stat

from readers import places
from results import files
from results.sanitize import clean_text

NAME_MAX = 64            # maximum number of characters of a name from a report or a client
OPTIONS_MAX = 64 << 10   # maximum number of bytes of an options file
TRIES_MAX = 10_000       # maximum number of file names that are tried for reports of one machine within one second
REPORTS_MAX = places.FILES_MAX  # maximum number of stored reports, because qemu/fleet reads no more
PREFIX = ".incoming-"    # prefix of temporary files, which programs that read the folder ignore
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class Busy(Exception):
    """Another server uses the folder."""


class Full(Exception):
    """There is no space for a report. The message is a sentence with the reason."""


class Unusable(Exception):
    """A file or folder in DIR cannot be used. The message is a sentence with the reason."""


def convert_to_file_name(text):
    """Convert TEXT to a file name of ASCII letters, digits, dot, dash and underscore, without a leading dot or dash."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", text or "")[:NAME_MAX]
    return re.sub(r"^[.-]+", "_", name) if name.strip("._-") else ""


class Store:
    def __init__(self, folder, keep_free):
        """Use FOLDER, and create it if it does not exist. KEEP_FREE bytes of its file system are kept free."""
        self.keep_free = keep_free
        self.numbers = itertools.count(1)
        os.makedirs(folder, exist_ok=True)
        self.folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        with contextlib.suppress(FileExistsError):
            os.mkdir("reports", dir_fd=self.folder)
        self.reports = os.open("reports", FOLDER, dir_fd=self.folder)
        try:
            fcntl.flock(self.reports, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Busy(f"{folder} is served already") from error
        self._remove_temporary_files()
        with self.create_incoming_file(0) as probe:
            self._create_link(probe.name, PREFIX + "probe")
        os.remove(PREFIX + "probe", dir_fd=self.reports)

    def _remove_temporary_files(self):
        """Remove the temporary files of a server that was killed."""
        names = os.listdir(self.reports)
        for name in (name for name in names if name.startswith(PREFIX)):
            os.remove(name, dir_fd=self.reports)
        self.count = sum(not name.startswith(PREFIX) for name in names)

    def read_options(self, mac, serial):
        """Return the first options file that exists: for MAC, for SERIAL, or for all machines. MAC and SERIAL are ""
        or valid parts of a file name. Return None if there is no such file.
        """
        with contextlib.ExitStack() as opened:
            try:
                options = os.open("options", FOLDER, dir_fd=self.folder)
                opened.callback(os.close, options)
            except FileNotFoundError:
                options = None
            except OSError as error:
                raise Unusable(f"options is no folder: {error.strerror}") from error
            own = [(f"{name}.cfg", options) for name in (mac, serial) if name and options is not None]
            return next((data for data in (self._read_file(*each) for each in [*own, ("baretick.cfg", self.folder)])
                         if data is not None), None)

    def _read_file(self, name, folder):
        """Return the contents of the file NAME, or None if it does not exist. Raise Unusable if the file exists but
        cannot be read, so that the machine does not start with the options of another file.
        """
        try:
            fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unusable(f"{name} is a link: none is followed" if error.errno == errno.ELOOP else
                           f"{name} cannot be read: {error.strerror}") from error
        try:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise Unusable(f"{name} is no file")
            with self._raise_os_errors_as_unusable(), open(fd, "rb", closefd=False) as file:
                data = file.read(OPTIONS_MAX + 1)
        finally:
            os.close(fd)
        if len(data) > OPTIONS_MAX:
            raise Unusable(f"{name} is longer than {OPTIONS_MAX >> 10} KiB")
        return data

    @contextlib.contextmanager
    def create_incoming_file(self, length):
        """Yield a temporary file for LENGTH bytes. Raise Full if there is no space."""
        free = os.fstatvfs(self.reports)
        if free.f_bavail * free.f_frsize - length < self.keep_free:
            raise Full(f"less than {self.keep_free >> 20} MiB of the disk would stay free")
        if self.count >= REPORTS_MAX:
            self.count = len(os.listdir(self.reports))
        if self.count >= REPORTS_MAX:
            raise Full(f"{REPORTS_MAX:,} reports are there, and qemu/fleet reads no more")
        name = f"{PREFIX}{next(self.numbers)}"
        with self._raise_os_errors_as_unusable():
            fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666, dir_fd=self.reports)
        try:
            with open(fd, "r+b", buffering=0) as file:
                yield Incoming(name, file, self._raise_os_errors_as_unusable)
        finally:
            with contextlib.suppress(OSError):
                os.remove(name, dir_fd=self.reports)

    def keep_report(self, incoming, machine, arrived):
        """Give the complete report its final name. The name contains MACHINE and ARRIVED, the time of arrival. If a file
        has this name already, add a number to the name.
        """
        stem = f"{convert_to_file_name(machine) or 'unknown'}-{arrived:%Y%m%dT%H%M%SZ}"
        with self._raise_os_errors_as_unusable():
            os.fsync(incoming.file.fileno())
            for number in range(1, TRIES_MAX + 1):
                name = f"{stem}{f'-{number}' if number > 1 else ''}.json"
                try:
                    self._create_link(incoming.name, name)
                except FileExistsError:
                    continue
                os.fsync(self.reports)
                self.count += 1
                return name
        raise Unusable(f"{stem}.json and {TRIES_MAX - 1:,} more are there already")

    def _create_link(self, old, new):
        """Create NEW as a link to OLD if NEW does not exist. In this way a reader of NEW always sees the complete file."""
        try:
            os.link(old, new, src_dir_fd=self.reports, dst_dir_fd=self.reports, follow_symlinks=False)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EOPNOTSUPP):
                raise Unusable("the file system of the folder reports has no hard links") from error
            raise

    @staticmethod
    @contextlib.contextmanager
    def _raise_os_errors_as_unusable():
        try:
            yield
        except OSError as error:
            if error.errno in FULL:
                raise Full(error.strerror) from error
            raise Unusable(clean_text(files.format_error(error))) from error


class Incoming:
    """A temporary file for a report that is being received."""

    def __init__(self, name, file, raise_os_errors_as_unusable):
        self.name, self.file, self._raise_os_errors_as_unusable = name, file, raise_os_errors_as_unusable

    def write(self, data):
        with self._raise_os_errors_as_unusable():
            files.write_all_bytes(self.file, data)

    def read(self):
        with self._raise_os_errors_as_unusable():
            self.file.seek(0)
            return self.file.read()


def get_present_time():
    return datetime.datetime.now(datetime.timezone.utc)
