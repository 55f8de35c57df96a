#!/usr/bin/env python3
"""Boots Debian's kernels, Xen and baretick on the same machines, and compares what they do with what baretick predicts.

Usage: systems.py [--keep] BUILD [MACHINE...]

Prints a row for each machine and kernel, and each disagreement. The results are in BUILD/systems. --keep adds the outcomes to
tests/systems/outcomes.json, and replaces the records of the machines. The exit status is 1 if a prediction was wrong that
outcomes.json does not list as wrong."""
import argparse
import base64
import contextlib
import json
import lzma
import pathlib
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "tests" / "lib"), str(ROOT / "tests" / "boot"), str(ROOT / "qemu")]

from machine.transcript import Transcript  # noqa: E402

import compare  # noqa: E402
import kernels  # noqa: E402
import xen  # noqa: E402
from emulator import Emulator  # noqa: E402
from machines import MACHINES  # noqa: E402

BOOT_BOUND_S = 900  # an idle host takes 20 s
STAND_STILL_S = 150  # a kernel that takes longer for the 10 s of kernels.WATCH_S is not waiting for the host
XEN_BOUND_S = 1  # after it has printed its timer, so that the lines after it are complete
OPTIONS = b"profile=quick duration=20ms identity=off exit=debug-exit\n"
RECORDS, OUTCOMES = HERE / "records", HERE / "outcomes.json"


def run(words, log, machine, cause_at, bound_s):
    """Run a machine with QEMU's arguments WORDS until it prints CAUSE_AT, then cause its fault, and wait for its end for BOUND_S.
    Return the output."""
    log.unlink(missing_ok=True)
    with Emulator([*machine.words.split(), *words], log, machine.rate_of_rtc) as guest:
        if not guest.wait_for(cause_at, BOOT_BOUND_S):
            raise ValueError(f"the machine ended without {cause_at!r}: {log.read_bytes()[-300:]!r}")
        if machine.fault:
            machine.fault(guest)
        with contextlib.suppress(TimeoutError):
            guest.wait_for_end(bound_s)
    return log.read_bytes()


def run_baretick(machine, folder):
    """Return baretick's report on the machine and its record."""
    options = folder / "options"
    options.write_bytes(OPTIONS)
    said = run(["-kernel", str(ROOT / "build/baretick.elf"), "-fw_cfg", f"name=opt/baretick/options,file={options}"],
               folder / "baretick.log", machine, machine.at, BOOT_BOUND_S)
    transcript = Transcript(lambda line: None)
    transcript.parse_bytes(said)
    if not transcript.report:
        raise ValueError(f"baretick made no report: {transcript.faults} {transcript.last_line}")
    return transcript.report, base64.b64decode(transcript.blocks["RECORD"])


def run_kernel(kernel, machine, folder):
    """Return the Outcome of KERNEL. A kernel whose time stands still does not end."""
    said = run(kernels.qemu_arguments(kernel), folder / f"{kernel.suite}.log", machine, kernels.SETTLED, STAND_STILL_S)
    outcome = kernels.parse_outcome(said)
    if outcome.stands_still and not machine.fault:
        raise ValueError(f"{outcome.release} did not end")
    return outcome


def run_xen(build, all_kernels, machine, folder):
    """Return the Outcome of Xen, which is ended as soon as it has printed its timer. The first of ALL_KERNELS would be its first
    domain."""
    image = xen.fetch(build / "systems" / "kernels")
    said = run(xen.qemu_arguments(image, all_kernels[0].image), folder / "xen.log", machine, xen.CHOSEN, XEN_BOUND_S)
    return xen.parse_outcome(said)


def run_machine(name, build, all_kernels, keep):
    """Boot all systems on the machine NAME. Return baretick's report, and the kernels' outcomes."""
    folder = build / "systems" / name
    folder.mkdir(parents=True, exist_ok=True)
    report, record = run_baretick(MACHINES[name], folder)
    (folder / "report.record").write_bytes(record)
    (folder / "report.json").write_text(json.dumps(report, indent=1))
    if keep:
        (RECORDS / f"{name}.record.xz").write_bytes(lzma.compress(record, preset=9 | lzma.PRESET_EXTREME))
    outcomes = {kernel.suite: run_kernel(kernel, MACHINES[name], folder) for kernel in all_kernels}
    if not MACHINES[name].has_fault():  # a fault comes when a kernel has settled, and Xen has no first domain here
        outcomes[xen.NAME] = run_xen(build, all_kernels, MACHINES[name], folder)
    return report, {suite: outcome._asdict() for suite, outcome in outcomes.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("machines", nargs="*", metavar="MACHINE")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that no QEMU is left
    begin = time.monotonic()
    all_kernels = kernels.fetch_all(options.build.resolve() / "systems" / "kernels")
    wrong = failed = 0
    for name in options.machines or MACHINES:
        since = time.monotonic()
        try:
            report, outcomes = run_machine(name, options.build, all_kernels, options.keep)
        except (OSError, ValueError, AssertionError) as error:
            print(f"{name}: {error}", flush=True)
            failed += 1
            continue
        table = json.loads(OUTCOMES.read_text())
        for suite, outcome in outcomes.items():
            compare.merge(table, name, MACHINES[name], suite, outcome)
            entry = table[name]
            print(compare.format_row(name, suite, outcome, report), flush=True)
            differences = compare.find_differences(report, suite, {**outcome, "taken": [compare.name_clock(outcome["clocksource"])]},
                                                   entry["has_fault"])
            wrong += bool(differences) and not entry["kernels"][suite]["known_wrong"] and not entry["kernels"][suite]["varies"]
            for difference in differences:
                print(f"    {difference}", flush=True)
        print(f"    {time.monotonic() - since:.0f} s", flush=True)
        if options.keep:
            OUTCOMES.write_text(compare.format_table(table))
    print(f"{wrong} predictions were wrong, and {failed} machines did not run. Time: {time.monotonic() - begin:.0f} s")
    return 1 if wrong or failed else 0


if __name__ == "__main__":
    sys.exit(main())
