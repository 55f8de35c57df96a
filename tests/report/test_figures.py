"""In the whole text, a clock must have one figure under each name. The figure for a read must be the one in
report.json."""
import json
import pathlib

import pytest

import same_figures

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens"


def golden(name):
    return (GOLDENS / f"{name}.txt").read_text(), json.loads((GOLDENS / f"{name}.json").read_text())


@pytest.mark.parametrize("name", ["clean", "sick", "empty"])
def test_no_clock_has_two_figures_under_one_name(name):
    same_figures.check(*golden(name))


def test_a_read_is_in_the_answer_the_clocks_the_recommendation_and_the_costs():
    found = same_figures.check(*golden("clean"))
    assert found["a read", "tsc"] == ["2.83ns"] * 4 and found["a read", "hpet"] == ["554ns"] * 3
    assert found["a read", "null"] == ["-"] and len(found["p50", "hpet"]) == 2 and len(found["max", "pit"]) == 2
    sick = same_figures.check(*golden("sick"))
    assert sick["a read", "acpi_pm"] == ["997ns"] * 3  # the answer names this clock, too, as the clock that Linux takes


@pytest.mark.parametrize("old, new", [
    ("Use tsc: 2.83ns a read", "Use tsc: 2.84ns a read"), ("1. tsc: 2.83ns a read", "1. tsc: 9.00ns a read"),
    ("a read bracket pg_test", "bracket a read pg_test"), (" a read bracket pg_test", "   loop bracket     max"),
])
def test_a_second_figure_under_a_name_is_seen(old, new):
    text, report = golden("clean")
    assert text.count(old) == 1
    with pytest.raises(AssertionError):
        same_figures.check(text.replace(old, new), report)
