#!/usr/bin/env python3
"""Boots healthy machines many times, half of them on a busy host, and counts findings. Each finding is a false alarm.

Usage: quiet.py BUILD BOOTS [events] [OPTION...]

With `events` the host is always busy, and each machine is paused, restored from a snapshot or migrated in one of
several phases. A report may then say that groups of clocks diverged, but must not name a clock or a core.

OPTION is an option of baretick, by default profile=quick. The reports stay in BUILD/quiet. The exit status is 0 only if
no boot has a false alarm."""
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
WITH_EVENTS = "events" in sys.argv[3:]
OPTIONS = [word for word in sys.argv[3:] if word != "events"] or ["profile=quick"]
PHASES = ("rates+300ms", "latency+50ms", "skew")
if WITH_EVENTS:
    KINDS = [("q35", cpus, "busy", f"{phase}={what}:3s")
             for cpus, phase, what in itertools.product((1, 4), PHASES, ("stop", "snapshot", "migrate"))
             if cpus > 1 or phase != "skew"]
else:
    KINDS = list(itertools.product(("q35", "pc"), (1, 2, 4), ("idle", "busy"), (None,)))
BUSY_LOOPS = 2
BOUND_S = 600
PR_SET_PDEATHSIG = 1  # number of the option in <linux/prctl.h>


class BusyHost:
    """Processes that use as much processor time as they can. They end with this program, even if it is killed."""

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


def is_alarm(finding):
    return not WITH_EVENTS or finding["clock"] is not None or finding.get("core") is not None


def boot(number, machine, cpus, event):
    """Return (verdict, false alarms, {outcome: rules}, seconds) of a boot. The verdict is None if there was no
    report."""
    out = BUILD / "quiet" / f"{number:03}"
    begin = time.monotonic()
    words = [ROOT / "qemu" / "run", "--accel", "tcg", "--machine", machine, "--cpus", str(cpus), "--timeout", str(BOUND_S / 2),
             "--out", out, *(["--event", event] if event else []), "--", *OPTIONS]
    try:
        subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=BOUND_S)
        report = json.loads((out / "report.json").read_text())
    except (subprocess.TimeoutExpired, OSError, ValueError) as error:
        return None, [{"rule": "no report", "clock": None, "text": str(error)}], {}, time.monotonic() - begin
    alarms = [finding for finding in report["findings"] if is_alarm(finding)]
    if report["verdict"] == "incomplete":
        why = report.get("reason") or "; ".join(report["notes"])
        alarms.append({"rule": "incomplete", "clock": None, "text": why})
    outcomes = collections.Counter(row["outcome"] for row in report["behaviours"])
    return report["verdict"], alarms, outcomes, time.monotonic() - begin


def run_all():
    """Boot all machines, and print each result. Return {kind of machine: results}."""
    seen = collections.defaultdict(list)
    for number in range(BOOTS):
        kind = machine, cpus, host, event = KINDS[number % len(KINDS)]
        with BusyHost(BUSY_LOOPS if host == "busy" else 0):
            verdict, alarms, outcomes, seconds = boot(number, machine, cpus, event)
        seen[kind].append((verdict, alarms, outcomes))
        print(f"{number:3}  {machine:<3}  {cpus} cores  {host}  {event or ''}  {verdict or 'no report':<10}  {seconds:5.1f} s",
              flush=True)
        for finding in alarms:
            print(f"     {finding['rule']}: {finding['text']}", flush=True)
    return seen


def show(seen):
    print("\nmachine  cores  host  boots  pass  warn  fail  other  promises not determined  event")
    for (machine, cpus, host, event), boots in sorted(seen.items(), key=lambda item: KINDS.index(item[0])):
        count = collections.Counter(verdict for verdict, _, _ in boots)
        outcomes = sum((outcomes for _, _, outcomes in boots), collections.Counter())
        named = [count[verdict] for verdict in ("pass", "warn", "fail")]
        looked_at = sum(outcomes.values()) - outcomes["not_checked"]
        print(f"{machine:<7}  {cpus:5}  {host}  {len(boots):5}" + "".join(f"  {n:4}" for n in named) +
              f"  {len(boots) - sum(named):5}  {outcomes['not_determined']:13} of {looked_at:<7}  {event or ''}")
    rules = collections.Counter((finding["rule"], finding["clock"] or "-") for boots in seen.values()
                                for _, alarms, _ in boots for finding in alarms)
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
