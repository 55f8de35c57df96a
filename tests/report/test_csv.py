"""Reads report.csv as a program would: it must hold every figure of the report, each under one name."""
import pathlib

import pytest

import tidy

GOLDENS = pathlib.Path(__file__).resolve().parents[1] / "goldens"


def golden(name):
    return (GOLDENS / f"{name}.json").read_bytes(), (GOLDENS / f"{name}.csv").read_bytes()


@pytest.mark.parametrize("name", ["clean", "sick", "empty"])
def test_the_csv_has_a_row_for_each_figure_of_the_report_and_no_other(name):
    tidy.check_csv(*golden(name))


@pytest.mark.parametrize("old, new", [
    (b"hpet,,latency_p50,559,,,ns", b"hpet,,latency_p50,560,,,ns"),
    (b"hpet,,latency_p50,559,,,ns,SN-0042\n", b""),
    (b"hpet,,latency_p50,559,,,ns", b"hpet,,latency_p50,559,,,us"),
    (b"hpet,,latency_p50,559,,,ns", b"hpet,,latency_p90,559,,,ns"),
    (b"pit,,rate,1193180.000,1193179.881", b"pit,,rate,1193180.000,1193179.882"),
    (b"worst_offset,1,-27,29,ns", b"worst_offset,1,-27,30,ns"),
    (b"hpet,,latency_p50,559,,,ns,SN-0042", b"hpet,,latency_p50,559,,,ns,SN-0043"),
    (b",,product,,,,Server 9000,", b",,product,,,,Server 9001,"),
    (b"run,clock", b"run,clocks"),
])
def test_a_csv_that_differs_from_its_report_is_refused(old, new):
    report, table = golden("clean")
    assert table.count(old) == 1
    with pytest.raises(AssertionError):
        tidy.check_csv(report, table.replace(old, new))
