"""Timer interrupts without UEFI, and with UEFI while the firmware is active. If instructions drive a machine's time,
all figures are exact. Such machines boot without UEFI, because this needs less processor time."""
import pytest

from boots import EFI_BUILT, ICOUNT, SECURE, checked, qemu
from harness import BARE, FAST_TCG, QUICK_BARE, QUICK_TCG, TCG

pytestmark = EFI_BUILT
long = pytest.mark.long

SHORT = ["profile=quick", "duration=10ms", "clocks=tsc,hpet,acpi_pm"]
BY_INSTRUCTIONS = pytest.mark.boot(*BARE, "--cpus", "1", *qemu("-icount", "shift=4,sleep=off", *ICOUNT[2:]), "--", *SHORT)


def rows(report):
    return {(row["source"], row["mode"]): row for row in report["intervals"]}


@BY_INSTRUCTIONS
def test_nothing_is_lost_or_early_and_each_shot_comes_as_late_as_the_others(booted):
    found = rows(checked(booted))
    assert set(found) == {("self_ipi", "one-shot"), ("lapic_deadline", "one-shot"),
                          *((source, mode) for source in ("lapic", "hpet0") for mode in ("one-shot", "periodic"))}
    assert found["lapic_deadline", "one-shot"]["state"] == "absent", "TCG does not offer it: its MSR is not touched"
    itself = found["self_ipi", "one-shot"]
    assert itself["delivered"] == 200 and itself["lateness_ns"]["min"] == itself["lateness_ns"]["max"] > 0, itself
    for row in (row for row in found.values() if row["source"] in ("lapic", "hpet0")):
        assert row["state"] == "present" and not row["empty"] and not row["early"] and not row["excused"], row
        late, asked = row["lateness_ns"], row["asked"]["count"]
        assert row["delivered"] - row["doubled"] == asked == {"one-shot": 100, "periodic": 80}[row["mode"]], row
        assert late["max"] - late["min"] <= 100 and 0 < late["p50"] < 1000, row
        assert late["error"] <= {"one-shot": 500, "periodic": 5000}[row["mode"]], row
    assert found["lapic", "one-shot"]["doubled"] == found["lapic", "periodic"]["doubled"] == 0
    assert found["hpet0", "one-shot"]["route"]["kind"] == "ioapic" and found["hpet0", "one-shot"]["route"]["pin"] > 15
    assert found["lapic", "periodic"]["held"]["delivered"] == 21, "20 on time, and of those that were masked one"


@pytest.mark.boot(*BARE, "--cpus", "1", *qemu("-icount", "shift=4,sleep=off", *ICOUNT[2:], "-global", "hpet.msi=on"), "--", *SHORT, "irq=all", "pic=on")
def test_each_source_is_taken_once_for_each_deadline(booted):
    """All timers of QEMU are tested with each interrupt route. The only warnings may be about QEMU's HPET: it is never
    late here, so it sends ticks twice."""
    report = checked(booted)
    found = rows(report)
    doubled = {source for (source, mode), row in found.items() if mode == "periodic" and row["doubled"] >= 4}
    assert {(finding["rule"], finding["clock"]) for finding in report["findings"]} == {("irq-doubled", source) for source in doubled}
    assert all(source.startswith("hpet") for source in doubled), doubled
    shots = {"hpet0", "hpet1", "hpet2", "hpet_fsb", "hpet_legacy", "pit0", "pit0_pic"}
    for source in shots:
        row = found[source, "one-shot"]
        assert row["delivered"] == row["asked"]["count"] == 100 and not row["early"] and not row["doubled"], row
        assert row["lateness_ns"]["max"] - row["lateness_ns"]["min"] <= 100 and abs(row["lateness_ns"]["p50"]) < 1000, row
    for source in {*shots, "rtc", "rtc_pic"}:
        row = found[source, "periodic"]
        assert not row["empty"] and not row["early"] and not row["excused"] and row["expected"] in (79, 80), row
    for source in ("pit0", "pit0_pic", "rtc", "rtc_pic"):
        assert not found[source, "periodic"]["doubled"], found[source, "periodic"]
    for source in ("rtc", "rtc_pic"):
        row = found[source, "periodic"]
        assert row["asked"]["period_ns"] == 976563 and row["lateness_ns"]["max"] < 100, row
    for source in ("rtc_update", "rtc_alarm", "acpi_pm", "acpi_pm_sci"):
        row = found[source, "one-shot"]
        assert row["delivered"] == row["expected"] == 1 and row["state"] == "present", row
    for source in ("acpi_pm", "acpi_pm_sci"):
        late = found[source, "one-shot"]["lateness_ns"]
        assert abs(late["p50"]) <= late["error"] + 2000, late
    routes = {source: row["route"] for (source, _), row in found.items()}
    assert routes["pit0"]["pin"] == 2 and routes["rtc"]["pin"] == 8 and routes["acpi_pm_sci"]["pin"] == 9
    assert [routes[source]["kind"] for source in ("pit0_pic", "rtc_pic")] == ["pic", "pic"]
    assert (routes["pit0_pic"]["pin"], routes["rtc_pic"]["pin"]) == (0, 8)
    assert routes["hpet_fsb"]["kind"] == "fsb" and routes["hpet_legacy"]["pin"] == 2 and routes["acpi_pm"]["kind"] == "status"


def test_every_source_gives_the_firmware_back_its_tick_and_its_registers(run):
    """The firmware uses some of the tested devices. Their registers must be restored, which checked() checks. No note
    may say that the firmware's tick stopped."""
    report = checked(run(*QUICK_TCG, "--cpus", "1", "--", *SHORT, "irq=all", "pic=on"))
    sources = {row["source"] for row in report["intervals"] if row["delivered"]}
    assert sources >= {"lapic", "hpet0", "hpet_legacy", "pit0", "pit0_pic", "rtc", "rtc_pic", "acpi_pm_sci"}, sources
    assert not [note for note in report["notes"] if "call back" in note], report["notes"]


@pytest.mark.parametrize("machine", [BARE, pytest.param(FAST_TCG, marks=long)], ids=["bare", "uefi"])
def test_in_real_time_the_counts_add_up_and_nothing_is_left_behind(run, machine):
    """The counts of each timer test must add up, even if a busy host delays ticks. checked() looks for registers that
    were not restored. With UEFI the firmware's tick still works, because it was needed to send the report."""
    report = checked(run(*machine, "--cpus", "1", "--", *SHORT))
    assert rows(report)
    for row in report["intervals"]:
        late, asked = row["lateness_ns"], row["expected"]
        assert row["empty"] + row["excused"] <= asked and row["doubled"] <= row["delivered"], row
        assert row["delivered"] + row["empty"] + row["excused"] >= asked, row
        assert late is None or late["min"] <= late["p50"] <= late["max"], row
    assert not [found for found in report["findings"] if found["rule"].startswith("irq")]


@pytest.mark.parametrize("hpet, arguments", [
    pytest.param("present", [*TCG, "--cpus", "2", "--firmware", SECURE], id="smm", marks=long),
    # on the machine pc, timer 0 of the HPET can use only pin 2
    pytest.param("disabled", [*QUICK_BARE, "--cpus", "2", "--machine", "pc"], id="pc"),
    pytest.param("absent", [*FAST_TCG, "--cpus", "1", *qemu("-machine", "hpet=off")], id="without-hpet", marks=long),
])
def test_they_are_taken_on_other_machines_too_or_a_row_says_why_not(run, hpet, arguments):
    found = rows(checked(run(*arguments, "--", *SHORT)))
    assert found["lapic", "one-shot"]["delivered"] > 0, found
    row = found["hpet0", "one-shot"]
    assert row["state"] == hpet and (row["delivered"] > 0) == (hpet == "present") == (row["reason"] is None), row


def test_an_rtc_that_makes_up_for_what_was_masked_is_told_from_one_that_does_not(run):
    """QEMU's option driftfix decides whether the RTC sends masked ticks later. On a busy host a boot may not determine
    whether it does, but no boot may report the wrong answer."""
    def policies(driftfix, boots):
        for _ in range(boots):
            done = run(*QUICK_BARE, "--cpus", "1", *qemu("-rtc", f"driftfix={driftfix}"), "--", *SHORT, "irq=all")
            yield rows(checked(done))["rtc", "periodic"]["policy"]
    assert "catch up" not in policies("none", 1)
    assert "catch up" in policies("slew", 5)  # policies() stops after the first boot that determines the policy
