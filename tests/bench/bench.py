#!/usr/bin/env python3
"""Prints the costs of baretick's measurements as ratios, instruction counts and sizes. `make bench` runs it. It is not
a test.

Usage: bench.py BUILD_FOLDER CORES...
CORES are numbers of cores. The bench boots once with each."""
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "page"))

import browser as chromium  # noqa: E402

BUILD, CORES = pathlib.Path(sys.argv[1]), [int(word) for word in sys.argv[2:]]
RUN = pathlib.Path(__file__).resolve().parents[2] / "qemu" / "run"
ICOUNT_SHIFT = 5  # an instruction takes 2^5 ns of virtual time
BOUNDS_S = {4: 10, 64: 60, 255: 300}
ICOUNT = ["--qemu-arg=-icount", f"--qemu-arg=shift={ICOUNT_SHIFT},sleep=off",
          "--qemu-arg=-rtc", "--qemu-arg=base=2026-01-01T00:00:00,clock=vm"]


def boot(name, cpus, qemu, *options):
    """Boots once and returns the report. If the boot fails, the bench ends with the runner's output."""
    out = BUILD / "bench" / name
    command = [str(RUN), "--accel", "tcg", "--cpus", str(cpus), "--timeout", "580", "--out", str(out), *qemu,
               "--", *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    return json.loads((out / "report.json").read_text())


def instructions():
    """Print for each clock the number of instructions per sample of the sampling loop: virtual ns per sample, divided
    by virtual ns per instruction. The numbers must be the same in every run."""
    runs = [boot(f"icount{i}", 1, ICOUNT, "duration=10ms", "profile=quick") for i in (1, 2)]
    for one, two in zip(*(run["clocks"] for run in runs)):
        if not one["latency"]:
            continue
        same = "the same in both runs" if one["latency"] == two["latency"] else "DIFFERS between two runs"
        count = one["latency"]["loop_ns"] / 2 ** ICOUNT_SHIFT
        print(f"icount: {one['id']:13} {count:7.2f} instructions a sample, {same}")


def sizes():
    size = os.path.getsize(BUILD / "baretick.efi")
    print(f"image: {size} bytes ({size / 1024:.0f} KiB; bound 700 KB)")
    size = os.path.getsize(BUILD / "page.html")
    print(f"page, without a report: {size} bytes (bound 400 KB)")


def rate(count, elapsed_ms):
    return f"{count * 1000 / elapsed_ms:.0f} a second" if elapsed_ms else "no time"


def cores_line(cpus, report):
    """Return a line with the duration of the run, and with the numbers and rates of ping-pongs and of rounds. In a
    round, pairs of cores exchange ping-pongs at the same time."""
    bound = f" (bound {BOUNDS_S[cpus]} s)" if cpus in BOUNDS_S else ""
    line = (f"quick: {cpus:3} core(s), {report['machine']['cores_started']:3} started, "
            f"{report['elapsed_ms'] / 1000:.1f} s from start to verdict{bound}")
    skew = report["skew"]
    if skew and skew["schedule"]:
        line += (f"; {skew['schedule']}: {skew['rounds']} rounds ({rate(skew['rounds'], skew['elapsed_ms'])}), "
                 f"{skew['pingpongs']} ping-pongs ({rate(skew['pingpongs'], skew['elapsed_ms'])}), "
                 f"{skew['concurrency']} at a time")
    return line


def cores():
    """Boots with each number of cores, and prints a line for each boot."""
    for cpus in CORES:
        print(cores_line(cpus, boot(f"cores{cpus}", cpus, [], "profile=quick")), flush=True)


def pages():
    """Prints the size of each report.html, and the time that it takes to open."""
    if not chromium.find():
        print("page: not opened, there is no Chromium")
        return
    browser = chromium.Browser()
    try:
        for cpus in CORES:
            bound = " (bound 1000 ms, 600 KB)" if cpus == 64 else ""
            path = BUILD / "bench" / f"cores{cpus}" / "report.html"
            drawn_ms = []
            for _ in range(3):
                page = browser.open(path)
                drawn_ms.append(page.evaluate("performance.getEntriesByType('navigation')[0].domComplete"))
                page.close()
            print(f"page: {cpus:3} core(s), {path.stat().st_size} bytes, drawn in {min(drawn_ms):.0f} ms{bound}")
    finally:
        browser.close()


if __name__ == "__main__":
    subprocess.run([BUILD / "host" / "bench_host"], check=True)
    sizes()
    instructions()
    cores()
    pages()
