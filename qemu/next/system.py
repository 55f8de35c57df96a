"""Reads and writes files of this machine, and runs its commands. Tests replace the root folder "/" by another folder."""
import contextlib
import functools
import os
import subprocess

from results import files

FILE_MAX = 16 << 20
NEW = ".baretick-new"  # suffix of a temporary file in a loader's folder; a power cut may leave it there
COMMAND_S = 60  # time limit for a command in seconds; efibootmgr may need seconds, because the firmware writes its NVRAM
MESSAGE_MAX = 300  # maximum number of characters of a failed command's message


class Refused(Exception):
    """The action is refused, and nothing was changed. The message is a sentence with the reason."""


def read_file(path):
    """Return the bytes of the file PATH, or None if it does not exist."""
    try:
        return files.read_file(path, FILE_MAX)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise Refused(f"{path} {error}") from error


def write_or_delete(path, data):
    """Write DATA to the file PATH, or delete the file if DATA is None. Also delete the temporary file that a power cut left."""
    path = os.path.realpath(path)
    if data is None:
        for name in path, path + NEW:
            with contextlib.suppress(FileNotFoundError):
                os.remove(name)
        return
    mode = os.stat(path).st_mode if os.path.exists(path) else None
    files.replace_file(path, data, NEW)
    if mode is not None:
        os.chmod(path, mode & 0o7777)


def delete_temporary_file(path):
    """Delete the temporary file that write_or_delete() leaves next to PATH after a power cut."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.path.realpath(path) + NEW)


@contextlib.contextmanager
def restore_value_on_error(get, restore):
    """Restore a value if the block raises Refused. GET() returns the value, and RESTORE(value) sets it to its earlier value."""
    before = get()
    try:
        yield
    except Refused:
        with contextlib.suppress(OSError, Refused):
            if get() != before:
                restore(before)
        raise


@contextlib.contextmanager
def restore_files_on_error(*paths):
    """If the block raises Refused, restore the files PATHS."""
    with contextlib.ExitStack() as stack:
        for path in paths:
            stack.enter_context(restore_value_on_error(functools.partial(read_file, path), functools.partial(write_or_delete, path)))
        yield


class System:
    """A machine's files and commands. The files are below ROOT, which is "/" except in tests. PATH lists the folders with the
    commands."""

    def __init__(self, root="/", path=None):
        self.root = root
        path = path or f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
        self._environment = {**os.environ, "LC_ALL": "C", "PATH": path}

    def get_path(self, *names):
        return os.path.join(self.root, *(name.lstrip("/") for name in names))

    def read_file(self, name):
        """Return the bytes of the file NAME, or None if it cannot be read."""
        try:
            with open(self.get_path(name), "rb") as file:
                return file.read()
        except OSError:
            return None

    def read_text(self, name):
        """Return the file NAME as one line of text, or None."""
        data = self.read_file(name)
        return None if data is None else data.decode("utf-8", "replace").strip()

    def _run_command(self, words):
        try:
            return subprocess.run(words, env=self._environment, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=COMMAND_S, check=False)
        except FileNotFoundError as error:
            raise Refused(f"{words[0]} is not installed") from error
        except subprocess.TimeoutExpired as error:
            raise Refused(f"{words[0]} did not end within {COMMAND_S} s") from error

    def does_command_succeed(self, *words):
        """Return True if the command's exit status is 0. Raise Refused if the command is not installed, or did not end in time."""
        return self._run_command(words).returncode == 0

    def run_command(self, *words):
        """Return the command's output. Raise Refused if the command is not installed, fails, or does not end in time."""
        done = self._run_command(words)
        if done.returncode:
            message = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())[:MESSAGE_MAX]
            raise Refused(f"{' '.join(words[:2])} ended with status {done.returncode}: {message or 'it printed nothing'}")
        return done.stdout.decode("utf-8", "replace")
