"""One machine of QEMU, under TCG without firmware of its own, and the faults that are caused in it while it runs."""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import levers
import tsc_offsets

QEMU = "qemu-system-x86_64"
EXIT_DEVICE = ["-device", "isa-debug-exit,iobase=0x501,iosize=0x2"]
POLL_S, SOCKET_BOUND_S, MIGRATION_BOUND_S = 0.02, 30, 120


def wait_until(condition, bound_s, what):
    end = time.monotonic() + bound_s
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"{what} did not happen in {bound_s} s")
        time.sleep(POLL_S)
    return value


def _kill(process):
    """Kill PROCESS and its children, because faketime starts QEMU as a child."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class Emulator:
    """A running QEMU. WORDS are the machine's arguments. The serial output is appended to the file LOG. RATE_OF_RTC is the
    rate of the host's time of day, which the RTC follows, or None to change nothing.

    Its time of day follows the machine's time, so that a stopped machine's RTC does not jump."""

    def __init__(self, words, log, rate_of_rtc=None):
        self.log = log
        self._folder = tempfile.TemporaryDirectory(prefix="baretick-")  # a short path, because a socket's has at most 108 characters
        self._starts = 0
        self._words = [QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-nic", "none", "-display", "none", "-accel", "tcg",
                       "-chardev", f"file,id=line,path={log},append=on", "-serial", "chardev:line", "-qtest-log", "none",
                       *EXIT_DEVICE, *words]
        if rate_of_rtc:
            self._words = ["env", "DONT_FAKE_MONOTONIC=1", "faketime", "-f", f"+0 x{rate_of_rtc}", *self._words]
        else:
            self._words += ["-rtc", "clock=vm"]
        self._process = self._start()

    def _start(self, *more):
        self._starts += 1
        names = [self._socket(kind) for kind in ("qmp", "qtest")]
        process = subprocess.Popen(
            [*self._words, *more, "-qmp", f"unix:{names[0]},server=on,wait=off", "-qtest", f"unix:{names[1]},server=on,wait=off"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            wait_until(lambda: process.poll() is not None or all(map(os.path.exists, names)), SOCKET_BOUND_S, "QEMU's start")
        except BaseException:
            _kill(process)
            raise
        return process

    def _socket(self, kind):
        return f"{self._folder.name}/{kind}{self._starts}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        _kill(self._process)
        self._folder.cleanup()

    def has_said(self, text):
        return self.log.exists() and text in self.log.read_bytes()

    def has_ended(self):
        return self._process.poll() is not None

    def wait_for(self, text, bound_s):
        """Wait until the machine printed TEXT. Return False if it ended before."""
        wait_until(lambda: self.has_ended() or self.has_said(text), bound_s, f"the output {text!r}")
        return self.has_said(text)

    def wait_for_end(self, bound_s):
        wait_until(self.has_ended, bound_s, "the machine's end")

    def registers(self):
        return levers.Registers(levers.connect(self._socket("qtest")))

    def monitor(self):
        return levers.Monitor(levers.connect(self._socket("qmp")))

    def change_tsc_offsets(self, ticks_of_core):
        """Set the offset of the TSC of each core in TICKS_OF_CORE, a dictionary. QEMU has no command for this. Therefore the
        machine is saved, its state is changed, and a second QEMU continues from it."""
        state = pathlib.Path(self._folder.name) / "state"
        with self.monitor() as monitor:
            monitor.execute("stop")
            monitor.execute("migrate", uri=f"exec:cat >{state}")
            wait_until(lambda: monitor.execute("query-migrate").get("status") in ("completed", "failed"), MIGRATION_BOUND_S,
                       "the migration")
            monitor.execute("quit")
        self._process.wait(SOCKET_BOUND_S)
        state.write_bytes(tsc_offsets.change(state.read_bytes(), ticks_of_core))
        self._process = self._start("-incoming", f"exec:cat {state}", "-S")
        with self.monitor() as monitor:
            wait_until(lambda: monitor.execute("query-status")["status"] == "paused", MIGRATION_BOUND_S, "the end of the migration")
            monitor.execute("cont")


def stop_hpet(machine):
    with machine.registers() as registers, machine.monitor() as monitor, monitor.stopped():
        levers.stop_hpet(registers)


def set_hpet_to_zero(machine):
    with machine.registers() as registers, machine.monitor() as monitor, monitor.stopped():
        levers.move_hpet_back(registers)


def stop_rtc(machine):
    with machine.registers() as registers:
        levers.stop_rtc(registers)


def move_tsc(**ticks_of_core):
    """Return a fault that moves the TSC of cores. A name in TICKS_OF_CORE is `core` and the number of the core."""
    offsets = {int(name.removeprefix("core")): ticks for name, ticks in ticks_of_core.items()}
    return lambda machine: machine.change_tsc_offsets(offsets)
