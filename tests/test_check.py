"""Tests of tests/check: the arguments that it gives to pytest, and its last line."""
import functools
import itertools
import os
import pathlib
import re
import subprocess
import sys
import types

import pytest

from harness import load_program

TESTS = pathlib.Path(__file__).resolve().parent
PROGRAM = TESTS.parent / "build" / "unit" / "base" / "test_text"


def check(*arguments, last=2):
    """Return the exit status of tests/check and the LAST lines that it prints itself. Lines of pytest do not count."""
    done = subprocess.run([TESTS / "check", *arguments], capture_output=True, text=True, timeout=300)
    lines = [line for line in done.stdout.splitlines() if re.match(r"run \d|failed in|no test|\d+ passed, \d+ failed", line)]
    return done.returncode, *lines[-last:]


@pytest.mark.skipif(not PROGRAM.exists(), reason="build/unit/base/test_text is not there: type make check")
def test_each_test_of_a_program_in_c_counts():
    status, line = check("test_text", last=1)
    found = re.fullmatch(r"(\d+) passed, 0 failed", line)
    assert status == 0 and found and int(found[1]) > 3, line


def test_a_name_that_matches_no_test_is_a_failure():
    assert check("no-test-is-called-so") == (
        1, "no test is called no-test-is-called-so: neither a program, nor a file, nor a part of a name", "0 passed, 1 failed")


@pytest.mark.skipif(not PROGRAM.exists(), reason="build/unit/base/test_text is not there: type make check")
def test_repeated_runs_are_done_under_each_condition():
    status, *lines = check("--repeat", "4", "test_text", last=6)
    assert status == 0
    names = [re.fullmatch(r"run (\d) of 4, (\w+): \d+ passed, 0 failed", line).groups() for line in lines[:-1]]
    # next to the nice run there is another one, which counts too
    assert names == [("1", "idle"), ("2", "busy"), ("3", "pinned"), ("4", "nice"), ("4", "nice")]
    assert re.fullmatch(r"\d+ passed, 0 failed", lines[-1])


def test_a_program_in_qemu_compiles_no_module_again(tmp_path):
    load_program(TESTS / "check").fill_bytecode_cache(tmp_path)
    words = [sys.executable, "-v", "-X", f"pycache_prefix={tmp_path}", TESTS.parent / "qemu" / "run", "--help"]
    said = subprocess.run(words, capture_output=True, text=True, timeout=300, check=True).stderr
    found = re.findall(r"^# code object from '(.*)'", said, re.M)
    assert len(found) > 20 and all(path.endswith(".pyc") for path in found), found


def test_repeated_runs_name_each_test_that_failed_and_how_often(monkeypatch, capsys):
    program = load_program(TESTS / "check")
    results = iter([program.Counts(9, 1, 0, ("b",)), program.Counts(8, 2, 0, ("a", "b")), program.Counts(10, 0), program.Counts(9, 1, 0, ("b",))])
    monkeypatch.setattr(program, "run_under", lambda options, condition: [next(results)])
    assert program.repeat(types.SimpleNamespace(repeat=4, condition=["idle", "busy"])) == 1
    assert capsys.readouterr().out.splitlines()[4:] == [
        "failed in 2 of 2 runs, busy: b", "failed in 1 of 2 runs, idle: b", "failed in 1 of 2 runs, busy: a", "36 passed, 4 failed"]


def test_the_processor_time_is_printed_next_to_that_of_a_build(monkeypatch, capsys):
    program = load_program(TESTS / "check")
    monkeypatch.setattr(program, "children_s", lambda: 900)
    monkeypatch.setattr(program, "measure_build", lambda: 45)
    program.print_time()
    assert capsys.readouterr().out == "900 processor-seconds for the tests, as much as for 20.0 builds of 45\n"


def test_a_build_is_measured_once_for_each_commit(monkeypatch, tmp_path):
    program, seconds, done = load_program(TESTS / "check"), itertools.count(step=45), []
    monkeypatch.setattr(program, "BUILD", tmp_path)
    monkeypatch.setattr(program, "children_s", lambda: next(seconds))
    real = subprocess.run

    def run(words, **more):
        if words[0] != "make":
            return real(words, **more)
        done.append(more["env"])
        return None
    monkeypatch.setattr(program.subprocess, "run", run)
    monkeypatch.setenv("MAKEFLAGS", "of the outer make")
    assert [program.measure_build() for _ in range(2)] == [45, 45]
    assert len(done) == 1 and done[0]["CCACHE_DISABLE"] == "1" and "MAKEFLAGS" not in done[0]


STARVED = """
import json, time
def test_that_fails(tmp_path):
    (tmp_path / "report.json").write_text(json.dumps({"quality": {"stolen_percent": 40.5}}))
    time.sleep(0.1)
    assert False
"""


def test_a_failure_says_what_the_host_took(tmp_path):
    (tmp_path / "test_starved.py").write_text(STARVED)
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-c", TESTS / "pytest.ini", "-p", "conftest", "--rootdir", tmp_path,
                           tmp_path / "test_starved.py"], env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS / 'lib'}:{TESTS.parent / 'qemu'}"}, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 1, done
    assert re.search(r"what the host took -*\nthe test: \d+\.\d processor-seconds in \d+\.\d s", done.stdout), done
    assert "\nby a guest's report, 40.5 % of its cores' time was stolen\n" in done.stdout, done


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


def order(names, known):
    """Return NAMES in the order in which these tests start. KNOWN is {test: (processor-seconds, seconds)}."""
    groups = [[types.SimpleNamespace(nodeid=name)] for name in names]
    return [group[0].nodeid for group in load_program(TESTS / "conftest.py").in_order(groups, known)]


def test_the_longest_tests_start_first_and_unknown_tests_last():
    assert order(["new", "a", "b", "c", "newer"], {"a": (1, 1), "b": (9, 9), "c": (5, 14)}) == ["b", "c", "a", "new", "newer"]


def test_tests_that_wait_come_between_those_that_compute():
    """If only tests that wait were left at the end, they would take minutes, and the processors would be idle."""
    known = {**{f"computes{number}": (2, 2) for number in range(40)}, **{f"waits{number}": (0.1, 30) for number in range(12)}}
    kinds = [name.startswith("waits") for name in order(known, known)]
    last = max(number for number, is_waiting in enumerate(kinds) if is_waiting)
    assert len(kinds) - last > 10
    # at the start, most workers run tests that compute
    assert 1 <= sum(kinds[:10]) <= 3


@pytest.mark.parametrize("text, known", [("   9.5   12.0 a.py::test[x y]\n", {"a.py::test[x y]": (9.5, 12.0)}), (None, {}), ("9.5", {}), ("", {})])
def test_the_durations_are_those_of_the_last_run_if_there_is_one(monkeypatch, tmp_path, text, known):
    conftest = load_program(TESTS / "conftest.py")
    monkeypatch.setattr(conftest, "DURATIONS", tmp_path / "durations")
    if text is not None:
        (tmp_path / "durations").write_text(text)
    assert conftest.read_durations() == known
