"""Large records: baretick-replay's time grows with their size and not faster, and its memory is bounded."""
import json
import lzma
import os
import struct
import subprocess
import types

from harness import ROOT
from record_writer import FACTS, change_fact, pack_number, read_entries, set_field, write_record

REPLAY = ROOT / "build" / "baretick-replay"
RECORDS = ROOT / "tests" / "records"
CORES_LIST = 3  # FACTS_CORES of analysis/facts.h
CORE_COUNT = [28]  # the field in the table `report` of analysis/facts.def
GROWS = (7, 10, 12)  # batch, interrupts and gap: see src/record/README.md
MIB = 1 << 20


def entries_of(name):
    return read_entries(lzma.decompress((RECORDS / name).read_bytes()))


def make_facts(number, first, element):
    """Return the entry with ELEMENT of the list NUMBER of facts."""
    data = struct.pack("<H", len(element)) + element
    padded = data + b"\0" * (-len(data) % 8)
    return FACTS, struct.pack("<HHI", number, len(data), first), [padded[at:at + 8] for at in range(0, len(padded), 8)], 8


def elements_of(entry):
    _, fixed, items, _ = entry
    data, at = b"".join(items)[:struct.unpack_from("<H", fixed, 2)[0]], 0
    while at < len(data):
        size = struct.unpack_from("<H", data, at)[0]
        yield data[at + 2:at + 2 + size]
        at += 2 + size


def with_cores(entries, count):
    """Return ENTRIES with COUNT cores: the last core is repeated with other APIC ids."""
    cores = [index for index, (kind, fixed, _, _) in enumerate(entries) if kind == FACTS and struct.unpack_from("<H", fixed)[0] == CORES_LIST]
    found = [element for index in cores for element in elements_of(entries[index])]
    more = [make_facts(CORES_LIST, first, set_field(found[-1], [1], pack_number(first))) for first in range(len(found), count)]
    return entries[:cores[-1] + 1] + more + entries[cores[-1] + 1:]


def replay(entries, folder, memory_of):
    """Replay the record with ENTRIES. Return its size, the report, and the processor time in seconds. The program gets as many
    bytes of memory as MEMORY_OF(size) returns, and fails if it needs more."""
    folder.mkdir()
    size = (folder / "report.record").write_bytes(write_record(entries))
    command = ["prlimit", f"--as={memory_of(size)}", REPLAY, folder / "report.record", "--out", folder / "out"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1, 2), process.returncode
    report = json.loads((folder / "out" / "report.json").read_text())
    return types.SimpleNamespace(size=size, report=report, used_s=used.ru_utime + used.ru_stime)


def check_growth(small, large, factor):
    """Compare two replays; the record of LARGE has FACTOR times the readings. Time that grows with the square would be FACTOR
    times as long again."""
    assert large.used_s < 2 * factor * small.used_s, (small.used_s, large.used_s)


def test_the_time_of_4096_cores_is_four_times_that_of_1024(tmp_path):
    entries = entries_of("two-cores.record.xz")
    small, large = (replay(change_fact(with_cores(entries, count), 0, 0, CORE_COUNT, pack_number(count)), tmp_path / str(count),
                           lambda size: 128 * MIB)
                    for count in (1024, 4096))
    assert [len(done.report["cores"]) for done in (small, large)] == [1024, 4096]
    check_growth(small, large, 4)
    assert sum(path.stat().st_size for path in (tmp_path / "4096" / "out").iterdir()) < 24 * MIB


def test_the_time_of_a_soak_of_days_grows_with_its_readings_only(tmp_path):
    """In a soak, the readings of clocks, gaps and interrupts become more. Here each of them is repeated in its place."""
    entries = entries_of("soak.record.xz")
    small, large = (replay([entry for entry in entries for _ in range(times if entry[0] in GROWS else 1)], tmp_path / str(times),
                           lambda size: 96 * MIB + 3 * size)
                    for times in (20, 80))
    assert large.size > 3.5 * small.size
    check_growth(small, large, 4)
