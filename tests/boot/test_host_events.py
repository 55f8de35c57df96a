"""A pause, a snapshot or a migration while baretick runs. These tests check that the event came at the requested time,
and that the run reached its end. Other tests check findings about clocks."""
import re

import pytest

from boots import EFI_BUILT, IMAGE_BUILT, checked
from harness import BARE, FAST_TCG, case, junit
from machine import events

SLACK_S = 0.02  # two times are compared that are rounded to two decimals

pytestmark = EFI_BUILT


def happened(done, text, after, seconds):
    """Assert that the event TEXT came at least AFTER seconds into the run and took SECONDS, and that the report is
    complete."""
    assert done.status in (0, 1), done
    line = rf"^qemu/run: --event {re.escape(text)}: from ([0-9.]+) s to ([0-9.]+) s after"
    begin, end = map(float, re.search(line, done.stderr, re.MULTILINE).groups())
    assert after - SLACK_S <= begin and seconds - SLACK_S <= end - begin, done
    assert case(done, text)[0][0] == "system-out"
    checked(done)
    return begin, end


@pytest.mark.parametrize("what", sorted(set(events.KINDS) - {"stop"}))  # the last test of this file has a stop
def test_a_run_reaches_its_end_after_each_event(run, tmp_path, what):
    text = f"rates+200ms={what}:1s"
    done = run(*BARE, "--cpus", "1", "--event", text, *junit(tmp_path), "--", "profile=quick", "duration=10ms", "clocks=tsc,rtc")
    happened(done, text, 0.2, 1)
    assert done.file("qemu.log").count(b"\n$ ") == (what == "migrate")
    assert done.file("serial.log").count(b"phase: prepare") == 1 + (what == "reset")
    said = re.findall(rb"(?m)^phase: (\S+?)\r?$", done.file("serial.log"))
    # without UEFI no time of the firmware is measured
    assert [phase.decode() for phase in dict.fromkeys(said)] == [phase for phase in events.PHASES if phase != "firmware"]


@pytest.mark.long
@pytest.mark.parametrize("what", list(events.KINDS))
@pytest.mark.parametrize("moment", ["1.5s", "latency+100ms", "skew", "cores"])
def test_a_run_with_several_cores_reaches_its_end_after_an_event_in_each_phase(run, tmp_path, moment, what):
    text = f"{moment}={what}:500ms"
    done = run(*BARE, "--cpus", "4", "--event", text, *junit(tmp_path), "--", "profile=quick")
    happened(done, text, 1.5 if moment == "1.5s" else 0, 0.5)


@pytest.mark.long
def test_a_machine_that_was_restored_repeats_its_phases(run, tmp_path):
    """After the restore, the progress continues from an earlier phase. The report's table must be printed only once."""
    text = "latency=snapshot:5s"
    done = run(*BARE, "--cpus", "1", "--event", text, *junit(tmp_path), "--", "duration=1s")
    happened(done, text, 0, 5)
    percent = [int(found) for found in re.findall(rb"progress: (\d+)%", done.file("serial.log"))]
    assert [after < before for before, after in zip(percent, percent[1:])].count(True) == 1, percent


@pytest.mark.long
def test_several_events_happen_one_after_another(run, tmp_path):
    texts = ["latency=migrate:500ms", "rates=stop:500ms", "latency=snapshot:500ms", "latency=snapshot:300ms",
             "latency=migrate:1s"]
    asked = [f"--event={text}" for text in texts]
    done = run(*BARE, "--cpus", "2", *asked, *junit(tmp_path), "--", "duration=1s")
    spans = sorted(happened(done, text, 0, 0.3) for text in texts)
    assert all(end <= begin + SLACK_S for (_, end), (begin, _) in zip(spans, spans[1:])), spans


@IMAGE_BUILT
@pytest.mark.long
@pytest.mark.parametrize("boot, what", [("usb", "stop"), ("usb", "migrate"), ("cd", "snapshot"), ("cd", "migrate")])
def test_an_event_happens_to_a_machine_that_booted_from_an_image(run, tmp_path, boot, what):
    text = f"rates={what}:500ms"
    done = run(*FAST_TCG, "--boot", boot, "--event", text, *junit(tmp_path), "--", "profile=quick")
    happened(done, text, 0, 0.5)
    assert ("Report saved on the boot volume in" in done.stdout) == (boot == "usb")


def test_a_stop_as_the_rates_are_announced_is_noted(run, tmp_path):
    """The machine is stopped for 10 s before the RTC's first edge in the rate window. A note must give the stop's
    length with its error: the RTC's reading before the stop is exact only to a second. On a busy host the RTC's edges are
    seen up to a second late, and a stop of 3 s would not be proven."""
    text = "rates=stop:10s"
    done = run(*BARE, "--cpus", "1", "--event", text, *junit(tmp_path), "--", "profile=quick", "clocks=tsc,acpi_pm,rtc", "irq=off")
    begin, end = happened(done, text, 0, 10)
    stops = [clock["late_ms"] for row in done.report["discontinuities"] if row["class"] == "stopped"
             for clock in row["clocks"] if clock["clock"] == "tsc"]
    assert any(note.startswith("The machine was stopped for ") for note in done.report["notes"]), done
    assert any(stop["low"] <= 1000 * (end - begin + SLACK_S) and 10_000 <= stop["high"] for stop in stops), (stops, done)
