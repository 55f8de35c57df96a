"""Boots machines under a real KVM: this machine's KVM if it can run firmware. Otherwise KVM_RIG names a rig, a program
that boots them under a KVM in an emulated Linux (README.md)."""
import functools
import json
import os
import re
import subprocess
import tempfile

import pytest

import tidy
from harness import ROOT, RUNNER, check_schema

NONE = "there is no KVM here that runs firmware, and KVM_RIG names no program that has one"
IMAGE = ROOT / "build" / "baretick.img"
PROBE_S, BOUND_S = 30, 900
PAUSE_S = 3
# phases in which the guest is paused, if the runner can see the current phase
PHASES = ("rates", "latency", "cores", "rates-again")
# times of pauses in seconds after the guest's start, if the runner cannot see the phase; some of them are within the
# run, even with slow firmware
MOMENTS_S = range(15, 300, 10)
# QEMU's exit status after the application wrote 10h or 11h to isa-debug-exit: the verdicts with this status
ENDED = {"33": {"pass", "warn"}, "35": {"fail"}}


def rig():
    return os.environ.get("KVM_RIG")


@functools.cache
def has_own():
    """Return true if firmware can start the application under this machine's KVM. The application only prints its rules
    here."""
    with tempfile.TemporaryDirectory() as folder:
        words = [RUNNER, "--accel", "kvm", "--timeout", str(PROBE_S), "--out", f"{folder}/out", "--", "rules"]
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=2 * PROBE_S).returncode == 0


def need(rig_only=None):
    """Skip the test if there is no usable KVM, or if the test needs a rig and there is none. RIG_ONLY says why it needs
    a rig."""
    if not rig() and not has_own():
        pytest.skip(NONE)
    if rig_only and not is_on_rig():
        pytest.skip(f"only a rig (KVM_RIG) {rig_only}")


def is_on_rig():
    return not has_own()


class Seen:
    """The results of a run: its report and its text."""

    def __init__(self, folder):
        self.report = json.loads((folder / "report.json").read_bytes())
        self.text = (folder / "report.txt").read_text()
        check_schema(self.report)
        tidy.check_csv((folder / "report.json").read_bytes(), (folder / "report.csv").read_bytes())

    def clocks(self):
        return {clock["id"]: clock for clock in self.report["clocks"] if clock["state"] == "present"}

    def interface(self, name):
        return next(row for row in self.report["machine"]["paravirtual"] if row["interface"] == name)


def done(words):
    """Run the command WORDS, and return its exit status and output."""
    ended = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           timeout=BOUND_S + 60)
    return ended.returncode, ended.stdout + ended.stderr


def on_own(out, machine, cpus, cpu, is_paused, options):
    events = [f"--event={phase}=stop:{PAUSE_S}s" for phase in PHASES if is_paused]
    status, said = done([RUNNER, "--accel", "kvm", "--machine", machine, "--cpus", cpus, "--qemu-arg=-cpu", f"--qemu-arg={cpu}",
                         "--timeout", BOUND_S, "--out", out, *events, "--", *options])
    assert status in (0, 1), said
    return Seen(out)


def on_rig(out, machine, cpus, cpu, is_paused, options, host_tsc):
    monitor = [word for at in MOMENTS_S if is_paused for word in ("--hmp", f"{at}:stop", "--hmp", f"{at + PAUSE_S}:cont")]
    status, said = done([rig(), "--image", IMAGE, "--out", out, "--machine", machine, "--cpus", cpus, "--cpu", cpu,
                         "--host-tsc", host_tsc, "--timeout", BOUND_S, *monitor, *options])
    ended = re.search(r"guest ended with (\d+)", said)
    assert status == 0 and ended, said
    folder, = (out / "reports").iterdir()
    seen = Seen(folder)
    assert seen.report["verdict"] in ENDED[ended[1]], said
    return seen


def boot(out, machine, cpus, cpu, options, is_paused=False, host_tsc="reliable"):
    if is_on_rig():
        return on_rig(out, machine, cpus, cpu, is_paused, options, host_tsc)
    return on_own(out, machine, cpus, cpu, is_paused, options)
