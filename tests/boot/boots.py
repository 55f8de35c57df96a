"""Helpers for tests that boot the application: arguments for qemu/run, and checks of each report."""
import json
import re
import shutil
import subprocess

import pytest

from harness import ROOT
from machine import transcript
from record_reader import check_record
import same_figures
import tidy

SHORT = ["duration=10ms", "profile=quick"]
EFI = ROOT / "build" / "baretick.efi"
NO_REPORT = "No report was saved on the boot volume: "
REPLAY = ROOT / "build" / "baretick-replay"
VERDICT_STATUS = {"pass": 0, "warn": 0, "fail": 1, "incomplete": 2}
SERIAL_CORES = 64  # with more cores a report has no record, see src/report/report_sizes.h
SECURE = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
ICOUNT = ["-icount", "shift=5,sleep=off", "-rtc", "base=2026-01-01T00:00:00,clock=vm"]

# Output of firmware after the application ended, if there is nothing else to boot: the prompt of the firmware's shell,
# or a message. Debian's firmware has had no shell since 2026.
FIRMWARE_AGAIN = (b"Shell>", b"No bootable option or device was found.")

EFI_BUILT = pytest.mark.skipif(not EFI.exists(), reason="build/baretick.efi is not there: type make")
IMAGE_BUILT = pytest.mark.skipif(not (ROOT / "build" / "baretick.img").exists(),
                                 reason="build/baretick.img is not there: type make image")


def qemu(*arguments):
    return [f"--qemu-arg={argument}" for argument in arguments]


def check_latency(clock):
    latency = clock["latency"]
    if latency is None or not latency["count"]:
        return
    figures = [latency[name] for name in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns")]
    assert figures == sorted(figures), clock["id"]
    assert latency["min_ns"] <= latency["mean_ns"] <= latency["max_ns"], clock["id"]
    assert sum(row["count"] for row in latency["histogram"]) == latency["count"], clock["id"]
    bounds = [row["le_ns"] for row in latency["histogram"]]
    assert bounds == sorted(set(bounds)), clock["id"]
    assert sum(row["count"] for row in latency["exact"]) <= latency["count"], clock["id"]


def faults(report):
    """Return the findings, without those about ticks that QEMU's HPET sends twice. QEMU has this fault if the HPET's
    timers are never late, as with -icount."""
    return [finding for finding in report["findings"]
            if finding["rule"] != "irq-doubled" or not finding["clock"].startswith("hpet")]


def check_interval(interval):
    if interval is not None:
        assert interval["low"] <= interval["value"] <= interval["high"], interval


def without_notes(text, notes):
    """Return TEXT without these notes and without its spaces and line ends, because a note is wrapped in report.txt."""
    text = "".join(text.split())
    for note in ("".join(note.split()) for note in notes):
        for form in ("," + json.dumps(note), json.dumps(note), "note" + note):
            text = text.replace(form, "")
    return text


def check_replay(done):
    """Check that a replay of the record gives the same report, byte for byte. A note that the report could not be saved
    is not in the record, as src/record/README.md explains. Only this note may be missing in the replay."""
    again = done.out / "again"
    subprocess.run([REPLAY, done.out / "report.record", "--out", again], stdout=subprocess.DEVNULL)
    late = [note for note in done.report["notes"] if note.startswith(NO_REPORT)]
    if late:
        replayed = json.loads((again / "report.json").read_bytes())
        assert {**replayed, "notes": replayed["notes"] + late} == done.report
    for name in ("report.json", "report.txt", "report.csv", "report.html"):
        replayed, saved = (again / name).read_text(), done.file(name).decode()
        assert without_notes(saved, late) == without_notes(replayed, late) if late else replayed == saved, name
    shutil.rmtree(again)


def checked(done, started=None, accelerator="tcg"):
    """Check the properties that each report of a complete run must have, and return the report."""
    assert done.status in (0, 1), done
    report = json.loads(done.file("report.json"))
    tidy.check_csv(done.file("report.json"), done.file("report.csv"))
    assert done.status == VERDICT_STATUS[report["verdict"]], done
    assert report["machine"]["accelerator"] == accelerator
    for clock in report["clocks"]:
        check_latency(clock)
        check_interval(clock["measured_hz"])
        check_interval(clock["error_ppm"])
        if clock["state"] != "present":
            assert clock["reason"], clock["id"]
    if len(report["cores"]) <= SERIAL_CORES:
        check_record(done.file("report.record"), report)
        check_replay(done)
    text = done.file("report.txt").decode("ascii")
    same_figures.check_figures(text, report)
    assert not (left := re.findall("Not restored.*", text)), left
    table = text.partition(transcript.DETAIL.decode())[0]
    assert table != text and table in done.stdout
    assert len(report["cores"]) >= report["machine"]["cores_started"]
    if started is not None:
        assert report["machine"]["cores_started"] == started, report["cores"]
        assert sum(core["started"] for core in report["cores"]) == started
    return report


def clocks(report):
    return {clock["id"]: clock for clock in report["clocks"]}
