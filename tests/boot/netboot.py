"""Makes firmware variables for a boot from a URI: EDK II's variable store with two more variables."""
import pathlib
import struct
import uuid

GLOBAL = uuid.UUID("8be4df61-93ca-11d2-aa0d-00e098032b8c").bytes_le  # EFI_GLOBAL_VARIABLE: UEFI 2.10, 3.3
# AUTHENTICATED_VARIABLE_HEADER: StartId, State, Attributes, MonotonicCount, ..., NameSize, DataSize, VendorGuid.
HEADER = struct.Struct("<HBxIQ16xIII16s")
START, ADDED, KEPT = 0x55AA, 0x3F, 7
STORE_HEAD = 28   # size of VARIABLE_STORE_HEADER; it follows the volume's header, whose length is the word at offset 48
ACTIVE = 1        # attribute LOAD_OPTION_ACTIVE: UEFI 2.10, 3.1.3
NUMBER = 0x99     # number of the boot option; OVMF does not delete it, because it is not in the boot order


def variable(name, data):
    wide = f"{name}\0".encode("utf-16-le")
    record = HEADER.pack(START, ADDED, KEPT, 0, 0, len(wide), len(data), GLOBAL) + wide + data
    return record + b"\xff" * (-len(record) % 4)


def option(uri):
    """Return a load option whose short device path is only a URI, so that any network card may use it."""
    path = struct.pack("<BBH", 3, 24, 4 + len(uri)) + uri + b"\x7f\xff\4\0"
    return struct.pack("<IH", ACTIVE, len(path)) + "baretick\0".encode("utf-16-le") + path


def firmware_that_boots(uri, folder, code, variables):
    """Link the firmware CODE into FOLDER, next to a copy of VARIABLES with two more variables: a boot option for URI,
    and BootNext."""
    store = bytearray(pathlib.Path(variables).read_bytes())
    at = int.from_bytes(store[48:50], "little") + STORE_HEAD
    more = variable(f"Boot{NUMBER:04X}", option(uri.encode("ascii"))) + variable("BootNext", struct.pack("<H", NUMBER))
    assert store[at:at + len(more)] == b"\xff" * len(more)
    store[at:at + len(more)] = more
    folder.mkdir()
    (folder / pathlib.Path(variables).name).write_bytes(store)
    link = folder / pathlib.Path(code).name
    link.symlink_to(code)
    return link
