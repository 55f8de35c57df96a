"""Helpers for tests of the boot volume: a USB stick and its contents."""
import os
import re
import subprocess

from fat import Volume
from harness import FAST_TCG, QUICK_TCG, ROOT

IMAGE = ROOT / "build" / "baretick.img"
CD = ROOT / "build" / "baretick.iso"
PARTITION = 1 << 20
STICK = [*QUICK_TCG, "--cpus", "1", "--boot", "usb"]
# arguments for a boot from a stick in real time, for tests in which the host does something during the run
REAL_TIME_STICK = [*FAST_TCG, "--cpus", "1", "--boot", "usb"]
# a short run without tests of timers, for tests of what a run reads from a volume or a server and saves there
FAST = ["profile=quick", "duration=10ms", "clocks=tsc", "cores=off", "irq=off"]
# files that a run saves on the stick, and the names of their blocks on the serial line
FILES = {"report.json": "REPORT", "report.txt": "TEXT", "report.csv": "CSV", "report.html": None}
ON_STICK = sorted([*FILES, "report.record"])


def mtools(stick, tool, *arguments):
    """Run TOOL of mtools on STICK. STICK is the file of a whole stick, or has mtools' form FILE@@OFFSET."""
    drive = stick if "@@" in str(stick) else f"{stick}@@{PARTITION}"
    return subprocess.run([tool, "-i", drive, *map(str, arguments)], check=True, capture_output=True,
                          env={**os.environ, "MTOOLS_SKIP_CHECK": "1"}).stdout


def copy_of_stick(folder):
    stick = folder / "stick"
    subprocess.run(["cp", "--sparse=always", IMAGE, stick], check=True)  # nearly all of the 40 MiB are zeros
    return stick


def stick_with_options(folder, text):
    """Return a stick whose options file has TEXT."""
    stick, file = copy_of_stick(folder), folder / "baretick.cfg"
    file.write_text(text)
    mtools(stick, "mcopy", "-o", file, "::/baretick.cfg")
    return stick


def volume_of(image):
    return Volume(image, PARTITION)


def folders(volume):
    """Return a dictionary from the folders of complete runs to their saved files, each a dictionary from names to contents."""
    if "baretick" not in volume.folder(""):
        return {}
    return {name: volume.files(f"baretick/{name}") for name, entry in volume.folder("baretick").items()
            if entry.folder and re.fullmatch(r"\d{4}", name)}


def block_sums(serial):
    return dict(re.findall(rb"^BARETICK ([A-Z]+) END sha256=([0-9a-f]{64})$", serial, re.M))
