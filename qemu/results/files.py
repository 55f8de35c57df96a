"""Reads files with a size limit. Writes files completely or not at all, and does not follow links that others may have made."""
import contextlib
import json
import os
import stat


def read_file(path, size_max):
    """Return the contents of the file PATH. Raise ValueError if it is no file, or has more than SIZE_MAX bytes."""
    # O_NONBLOCK is set because opening a FIFO would otherwise wait for a writer.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("is no file")
        data = file.read(size_max + 1)
    if len(data) > size_max:
        raise ValueError(f"is longer than {size_max >> 20} MiB")
    return data


def parse_json(data):
    """Return the value in DATA, which may be from anybody. Raise ValueError if it is no JSON, or too deep."""
    try:
        return json.loads(data)
    except RecursionError as error:
        raise ValueError("its lists are too deep") from error


def create_file(path):
    """Create an unbuffered file PATH. An older file at PATH is removed. If PATH is a link, only the link is removed."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    return open(path, "xb", buffering=0)


def write_all_bytes(file, data):
    """Write DATA to the unbuffered FILE. An OSError contains the file's name."""
    data = memoryview(data)
    try:
        while data:
            data = data[file.write(data):]
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from error


def replace_file(path, data, suffix=".new"):
    """Write DATA to the file PATH completely or not at all. Other programs never read an incomplete file, and a power failure
    leaves the old or the new file. It may also leave the temporary file, whose name ends with SUFFIX.
    """
    try:
        with create_file(path + suffix) as file:
            write_all_bytes(file, data)
            os.fsync(file.fileno())
        os.replace(path + suffix, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(path + suffix)
        raise OSError(error.errno, error.strerror, path) from error


def overwrite_file(path, data):
    """Replace the contents of PATH by DATA in the file's present blocks, so that this works even on a full disk."""
    with open(path, "r+b", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW)) as file:
        write_all_bytes(file, data)
        file.truncate()


def open_output(path, appends, refuses_links):
    """Open the file PATH, which the user has named, for writing. If APPENDS is true, append to the file. Raise ValueError if
    PATH is a pipe, because writing to a pipe may block for ever. Raise ValueError also if PATH is a link and REFUSES_LINKS is
    true. REFUSES_LINKS is for folders in which others may have made links.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | (os.O_APPEND if appends else 0)
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        kind = stat.S_IFREG
    if refuses_links and os.path.islink(path):
        raise ValueError("it is a link")
    if not stat.S_ISREG(kind) and not stat.S_ISCHR(kind) and not stat.S_ISDIR(kind):
        raise ValueError("it is no file")
    fd = os.open(path, flags | (os.O_NOFOLLOW if refuses_links else 0), 0o666)
    if not appends and stat.S_ISREG(os.fstat(fd).st_mode):
        os.ftruncate(fd, 0)
    return open(fd, "wb", buffering=0)


def format_error(error):
    """Return the text of an OSError, with the file's name if it has one."""
    words = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {words}" if isinstance(error.filename, (str, bytes)) else words
