"""In the whole text report, a clock must not have two different figures under one name. The cost of a read must be the
same as in report.json."""
import json
import pathlib

import pytest

import same_figures

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens"


def golden(name):
    return (GOLDENS / f"{name}.txt").read_text(), json.loads((GOLDENS / f"{name}.json").read_text())


@pytest.mark.parametrize("name", ["clean", "sick", "empty"])
def test_no_clock_has_two_figures_under_one_name(name):
    same_figures.check_figures(*golden(name))


def test_the_cost_of_a_read_is_the_same_in_all_four_places():
    found = same_figures.check_figures(*golden("clean"))
    assert found["a read", "tsc"] == ["2.75ns"] * 4 and found["a read", "hpet"] == ["573ns"]
    assert found["a read", "hpet_32"] == ["557ns"] * 3
    assert found["a read", "null"] == ["-"] and len(found["p50", "hpet"]) == 2 and len(found["max", "pit"]) == 2
    sick = same_figures.check_figures(*golden("sick"))
    assert sick["a read", "acpi_pm"] == ["999ns"] * 2


@pytest.mark.parametrize("old, new", [
    ("Use tsc: 2.75 ns a read", "Use tsc: 2.76 ns a read"), ("1. tsc: 2.75 ns a read", "1. tsc: 9.00 ns a read"),
    ("a read bracket pg_test", "bracket a read pg_test"), (" a read bracket pg_test", "   loop bracket     max"),
])
def test_a_second_figure_under_one_name_is_refused(old, new):
    text, report = golden("clean")
    assert text.count(old) == 1
    with pytest.raises(AssertionError):
        same_figures.check_figures(text.replace(old, new), report)
