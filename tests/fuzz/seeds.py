#!/usr/bin/python3
"""Makes seeds for fuzz_acpi from the ACPI tables of real machines.

usage: seeds.py CORPUS OUT

CORPUS holds a folder per machine with FACP.bin, APIC.bin and mostly HPET.bin. For each machine, OUT gets every table
as one file. A further file has all tables after an RSDP, an XSDT and an RSDT, with an FPDT. One file has the tables of
coreboot. The files have the form that fuzz_acpi.c reads: a byte with the mode, then the bytes.
"""

import pathlib
import struct
import sys

# Values of the first byte in fuzz_acpi.c. Checksums need no correction, because they are right in real tables.
MACHINE, MODES = 0, {"FACP": 1, "HPET": 2, "APIC": 3}
COREBOOT_SEALED = 8 | 4  # the checksums of coreboot's tables are corrected by fuzz_acpi.c
BASE = 0x10000  # address of the RSDP in fuzz_acpi.c
COREBOOT = 0x500  # address of coreboot's first table in fuzz_acpi.c
RSDP_SIZE, HEADER_SIZE = 36, 36


def sealed(table, at):
    """Return TABLE with the byte at AT changed so that the sum of all bytes is 0."""
    table = bytearray(table)
    table[at] = (table[at] - sum(table)) % 256
    return bytes(table)


def root(signature, form, addresses):
    entries = b"".join(struct.pack(form, address) for address in addresses)
    header = signature + struct.pack("<I", HEADER_SIZE + len(entries)) + b"\1" + bytes(HEADER_SIZE - 9)
    return sealed(header + entries, 9)


def machine(tables):
    """Return an RSDP, an XSDT, an RSDT and TABLES as one sequence of bytes."""
    xsdt_at = BASE + RSDP_SIZE
    rsdt_at = xsdt_at + HEADER_SIZE + 8 * len(tables)
    next_at = rsdt_at + HEADER_SIZE + 4 * len(tables)
    addresses = []
    for table in tables:
        addresses.append(next_at)
        next_at += len(table)
    first = sealed(b"RSD PTR \0BARETK\2" + struct.pack("<I", rsdt_at), 8)
    rsdp = sealed(first + struct.pack("<IQI", RSDP_SIZE, xsdt_at, 0), 32)
    return b"".join([rsdp, root(b"XSDT", "<Q", addresses), root(b"RSDT", "<I", addresses), *tables])


def fpdt(tables):
    """Return an FPDT and its FBPT for a machine whose other tables are TABLES. The FBPT follows the FPDT in memory."""
    size = HEADER_SIZE + 16
    at = BASE + RSDP_SIZE + HEADER_SIZE + 8 * (len(tables) + 1) + HEADER_SIZE + 4 * (len(tables) + 1) + sum(map(len, tables))
    table = b"FPDT" + struct.pack("<I", size) + b"\1" + bytes(HEADER_SIZE - 9) + struct.pack("<HBBIQ", 0, 16, 1, 0, at + size)
    return sealed(table, 9) + b"FBPT" + struct.pack("<I", 56) + struct.pack("<HBBI5Q", 2, 48, 2, 0, 1, 2, 3, 4, 5)


def coreboot(tag, address):
    """Return a table of coreboot with one record, the address of something."""
    return struct.pack("<4s5I", b"LBIO", 24, 0, 16, 0, 1) + struct.pack("<IIQ", tag, 16, address)


def main(corpus, out):
    count = 1
    out.mkdir(parents=True, exist_ok=True)
    first = coreboot(0x11, COREBOOT + 48)
    stamps = coreboot(0x16, COREBOOT + 2 * 48) + bytes(8) + struct.pack("<QHHI", 0, 100, 3700, 0)
    (out / "coreboot").write_bytes(bytes([COREBOOT_SEALED]) + first + bytes(48 - len(first)) + stamps)
    for folder in sorted(path for path in corpus.iterdir() if path.is_dir()):
        tables = {name: folder / f"{name}.bin" for name in MODES}
        tables = {name: path.read_bytes() for name, path in tables.items() if path.exists()}
        seeds = {name: bytes([MODES[name]]) + table for name, table in tables.items()}
        seeds["machine"] = bytes([MACHINE]) + machine([*tables.values(), fpdt(tables.values())])
        for name, seed in seeds.items():
            (out / f"{folder.name}-{name}").write_bytes(seed)
        count += len(seeds)
    print(f"{count} seeds in {out}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
