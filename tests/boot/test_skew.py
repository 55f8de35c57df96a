"""TSC offsets between cores. In a test image (tests/skew), started cores run as SVM guests whose TSC has an exact
offset, or steps back. boots.py checks the report of every boot. Instructions drive the time of most boots, so that a
busy host changes no offset. QEMU then runs the cores in turn, so a round trip between two cores takes about 30 us."""
import itertools
import re
from fractions import Fraction

import pytest

from harness import FAST_TCG, QUICK_TCG, ROOT
from boots import checked, qemu

SKEWED = ROOT / "build" / "baretick-skew.efi"
PLAIN = ROOT / "build" / "baretick.efi"
QUICK = ["profile=quick", "clocks=tsc,acpi_pm"]
SHORT = [*QUICK, "duration=10ms", "irq=off"]
NO_SVM = "QEMU ended with status 65"  # QEMU's exit status for EXIT_NO_SVM of tests/skew/skew.c

pytestmark = pytest.mark.skipif(not (SKEWED.exists() and PLAIN.exists()),
                                reason="build/baretick-skew.efi is not there: type make check")


def skewed(run, cpus, skews, in_real_time=False):
    """Return the report of a boot in which core NUMBER is SKEWS[NUMBER] ticks ahead. A string in SKEWS has the form
    that tests/skew/skew.c defines."""
    words = " ".join(f"{number}:{ticks}" for number, ticks in skews.items())
    machine, options = (FAST_TCG, QUICK) if in_real_time else (QUICK_TCG, SHORT)
    done = run(*machine, "--cpus", str(cpus), "--efi", SKEWED,
               *qemu("-fw_cfg", f"name=opt/baretick/skew,string={words}"), "--", *options)
    if NO_SVM in done.stderr:
        pytest.skip("this QEMU's cores have no SVM")
    return checked(done, started=cpus)


def within(interval, ticks, hz):
    """Return true if the interval contains the offset, or if there is no interval. On a busy host some pairs may have
    no ping-pong."""
    return interval is None or interval[0] <= Fraction(ticks) * 10 ** 9 / hz <= interval[1]


def accused(report):
    """Return the findings by core. A finding about a pair has the core None."""
    return {finding["core"]: finding["text"] for finding in report["findings"] if finding["rule"] == "tsc-offset"}


def bounds(interval):
    return interval and (interval["low"], interval["high"])


def excludes_zero(interval):
    return interval is not None and (interval[0] > 0 or interval[1] < 0)


def matrices(report):
    """Return the matrices of the measurement passes."""
    return [report["skew"]["matrix"], *(later["matrix"] for later in report["skew"]["later"])]


def pairs_of(matrix, number):
    """Return the offsets of core NUMBER from each other core."""
    return [row[number] for other, row in enumerate(matrix) if other != number]


def is_proven(matrix, number):
    """Return true if the matrix proves that core NUMBER is off: all other cores differ from core NUMBER, and are nearer
    to each other than to core NUMBER."""
    pairs = pairs_of(matrix, number)
    others = [cell for a, b in itertools.permutations(range(len(matrix)), 2) if number not in (a, b)
              for cell in [matrix[a][b]]]
    return all(map(excludes_zero, pairs)) and all(
        cell and max(-cell[0], cell[1]) < min(abs(sum(pair)) // 2 for pair in pairs) for cell in others)


def check_offsets(report, skews):
    """Check that the offset of each core, and of each pair in each pass, contains the true offset. SKEWS has exactly
    one core."""
    hz = Fraction(report["machine"]["tsc_hz"])
    true = [skews.get(number, 0) for number in range(len(report["cores"]))]
    for number, core in enumerate(report["cores"]):
        assert core["offset_ns"] or number not in skews
        assert within(bounds(core["offset_ns"]), true[number], hz), (number, core["offset_ns"], hz)
    for matrix, a, b in itertools.product(matrices(report), range(len(true)), range(len(true))):
        assert within(matrix[a][b], true[b] - true[a], hz), (a, b, matrix[a][b], hz)


def cases(long, *others):
    return [*others, *(pytest.param(*case, marks=pytest.mark.long) for case in long)]


@pytest.mark.parametrize("ticks, cpus, in_real_time", cases(
    [(ticks, cpus, True) for ticks, cpus in (
        (1_000_000, 4), (-2_000, 2), (1_000_000, 2), (20_000, 4), (-2_000, 4), (300, 2), (20_000, 2), (300, 4))],
    (1_000_000, 4, False), (-100_000, 2, False)))
def test_a_core_with_another_tsc_is_measured_and_named_where_its_round_trips_prove_it(run, cpus, ticks, in_real_time):
    """In real time on a busy host all round trips of a pass may be long, so the intervals in the report decide which
    cores must be named. They are always short enough for these offsets if instructions drive the time. If only one of
    several pairs is proven to differ, the finding names both cores of the pair and does not decide which is wrong. No
    other core may be named."""
    number = cpus // 2
    report = skewed(run, cpus, {number: ticks}, in_real_time)
    check_offsets(report, {number: ticks})
    core = report["cores"][number]
    proofs = [excludes_zero(pair) for matrix in matrices(report) for pair in pairs_of(matrix, number)]
    seen = (core["offset_ns"], [pairs_of(matrix, number) for matrix in matrices(report)], report["findings"])
    named = accused(report)
    assert in_real_time or any(is_proven(matrix, number) for matrix in matrices(report)), seen
    assert bool(named) == any(proofs), seen
    # with two cores it is unknown which one is right, so no single core is named
    guilty = core["apic_id"] if cpus > 2 else None
    assert set(named) <= {guilty, None}, seen
    assert any(is_proven(matrix, number) for matrix in matrices(report)) <= (guilty in named), seen
    assert None not in named or core["apic_id"] in map(int, re.findall(r"ore (\d+)'s", named[None])), seen
    assert [row["apic_id"] for row in report["cores"] if row["off_majority"]] == sorted(named.keys() - {None}), seen


@pytest.mark.parametrize("fault", ["0/200:1000000:0", "0/200:0:1000000"], ids=["set-back", "too-high"])
def test_a_core_whose_tsc_steps_back_is_named_and_no_other_core(run, fault):
    """One in 200 readings of core 1 sets its TSC back by 1,000,000 ticks, or is itself too high by this amount. Only
    core 1 may be named. The time between two readings makes each step back that is seen smaller than 1,000,000
    ticks."""
    report = skewed(run, 4, {1: fault})
    seen = (report["findings"], [core["monotonic"] for core in report["cores"]])
    assert [core["steps_back"] for core in report["cores"]] == [False, True, False, False], seen
    assert [core["monotonic"]["backward"] > 0 for core in report["cores"]] == [False, True, False, False], seen
    assert 0 < report["cores"][1]["monotonic"]["worst_ticks"] < 1_000_000, seen
    named = {finding["rule"]: finding for finding in report["findings"] if finding["clock"] == "tsc"}
    assert named["clock-backward"]["core"] == 1, seen
    assert "No step back was seen on 3 other cores in " in named["clock-backward"]["text"], seen
    assert "tsc-warp" not in named and "tsc-contradiction" not in named, seen
    assert {finding["core"] for finding in named.values()} == {1}, seen


@pytest.mark.parametrize("cpus", cases([(4,)], 2))
def test_a_guest_with_the_same_tsc_accuses_nobody(run, cpus):
    """One core runs as an SVM guest without an offset, and no core may be named. This shows that the offset, and not
    the guest, causes the results of the other tests."""
    report = skewed(run, cpus, {cpus // 2: 0})
    check_offsets(report, {cpus // 2: 0})
    assert report["skew"]["warps"] == 0, report["skew"]
    assert not [finding for finding in report["findings"] if finding["rule"].startswith("tsc-")]
    assert not [core for core in report["cores"] if core["off_majority"]]
