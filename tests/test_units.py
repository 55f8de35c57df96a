"""Runs each test program in C as one test, in parallel with the other tests. Also runs the fuzz targets on their seeds."""
import os
import pathlib
import re
import subprocess

import pytest

TESTS = pathlib.Path(__file__).parent
ROOT = TESTS.parent
BUILD = ROOT / "build"
UNIT_BOUND_S, FUZZ_BOUND_S = 900, 300
FUZZ_RUNS, FUZZ_BYTES = 20000, 8192
REPLAY_RUNS, REPLAY_BYTES = 600, 32768  # limits for fuzz_replay, which needs 20 ms for each input


def sources(pattern):
    return [str(path.relative_to(TESTS).with_suffix("")) for path in sorted(TESTS.glob(pattern))]


def call(program, bound_s, *arguments, environment=None):
    if not program.exists():
        pytest.skip(f"{program.relative_to(ROOT)} is not there: type make check")
    return subprocess.run([program, *map(str, arguments)], cwd=ROOT, timeout=bound_s, text=True, errors="replace", env=environment,
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
def test_fuzz_target_over_its_seeds(name, tmp_path):
    """The fuzz target must not crash on its seeds and on a few changed seeds, and the reports of fuzz_replay must be sound.
    `make fuzz` runs the targets for a long time."""
    corpus, new, reports = BUILD / f"{name}-corpus", tmp_path / "new", tmp_path / "reports"
    corpus.mkdir(parents=True, exist_ok=True)
    new.mkdir()
    runs, size = (REPLAY_RUNS, REPLAY_BYTES) if name == "fuzz/fuzz_replay" else (FUZZ_RUNS, FUZZ_BYTES)
    # -entropic=0, because weights for the choice of seeds take a fifth of the time, and such a short run does not need them
    done = call(BUILD / name, FUZZ_BOUND_S, f"-runs={runs}", "-seed=1", "-entropic=0", f"-max_len={size}",
                f"-artifact_prefix={tmp_path}/", new, corpus, environment={**os.environ, "FUZZ_REPORTS": str(reports)})
    assert done.returncode == 0, done.stdout[-4000:]
    if name == "fuzz/fuzz_replay":
        checked = call(TESTS / "fuzz" / "check_reports.py", FUZZ_BOUND_S, reports)
        assert checked.returncode == 0 and len(reports.read_bytes().splitlines()) > REPLAY_RUNS / 10, checked.stdout
