"""Faults of clocks that levers.py causes in an unchanged QEMU. Each boot is compared with the same boot without the
fault. If possible, instructions drive the guest's time (-icount), so that a busy host changes no figure and causes no
gap. With -icount all figures before the fault must be equal to the last digit."""
import contextlib
from fractions import Fraction
import os
import re
import shlex
import subprocess
import sys
import time

import pytest

import levers
from harness import BARE, BY_INSTRUCTIONS, NO_SCREEN, QUICK_BARE, TCG
from boots import EFI_BUILT, ROOT, SECURE, VERDICT_STATUS, checked, clocks, faults

pytestmark = EFI_BUILT

ONE_CORE = [*BARE, "--cpus", "1"]
GAP_MS = 250  # shortest gap that counts; longer than usual gaps on a busy host
QUICK = ["profile=quick", "clocks=tsc,hpet,acpi_pm,pit,rtc", f"gap={GAP_MS}ms"]


def accused(report):
    return {(finding["rule"], finding["clock"]) for finding in faults(report)}


def rates(report):
    return {(rate["a"], rate["b"]): rate["ppm"] for rate in report["rates"]}


def exact(number):
    return Fraction(str(number))


def test_a_lever_that_came_after_the_end_of_qemu_is_tried_in_another_run(tmp_path):
    """A busy host may give the test's thread no processor until the machine has ended."""
    runs = []

    def pull(machine):
        runs.append(machine)
        if len(runs) == 1:
            assert not machine.wait_for(b"a line that no run prints")
        with machine.monitor() as monitor:
            return monitor.execute("query-status")["running"]

    checked(levers.run_until_in_time(pull, tmp_path, *QUICK_BARE, "--cpus", "1", "--", "duration=10ms", "clocks=tsc", "irq=off"))
    assert len(runs) == 2


# Tests of clocks with wrong rates.

@pytest.fixture(scope="session")
def clean(tmp_path_factory):
    """Return the report of the machine without a fault. The other boots get its measured TSC rate as an option, as if
    from a data sheet."""
    report = checked(levers.run_while(None, tmp_path_factory.mktemp("clean"), *ONE_CORE, "--", *QUICK))
    assert report["findings"] == []
    return report


def faked(folder, clean, rate, **which):
    """Return the report of a boot in which the host's time passes RATE times as fast as in reality, see levers.faked().
    Also return the range of the true TSC rate, divided by the value of the option tsc_hz. It is a range because the
    clean boot measured an interval."""
    measured = clocks(clean)["tsc"]["measured_hz"]
    claim = round(measured["value"])
    report = checked(levers.run_while(None, folder / "out", *ONE_CORE, *levers.faked(folder, rate, **which), "--",
                                      *QUICK, f"tsc_hz={claim}"))
    return report, [exact(measured[end]) / claim for end in ("low", "high")]


def overlap(interval, low, high):
    return exact(interval["low"]) <= high and low <= exact(interval["high"])


long = pytest.mark.long
# tests in one worker share the clean boot
with_clean = pytest.mark.xdist_group("clean")
with_undisturbed = pytest.mark.xdist_group("undisturbed")


@with_clean
@pytest.mark.parametrize("rate, rule", [
    pytest.param("1.00005", None, marks=long), pytest.param("0.99995", None, marks=long), pytest.param("1.001", "rate-disagree", marks=long),
    ("0.999", "rate-disagree"), pytest.param("0.95", "rate-disagree", marks=long),
])
def test_a_tsc_that_runs_apart_from_all_others_is_one_group_and_they_are_the_other(tmp_path, clean, rate, rule):
    """The devices and the RTC follow the host's oscillator. The TSC is the only other source. Therefore the report must
    name two groups of clocks, and no single clock."""
    report, tsc = faked(tmp_path, clean, rate)
    low, high = ((end / Fraction(rate) - 1) * 10 ** 6 for end in tsc)
    pairs = {b: ppm for (a, b), ppm in rates(report).items() if a == "tsc"}
    assert set(pairs) == {"hpet", "acpi_pm", "pit", "rtc"}
    assert all(overlap(ppm, low, high) for ppm in pairs.values()), (pairs, float(low), float(high))
    assert any(ppm["low"] > 0 or ppm["high"] < 0 for ppm in pairs.values()), pairs
    assert accused(report) == ({(rule, None)} if rule else set()), report["findings"]
    assert all(ppm["low"] <= 0 <= ppm["high"] for (a, _), ppm in rates(report).items() if a != "tsc"), rates(report)


@with_clean
@pytest.mark.parametrize("rate", ["3", pytest.param("1.3", marks=long), pytest.param("1.05", marks=long)])
def test_an_rtc_that_runs_apart_from_all_others_is_named(tmp_path, clean, rate):
    """The error of the RTC is so large that a window of one second shows it, even if a busy host shows the RTC's edges
    late. The report must name the RTC."""
    report, _ = faked(tmp_path, clean, rate, monotonic=False)
    assert ("rate-wrong", "rtc") in accused(report), report["findings"]
    assert {clock for _, clock in accused(report)} <= {"rtc", "rtc_pf"}, report["findings"]
    off = Fraction(rate)
    for name in ("tsc", "hpet", "acpi_pm", "pit"):
        assert overlap(rates(report)[name, "rtc"], (1 / off - 1) * 10 ** 6, (1 / off - 1) * 10 ** 6), rates(report)


def test_the_broken_timer_of_the_readme_is_named_and_no_other_clock(tmp_path):
    """The RTC counts the host's time, and all other clocks count the instructions that QEMU executes. Only the RTC may
    fail."""
    line, = re.findall(r"^ {4}qemu/run (.*-icount.*)$", (ROOT / "qemu" / "README.md").read_text(), re.M)
    report = checked(levers.run_while(None, tmp_path / "out", *shlex.split(line)))
    assert report["verdict"] == "fail"
    assert {name for name, clock in clocks(report).items() if clock["verdict"] == "fail"} == {"rtc"}, report["findings"]
    # A busy host may stop the guest. Then the clocks diverge, and this finding names no clock.
    assert {clock for _, clock in accused(report)} <= {"rtc", "tsc", None}, report["findings"]


@contextlib.contextmanager
def load(loops):
    """Start LOOPS processes that use as much processor time as they can."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


@long
def test_an_rtc_that_is_two_percent_fast_is_reported_on_a_busy_host(tmp_path):
    """The RTC is 2 % fast on a busy host. QEMU then shows the RTC's edges late, and the core misses some edges. The TSC
    has no nominal rate, so the report must name two groups of clocks and no single clock."""
    machine = [*ONE_CORE, *levers.faked(tmp_path, "1.02", monotonic=False)]
    with load(2):
        report = checked(levers.run_while(None, tmp_path / "out", *machine, "--", "clocks=tsc,hpet,acpi_pm,pit,rtc"))
    assert ("rate-disagree", None) in accused(report), report["findings"]


# Clocks that fail while baretick runs, because their registers are written from outside.

ROWS = ["tsc", "hpet", "acpi_pm", "pit", "rtc", "null"]
LONG = [*QUICK_BARE, "--cpus", "1", "--", "profile=quick", "duration=2s", f"clocks={','.join(ROWS)}"]


def bounds_of(interval):
    return interval["low"], interval["high"]


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    report = checked(levers.run_while(None, tmp_path_factory.mktemp("undisturbed"), *LONG))
    assert faults(report) == []
    return report


# The fault comes while the latencies are measured, after the rate window. Later, all clocks are compared only every two
# seconds, and the PM timer wraps uncounted in this time. Only the TSC and the RTC would then show a fault of the HPET,
# and the report would only warn that clocks diverged.
@with_undisturbed
@pytest.mark.parametrize("clock, disturb, rule, state", [
    ("hpet", levers.stop_hpet, "clock-stuck", "stuck"),
    ("hpet", levers.move_hpet_back, "clock-backward", "present"),
    ("rtc", levers.stop_rtc, "clock-stuck", "stuck"),
], ids=["hpet-stops", "hpet-goes-back", "rtc-stops"])
def test_a_clock_that_fails_is_named_with_the_time_and_keeps_earlier_results(
        tmp_path, undisturbed, clock, disturb, rule, state):
    def pull(machine):
        with machine.registers() as registers, machine.monitor() as monitor:
            assert machine.wait_for(b" latency, ")  # a line of the progress
            with monitor.stopped():
                machine.wait_until_silent()
                disturb(registers)
                return not machine.has_said(b"\nphase: start-cores")

    done = levers.run_until_in_time(pull, tmp_path, *LONG)
    report = done.report
    assert done.status == VERDICT_STATUS[report["verdict"]] == 1, done
    assert (rule, clock) in accused(report), report["findings"]
    assert {name for _, name in accused(report)} == {clock}, report["findings"]
    now, before = clocks(report), clocks(undisturbed)
    assert (now[clock]["state"], now[clock]["verdict"]) == (state, "fail")
    assert 0 < now[clock]["turned_sick_ms"] <= report["elapsed_ms"] and before[clock]["turned_sick_ms"] is None
    for name in ROWS:
        assert (now[name]["measured_hz"] is None) == (before[name]["measured_hz"] is None), name
        if now[name]["rate_over"] == before[name]["rate_over"] == "window":
            assert now[name]["measured_hz"] == before[name]["measured_hz"], name
        elif now[name]["measured_hz"]:  # otherwise the clean boot measured the rate over the whole run
            assert overlap(now[name]["measured_hz"], *map(exact, bounds_of(before[name]["measured_hz"]))), name
        assert now[name]["main"] == clock or now[name]["verdict"] == "pass", now[name]
        assert now[name]["latency"]["count"], name


# Tests of stolen time: the host stops the machine, and the report must name no clock.

FREEZE_S, RUN_S = 0.4, 0.2
FROZEN_S = 3
RATE_WRONG_PPM = 500  # limit of the rules for wrong rates in the rule catalogue, in ppm
HOLD_S = 0.3  # longer than GAP_MS
PAUSE_S = 0.02  # between two stops
HOLDS_MAX = 200
LONG_SEARCH = ["profile=standard", "duration=2s", "irq=off"]  # the search for gaps has time for six stops
HOLDS_MIN = 3  # in the phase of the search, so that at most the first and the last are outside of the search


def test_a_machine_that_is_stopped_repeatedly_has_gaps_and_no_failed_clock(tmp_path):
    """The machine is stopped again and again, from its start to its last phases. The stops are late if fewer than
    HOLDS_MIN of them began in the phase of the search for gaps."""
    def hold(machine):
        def stop():
            during_search.append(machine.has_said(b"\nphase: interference") and not machine.has_said(b"\nphase: series"))
            process.hold(HOLD_S)

        during_search = []
        assert machine.wait_for(b"baretick ")
        with machine.process() as process:
            assert machine.repeat(stop, HOLDS_MAX, PAUSE_S, b" checks, ")
        return sum(during_search) >= HOLDS_MIN

    report = checked(levers.run_until_in_time(hold, tmp_path, *ONE_CORE, "--", *QUICK, *LONG_SEARCH))
    assert report["interference"]["gaps"] >= HOLDS_MIN - 2, report["interference"]
    assert report["interference"]["worst_ns"] >= GAP_MS * 10 ** 6, report["interference"]
    assert report["findings"] == []


def freeze_while(monitor, wanted):
    """Freeze the machine again and again while WANTED() is true. Return the number of times."""
    freezes = 0
    while wanted():
        monitor.freeze(FREEZE_S)
        time.sleep(RUN_S)
        freezes += 1
    return freezes


def test_a_machine_that_is_frozen_while_rates_are_measured_has_no_failed_clock(tmp_path):
    """The RTC continues while the machine is frozen, and gains so much time that a rule would report it as wrong. The
    report must explain the gain in a note. On a busy host, QEMU stops its TSC and its other clocks at different times, so
    that the TSC really changes against them. A warning about this change is true. It must name no single clock."""
    def freeze(machine):
        with machine.monitor() as monitor:
            assert machine.wait_for(b"baretick ")
            return freeze_while(monitor, lambda: not machine.has_said(b"\nphase: latency")) > 0

    report = checked(levers.run_until_in_time(freeze, tmp_path, *ONE_CORE, "--", *QUICK))
    assert [finding for finding in report["findings"] if (finding["rule"], finding["clock"], finding["of_clocks"]) !=
            ("rate-changed", None, ["tsc"])] == []
    assert [note.split()[0] for note in report["notes"] if "the whole machine had been stopped" in note] == ["rtc"], report
    for name in ("hpet", "acpi_pm", "pit"):
        assert rates(report)[name, "rtc"]["high"] < -RATE_WRONG_PPM, rates(report)


def test_a_machine_that_is_frozen_after_the_rates_has_no_failed_clock(tmp_path):
    """After the freeze the RTC is ahead of all other clocks, and a note says so. No rate may include the freeze. The
    freeze is late if all latencies were measured before. Instructions drive the machine's time, since a busy host shows
    the RTC's edges so late that no freeze could be proven. The RTC also stands then, so it is set ahead."""
    def freeze(machine):
        with machine.registers() as registers, machine.monitor() as monitor:
            assert machine.wait_for(b"\nphase: latency")
            with monitor.stopped():
                machine.wait_until_silent()
                levers.set_rtc_ahead(registers, FROZEN_S)
                return not machine.has_said(b"\nphase: start-cores")

    report = checked(levers.run_until_in_time(freeze, tmp_path, *LONG))
    assert faults(report) == []
    (late,) = (clock["late_ms"] for row in report["discontinuities"] for clock in row["clocks"] if clock["clock"] == "tsc")
    assert late["low"] <= 1000 * FROZEN_S and 1000 * (FROZEN_S - 1) < late["high"], report["discontinuities"]
    assert [row["class"] for row in report["discontinuities"]] == ["stopped"], report["discontinuities"]
    assert any("The machine was stopped for " in note and "(shown by the rtc," in note for note in report["notes"]), report["notes"]
    rtc = clocks(report)["rtc"]
    # Change of the rate between the two halves of the rate window. It is None if the RTC has no edge in the middle of
    # the window.
    change = rtc["change_ppm"]
    assert rtc["rate_over"] == "window" and (not change or change["low"] <= 0 <= change["high"]), rtc


# ports of the chip set: a write to the first raises an SMI, and a write to the second has no effect
APM_COMMAND, APM_STATUS = 0xB2, 0xB3
WRITES_MAX = 10000
WRITES_MIN = 10  # while baretick searches for gaps


@pytest.mark.skipif(not os.path.exists(SECURE), reason="no firmware with SMM is there")
@pytest.mark.parametrize("port, raises", [(APM_COMMAND, True), pytest.param(APM_STATUS, False, marks=long)], ids=["smi", "no-smi"])
def test_every_smi_is_counted_and_is_a_gap_and_without_them_there_is_none(tmp_path, port, raises):
    """The writes are late if the search for gaps ends before WRITES_MIN of them."""
    written = 0

    def write(machine):
        def write_port():
            nonlocal during_search
            registers.ask(f"outb {port:#x} 0")
            during_search += machine.has_said(b"\nphase: interference") and not machine.has_said(b"\nphase: series")

        nonlocal written
        during_search = 0
        with machine.registers() as registers:
            assert machine.wait_for(b"\nphase: latency")
            written = machine.repeat(write_port, WRITES_MAX, 0.001)
        return during_search >= WRITES_MIN

    report = checked(levers.run_until_in_time(write, tmp_path, *TCG, "--cpus", "1", "--firmware", SECURE, *BY_INSTRUCTIONS,
                                              *NO_SCREEN, "--", "duration=2s", "clocks=tsc"))
    interference = report["interference"]
    assert faults(report) == []
    if raises:
        assert 0 < interference["gaps"] <= interference["smi_count"] <= written, interference
    else:
        assert (interference["gaps"], interference["smi_count"]) == (0, 0), interference
