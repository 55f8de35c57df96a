"""Reads a FAT32 volume in its present state, which may be damaged. The tests use it for sticks that were pulled out
during a write. The layout is in Microsoft's FAT specification 1.03 ("FAT: General Overview of On-Disk Format")."""
import collections
import datetime
import struct

SECTOR = 512
ENTRY = 32
LONG_NAME, VOLUME_LABEL, FOLDER = 0x0F, 0x08, 0x10
DELETED, END = 0xE5, 0x00
# bits of byte 12 in an entry of a folder; they mark a short name as lower case, as Windows NT and EDK II write them
LOWER_BASE, LOWER_EXTENSION = 0x08, 0x10
LAST = 0x0FFFFFF8

Entry = collections.namedtuple("Entry", "folder cluster size made written")


class Damaged(Exception):
    """Raised if a chain of clusters leads to a cluster that does not exist, or never ends."""


def convert_date_and_time(date, time):
    """Return DATE and TIME of a folder's entry as a datetime, or None if they are not valid."""
    try:
        return datetime.datetime(1980 + (date >> 9), date >> 5 & 15, date & 31, time >> 11, time >> 5 & 63, time % 32 * 2)
    except ValueError:
        return None


class Volume:
    def __init__(self, image, offset):
        self._image = memoryview(image)[offset:]
        self.looked_at = {offset // SECTOR}  # sectors of IMAGE that were read so far
        sector, per_cluster, reserved, fats = struct.unpack_from("<HBHB", self._image, 11)
        fat_sectors, = struct.unpack_from("<I", self._image, 36)
        total, = struct.unpack_from("<I", self._image, 32)
        self.cluster_bytes = sector * per_cluster
        begin = reserved * sector
        self._fat = self._image[begin:begin + fat_sectors * sector].cast("I")
        self._data = (reserved + fats * fat_sectors) * sector
        self._offset, self._fat_begin = offset, begin
        self.clusters = (total * sector - self._data) // self.cluster_bytes
        self._root, = struct.unpack_from("<I", self._image, 44)

    def place(self, cluster):
        """Return the slice of the volume that holds CLUSTER."""
        start = self._data + (cluster - 2) * self.cluster_bytes
        return slice(start, start + self.cluster_bytes)

    def free(self):
        return [cluster for cluster in range(2, self.clusters + 2) if not self._fat[cluster] & 0x0FFFFFFF]

    def _look(self, cluster):
        data = self._offset + self.place(cluster).start
        self.looked_at.update(range(data // SECTOR, (data + self.cluster_bytes) // SECTOR))
        self.looked_at.add((self._offset + self._fat_begin + self._fat.itemsize * cluster) // SECTOR)

    def chain(self, cluster):
        """Return the numbers of the clusters in the chain that starts at CLUSTER, up to the first number that
        repeats."""
        seen = []
        while cluster < LAST and cluster not in seen:
            seen.append(cluster)
            cluster = self._fat[cluster] & 0x0FFFFFFF
        return seen

    def link(self, cluster, to):
        """Set the successor of CLUSTER in the first FAT to TO. IMAGE must be a bytearray."""
        self._fat[cluster] = to

    def content(self, cluster):
        """Return the content of all clusters in the chain that starts at CLUSTER."""
        parts, seen = [], 0
        while cluster < LAST:
            if not 2 <= cluster < self.clusters + 2 or seen > self.clusters:
                raise Damaged(f"a chain goes to cluster {cluster}")
            self._look(cluster)
            parts.append(self._image[self.place(cluster)])
            cluster, seen = self._fat[cluster] & 0x0FFFFFFF, seen + 1
        return b"".join(parts)

    def _entries(self, cluster):
        data, long_name, found = self.content(cluster), [], {}
        for at in range(0, len(data), ENTRY):
            if data[at] == END:
                break
            attributes = data[at + 11]
            if data[at] == DELETED or attributes & 0x3F == LONG_NAME:
                part = data[at + 1:at + 11] + data[at + 14:at + 26] + data[at + 28:at + 32]
                long_name = [] if data[at] == DELETED else [part, *long_name]
                continue
            name = short_name(data[at:at + ENTRY])
            if long_name:
                name = b"".join(long_name).decode("utf-16-le", "replace").partition("\0")[0]
            long_name = []
            if not attributes & VOLUME_LABEL and name not in (".", ".."):
                made_time, made, _, high, time, date, low, size = struct.unpack_from("<HHHHHHHI", data, at + 14)
                found[name] = Entry(bool(attributes & FOLDER), high << 16 | low, size, convert_date_and_time(made, made_time),
                                    convert_date_and_time(date, time))
        return found

    def folder(self, path):
        """Return {name: Entry} of the folder PATH, or of the root if PATH is empty."""
        return self._entries(self.find(path).cluster if path else self._root)

    def find(self, path):
        folder, _, name = path.rpartition("/")
        entries = self.folder(folder)
        if name not in entries:
            raise FileNotFoundError(path)
        return entries[name]

    def read(self, path):
        entry = self.find(path)
        return self.content(entry.cluster)[:entry.size] if entry.size else b""

    def files(self, path):
        """Return {name: bytes} of the files in the folder PATH."""
        return {name: self.read(f"{path}/{name}") for name, entry in self.folder(path).items() if not entry.folder}


def short_name(entry):
    base, extension = (part.decode("latin-1").rstrip(" ") for part in (entry[:8], entry[8:11]))
    base = base.lower() if entry[12] & LOWER_BASE else base
    extension = extension.lower() if entry[12] & LOWER_EXTENSION else extension
    return f"{base}.{extension}" if extension else base
