"""A series of boots (boots=N). The last report has the number of boots for each finding. Series with several boots
belong to `make check-long`."""
import json
import os
import subprocess
import time

import pytest

from boots import IMAGE_BUILT, checked, qemu
from harness import QUICK_TCG, ROOT, WHOLE_FIRMWARE, write_script
from machine.transcript import Transcript
from stick import copy_of_stick, folders, mtools, stick_with_options, volume_of
from test_checkpoints import TWO_CORES, killed_in

SKEWED = ROOT / "build" / "baretick-skew.efi"
SHORT = ["profile=quick", "duration=10ms", "clocks=tsc,acpi_pm", "irq=off"]
TICKS, BOOTS, WRONG = 5_000_000, 5, (2, 4)
# Stands for QEMU, and starts it. In the boots WRONG, core 1 is TICKS ahead.
SCRIPT = """#!/bin/bash
case " $* " in *" -version "* | *" -machine help "*) exec qemu-system-x86_64 "$@" ;; esac
echo >>{folder}/boots
case " {wrong} " in *" $(wc -l <{folder}/boots) "*) set -- "$@" -fw_cfg name=opt/baretick/skew,string=1:{ticks} ;; esac
exec qemu-system-x86_64 "$@"
"""
SERIES_BOUND_S = 600

pytestmark = IMAGE_BUILT


def series_files(stick):
    return {name for name in volume_of(stick).folder("baretick") if name.lower().endswith(".sum")}


@pytest.mark.long
@pytest.mark.skipif(not SKEWED.exists(), reason="build/baretick-skew.efi is not there: type make check")
def test_a_core_that_is_off_in_some_boots_is_counted(run, tmp_path):
    stick = copy_of_stick(tmp_path)
    mtools(stick, "mcopy", "-o", SKEWED, "::/EFI/BOOT/BOOTX64.EFI")
    script = write_script(tmp_path / "qemu", SCRIPT.format(folder=tmp_path, wrong=" ".join(map(str, WRONG)), ticks=TICKS))
    done = run(*QUICK_TCG, "--cpus", "2", "--boots", str(BOOTS), "--image", stick, "--qemu", script, "--", *SHORT)
    assert done.status == 1, done
    report = json.loads(done.file("report.json"))
    boots = report["boots"]
    assert (boots["planned"], boots["started"], boots["died"], boots["failed"]) == (BOOTS, BOOTS, 0, len(WRONG))
    off, = (each for each in boots["seen"] if each["rule"] == "tsc-offset")
    ns = TICKS * 1e9 / report["machine"]["tsc_hz"]
    assert off["boots"] == len(WRONG) and off["low"] <= off["high"], off
    assert abs(abs(off["low"] + off["high"]) / 2 - ns) < ns / 100, (off, ns)
    rates = {each["clock"]: each for each in boots["seen"] if each["rule"] == "rate"}
    assert rates["acpi_pm"]["boots"] == BOOTS and rates["acpi_pm"]["low"] <= 3579545000 <= rates["acpi_pm"]["high"]
    assert any(note.startswith(f"In {len(WRONG)} of {BOOTS} boots: tsc-offset") for note in report["notes"]), report["notes"]
    saved = done.file("stick.img")
    assert sorted(folders(volume_of(saved))) == [f"{number:04}" for number in range(1, BOOTS + 1)]
    assert json.loads(folders(volume_of(saved))[f"{BOOTS:04}"]["report.json"])["boots"] == boots
    assert series_files(saved) == set()


@pytest.mark.long
def test_a_boot_that_died_is_one_of_the_series(run, tmp_path):
    stick = copy_of_stick(tmp_path)
    first = run(*TWO_CORES, "--image", stick, "--", *SHORT, "boots=3")
    assert checked(first, 2)["boots"]["started"] == 1
    left = tmp_path / "left"
    left.write_bytes(first.file("stick.img"))
    died = killed_in("rates", tmp_path, left, "boots=3")
    last = run(*TWO_CORES, "--image", died, "--", *SHORT, "boots=3")
    boots = checked(last, 2)["boots"]
    assert (boots["planned"], boots["started"], boots["died"]) == (3, 3, 1)
    assert series_files(first.file("stick.img")) and series_files(last.file("stick.img")) == set()


@pytest.mark.long
def test_the_machine_restarts_by_itself_until_the_last_boot(tmp_path):
    """QEMU runs without the runner, as with a stick in a machine. exit=ask waits for a key only after the last boot."""
    if not os.path.exists(WHOLE_FIRMWARE):
        pytest.skip(f"there is no {WHOLE_FIRMWARE}")
    stick = stick_with_options(tmp_path, "profile=quick\nduration=10ms\nclocks=tsc\nirq=off\nboots=3\nexit=ask\n")
    line = tmp_path / "line"
    machine = subprocess.Popen(["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg", "-m", "512", "-smp", "2", "-nodefaults", "-display", "none",
                                "-vga", "std", "-bios", WHOLE_FIRMWARE, "-device", "qemu-xhci", "-device", "usb-storage,drive=stick",
                                "-drive", f"if=none,id=stick,format=raw,file={stick}", "-serial", f"file:{line}"])
    try:
        end = time.monotonic() + SERIES_BOUND_S
        while time.monotonic() < end and (not line.exists() or line.read_bytes().count(b"BARETICK REPORT END") < 3):
            time.sleep(1)
    finally:
        machine.kill()
        machine.wait()
    transcript = Transcript(lambda text: None)
    transcript.parse_bytes(line.read_bytes())
    assert transcript.report["boots"]["started"] == 3 and transcript.report["options"]["exit"] == "ask"
    assert [json.loads(saved["report.json"])["options"]["exit"] for _, saved in sorted(folders(volume_of(stick.read_bytes())).items())] == [
        "reboot", "reboot", "ask"]


def test_without_a_volume_there_is_a_single_boot(run):
    report = checked(run(*QUICK_TCG, "--cpus", "1", *qemu(), "--", *SHORT, "cores=off", "boots=3"))
    assert report["boots"] is None and any(note.startswith("This is a single boot") for note in report["notes"])
