"""Without KVM, `make kvm` skips its tests and gives the reason. Here a script that fails like QEMU without KVM replaces
QEMU."""
import os
import re
import subprocess
import sys

import kvms
from harness import ROOT


def test_each_test_is_skipped_with_the_reason(tmp_path):
    qemu = tmp_path / "qemu-system-x86_64"
    qemu.write_text("#!/bin/sh\necho 'qemu-system-x86_64: failed to initialize kvm: No such device' >&2\nexit 1\n")
    qemu.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "KVM_RIG" and not name.startswith("PYTEST")}
    words = [sys.executable, "-m", "pytest", "-q", "-rs", "--kvm", "-p", "no:xdist", "--basetemp", tmp_path / "base",
             ROOT / "tests" / "kvm"]
    done = subprocess.run(words, cwd=ROOT, env={**environment, "QEMU": str(qemu)}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = re.search(r"^(\d+) skipped(, \d+ deselected)? in", done.stdout, re.M)
    assert counts and int(counts[1]) > 10, done.stdout
    said = re.findall(r"^SKIPPED \[\d+\] \S+: (.*)$", done.stdout, re.M)
    assert set(said) == {kvms.NONE}
