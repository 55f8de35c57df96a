"""Faults on stock QEMU, brought about from outside while baretick runs: registers written, time bent, the process
held. Each lever is one that QEMU has of itself, so no test needs a patched one.
"""
import json
import os
import pathlib
import shutil
import signal
import socket
import tempfile
import threading
import time

import pytest

from harness import Run
from boots import qemu

POLL_S = 0.002
ANSWER_S = 90  # for one command: QEMU's main loop may have to wait for a busy host


class Registers:
    """The machine's registers, by the protocol that QEMU has for its own device tests (docs/devel/qtest.rst)."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_S)
        self._socket.connect(str(path))
        self._answers = self._socket.makefile("r")

    def ask(self, *lines):
        """All LINES at once, between which the guest does not get at its devices; the answer to the last."""
        self._socket.sendall("".join(f"{line}\n" for line in lines).encode())
        for line in lines:
            answer = self._answers.readline()
            if not answer:
                raise ConnectionError("QEMU is gone")
            assert answer.startswith("OK"), f"{line}: {answer!r}"
        return answer

    def read32(self, address):
        return int(self.ask(f"readl {address:#x}").split()[1], 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._answers.close()
        self._socket.close()


class Monitor:
    """QEMU's machine protocol."""

    def __init__(self, path):
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(ANSWER_S)
        self._socket.connect(str(path))
        self._lines = self._socket.makefile("rw")
        self._lines.readline()  # its greeting
        self._execute("qmp_capabilities")

    def _execute(self, command, **arguments):
        self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
        self._lines.flush()
        while "return" not in (message := json.loads(self._lines.readline())):
            assert "event" in message, message
        return message["return"]

    def freeze(self, seconds):
        """All cores stop, and all clocks but the RTC with them, as under a hypervisor's pause."""
        self._execute("stop")
        time.sleep(seconds)
        self._execute("cont")

    def unplug(self, kind):
        """Takes the device of that kind out of the machine."""
        folder = "/machine/peripheral-anon"
        names = [entry["name"] for entry in self._execute("qom-list", path=folder) if entry["type"] == f"child<{kind}>"]
        assert len(names) == 1, names
        self._execute("device_del", id=f"{folder}/{names[0]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.close()
        self._socket.close()


class Process:
    """QEMU itself."""

    def __init__(self, pid_file):
        self._process = os.pidfd_open(int(pid_file.read_text()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._process)

    def kill(self):
        """As where the power goes."""
        signal.pidfd_send_signal(self._process, signal.SIGKILL)

    def hold(self, seconds):
        """All of the machine stands still, as a guest does that its host takes off the CPU."""
        signal.pidfd_send_signal(self._process, signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            signal.pidfd_send_signal(self._process, signal.SIGCONT)


class Machine:
    """The arguments of a pull: the registers, the process, and whether the run is still going on."""

    def __init__(self, folder, log, over):
        self._folder, self._log, self._over = folder, log, over

    def registers(self):
        return Registers(self._folder / "qtest")

    def monitor(self):
        return Monitor(self._folder / "qmp")

    def process(self):
        return Process(self._folder / "pid")

    def has_said(self, text):
        return self._log.exists() and text in self._log.read_bytes()

    def wait_for(self, text):
        """Until baretick has said TEXT on the serial line; False where the run is over before."""
        while not self._over.is_set():
            if self.has_said(text):
                return True
            time.sleep(POLL_S)
        return False

    def repeat(self, action, times, pause_s, until=None):
        """Does ACTION so often, or until the run is over or has said UNTIL; returns how often that was."""
        done = 0
        try:
            while done < times and not self._over.is_set() and not (until and self.has_said(until)):
                action()
                done += 1
                time.sleep(pause_s)
        except (ConnectionError, ProcessLookupError):
            pass  # QEMU has ended
        return done


def run_while(pull, out, *arguments):
    """A finished run, during which PULL(machine), unless it is None, was called in a thread of its own."""
    over, problems = threading.Event(), []

    def work(machine):
        try:
            if pull:
                pull(machine)
        except BaseException as problem:  # shown by the test, because a thread's error is lost
            problems.append(problem)

    with tempfile.TemporaryDirectory(prefix="baretick-") as name:  # a socket's path has 107 characters at most
        folder = pathlib.Path(name)
        thread = threading.Thread(target=work, args=[Machine(folder, out / "serial.log", over)])
        thread.start()
        try:
            done = Run(out, [*qemu("-qtest", f"unix:{folder / 'qtest'},server=on,wait=off", "-qtest-log", "none",
                                   "-qmp", f"unix:{folder / 'qmp'},server=on,wait=off", "-pidfile",
                                   str(folder / "pid")), *arguments])
        finally:
            over.set()
            thread.join()
    assert not problems, (problems, done)
    return done


def faked(folder, rate, monotonic=True):
    """Return a QEMU whose host's time runs at RATE, for every clock except the TSC. Without MONOTONIC only for the RTC."""
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    script = folder / "qemu-faked"
    script.write_text(f"#!/bin/sh\n{'' if monotonic else 'export DONT_FAKE_MONOTONIC=1'}\n"
                      f"exec faketime -f '+0 x{rate}' qemu-system-x86_64 \"$@\"\n")
    script.chmod(0o755)
    return ["--qemu", script]
