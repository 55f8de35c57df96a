"""Firmware whose tick uses the HPET, and stops the HPET's counter in each tick. A test image (tests/skew/ticking.c)
makes OVMF do this."""
import json

import pytest

from boots import EFI_BUILT, SHORT, checked, clocks, qemu
from harness import FAST_TCG, QUICK_TCG, ROOT

TICKING = ROOT / "build" / "baretick-skew.efi"
AS_FOUND = "QEMU ended with status 69"  # QEMU's exit status for EXIT_AS_FOUND of tests/skew/ticking.c

pytestmark = [EFI_BUILT, pytest.mark.skipif(not TICKING.exists(),
                                            reason="build/baretick-skew.efi is not there: type make check")]


def ticking(run, word, *options):
    """Boot the image with WORD in its fw_cfg item. Every 10 ms the firmware's tick stops the HPET's counter for 100 us,
    which is 10,000 ppm. A busy host changes the rate of a healthy clock far less."""
    machine = [*FAST_TCG, "--cpus", "2"] if "cores=mp" in options else [*QUICK_TCG, "--cpus", "1"]
    return run(*machine, "--efi", TICKING, *qemu("-fw_cfg", f"name=opt/baretick/tick,string={word}"), "--", *options)


def of_hpet(report):
    row, = (row for row in report["behaviours"] if row["clock"] == "hpet" and row["rule"].startswith("rate-"))
    assert clocks(report)["hpet"]["reason"] == "The HPET is on and sends interrupts: the firmware may use it as its timer tick."
    assert not [finding for finding in report["findings"] if finding["clock"] == "hpet"]
    return row


def test_a_tick_that_stops_the_hpet_is_quiet_while_that_is_compared(run):
    report = checked(ticking(run, "on", *SHORT))
    # the HPET has the same oscillator as QEMU's other clocks, so its rate must be right
    assert of_hpet(report)["outcome"] in ("passed", "not_checked")
    low, high = (clocks(report)["hpet"]["error_ppm"][end] for end in ("low", "high"))
    assert -2000 < low <= high < 2000


def test_without_a_way_to_stop_the_tick_the_hpets_rate_is_left_open(run):
    report = checked(ticking(run, "absent", *SHORT))
    row = of_hpet(report)
    assert row["outcome"] == "not_determined"
    assert row["text"] == "hpet: this clock drives the firmware's tick, which could not be stopped; the tick may stop the clock's counter for short times."
    assert clocks(report)["hpet"]["measured_hz"] is None
    assert clocks(report)["acpi_pm"]["measured_hz"]


@pytest.mark.parametrize("cores", ["off", "mp"])
def test_the_tick_goes_on_after_the_run_as_it_was(run, cores):
    """At the end baretick returns to the shell (exit=return), and the firmware's tick must run as before. The other
    cores are off, or were started by the firmware's MP services. No note may say that the tick stopped."""
    done = ticking(run, "on", *SHORT, "clocks=tsc,hpet,acpi_pm", f"cores={cores}", "exit=return")
    assert AS_FOUND in done.stderr, done
    report = json.loads(done.file("report.json"))
    assert report["intervals"], "they were asked"
    assert of_hpet(report)["outcome"] != "failed"
    assert not [row for row in report["behaviours"] if row["rule"] == "clock-sleeps" and row["outcome"] == "failed"]
    assert not [note for note in report["notes"] if "call back" in note], report["notes"]


def test_a_tick_that_does_not_go_on_after_timers_were_asked_is_said(run):
    """The firmware's timer stays stopped, so that its callback is never called again. A note must explain why no key
    can be read."""
    done = ticking(run, "dead", *SHORT, "clocks=tsc,hpet,acpi_pm", "cores=off")
    notes = json.loads(done.file("report.json"))["notes"]
    assert [note for note in notes if "the firmware's timer did not call back within " in note], notes
