"""Fixtures for the tests of the runner and for tests that boot."""
import textwrap

import pytest

from harness import FAKE, Run


@pytest.fixture
def run(tmp_path):
    """Return a function that calls qemu/run with --out in the test's own folder."""
    count = 0

    def call(*arguments, **keywords):
        nonlocal count
        count += 1
        return Run(tmp_path / f"out{count}", arguments, **keywords)
    return call


@pytest.fixture(scope="session")
def runs():
    return {}


@pytest.fixture
def booted(request, runs, tmp_path_factory):
    """Return the run of qemu/run with the arguments in the test's marker `boot`. {out} in an argument is replaced by
    the run's folder. Tests with the same arguments share one run."""
    arguments = request.node.get_closest_marker("boot").args
    if arguments not in runs:
        out = tmp_path_factory.mktemp("booted") / "out"
        runs[arguments] = Run(out, [str(word).replace("{out}", str(out)) for word in arguments])
    return runs[arguments]


@pytest.fixture
def fake(tmp_path):
    """Return a function that makes an executable to use instead of QEMU. The executable writes SERIAL to the serial
    line, and then runs the Python code BODY."""
    def make(serial=b"", body="sys.exit(33)", boots_efi=True):
        path = tmp_path / FAKE
        (tmp_path / "serial").write_bytes(serial)
        path.write_text(textwrap.dedent("""\
            #!/usr/bin/python3
            import json, os, re, signal, socket, sys, time
            here = os.path.dirname(os.path.realpath(__file__))
            open(here + "/argv", "wb").write(b"\\0".join(map(os.fsencode, sys.argv[1:])))
            open(here + "/pid", "a").write(f"{os.getpid()}\\n")

            def monitor():  # its end of the machine protocol
                fd = [re.search(r",fd=(\\d+)", word) for word in sys.argv if ",fd=" in word][0]
                return socket.socket(fileno=int(fd[1]))

            sys.stdout.buffer.write(open(here + "/serial", "rb").read())
            sys.stdout.flush()
            """) + textwrap.dedent(body))
        path.chmod(0o755)
        efi = tmp_path / "some.efi"
        efi.write_bytes(b"MZ")
        code = tmp_path / "whole.fd"
        code.write_bytes(bytes(4096))
        return ["--accel", "tcg", "--qemu", path, "--firmware", code, *(["--efi", efi] if boots_efi else [])]
    return make


@pytest.fixture
def duckdb():
    """Skip the test if qemu/fleet cannot load DuckDB here."""
    from lab import engine
    try:
        engine.load_duckdb()
    except engine.Missing as error:
        pytest.skip(str(error))
