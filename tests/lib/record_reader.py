"""An independent reader of records. It follows src/record/README.md and shares no code with baretick."""
import hashlib
import struct
import zlib

RUN, CORE, INTERRUPTS, WATCH, GAP, END, TIMER = 1, 3, 10, 11, 12, 13, 14
# kinds of timer tests whose requests count in the key `asked` of a row of `intervals`
SHOT, PERIODS, WAITED, POLLED = 1, 2, 5, 6


def entries(record):
    """Yield (kind, fixed part, items) of each entry, up to the end of the record."""
    assert record[:8] == b"\x89BTREC\r\n"
    version, crc = struct.unpack_from("<II", record, 8)
    assert version == 1 and crc == zlib.crc32(record[:12])
    at, number = 16, 0
    while at < len(record):
        header = record[at:at + 4]
        block, size, crc = struct.unpack_from("<III", record, at)
        body = record[at + 12:at + 12 + size]
        assert block == number and 0 < len(body) == size <= 32768 and crc == zlib.crc32(header + body)
        first = struct.unpack_from("<HHHH", body)
        # a block is at most 4096 bytes, unless it holds a single longer entry
        assert size <= 4096 or size == 8 + first[1] + first[2] * first[3]
        while body:
            kind, fixed, count, each = struct.unpack_from("<HHHH", body)
            items = [body[8 + fixed + each * i:][:each] for i in range(count)]
            yield kind, body[8:8 + fixed], items
            body = body[8 + fixed + each * count:]
        at, number = at + 12 + size, number + 1


def check_timers(found, report):
    """Check that each tested row of `intervals` has an entry in the record with as many requests as in the report."""
    rows = [struct.unpack("<HHI16s", fixed[:24]) for kind, fixed, _ in found if kind == TIMER]
    armings = [struct.unpack("<HHHHH7Q", fixed) + (len(items),) for kind, fixed, items in found if kind == INTERRUPTS]
    for number, row in enumerate(report["intervals"]):
        entry = [source.rstrip(b"\0").decode() for timer, _, _, source in rows if timer == number]
        asked = sum(arming[4] for arming in armings if arming[0] == number and arming[1] in (SHOT, PERIODS, WAITED, POLLED)
                    and arming[11] <= arming[12] - arming[2])
        assert entry == ([row["source"]] if number in {arming[0] for arming in armings} else []), row
        assert asked == row["asked"]["count"], row


def check_record(record, report):
    """Check that a complete record agrees with the cores and the stolen time of REPORT."""
    assert report["record"] == {"bytes": len(record), "dropped": 0, "sha256": hashlib.sha256(record).hexdigest()}
    found = list(entries(record))
    kinds = [kind for kind, _, _ in found]
    assert kinds[0] == RUN and kinds[-1] == END and struct.unpack("<QQ", found[-1][1]) == (len(found) - 1, 0)
    assert found[0][1].rstrip(b"\0").startswith(report["tool"]["version"].encode())
    assert [struct.unpack("<II", fixed) for kind, fixed, _ in found if kind == CORE] == [
        (number, core["apic_id"]) for number, core in enumerate(report["cores"])]
    watches = [(struct.unpack("<IQQQQQQ", fixed[:52]), items) for kind, fixed, items in found if kind == WATCH]
    assert [watch[0] for watch, _ in watches] == [i for i, core in enumerate(report["cores"]) if core["observed_ns"]]
    assert sum(watch[4] for watch, _ in watches) == report["interference"]["gaps"]
    assert sum(struct.unpack("<Q", item)[0] for _, items in watches for item in items) == report["interference"]["gaps"]
    check_timers(found, report)
    assert kinds.count(GAP) == len(report["interference"]["events"])
