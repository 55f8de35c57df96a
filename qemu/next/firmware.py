"""Reads the firmware's EFI variables and the keys of Secure Boot. Changes the firmware's boot entries by efibootmgr."""
import base64
import contextlib
import os
import re
import struct
import tempfile
import textwrap
import uuid

from next.system import Refused, restore_value_on_error

FOLDER = "/sys/firmware/efi/efivars"
GLOBAL = "8be4df61-93ca-11d2-aa0d-00e098032b8c"  # UEFI 2.10, 3.3 "Globally Defined Variables"
ATTRIBUTES_SIZE = 4  # attributes, which a file in efivarfs has before the value: Documentation/filesystems/efivarfs.rst of Linux
LABEL = "baretick, once"
# UEFI 2.10, 10.3.5.1 "Hard Drive": type 4, subtype 1, 42 bytes, with the partition's GUID at offset 24 and the kind of the
# signature (BY_GUID) at offset 41.
HARD_DRIVE, BY_GUID = (4, 1, 42), 2
# UEFI 2.10, 32.4.1 "Signature Database": the signatures in a list of this type are certificates in DER form.
CERTIFICATES = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072").bytes_le
LIST_SIZE, OWNER_SIZE = 28, 16  # bytes of the header of a list of signatures, and of the owner's GUID before each signature
KEYS = (("db", "d719b2cb-3d3a-4596-a3bc-dad00e67656f"), ("MokListRT", "605dab50-e046-4300-abb6-3dd810dd8b23"))
CONTAINERS = ("/run/systemd/container", "/run/.containerenv", "/.dockerenv")


def check_platform(system, machine, is_root):
    """Raise Refused if no boot entry can be made on this machine. MACHINE is uname's name of the processor."""
    if machine != "x86_64":
        raise Refused(f"baretick runs on x86-64 only, and this is {machine}")
    if any(os.path.exists(system.get_path(name)) for name in CONTAINERS):
        raise Refused("this is a container: run nextboot on the machine itself")
    if not os.path.isdir(system.get_path("/sys/firmware/efi")):
        raise Refused("this machine was not started by UEFI: /sys/firmware/efi does not exist")
    bits = system.read_text("/sys/firmware/efi/fw_platform_size")
    if bits != "64":
        raise Refused(f"baretick needs a UEFI of 64 bits, and this one has {bits or 'an unknown number of'}")
    if not is_root:
        raise Refused("only root may change boot entries: run it with sudo")
    mounts = [line.split() for line in (system.read_text("/proc/mounts") or "").splitlines()]
    flags = next((mount[3].split(",") for mount in mounts if mount[1:3] == [FOLDER, "efivarfs"]), None)
    if flags is None:
        raise Refused(f"the EFI variables are not mounted: mount -t efivarfs efivarfs {FOLDER}")
    if "rw" not in flags:
        raise Refused(f"the EFI variables are mounted read-only: mount -o remount,rw {FOLDER}")


def read_variable(system, name, vendor=GLOBAL):
    """Return the value of an EFI variable, or None if it does not exist. Raise Refused if it is damaged."""
    data = system.read_file(f"{FOLDER}/{name}-{vendor}")
    if data is None:
        return None
    if len(data) < ATTRIBUTES_SIZE:
        raise Refused(f"the EFI variable {name} is damaged: it has {len(data)} bytes")
    return data[ATTRIBUTES_SIZE:]


def read_entry_number(system, name):
    """Return the value of a variable that has the number of a boot entry, or None."""
    value = read_variable(system, name)
    if value is None:
        return None
    if len(value) != 2:
        raise Refused(f"the EFI variable {name} is damaged: its value has {len(value)} bytes, and should have 2")
    return struct.unpack("<H", value)[0]


def enforces_signatures(system):
    return read_variable(system, "SecureBoot") == b"\1"


def _list_certificates(lists):
    """Return the certificates in a signature database, in DER form."""
    at = 0
    while at + LIST_SIZE <= len(lists):
        size, header, each = struct.unpack_from("<III", lists, at + 16)
        if size < LIST_SIZE or each <= OWNER_SIZE or at + size > len(lists):
            return
        if lists[at:at + 16] == CERTIFICATES:
            for start in range(at + LIST_SIZE + header, at + size - each + 1, each):
                yield lists[start + OWNER_SIZE:start + each]
        at += size


def find_key_list_with_signing_key(system, application):
    """Return the name of the key list that has the key that signed APPLICATION: "db", whose keys the firmware accepts, or
    "MokListRT", whose keys a shim accepts. Raise Refused if neither list has the key."""
    for name, vendor in KEYS:
        for der in _list_certificates(read_variable(system, name, vendor) or b""):
            lines = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
            with tempfile.NamedTemporaryFile("w", suffix=".pem") as file:
                file.write(f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")
                file.flush()
                if system.does_command_succeed("sbverify", "--cert", file.name, application):
                    return name
    raise Refused(f"Secure Boot is on, and {application} is signed by no key of the firmware or the shim (make sign)")


def read_booted_partition(system):
    """Return the GUID of the partition that the firmware started this system from, or None if it is not known."""
    try:
        current = read_entry_number(system, "BootCurrent")
        option = None if current is None else read_variable(system, f"Boot{current:04X}")
    except Refused:  # a damaged variable must not prevent `qemu/nextboot --remove`
        option = None
    if not option:
        return None
    # UEFI 2.10, 3.1.3 "Load Options": attributes, the length of the device path, a text in UCS-2, the device path.
    end = next((at for at in range(6, len(option) - 1, 2) if option[at:at + 2] == b"\0\0"), None)
    at = len(option) if end is None else end + 2
    while at + 4 <= len(option):
        kind, subtype, size = struct.unpack_from("<BBH", option, at)
        if size < 4:
            break
        if (kind, subtype, size) == HARD_DRIVE and option[at + 41:at + 42] == bytes([BY_GUID]):
            return str(uuid.UUID(bytes_le=bytes(option[at + 24:at + 40])))
        at += size
    return None


def list_entries(system):
    """Return the numbers of all boot entries."""
    found = (re.fullmatch(rf"Boot([0-9A-Fa-f]{{4}})-{GLOBAL}", name) for name in os.listdir(system.get_path(FOLDER)))
    return {int(each[1], 16) for each in found if each}


def list_own_entries(system):
    """Return the numbers of nextboot's own boot entries, which have the title LABEL."""
    mine = (LABEL + "\0").encode("utf-16-le")
    options = {entry: system.read_file(f"{FOLDER}/Boot{entry:04X}-{GLOBAL}") or b"" for entry in list_entries(system)}
    title = ATTRIBUTES_SIZE + 6
    return {entry for entry, option in options.items() if option[title:title + len(mine)] == mine}


def add_entry(system, disk, partition, loader):
    """Create an entry outside of the boot order, and return its number. LOADER is a path with backslashes."""
    before = list_entries(system)
    system.run_command("efibootmgr", "--quiet", "--create-only", "--disk", disk, "--part", str(partition), "--label", LABEL,
               "--loader", loader)
    added = list_entries(system) - before
    if len(added) != 1:
        raise Refused(f"efibootmgr made {len(added)} boot entries, and one was asked for")
    return added.pop()


def set_next_start(system, entry):
    _set_boot_next(system, entry)
    if read_entry_number(system, "BootNext") != entry:
        raise Refused("the firmware did not keep the variable BootNext")


def _set_boot_next(system, entry):
    """Set BootNext to ENTRY, or delete it if ENTRY is None."""
    if entry is not None:
        system.run_command("efibootmgr", "--quiet", "--bootnext", f"{entry:04X}")
    elif read_entry_number(system, "BootNext") is not None:
        system.run_command("efibootmgr", "--quiet", "--delete-bootnext")


def remove_entries(system, which):
    """Delete the boot entries with the numbers WHICH. Delete BootNext too if it names one of them."""
    with contextlib.suppress(Refused):  # a damaged BootNext names no entry
        if read_entry_number(system, "BootNext") in which:
            _set_boot_next(system, None)
    for entry in sorted(which):
        system.run_command("efibootmgr", "--quiet", "--delete-bootnum", "--bootnum", f"{entry:04X}")


@contextlib.contextmanager
def undo_choice_of_next_start_on_error(system):
    """If the block raises Refused, delete nextboot's new entries and restore BootNext."""
    before = list_own_entries(system)
    with restore_value_on_error(lambda: read_entry_number(system, "BootNext"), lambda chosen: _set_boot_next(system, chosen)), \
            restore_value_on_error(lambda: list_own_entries(system), lambda _: remove_entries(system, list_own_entries(system) - before)):
        yield
