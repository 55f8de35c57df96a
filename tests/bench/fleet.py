#!/usr/bin/python3
"""Prints how long qemu/fleet takes for COUNT reports, each in its own file: fleet.py FOLDER REPORT.json COUNT...

qemu/fleet queries the reports with DuckDB. After `make fleet-spark`, Spark answers the same queries for the largest
number of reports. All reports are made from REPORT.json with 20 planted outliers (tests/lib/made_fleet.py). The page of
qemu/fleet must name all outliers.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "lib"))

from made_fleet import Maker, planted  # noqa: E402

BOUND = {("duckdb", 10_000): " (bound 60 s on two idle processors, 2 GB)"}
SPARK = ROOT / "build" / "fleet-spark" / "made"


def make(report, count, folder):
    """Write COUNT reports to FOLDER. Return their size in bytes."""
    maker, size = Maker(report), 0
    for machine, made in enumerate(maker.fleet(count)):
        path = folder / f"{machine // 100:04}" / f"{machine:06}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_text(maker.text(made))
    return size


def found(page, count):
    """Return how many planted outliers qemu/fleet's page names, and how many other machines the page names."""
    text = re.search(r'<script type="application/json" id="fleet">(.*?)</script>', page.read_text(), re.DOTALL)[1]
    rows = [row for table in json.loads(text)["tables"] if table["id"] in ("figures", "traits") for row in table["rows"]]
    named = {int(row[0]["text"][-6:]) for row in rows}
    return len(named & set(planted(count))), len(named - set(planted(count)))


def measure(folder, report, count, engines):
    many = folder / "many"
    shutil.rmtree(many, ignore_errors=True)
    size = make(report, count, many)
    for engine in engines:
        ask(engine, many, folder / "out", size, count)
    shutil.rmtree(many)


def ask(engine, many, out, size, count):
    shutil.rmtree(out, ignore_errors=True)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    load = os.getloadavg()[0]
    done = subprocess.run([ROOT / "qemu" / "fleet", "--engine", engine, many, "--out", out], capture_output=True, text=True)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        sys.exit(f"fleet: {done.stderr}")
    odd, others = found(out / "fleet.html", count)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"fleet, {engine}: {count:6} reports, {size >> 20} MiB: {took:.1f} s, {cpu:.1f} s of processors (load {load:.1f}), "
          f"largest process {after.ru_maxrss >> 10} MiB; {odd} of {len(planted(count))} odd, {others} others"
          f"{BOUND.get((engine, count), '')}", flush=True)


if __name__ == "__main__":
    work = pathlib.Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    counts = [int(word) for word in sys.argv[3:]]
    for number in counts:
        both = ["duckdb", "spark"] if SPARK.exists() and number == max(counts) else ["duckdb"]
        measure(work, json.loads(pathlib.Path(sys.argv[2]).read_text()), number, both)
