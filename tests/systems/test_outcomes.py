"""baretick's predictions against the outcomes of real kernels, which `make systems` has collected. A record of baretick's run on
each machine is judged again, and compared with what each kernel did there. No machine is booted."""
import json
import lzma
import pathlib
import struct
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "boot"))

import compare  # noqa: E402
import kernels  # noqa: E402
import machines  # noqa: E402
import tsc_offsets  # noqa: E402
import xen  # noqa: E402

ROOT = HERE.parents[1]
REPLAY = ROOT / "build" / "baretick-replay"
OUTCOMES = json.loads((HERE / "outcomes.json").read_text())
ROWS = [(name, suite) for name, machine in OUTCOMES.items() for suite in machine["kernels"]]


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Return the report of each machine, judged by this version of baretick."""
    if not REPLAY.exists():
        pytest.skip("there is no build/baretick-replay: type make")
    folder, found = tmp_path_factory.mktemp("systems"), {}
    for name in OUTCOMES:
        record = folder / f"{name}.record"
        record.write_bytes(lzma.decompress((HERE / "records" / f"{name}.record.xz").read_bytes()))
        subprocess.run([REPLAY, record, "--out", folder / name], capture_output=True, timeout=60, check=False)
        found[name] = json.loads((folder / name / "report.json").read_text())
    return found


@pytest.mark.parametrize("name, suite", ROWS, ids=["-".join(row) for row in ROWS])
def test_the_prediction_is_what_the_kernel_did(reports, name, suite):
    row = OUTCOMES[name]["kernels"][suite]
    differences = compare.find_differences(reports[name], suite, row, OUTCOMES[name]["has_fault"])
    if differences and row["known_wrong"]:
        pytest.xfail(row["known_wrong"])
    assert not differences, row


def test_each_machine_in_the_table_has_a_record_and_was_booted_with_each_kernel():
    assert set(OUTCOMES) == {path.name.removesuffix(".record.xz") for path in (HERE / "records").iterdir()}
    assert set(OUTCOMES) <= set(machines.MACHINES)
    for name, machine in OUTCOMES.items():
        assert machine["has_fault"] == machines.MACHINES[name].has_fault()
        assert set(machine["kernels"]) == {*kernels.SUITES, *(() if machine["has_fault"] else (xen.NAME,))}, name
        assert all(row["varies"] == (len(row["taken"]) > 1) for row in machine["kernels"].values()), name


def test_a_clock_that_no_boot_took_is_a_difference(reports):
    name = "q35-1"
    wrong = {**OUTCOMES[name]["kernels"]["sid"], "taken": {"acpi_pm": 1}}
    assert "acpi_pm" in compare.find_differences(reports[name], "sid", wrong, False)[0]


def test_xen_prints_its_platform_timer():
    outcome = xen.parse_outcome(b" Xen version 4.17.7 (Debian 4.17.7)\r\n(XEN) Platform timer is 3.580MHz ACPI PM Timer\r\n"
                                b"(XEN) Detected 2000.011 MHz processor.\r\n")
    assert (outcome.release, outcome.clocksource, outcome.refined_hz) == ("Xen 4.17.7", "acpi_pm", 2000011000)


@pytest.mark.parametrize("message, noticed, blamed", [
    ("tsc: Marking TSC unstable due to TSCs unsynchronized", False, None),
    ("clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable because the skew is too large:", True, "tsc"),
    ("clocksource: Marking clocksource tsc-early unstable due to frequency skew", True, "tsc"),
    ("clocksource: Watchdog remote CPU 1 read timed out", False, None),
    ("tsc: Marking TSC unstable due to check_tsc_sync_source failed", True, "tsc"),
])
def test_a_message_tells_whether_a_fault_was_noticed_and_which_clock_is_blamed(message, noticed, blamed):
    assert (compare.has_noticed({"messages": [message]}), compare.get_blamed_clock({"messages": [message]})) == (noticed, blamed)


def make_state(*offsets):
    """Return a saved state with the cores' OFFSETS, in the format of QEMU's migration."""
    fields = [{"name": "env.regs", "size": 8, "array_len": 2}, {"name": "env.tsc_offset", "size": 8}, {"name": "env.pat", "size": 1}]
    devices = [{"name": "cpu", "instance_id": core, "version": 12, "fields": fields} for core in range(len(offsets))]
    sections = [struct.pack(">BIB", 4, 7 + core, 3) + b"cpu" + struct.pack(">II16sqB", core, 12, b"r" * 16, ticks, 1)
                for core, ticks in enumerate(offsets)]
    description = json.dumps({"page_size": 4096, "devices": devices}).encode()
    return b"QEVM" + b"".join(sections) + struct.pack(">BI", 6, len(description)) + description


def test_the_offset_of_one_core_is_changed_and_nothing_else():
    assert tsc_offsets.change(make_state(0, 0, 0), {1: -5}) == make_state(0, -5, 0)
    assert tsc_offsets.change(make_state(0, 0), {0: 7, 1: 7}) == make_state(7, 7)


def test_a_state_that_is_not_understood_is_refused():
    with pytest.raises(ValueError, match="has an offset already"):
        tsc_offsets.change(make_state(0, 3), {1: 5})
    with pytest.raises(ValueError, match="no description"):
        tsc_offsets.change(make_state(0)[:-1], {0: 5})
