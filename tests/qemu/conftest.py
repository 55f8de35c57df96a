"""Fixtures of the tests of the runner and of the boot suite."""
import pytest

from harness import Run


@pytest.fixture
def run(tmp_path):
    """Calls qemu/run with its --out in a folder of the test's own."""
    count = 0

    def call(*arguments, **keywords):
        nonlocal count
        count += 1
        return Run(tmp_path / f"out{count}", arguments, **keywords)
    return call
