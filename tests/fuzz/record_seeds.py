#!/usr/bin/python3
"""Makes seeds for fuzz_replay from records.

usage: record_seeds.py OUT RECORD...

A seed is a shortened record, without blocks and without the last entry. It has the first batch of each clock and stage,
because a rate needs a batch of each stage. It has all measurements of offsets, because a core's offset needs all of its
pairs, and all descriptions of timers. It has the first interrupts of each way to test a timer, and the first entries of
each other kind. A record may be compressed (.xz).
"""

import collections
import lzma
import pathlib
import struct
import sys

HEADER_BYTES, BLOCK_BYTES, ENTRY_BYTES = 16, 12, 8
BATCH, EXCHANGE, INTERRUPTS, END, TIMER, FACTS, PASS = 7, 9, 10, 13, 14, 19, 20
WHOLE = (EXCHANGE, TIMER, FACTS, PASS)
# bytes of an entry that tell its clock and stage, or the way to test a timer
COUNTED = {BATCH: slice(ENTRY_BYTES, ENTRY_BYTES + 4), INTERRUPTS: slice(ENTRY_BYTES + 2, ENTRY_BYTES + 4)}
KEPT = 3  # number of entries of each other kind; larger seeds make the fuzzer slow
ENTRIES = b"\1"  # first byte of an input of fuzz_replay.c, which says that the rest is a sequence of entries


def entries(record):
    block = HEADER_BYTES
    while block < len(record):
        at = block + BLOCK_BYTES
        block = at + struct.unpack_from("<I", record, block + 4)[0]
        while at < block:
            kind, fixed, count, each = struct.unpack_from("<4H", record, at)
            size = ENTRY_BYTES + fixed + count * each
            yield kind, record[at:at + size]
            at += size


def seed(record):
    counts = collections.Counter()
    out = ENTRIES
    for kind, entry in entries(record):
        counted = (kind, entry[COUNTED[kind]]) if kind in COUNTED else kind
        counts[counted] += 1
        if kind != END and (kind in WHOLE or counts[counted] <= (1 if kind == BATCH else KEPT)):
            out += entry
    return out


def main(out, paths):
    out.mkdir(parents=True, exist_ok=True)
    for path in map(pathlib.Path, paths):
        record = path.read_bytes()
        (out / path.name).write_bytes(seed(lzma.decompress(record) if path.suffix == ".xz" else record))


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]), sys.argv[2:])
