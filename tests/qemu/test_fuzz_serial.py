"""Tests the runner with random output of a guest, for a short time. fuzz_serial.py prints the seed of a failure, which
repeats the trial."""
import pathlib
import re
import subprocess

import pytest

FUZZER = pathlib.Path(__file__).with_name("fuzz_serial.py")
MEMORY_MAX_MIB = 500


@pytest.mark.parametrize("count", [500, pytest.param(100_000, marks=pytest.mark.long)])
def test_whatever_a_guest_says_is_a_verdict_or_a_sentence(count):
    done = subprocess.run(["/usr/bin/python3", FUZZER, str(count)], capture_output=True, text=True)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(re.search(r"peak memory (\d+) MiB", done.stdout)[1]) < MEMORY_MAX_MIB


def test_a_stream_is_drawn_again_by_its_seed():
    one, other = (subprocess.run(["/usr/bin/python3", FUZZER, "20", "7:100"], capture_output=True, text=True, check=True).stdout
                  for _ in range(2))
    assert re.sub(r"peak.*", "", one) == re.sub(r"peak.*", "", other)
