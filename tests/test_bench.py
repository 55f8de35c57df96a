"""The scripts of `make bench` can read reports of the present schema. tests.mk compiles the bench's C program with all
tests."""
import importlib.util
import json
import pathlib
import sys

TESTS = pathlib.Path(__file__).resolve().parent


def bench(monkeypatch):
    """Return the script as a module. The script takes the build folder from the command line."""
    path = TESTS / "bench" / "bench.py"
    monkeypatch.setattr(sys, "argv", [str(path), str(TESTS.parent / "build")])
    spec = importlib.util.spec_from_file_location("bench", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_bench_prints_a_line_with_the_cores_and_rounds_of_a_report(monkeypatch):
    report = json.loads((TESTS / "goldens" / "clean.json").read_text())
    line = bench(monkeypatch).cores_line(4, report)
    assert line.startswith("quick:   4 core(s),   4 started, ")
    assert line.endswith("; all: 3 rounds (1000 a second), 6 ping-pongs (2000 a second), 2 at a time")
