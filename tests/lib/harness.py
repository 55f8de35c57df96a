"""Helpers for the tests of the runner and for tests that boot."""
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import xml.etree.ElementTree as xml

from host import Share
from shape import check_schema

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "qemu" / "run"
SCHEMA = ROOT / "src" / "report" / "report.schema.json"
# Firmware in one file starts in three quarters of the time of firmware with separate files for code and variables.
WHOLE_FIRMWARE = "/usr/share/ovmf/OVMF.fd"
TCG = ["--accel", "tcg"]
BARE = [*TCG, "--boot", "bare"]  # arguments for a boot without UEFI, which takes 2 s less of processor time
# A start from a saved state takes half of the firmware's usual time.
FROM_SNAPSHOT = ["--qemu", str(ROOT / "tests" / "lib" / "qemu_from_snapshot")]
FAST_TCG = [*TCG, *(["--firmware", WHOLE_FIRMWARE, *FROM_SNAPSHOT] if os.path.exists(WHOLE_FIRMWARE) else [])]
# The machine's time advances by 64 ns with each instruction. Therefore a wait needs hardly any processor time, and a
# busy host changes no figure. All cores run in turn on one processor. QEMU's HPET sends periodic ticks twice in this
# mode.
BY_INSTRUCTIONS = [f"--qemu-arg={word}" for word in ("-icount", "shift=6,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm")]
# The same, but while no core runs, the machine's time follows the host's time. Therefore a machine that waits for a key
# needs hardly any processor time.
BY_INSTRUCTIONS_WITH_SLEEP = [word.replace("sleep=off", "sleep=on") for word in BY_INSTRUCTIONS]
NO_SCREEN = ["--qemu-arg=-vga", "--qemu-arg=none"]  # a screen needs processor time
QUICK_SCREEN = [*FAST_TCG, *BY_INSTRUCTIONS]
QUICK_TCG = [*QUICK_SCREEN, *NO_SCREEN]
QUICK_BARE = [*BARE, *BY_INSTRUCTIONS]
TIMEOUTS = (2, 8, 32)  # time-outs in seconds of run_for_long_enough()
# name of the script that replaces QEMU; its reports may be incomplete, so they are not checked against the schema
FAKE = "fake qemu,1"
CHATTER = b"\x1b[2J\x1b[01;01H\x1b[=3hBdsDxe: loading baretick.efi\r\n\x1b[2J\x1b[01;01H"


def load_program(path):
    """Return the Python program PATH as a module."""
    loader = importlib.machinery.SourceFileLoader(pathlib.Path(path).stem, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def block(name, body, sha=None):
    sha = sha or hashlib.sha256(body).hexdigest()
    return f"BARETICK {name} BEGIN\n".encode() + body + f"BARETICK {name} END sha256={sha}\n".encode()


def report(verdict="pass", clocks=(("tsc", "pass"),)):
    """Return a report with only the parts that the runner reads."""
    return {"schema": "baretick.report/1", "verdict": verdict, "findings": [
        {"rule": "rate", "severity": "fail", "clock": name, "text": f"{name} is wrong"}
        for name, word in clocks if word == "fail"],
        "clocks": [{"id": name, "verdict": word, "reason": "not there" if word == "absent" else None}
                   for name, word in clocks]}


def spoken(document=None, text=b"the table\n", json_sha=None, text_sha=None, more=b""):
    """Return the output of a guest on the serial line: the firmware's lines, the block TEXT with the text report, MORE,
    and the block REPORT with the JSON report."""
    body = json.dumps(document or report(), indent=1).encode() + b"\n"
    return (CHATTER + b"baretick 0.1.0\n" + block("TEXT", text, text_sha) + more
            + block("REPORT", body, json_sha)).replace(b"\n", b"\r\n")


class Run:
    """A finished call of qemu/run, with its results."""

    def __init__(self, out, arguments, environment=None, bound_s=620):
        self.out, share = out, Share()
        done = subprocess.run(
            [str(RUNNER), "--out", str(out), "--timeout", "400", *map(str, arguments)], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=bound_s, env={**os.environ, **(environment or {})})
        self.status, self.stdout, self.stderr, self.share = done.returncode, done.stdout, done.stderr, str(share)
        self._check_reports(FAKE in f"{arguments} {environment}")

    def _check_reports(self, from_fake):
        """Check each report.json of the run; a run with --matrix has several. If a script replaces QEMU, only reports
        that the runner made itself are checked."""
        for path in self.out.rglob("report.json") if self.out.is_dir() else ():
            report = json.loads(path.read_bytes())
            if not from_fake or "reason" in report:
                check_schema(report)

    def file(self, name):
        return (self.out / name).read_bytes()

    @property
    def report(self):
        return json.loads(self.file("report.json"))

    def __str__(self):
        return f"status {self.status} after {self.share}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"


def run_for_long_enough(run, holds, *arguments):
    """Call qemu/run with longer and longer time-outs until HOLDS(done) is true. On a busy host, the script that replaces
    QEMU may not have printed all of its lines when a short time-out ends it. Return the last run and its time-out."""
    for seconds in TIMEOUTS:
        done = run("--timeout", str(seconds), *arguments)
        if holds(done):
            break
    return done, seconds


def junit(tmp_path):
    """Return the runner's arguments for a JUnit report in the folder of the test's first run."""
    return ["--junit", tmp_path / "out1" / "junit.xml"]


def write_script(path, text):
    """Make the executable file PATH with TEXT. Return PATH. Missing folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def matrix_of(folder, text):
    """Write TEXT, the description of a matrix, to a file in FOLDER. Return the runner's arguments for it."""
    (folder / "matrix").write_text(text)
    return ["--matrix", folder / "matrix"]


def case(done, name):
    """Return the elements of the test case NAME in the JUnit report."""
    suite = xml.fromstring(done.file("junit.xml"))
    node, = [node for node in suite if (node.get("classname"), node.get("name")) == ("baretick.event", name)]
    return [(child.tag, child.get("message") or child.text) for child in node]
