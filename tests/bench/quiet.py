#!/usr/bin/env python3
"""Boots machines that are well, again and again, half of them on a busy host, and counts the alarms: each one is false.

Usage: quiet.py BUILD BOOTS  The reports stay in BUILD/quiet. Exit status 0 only where no boot has a finding.
"""
import collections
import ctypes
import itertools
import json
import pathlib
import shutil
import signal
import subprocess
import sys
import time

BUILD, BOOTS = pathlib.Path(sys.argv[1]), int(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = list(itertools.product(("q35", "pc"), (1, 2, 4), ("idle", "busy")))
BUSY_LOOPS = 2
BOUND_S = 600
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>


class BusyHost:
    """Loops that take what they can get of the host's cores; they end with this program, however that ends."""

    def __init__(self, loops):
        self._loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=self._die_with_parent)
                       for _ in range(loops)]

    @staticmethod
    def _die_with_parent():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for loop in self._loops:
            loop.kill()
            loop.wait()


def boot(number, machine, cpus):
    """(verdict, findings, seconds) of a run; a verdict of None where there is no report."""
    out = BUILD / "quiet" / f"{number:03}"
    begin = time.monotonic()
    try:
        subprocess.run([ROOT / "qemu" / "run", "--accel", "tcg", "--machine", machine, "--cpus", str(cpus), "--timeout",
                        str(BOUND_S / 2), "--out", out, "--", "profile=quick"], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=BOUND_S)
        report = json.loads((out / "report.json").read_text())
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        return None, [{"rule": "no report", "clock": None, "text": str(error)}], time.monotonic() - begin
    findings = report["findings"]
    if report["verdict"] == "incomplete":
        why = report.get("reason") or "; ".join(report["notes"])
        findings = findings + [{"rule": "incomplete", "clock": None, "text": why}]
    return report["verdict"], findings, time.monotonic() - begin


def run_all():
    """The findings of each boot, by its kind."""
    seen = collections.defaultdict(list)
    for number in range(BOOTS):
        kind = machine, cpus, host = KINDS[number % len(KINDS)]
        with BusyHost(BUSY_LOOPS if host == "busy" else 0):
            verdict, findings, seconds = boot(number, machine, cpus)
        seen[kind].append((verdict, findings))
        print(f"{number:3}  {machine:<3}  {cpus} cores  {host}  {verdict or 'no report':<10}  {seconds:5.1f} s", flush=True)
        for finding in findings:
            print(f"     {finding['rule']}: {finding['text']}", flush=True)
    return seen


def show(seen):
    print("\nmachine  cores  host  boots  pass  warn  fail  other")
    for (machine, cpus, host), boots in sorted(seen.items(), key=lambda item: KINDS.index(item[0])):
        count = collections.Counter(verdict for verdict, _ in boots)
        named = [count[verdict] for verdict in ("pass", "warn", "fail")]
        print(f"{machine:<7}  {cpus:5}  {host}  {len(boots):5}" + "".join(f"  {n:4}" for n in named) +
              f"  {len(boots) - sum(named):5}")
    rules = collections.Counter((finding["rule"], finding["clock"] or "-") for boots in seen.values()
                                for _, findings in boots for finding in findings)
    print("\nrule  clock  false alarms")
    for (rule, clock), count in rules.most_common():
        print(f"{rule}  {clock}  {count}")
    return sum(rules.values())


def main():
    shutil.rmtree(BUILD / "quiet", ignore_errors=True)
    seen = run_all()
    alarms = show(seen)
    print(f"{sum(map(len, seen.values()))} boots, {alarms} false alarms")
    return 1 if alarms else 0


if __name__ == "__main__":
    sys.exit(main())
