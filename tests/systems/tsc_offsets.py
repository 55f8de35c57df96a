"""Changes the offset of a core's TSC in the saved state of a machine.

QEMU's emulated RDTSC adds env.tsc_offset, which is part of the state of a core (QEMU's target/i386/machine.c). At its
end, the state has a description of all fields in JSON (docs/devel/migration.rst). This module finds the field by it.
"""
import json
import struct

FULL_SECTION, DESCRIPTION = 4, 6  # QEMU_VM_SECTION_FULL and QEMU_VM_VMDESCRIPTION of QEMU's migration/savevm.h
NAME, FIELD = "cpu", "env.tsc_offset"


def _read_description(state):
    """Return the description at the end of STATE. In front of it are its mark, a byte, and its length, 32 bits."""
    at = len(state)
    while (at := state.rfind(bytes([DESCRIPTION]), 0, at)) >= 0:
        if at + 5 <= len(state) and struct.unpack_from(">I", state, at + 1)[0] == len(state) - at - 5:
            return json.loads(state[at + 5:])
    raise ValueError("the state has no description")


def _find_field(state, device):
    """Return the position in STATE of FIELD of DEVICE, an entry of the description."""
    header = bytes([len(NAME)]) + NAME.encode() + struct.pack(">II", device["instance_id"], device["version"])
    at = state.rfind(header)
    if at < 5 or state[at - 5] != FULL_SECTION:
        raise ValueError(f"the state has no core {device['instance_id']}")
    at += len(header)
    for field in device["fields"]:
        if field["name"] == FIELD:
            return at
        at += field["size"] * field.get("array_len", 1)
    raise ValueError(f"the state of a core has no {FIELD}")


def change(state, ticks_of_core):
    """Return STATE with other offsets. TICKS_OF_CORE is a dictionary of the offsets in ticks. Each offset must be 0 in
    STATE, which also shows that the field was found."""
    state = bytearray(state)
    devices = {device["instance_id"]: device for device in _read_description(state)["devices"] if device["name"] == NAME}
    for core, ticks in ticks_of_core.items():
        at = _find_field(state, devices[core])
        if struct.unpack_from(">q", state, at)[0] != 0:
            raise ValueError(f"the TSC of core {core} has an offset already")
        struct.pack_into(">q", state, at, ticks)
    return bytes(state)
