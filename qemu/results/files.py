"""Files read within bounds, and written whole or not at all, never through a link that somebody has planted."""
import contextlib
import os
import stat


def read(path, size_max):
    """What is in the file PATH; ValueError where that is no file, or more than SIZE_MAX bytes."""
    # Opening a FIFO would wait for somebody who writes.
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("is no file")
        data = file.read(size_max + 1)
    if len(data) > size_max:
        raise ValueError(f"is longer than {size_max >> 20} MiB")
    return data


def fresh(path):
    """A new file called PATH, unbuffered; what was there under that name is gone, but not what a link led to."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(path)
    return open(path, "xb", buffering=0)


def write_all(file, data):
    """DATA into the unbuffered FILE; the OSError of a disk that is full names it."""
    data = memoryview(data)
    try:
        while data:
            data = data[file.write(data):]
    except OSError as error:
        raise OSError(error.errno, error.strerror, file.name) from error


def replace(path, data):
    """Whole or not at all: somebody may be reading the last one, and the power may fail."""
    try:
        with fresh(path + ".new") as file:
            write_all(file, data)
            os.fsync(file.fileno())
        os.replace(path + ".new", path)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(path + ".new")
        raise OSError(error.errno, error.strerror, path) from error


def overwrite(path, data):
    """DATA in place of what PATH holds, in the blocks that it has already: no disk is too full for that."""
    with open(path, "r+b", buffering=0, opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW)) as file:
        write_all(file, data)
        file.truncate()


def output(path, added, planted):
    """The file PATH that the user has named, opened to be written, or to be ADDED to; never a pipe, which may wait for
    ever. PLANTED: it lies where others may have put a link, and none is followed."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK | (os.O_APPEND if added else 0)
    try:
        kind = os.stat(path).st_mode
    except FileNotFoundError:
        kind = stat.S_IFREG
    if planted and os.path.islink(path):
        raise ValueError("it is a link")
    if not stat.S_ISREG(kind) and not stat.S_ISCHR(kind) and not stat.S_ISDIR(kind):
        raise ValueError("it is no file")
    fd = os.open(path, flags | (os.O_NOFOLLOW if planted else 0), 0o666)
    if not added and stat.S_ISREG(os.fstat(fd).st_mode):
        os.ftruncate(fd, 0)
    return open(fd, "wb", buffering=0)


def flaw(error):
    """What an OSError says, with the file's name where it knows it."""
    words = error.strerror or str(error)
    return f"{os.fsdecode(error.filename)}: {words}" if isinstance(error.filename, (str, bytes)) else words
