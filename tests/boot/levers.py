"""Causes faults in an unchanged QEMU while baretick runs: writes registers from outside, changes the host's time, or
stops the process. QEMU itself has all these features, so no test needs a patched QEMU."""
import contextlib
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

from harness import Run, write_script
from boots import qemu

POLL_S = 0.002
SILENT_S = 1
TRIES = 8
PREFERRED = -10  # a nice value
ANSWER_S = 90  # time limit for one command in seconds; a busy host may delay QEMU's main loop
HPET_CONFIGURATION, HPET_COUNTER = 0xFED00010, 0xFED000F0  # addresses of registers: IA-PC HPET 1.0a, 2.3
HPET_ENABLE = 1


class Ended(ConnectionError):
    """QEMU has ended, so nothing can be done with the machine."""


@contextlib.contextmanager
def ended_if(*problems):
    """Raise Ended instead of the exceptions PROBLEMS, which mean here that QEMU is gone."""
    try:
        yield
    except problems as problem:
        raise Ended(*problem.args) from problem


def connect(path):
    """Return a connection to the socket PATH of QEMU."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(ANSWER_S)
    try:
        connection.connect(str(path))
    except OSError:
        connection.close()
        raise
    return connection


class Registers:
    """Reads and writes the machine's registers, by the protocol of QEMU's own device tests (docs/devel/qtest.rst)."""

    def __init__(self, connection):
        self._socket = connection
        self._answers = self._socket.makefile("r")

    def ask(self, *lines):
        """Send all LINES at once, so that the guest cannot access its devices between them. Return the answer to the
        last line."""
        with ended_if(BrokenPipeError, ConnectionResetError):
            self._socket.sendall("".join(f"{line}\n" for line in lines).encode())
            for line in lines:
                if not (answer := self._answers.readline()):
                    raise Ended
                assert answer.startswith("OK"), f"{line}: {answer!r}"
        return answer

    def read32(self, address):
        return int(self.ask(f"readl {address:#x}").split()[1], 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._answers.close()
        self._socket.close()


def stop_hpet(registers):
    enabled = registers.read32(HPET_CONFIGURATION)
    registers.ask(f"writel {HPET_CONFIGURATION:#x} {enabled & ~HPET_ENABLE:#x}")


def move_hpet_back(registers):
    """Set the HPET's counter to 0, which is possible only while it is stopped. Repeat this if the counter has continued
    with its old value."""
    enabled, before = registers.read32(HPET_CONFIGURATION), registers.read32(HPET_COUNTER)
    for _ in range(TRIES):
        registers.ask(f"writel {HPET_CONFIGURATION:#x} {enabled & ~HPET_ENABLE:#x}", f"writel {HPET_COUNTER:#x} 0",
                      f"writel {HPET_CONFIGURATION:#x} {enabled:#x}")
        if registers.read32(HPET_COUNTER) < before:
            return
    raise AssertionError("the HPET's counter could not be set")


def stop_rtc(registers):
    """Set the bit SET in the RTC's register B, and keep its 24-hour mode (MC146818 data sheet, register B)."""
    registers.ask("outb 0x70 0x0b", "outb 0x71 0x82")


def set_rtc_ahead(registers, seconds):
    """Set the RTC ahead by SECONDS within its minute. It counts in BCD (MC146818 data sheet, register B). QEMU's RTC then
    begins a second anew, so it gains up to a second less."""
    registers.ask("outb 0x70 0")
    now = int(f"{int(registers.ask('inb 0x71').split()[1], 0):x}")
    assert now + seconds < 60
    registers.ask("outb 0x70 0", f"outb 0x71 0x{now + seconds}")


class Monitor:
    """QEMU's machine protocol (QMP)."""

    def __init__(self, connection):
        self._socket = connection
        self._lines = self._socket.makefile("rw")
        self._read()  # skips the greeting of QEMU's protocol
        self.execute("qmp_capabilities")

    def _read(self):
        if not (line := self._lines.readline()):
            raise Ended
        return json.loads(line)

    def execute(self, command, **arguments):
        with ended_if(BrokenPipeError, ConnectionResetError):
            self._lines.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            self._lines.flush()
            while "return" not in (message := self._read()):
                assert "event" in message, message
        return message["return"]

    @contextlib.contextmanager
    def stopped(self):
        """Stop all cores and all clocks except the RTC during the block, as a hypervisor does in a pause."""
        self.execute("stop")
        try:
            yield
        finally:
            self.execute("cont")

    def freeze(self, seconds):
        with self.stopped():
            time.sleep(seconds)

    def unplug(self, kind):
        """Remove the device of type KIND, such as a stick, from the machine."""
        folder = "/machine/peripheral-anon"
        names = [entry["name"] for entry in self.execute("qom-list", path=folder) if entry["type"] == f"child<{kind}>"]
        assert len(names) == 1, names
        self.execute("device_del", id=f"{folder}/{names[0]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._lines.close()
        self._socket.close()


class Process:
    """The process of QEMU."""

    def __init__(self, pid_file):
        with ended_if(FileNotFoundError, ProcessLookupError):
            self._process = os.pidfd_open(int(pid_file.read_text()))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._process)

    def kill(self):
        """Kill QEMU, like a power cut."""
        self._send(signal.SIGKILL)

    def stop(self):
        """Stop the whole machine until the runner kills QEMU."""
        self._send(signal.SIGSTOP)

    def hold(self, seconds):
        """Stop the whole machine for some seconds, as if the host preempted it."""
        self._send(signal.SIGSTOP)
        try:
            time.sleep(seconds)
        finally:
            self._send(signal.SIGCONT)

    def _send(self, number):
        with ended_if(ProcessLookupError):
            signal.pidfd_send_signal(self._process, number)


class Machine:
    """The running machine, as the argument of run_while()'s function PULL. It gives access to the machine's registers,
    to QEMU's monitor and process, and to the serial output."""

    def __init__(self, folder, log, over):
        self._folder, self._log, self._over = folder, log, over

    def registers(self):
        return Registers(self._connect("qtest"))

    def monitor(self):
        return Monitor(self._connect("qmp"))

    def _connect(self, name):
        """Connect to QEMU's socket NAME as soon as QEMU has made it. Raise Ended if the run ends before."""
        while not self._over.is_set():
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                return connect(self._folder / name)
            time.sleep(POLL_S)
        raise Ended

    def process(self):
        return Process(self._folder / "pid")

    def has_said(self, text):
        return self._log.exists() and text in self._log.read_bytes()

    def wait_until_silent(self):
        """Wait until the serial log has not grown for SILENT_S. On a busy host the log lags behind the machine."""
        size, since = -1, time.monotonic()
        while time.monotonic() - since < SILENT_S:
            if (now := self._log.stat().st_size) != size:
                size, since = now, time.monotonic()
            time.sleep(POLL_S)

    def wait_for(self, text):
        """Wait until baretick printed TEXT on the serial line. Return False if the run ended without it."""
        while not self._over.is_set() and not self.has_said(text):
            time.sleep(POLL_S)
        return self.has_said(text)

    def repeat(self, action, times, pause_s, until=None):
        """Call ACTION up to TIMES times. Stop earlier if the run has ended or has printed UNTIL. Return the number of
        calls."""
        done = 0
        try:
            while done < times and not self._over.is_set() and not (until and self.has_said(until)):
                action()
                done += 1
                time.sleep(pause_s)
        except Ended:
            pass
        return done


def run_while(pull, out, *arguments):
    """Do a run and return it. If PULL is given, PULL(machine) is called in a thread during the run."""
    over, problems = threading.Event(), []

    def work(machine):
        try:
            if pull:
                pull(machine)
        except BaseException as problem:  # an error in a thread would be lost, so it is raised again in the test
            problems.append(problem)

    # the temporary folder keeps the path of the socket below 108 characters
    with tempfile.TemporaryDirectory(prefix="baretick-") as name:
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


@contextlib.contextmanager
def preferred():
    """Let the host run this thread and QEMU before other processes. Without root's rights, this does nothing."""
    before = os.getpriority(os.PRIO_PROCESS, 0)
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, PREFERRED)
    try:
        yield
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)


@preferred()
def run_until_in_time(pull, folder, *arguments):
    """Do run_while() until PULL(machine) returns true, and return this run. A busy host may delay PULL for too long. PULL
    then returns false, or QEMU has ended before PULL could use it."""
    for attempt in range(TRIES):
        in_time = []

        def pull_if_running(machine):
            with contextlib.suppress(Ended):
                in_time.append(pull(machine))

        done = run_while(pull_if_running, folder / f"out{attempt}", *arguments)
        if in_time and in_time[0]:
            return done
    raise AssertionError(f"the host was too busy in {TRIES} runs; the last run: {done}")


def faked(folder, rate, monotonic=True):
    """Return arguments for a QEMU under faketime, which makes the host's time pass RATE times as fast as in reality. All
    clocks except the TSC follow this time. If MONOTONIC is false, only the RTC follows it."""
    if not shutil.which("faketime"):
        pytest.skip("faketime is not installed")
    return ["--qemu", write_script(folder / "qemu-faked", f"#!/bin/sh\n{'' if monotonic else 'export DONT_FAKE_MONOTONIC=1'}\n"
                                   f"exec faketime -f '+0 x{rate}' qemu-system-x86_64 \"$@\"\n")]
