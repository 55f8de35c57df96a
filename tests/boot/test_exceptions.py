"""Exceptions in baretick's own code, on any core: a test image (tests/fault) in which a clock's driver takes them. The
machine lives on, and the report says which, where, and what that ended.
"""
import re

import pytest

from boots import VERDICT_STATUS, clocks, qemu
from harness import FAST_TCG, ROOT

FAULTING = ROOT / "build" / "baretick-fault.efi"
KINDS = {"gp": r"#GP \(vector 13, error 0h\)", "pf": r"#PF \(vector 14, error 0h\)", "ud": r"#UD \(vector 6\)"}
PLACE = r" at baretick\+[0-9a-f]+h"
TOUCHED = {"pf": ", address 123456789000h"}
SHORT = ["profile=quick", "duration=10ms", "clocks=tsc,hpet,acpi_pm"]
LATER = 3  # batches of samples on another core, which is at its own figures by then

pytestmark = pytest.mark.skipif(not FAULTING.exists(), reason="build/baretick-fault.efi is not there: type make check")
long = pytest.mark.long


def faulted(run, kind, core, when, *options, cpus=2):
    done = run(*FAST_TCG, "--cpus", str(cpus), "--efi", FAULTING,
               *qemu("-fw_cfg", f"name=opt/baretick/fault,string={kind} {core} {when}"), "--", *SHORT, *options)
    report = done.report
    assert "X64 Exception Type" not in done.stdout + done.file("serial.log").decode("ascii", "replace"), done
    assert done.status == VERDICT_STATUS[report["verdict"]], done
    return report


def check_row(report, kind):
    """The clock's row names the exception; all others are as they would be."""
    row = clocks(report)["acpi_pm"]
    assert row["state"] == "broken" and row["verdict"] == "fail", row
    assert re.fullmatch(f"Access to it faulted: {KINDS[kind]}{PLACE}{TOUCHED.get(kind, '')}\\.", row["reason"]), row
    assert [(found["rule"], found["clock"]) for found in report["findings"] if found["severity"] == "fail"] == \
        [("clock-broken", "acpi_pm")]
    assert report["verdict"] == "fail"
    for name in ("tsc", "hpet"):
        assert clocks(report)[name]["latency"]["count"], name
        assert clocks(report)[name]["monotonic"]["reads"], name


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("when", ["open", "0", pytest.param("40", marks=long)])
def test_a_clock_whose_read_faults_on_the_boot_core_is_broken_and_all_others_are_measured(run, kind, when):
    report = faulted(run, kind, 0, when)
    check_row(report, kind)
    assert report["skew"]["cores"] == 2
    assert all(core["started"] and not core["reason"] for core in report["cores"])
    assert not any("exception" in note or "Not put back" in note for note in report["notes"]), report["notes"]


@pytest.mark.parametrize("kind, cores", [("gp", "sipi"), ("pf", "sipi"), ("ud", "sipi"), ("pf", "mp"),
                                         pytest.param("gp", "mp", marks=long), pytest.param("ud", "mp", marks=long)])
def test_a_core_whose_job_faults_is_lost_with_its_reason_and_the_run_goes_on(run, kind, cores):
    report = faulted(run, kind, 1, LATER, f"cores={cores}", cpus=3)
    lost = [core for core in report["cores"] if core["reason"]]
    assert [core["apic_id"] for core in lost] == [1], report["cores"]
    assert re.fullmatch(f"took an exception in a job: {KINDS[kind]}{PLACE}{TOUCHED.get(kind, '')}", lost[0]["reason"])
    assert "core-missing" in {found["rule"] for found in report["findings"]}
    row = clocks(report)["acpi_pm"]
    assert row["state"] == "present" and row["latency"]["count"], row
    assert report["cores"][2]["latency"], "the core after it was asked"


@pytest.mark.parametrize("kind, cores", [("pf", "sipi"), pytest.param("gp", "sipi", marks=long), ("ud", "mp")])
def test_a_fault_on_the_boot_core_while_others_work_ends_the_measuring_and_what_there_is_is_reported(run, kind, cores):
    report = faulted(run, kind, 0, "together", f"cores={cores}")
    said, = [note for note in report["notes"] if "exception" in note]
    assert re.fullmatch("The boot core took an exception in the phase contended, which ended there: "
                        f"{KINDS[kind]}{PLACE}{TOUCHED.get(kind, '')}. What had been measured by then is reported.", said)
    assert report["verdict"] == "incomplete"
    assert clocks(report)["acpi_pm"]["latency"]["count"] and report["skew"]["cores"] == 2
    assert all(core["started"] and not core["reason"] for core in report["cores"])
