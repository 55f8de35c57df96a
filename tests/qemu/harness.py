"""What the tests of the runner and the boot suite share."""
import json
import os
import pathlib
import subprocess
import sys

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNNER = ROOT / "qemu" / "run"
sys.dont_write_bytecode = True  # or qemu/ would be left with a __pycache__
sys.path.insert(0, str(ROOT / "qemu"))

SCHEMA = ROOT / "tests" / "report.schema.json"


def check_schema(report):
    """Every report that a test sees goes through here."""
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(report)


class Run:
    """One finished call of qemu/run and what it left."""

    def __init__(self, out, arguments, environment=None, bound_s=180):
        self.out = out
        done = subprocess.run(
            [str(RUNNER), "--out", str(out), "--timeout", "150", *map(str, arguments)], stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=bound_s, env={**os.environ, **(environment or {})})
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr

    def file(self, name):
        return (self.out / name).read_bytes()

    @property
    def report(self):
        report = json.loads(self.file("report.json"))
        check_schema(report)
        return report

    def __str__(self):
        return f"status {self.status}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
