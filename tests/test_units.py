"""Runs each test program in C as one test, in parallel with the other tests. Also runs the fuzz targets on their seeds."""
import pathlib
import re
import subprocess

import pytest

TESTS = pathlib.Path(__file__).parent
ROOT = TESTS.parent
BUILD = ROOT / "build"
UNIT_BOUND_S, FUZZ_BOUND_S = 900, 300
FUZZ_RUNS, FUZZ_BYTES = 20000, 8192
REPLAY_RUNS, REPLAY_BYTES = 1000, 24576  # limits for fuzz_replay, which needs 10 ms for each input


def sources(pattern):
    return [str(path.relative_to(TESTS).with_suffix("")) for path in sorted(TESTS.glob(pattern))]


def call(program, bound_s, *arguments):
    if not program.exists():
        pytest.skip(f"{program.relative_to(ROOT)} is not there: type make check")
    return subprocess.run([program, *map(str, arguments)], cwd=ROOT, timeout=bound_s, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.mark.parametrize("name", sources("unit/*/test_*.c"))
def test_unit(name, record_property):
    """Run a cmocka program, and count how many of its tests passed, failed and were skipped. If the program crashes, this
    test fails, although the program then prints no summary."""
    done = call(BUILD / name, UNIT_BOUND_S)
    counts = {"passed": len(re.findall(r"^\[       OK \]", done.stdout, re.M)),
              "failed": len(set(re.findall(r"^\[  FAILED  \] (\w+)$", done.stdout, re.M))),
              "skipped": len(re.findall(r"^\[  SKIPPED \]", done.stdout, re.M))}
    for outcome, count in counts.items():
        record_property(outcome, count)
    print(done.stdout)
    assert done.returncode == 0 and counts["failed"] == 0 and sum(counts.values()) > 0


@pytest.mark.parametrize("name", sources("fuzz/fuzz_*.c"))
def test_fuzz_target_over_its_seeds(name):
    """The fuzz target must not crash on its seeds and on a few changed seeds. `make fuzz` runs the targets for a long
    time."""
    corpus = BUILD / f"{name}-corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    runs, size = (REPLAY_RUNS, REPLAY_BYTES) if name == "fuzz/fuzz_replay" else (FUZZ_RUNS, FUZZ_BYTES)
    done = call(BUILD / name, FUZZ_BOUND_S, f"-runs={runs}", "-seed=1", f"-max_len={size}", corpus)
    assert done.returncode == 0, done.stdout[-4000:]
