"""The firmware's own time. A test image (tests/skew/firmware_time.c) replaces time services of OVMF by wrong ones. QEMU
counts instructions, so that the TSC has exactly 1 GHz."""

import json
import re
import time

import pytest

from boots import EFI_BUILT, IMAGE_BUILT, checked, qemu
from harness import QUICK_TCG, ROOT
from levers import run_while
from stick import copy_of_stick, folders, mtools, volume_of

IMAGE = ROOT / "build" / "baretick-skew.efi"
ONE_CORE = [*QUICK_TCG, "--cpus", "1"]
# no core is started, and no other clock is read for long; only a standard run waits for the second of GetTime
STANDARD = ["duration=10ms", "cores=off", "irq=off", "clocks=tsc,hpet,acpi_pm"]

pytestmark = [EFI_BUILT, pytest.mark.skipif(not IMAGE.exists(), reason="build/baretick-skew.efi is not there: type make check")]


def broken(run, words, *options):
    return checked(run(*ONE_CORE, "--efi", IMAGE, *qemu("-fw_cfg", f"name=opt/baretick/firmware,string={words}"), "--",
                       *(options or STANDARD)))


def findings(report):
    """The findings on the firmware, as rule/service. No finding may be on a clock."""
    assert not [finding for finding in report["findings"] if not finding["rule"].startswith("efi-")]
    return sorted(f"{finding['rule']}/{finding['clock']}" for finding in report["findings"])


def row(report, rule, service):
    (found,) = (row for row in report["behaviours"] if (row["rule"], row["clock"]) == (rule, service))
    return found


def test_ovmf_has_no_finding_and_each_row_says_firmware(run):
    report = broken(run, "none")
    assert findings(report) == []
    rows = report["firmware_times"]
    assert {row["source"] for row in rows} == {"firmware"}
    assert {row["id"] for row in rows} == {"efi_stall", "efi_timer", "efi_time", "efi_counter", "efi_cpu"}
    assert {row["tick"] for row in rows if row["id"] == "efi_timer"} == {"lapic"}
    assert [row["asked_ns"] for row in rows if row["id"] == "efi_stall"] == [10**4, 10**5, 10**6, 10**7, 10**8]
    assert all("firmware" in row["text"] for row in report["behaviours"] if row["rule"].startswith("efi-"))
    for service in ("efi_stall", "efi_timer", "efi_time"):
        assert row(report, "efi-rate", service)["outcome"] != "failed"
    took_ms = sum(phase["duration_ms"] for phase in report["phases"] if phase["id"] == "firmware")
    assert took_ms < 1500


def test_a_quick_run_takes_less_than_100_ms_longer(run):
    report = broken(run, "none", "profile=quick", *STANDARD)
    (phase,) = (phase for phase in report["phases"] if phase["id"] == "firmware")
    assert 20 < phase["duration_ms"] < 100
    assert findings(report) == []


@pytest.mark.parametrize(("words", "expected"), [
    ("short", ["efi-rate/efi_stall", "efi-short/efi_stall"]),
    ("late", ["efi-late/efi_stall"]),
    ("dead", ["efi-late/efi_timer"]),
    ("fast", ["efi-rate/efi_stall", "efi-rate/efi_time", "efi-rate/efi_timer", "efi-short/efi_stall"]),
    ("back", ["efi-back/efi_counter", "efi-back/efi_time"]),
    ("stamp=262500000", ["efi-rate/efi_stamp"]),
    ("stamp=250000000", []),
])
def test_each_fault_of_the_firmware_is_named_and_no_clock(run, words, expected):
    report = broken(run, words)
    found = findings(report)
    if words == "fast":  # an event that comes early by more than a tick is short, too, but it depends on the tick's phase
        found = [name for name in found if name != "efi-short/efi_timer"]
    assert found == expected
    assert {clock["verdict"] for clock in report["clocks"] if clock["state"] == "present"} <= {"pass", "not_determined"}
    if words.startswith("stamp"):
        assert row(report, "efi-rate", "efi_stamp")["outcome"] == ("failed" if expected else "passed")


@pytest.mark.parametrize(("mhz", "outcome"), [(1000, "passed"), (0, "not_checked"), (4660, "failed")])
def test_the_rate_in_the_table_of_coreboot_is_a_row_of_the_claims(run, mhz, outcome):
    report = checked(run(*ONE_CORE, "--efi", IMAGE, *qemu("-fw_cfg", f"name=opt/baretick/firmware,string=coreboot={mhz}"), "--",
                         "profile=quick", *STANDARD, "efi=off"))
    (claim,) = (claim for claim in report["claims"] if "coreboot" in claim["source"])
    assert claim["outcome"] == outcome
    assert [finding["rule"] for finding in report["findings"]] == (["tsc-claim"] if mhz == 4660 else [])
    assert (claim["reason"] == "It is 0.") == (mhz == 0)
    assert report["firmware_times"] == []
    assert not [row for row in report["behaviours"] if row["rule"].startswith("efi-")]


def test_a_start_in_the_fpdt_is_held_against_a_tsc_that_counts_since_the_reset(run):
    right = broken(run, "fpdt=1", "profile=quick", *STANDARD)
    (times,) = (row for row in right["firmware_times"] if row["id"] == "fpdt")
    start_ms = round(times["tsc_ns"] / 10**6)
    assert times["start_ns"] == 10**6 and 500 < start_ms < 60000
    assert row(right, "efi-rate", "fpdt")["outcome"] == "not_checked", "the TSC counted before this table did"
    right = broken(run, f"fpdt={start_ms}", "profile=quick", *STANDARD)
    assert row(right, "efi-rate", "fpdt")["outcome"] == "passed"
    late = broken(run, f"fpdt={17 * 60 * 1000}", "profile=quick", *STANDARD)
    assert row(late, "efi-rate", "fpdt")["outcome"] in ("failed", "not_determined")
    assert "17" in row(late, "efi-rate", "fpdt")["text"] or "1020 s" in row(late, "efi-rate", "fpdt")["text"]


@IMAGE_BUILT
def test_a_stall_that_never_returns_loses_no_result_and_is_not_called_in_the_next_boot(run, tmp_path):
    stick = copy_of_stick(tmp_path)
    mtools(stick, "mcopy", "-o", IMAGE, "::/EFI/BOOT/BOOTX64.EFI")
    hang = [*ONE_CORE, "--boot", "usb", *qemu("-fw_cfg", "name=opt/baretick/firmware,string=hang")]
    options = ["--", "profile=quick", "duration=10ms", "clocks=tsc,acpi_pm", "irq=off"]

    def kill_after_checkpoint(machine):
        assert machine.wait_for(b"phase: firmware\r")
        for _ in range(500):
            if re.search(rb"phase=firmware cores=\w+ least=\w+ report=[1-9]", (tmp_path / "hung" / "stick.img").read_bytes()):
                break
            time.sleep(0.2)
        with machine.process() as process:
            process.kill()

    hung = run_while(kill_after_checkpoint, tmp_path / "hung", *hang, "--image", stick, *options)
    assert hung.status == 2
    left, = folders(volume_of((hung.out / "stick.img").read_bytes())).values()
    report = json.loads(left["report.json"])
    assert report["verdict"] == "incomplete" and "Saved in the phase firmware" in "\n".join(report["notes"])
    assert {"efi_stall", "efi_time"} <= {row["id"] for row in report["firmware_times"]}
    report = checked(run(*hang, "--image", hung.out / "stick.img", *options))
    assert any("stopped in its phase firmware" in note for note in report["notes"])
    assert report["options"]["efi"] == "off" and report["firmware_times"] == []
