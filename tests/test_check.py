"""Tests of tests/check: the arguments that it gives to pytest, and its last line."""
import ast
import functools
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

# these tests write to the same file, so they must not run at the same time
pytestmark = pytest.mark.xdist_group("check")
TESTS = pathlib.Path(__file__).resolve().parent
REASON_S = 15
WAITING = 3  # as in conftest.py
PROGRAM = TESTS.parent / "build" / "unit" / "base" / "test_text"


def check(*arguments):
    done = subprocess.run([TESTS / "check", *arguments], capture_output=True, text=True, timeout=300)
    return done.returncode, *done.stdout.splitlines()[-2:]


@pytest.mark.skipif(not PROGRAM.exists(), reason="build/unit/base/test_text is not there: type make check")
def test_each_test_of_a_program_in_c_counts():
    status, _, line = check("test_text")
    found = re.fullmatch(r"(\d+) passed, 0 failed", line)
    assert status == 0 and found and int(found[1]) > 3, line


def test_a_name_that_matches_no_test_is_a_failure():
    assert check("no-test-is-called-so") == (
        1, "no test is called no-test-is-called-so: neither a program, nor a file, nor a part of a name", "0 passed, 1 failed")


@functools.cache
def collected(*arguments):
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--collect-only", *arguments, TESTS], cwd=TESTS,
                          env={**os.environ, "PYTEST_ADDOPTS": ""}, capture_output=True, text=True, timeout=300, check=True)
    return [line.partition("@")[0] for line in done.stdout.splitlines() if "::" in line]


def test_long_tests_need_the_option_and_each_file_also_has_short_tests():
    short, long = collected(), collected("--long")
    rare = set(long) - set(short)
    assert set(short) < set(long) and len(rare) > 10
    assert {test.partition("::")[0] for test in rare} <= {test.partition("::")[0] for test in short}


def durations():
    """Return {test: (processor-seconds, seconds)} from tests/durations."""
    first, *lines = (TESTS / "durations").read_text().splitlines()
    assert first.startswith("# processor-seconds and seconds ")
    return {test: (float(processor_s), float(whole_s)) for processor_s, whole_s, test in (line.split(None, 2) for line in lines)}


def test_a_test_that_takes_long_gives_the_reason():
    """A test that takes more than REASON_S processor-seconds must give the reason in its docstring or in the docstring
    of its file. Programs in C have no docstrings."""
    for test, (seconds, _) in durations().items():
        if seconds > REASON_S and not test.startswith("test_units"):
            path, _, name = test.partition("::")
            tree = ast.parse((TESTS / path).read_text())
            function, = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name.partition("[")[0])
            assert re.search(r"\bTakes|\btakes", f"{ast.get_docstring(function)} {ast.get_docstring(tree)}"), test


def test_the_longest_tests_start_first():
    known, units = durations().keys(), [test for test in collected() if test.startswith("test_units.py")]
    ranks = [number for number, test in enumerate(units) if test in known]
    assert ranks == list(range(len(ranks))) and ranks


def test_tests_that_wait_come_between_those_that_compute():
    """If only tests that wait were left at the end, they would take minutes, and the processors would be idle."""
    known = durations()
    kinds = [known[test][1] > WAITING * known[test][0] for test in collected() if test in known]
    last = max(number for number, is_waiting in enumerate(kinds) if is_waiting)
    assert kinds.count(True) > 10 and len(kinds) - last > 10
    # at the start, most workers run tests that compute
    assert 1 <= sum(kinds[:10]) <= 3


def test_the_order_does_not_depend_on_the_number_of_processors(monkeypatch):
    """If it did, tests that wait could be last on a machine with many processors."""
    spec = importlib.util.spec_from_file_location("order_of_tests", TESTS / "conftest.py")
    spec.loader.exec_module(conftest := importlib.util.module_from_spec(spec))
    groups, orders = [[types.SimpleNamespace(nodeid=test)] for test in durations()], []
    for processors in 1, 2, 64:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, count=processors: set(range(count)))
        orders.append(conftest.in_order(groups, durations()))
    assert orders[0] == orders[1] == orders[2] and len(orders[0]) == len(groups)
