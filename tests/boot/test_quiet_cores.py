"""While a core takes samples, the waiting cores do not slow its reads."""
import statistics

import pytest

from boots import SHORT, clocks
from harness import BARE

RUNS = 5


@pytest.mark.long
def test_a_read_costs_about_the_same_on_both_cores_of_the_emulator(run):
    """Both virtual cores run at the same time, and the boot core waits while core 1 takes samples. When it polled its TSC without a
    pause, reads of the TSC cost core 1 up to ten times as much. When it executed one PAUSE after another, reads of the HPET took two
    to five times as long. A ratio within one run does not depend on the host's speed. The median of some runs does not depend on a
    moment in which the host was busy. The five boots take up to 50 processor-seconds."""
    ratios = {"tsc": [], "hpet": []}
    for _ in range(RUNS):
        done = run(*BARE, "--cpus", "2", "--", *SHORT, "clocks=tsc,hpet,acpi_pm", "irq=off")
        assert clocks(done.report)["tsc"]["cost"]["cores"] == 2
        for clock, found in ratios.items():
            first, second = (core["latency"][clock]["p50_ns"] for core in done.report["cores"])
            found.append(second / first)
    assert statistics.median(ratios["tsc"]) < 1.3, ratios
    assert statistics.median(ratios["hpet"]) < 1.8, ratios
