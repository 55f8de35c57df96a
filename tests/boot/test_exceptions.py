"""Exceptions in baretick's code, on any core. In a test image (tests/fault) the driver of a clock causes them. The
machine must continue. The report must give the exception, its address, and the measurement that it ended.

The code that handles the exceptions is the same with and without UEFI, but a boot with UEFI needs more processor time.
Therefore each case with UEFI tests something that UEFI does differently: the firmware's tables, stacks and interrupts,
and cores that it starts."""
import re

import pytest

from boots import IMAGE_BUILT, VERDICT_STATUS, clocks, qemu
from harness import FAST_TCG, NO_SCREEN, QUICK_BARE, QUICK_TCG, ROOT
from levers import run_while
from stick import STICK, copy_of_stick, folders, mtools, volume_of

FAULTING = ROOT / "build" / "baretick-fault.efi"
# Cores that the firmware starts (mp) must run at the same time, because the firmware's waits depend on it.
BOOTS = {"uefi": [*QUICK_TCG, "--efi", FAULTING], "mp": [*FAST_TCG, *NO_SCREEN, "--efi", FAULTING],
         "bare": [*QUICK_BARE, "--image", FAULTING.with_suffix(".elf")]}
IN_IMAGE = r" at baretick\+[0-9a-f]+h"
KINDS = {"gp": rf"#GP \(vector 13, error 0h\){IN_IMAGE}",
         "pf": rf"#PF \(vector 14, error 0h\){IN_IMAGE}, address 123456789000h",
         "ud": rf"#UD \(vector 6\){IN_IMAGE}"}
# A page fault with firmware that has a separate stack for #PF, as EDK II of 2026. A core that the firmware starts has
# no such stack.
OWN_STACK = {"is": KINDS["pf"]}
# Calls to addresses without code: unmapped memory, or the stack, which may be executable. Bit 4 of a page fault's error
# code marks an instruction fetch.
ASTRAY = {"vo": r"#PF \(vector 14, error 1?0h\) at 123456789000h, address 123456789000h",
          "st": r"(#UD \(vector 6\) at [0-9a-f]+h|#PF \(vector 14, error 11h\) at ([0-9a-f]+)h, address \2h)"}
ALL_KINDS = KINDS | ASTRAY | OWN_STACK
FIRMWARES_DUMP = "X64 Exception Type"
SHORT = ["profile=quick", "duration=10ms", "clocks=tsc,hpet,acpi_pm"]
# A core other than the boot core causes its exception after six groups of samples, while it reads the clocks alone, or
# while all cores read a clock at once and wait for one another.
ALONE, AT_ONCE = "6", "together"

pytestmark = pytest.mark.skipif(not FAULTING.exists(), reason="build/baretick-fault.efi is not there: type make check")
long = pytest.mark.long


def fault(kind, core, when):
    return qemu("-fw_cfg", f"name=opt/baretick/fault,string={kind} {core} {when}")


def faulting(kind, core, when, boot="uefi"):
    return [*BOOTS[boot], *fault(kind, core, when)]


def faulted(run, boot, kind, core, when, *, cpus=2):
    cores = ["cores=mp"] if boot == "mp" else []
    return report_of(run(*faulting(kind, core, when, boot), "--cpus", str(cpus), "--", *SHORT, "irq=off", *cores))


def report_of(done):
    report = done.report
    assert FIRMWARES_DUMP not in done.stdout + done.file("serial.log").decode("ascii", "replace"), done
    assert done.status == VERDICT_STATUS[report["verdict"]], done
    return report


def check_row(report, kind):
    """Check that the clock's row names the exception, and that all other rows are as in a normal run."""
    row = clocks(report)["acpi_pm"]
    assert row["state"] == "broken" and row["verdict"] == "fail", row
    assert re.fullmatch(f"Access to it faulted: {ALL_KINDS[kind]}\\.", row["reason"]), row
    assert [(found["rule"], found["clock"]) for found in report["findings"] if found["severity"] == "fail"] == \
        [("clock-broken", "acpi_pm")]
    assert report["verdict"] == "fail"
    for name in ("tsc", "hpet"):
        assert clocks(report)[name]["latency"]["count"], name
        assert clocks(report)[name]["monotonic"]["reads"], name


@pytest.mark.parametrize("boot, kind, when", [
    ("bare", "gp", "open"), ("bare", "pf", "0"), ("bare", "ud", "40"), ("bare", "vo", "0"), ("uefi", "pf", "open"), ("uefi", "st", "open"),
    *[pytest.param("uefi", kind, "40", marks=long) for kind in KINDS | ASTRAY]])
def test_a_clock_whose_read_faults_on_the_boot_core_is_broken_and_all_others_are_measured(run, boot, kind, when):
    report = faulted(run, boot, kind, 0, when)
    check_row(report, kind)
    assert report["skew"]["cores"] == 2
    assert all(core["started"] and not core["reason"] for core in report["cores"])
    assert not any("exception" in note or "Not restored" in note for note in report["notes"]), report["notes"]


@pytest.mark.parametrize("boot, kind, when", [
    ("bare", "pf", AT_ONCE), ("bare", "ud", ALONE), ("bare", "vo", ALONE), ("mp", "is", ALONE),
    pytest.param("bare", "gp", AT_ONCE, marks=long), pytest.param("uefi", "pf", ALONE, marks=long),
    *[pytest.param("mp", kind, ALONE, marks=long) for kind in ("gp", "pf", "ud", "st", "vo")]])
def test_a_core_whose_job_faults_is_lost_with_its_reason_and_the_run_goes_on(run, boot, kind, when):
    report = faulted(run, boot, kind, 1, when, cpus=3)
    lost = [core for core in report["cores"] if core["reason"]]
    assert [core["apic_id"] for core in lost] == [1], report["cores"]
    assert re.fullmatch(f"took an exception in a job: {ALL_KINDS[kind]}", lost[0]["reason"])
    assert all(lost[0]["latency"][name] for name in ("tsc", "acpi_pm", "null")), "what the core measured before is kept"
    assert "core-missing" in {found["rule"] for found in report["findings"]}
    row = clocks(report)["acpi_pm"]
    assert row["state"] == "present" and row["latency"]["count"], row
    assert report["cores"][2]["latency"], "the core after it was asked"


@pytest.mark.parametrize("boot, kind", [("bare", "gp"), ("bare", "pf"), ("mp", "ud"), pytest.param("uefi", "pf", marks=long)])
def test_a_fault_on_the_boot_core_while_others_work_ends_the_measuring_and_what_there_is_is_reported(run, boot, kind):
    report = faulted(run, boot, kind, 0, "together")
    said, = [note for note in report["notes"] if "exception" in note]
    assert re.fullmatch("The boot core took an exception in the phase contended, which ended there: "
                        f"{KINDS[kind]}. The results until then are reported.", said)
    assert report["verdict"] == "incomplete"
    assert clocks(report)["acpi_pm"]["latency"]["count"] and report["skew"]["cores"] == 2
    assert all(core["started"] and not core["reason"] for core in report["cores"])


@IMAGE_BUILT
def test_a_fault_in_a_handler_ends_this_timers_tests_and_nothing_is_left_in_service(run, tmp_path):
    """An interrupt handler takes an exception. The tests of its timer must end, the others must be done, and the report must be
    saved. Saving needs the firmware's tick, which would not come if an interrupt stayed in service."""
    stick = copy_of_stick(tmp_path)
    mtools(stick, "mcopy", "-o", FAULTING, "::/EFI/BOOT/BOOTX64.EFI")
    done = run(*STICK, "--image", stick, *fault("ha", 0, 0), "--", *SHORT)
    report = report_of(done)
    broken, = [found for found in report["findings"] if found["rule"] == "clock-broken"]
    assert broken["clock"] == "lapic" and re.search(f"{KINDS['ud']}[.]$", broken["text"]), broken
    assert report["notes"] == [] and report["verdict"] == "fail"
    others = [row for row in report["intervals"] if row["source"] not in ("lapic", "lapic_deadline")]
    assert {"self_ipi", "hpet0"} <= {row["source"] for row in others} and all(row["delivered"] for row in others), others
    assert folders(volume_of(done.file("stick.img")))["0001"]["report.json"] == done.file("report.json")


def test_what_the_firmware_takes_in_its_own_code_goes_to_the_firmwares_handler(tmp_path):
    """The firmware's CopyMem() reads unmapped memory. The firmware prints a dump and then hangs. The runner must notice
    this before its time-out.

    The test stops QEMU after the dump, because the firmware's endless loop would use a processor until the runner ends
    QEMU."""
    def stop(machine):
        assert machine.wait_for(FIRMWARES_DUMP.encode())
        machine.wait_until_silent()
        with machine.process() as process:
            process.stop()

    done = run_while(stop, tmp_path / "out", *faulting("fw", 0, 0), "--cpus", "1", "--", *SHORT)
    assert FIRMWARES_DUMP in done.file("serial.log").decode("ascii", "replace")
    assert done.status == 2 and "verdict" not in done.stdout, done
    assert "the firmware took an exception in its own code and stopped: 0" in done.stderr, done
