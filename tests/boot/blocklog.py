"""Reads a log of all writes of a guest to a block device (QEMU's driver blklogwrites), and calculates the device's
contents after each sector. After a power cut a device that keeps the order of writes has one of these contents."""
import struct

from boots import qemu

MAGIC = 0x6A736677736872  # magic number of Linux's drivers/md/dm-log-writes.c, whose format QEMU uses
DISCARD = 4               # the flag LOG_DISCARD_FLAG: no data follows
SECTOR = 512
LOG_BYTES = 64 << 20      # size of the sparse log file, which is many times the writes of one run


def record(log):
    """Return arguments for qemu/run that log all writes to the stick in the file LOG."""
    with open(log, "wb") as file:
        file.truncate(LOG_BYTES)
    words = {"format": "blklogwrites", "log.driver": "file", "log.filename": log, "log.cache.no-flush": "on",
             "log-super-update-interval": 1}
    return qemu(*[word for key, value in words.items() for word in ("-set", f"drive.stick.{key}={value}")])


def read(log):
    """Return [(offset, bytes)] of all writes, in their order."""
    data = log.read_bytes()
    magic, _, count, sector_bytes = struct.unpack_from("<QQQI", data)
    assert magic == MAGIC and count > 0, "no log of writes"
    at, found = sector_bytes, []
    for _ in range(count):
        sector, sectors, flags, _ = struct.unpack_from("<QQQQ", data, at)
        at += sector_bytes
        if not flags & DISCARD:
            found.append((sector * sector_bytes, data[at:at + sectors * sector_bytes]))
            at += sectors * sector_bytes
    return found


def cuts(image, writes):
    """Apply WRITES to IMAGE. Yield the number of each sector after it has been changed."""
    for offset, data in writes:
        for at in range(0, len(data), SECTOR):
            sector, place = data[at:at + SECTOR], slice(offset + at, offset + at + SECTOR)
            if image[place] != sector:
                image[place] = sector
                yield place.start // SECTOR


def apply(image, writes):
    """Apply WRITES to IMAGE. Return the writes that undo them. This is much faster than a copy of IMAGE."""
    undo = []
    for offset, data in writes:
        place = slice(offset, offset + len(data))
        undo.insert(0, (offset, image[place]))
        image[place] = data
    return undo
