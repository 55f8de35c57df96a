"""Finds out from a file of firmware variables, in EDK II's format, whether Secure Boot is on."""
import struct

# The fields of AUTHENTICATED_VARIABLE_HEADER: StartId, State, ..., NameSize, DataSize, VendorGuid. Name and data follow the
# header.
HEADER = struct.Struct("<HB33xII16s")
START, ADDED = 0x55AA, 0x3F
NAME = "SecureBootEnable\0".encode("utf-16-le")
VENDOR = bytes.fromhex("c70ba3f0 08af 5645 99c4 001009c93a44")  # f0a30bc7-af08-4556-99c4-001009c93a44, as UEFI stores it


def secure_boot_is_on(store):
    """Return True if the variable SecureBootEnable is 1. Return False if it is 0 or missing. STORE is the content of a file of
    firmware variables.
    """
    at = store.find(NAME, HEADER.size)
    while at >= 0:
        if HEADER.unpack_from(store, at - HEADER.size) == (START, ADDED, len(NAME), 1, VENDOR):
            return store[at + len(NAME):at + len(NAME) + 1] == b"\1"
        at = store.find(NAME, at + 1)
    return False
