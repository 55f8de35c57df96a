"""Kernels of Debian, and a small initramfs whose only program prints the kernel's clocks and messages."""
import datetime
import re
import shutil
import struct
import subprocess
import typing

from debian_packages import Release, find_kernel_image
from initramfs import copy_libraries, write_archive
from next import kernel as messages

PACKAGE = "linux-image-cloud-amd64"
SUITES = ("bookworm", "trixie", "sid")
# Compressed parts of a kernel, by their first bytes, and the programs that unpack them. A kernel of another kind unpacks itself.
UNPACKERS = {b"\x28\xb5\x2f\xfd": ["zstd", "-dc"], b"\xfd7zXZ\0": ["xz", "-dc", "--single-stream"]}
ELF = b"\x7fELF"
SETTLED, END = b"SYSTEM SETTLED", b"SYSTEM END"
# The fault comes when the kernel prints SETTLED: it has refined the TSC's rate, and switched to its final clock. The watchdog looks
# every half second, and at another CPU each time.
SETTLE_S, WATCH_S = 2, 10
INIT = f"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
cd /sys/devices/system
sleep {SETTLE_S}
while grep -q early clocksource/clocksource0/current_clocksource; do sleep 1; done
echo release $(cat /proc/sys/kernel/osrelease)
echo available $(cat clocksource/clocksource0/available_clocksource)
for device in clockevents/clockevent*/current_device; do echo tick $(cat $device); done
dmesg | grep -iE "tsc|clock|hpet|pm-timer|pmtimer|calibrat|skew|watchdog"
dmesg -n 7
echo {SETTLED.decode()}
sleep {WATCH_S}
echo current $(cat clocksource/clocksource0/current_clocksource)
echo {END.decode()}
poweroff -f
"""
# On a busy host, the check of the timer interrupt fails and the kernel stops. Linux leaves it out under KVM.
COMMAND_LINE = "console=ttyS0 quiet panic=-1 nokaslr mitigations=off no_timer_check"
# Pattern of a kernel's messages on a clock with a fault, or on a check that it could not do
TELLING = re.compile(r"Marking (?:TSC|clocksource)|skew|TSC ADJUST|check_tsc_sync|TSC warp|read timed out|wd-tsc|firmware bug.*tsc|"
                     r"broken BIOS|hpet.*(?:not running|stuck|disabled|dysfunctional)|PM-Timer (?:failed|running)", re.IGNORECASE)


class Kernel(typing.NamedTuple):
    """A kernel's file, and the initramfs for all kernels."""
    suite: str
    image: str
    initrd: str


class Outcome(typing.NamedTuple):
    """The clocks that a kernel took on a machine, and its messages."""
    release: str
    date: str
    clocksource: str
    stands_still: bool  # True if the kernel's time stopped, so that it did not print its clocks at the end
    available: list
    tick: list       # the timer of each core's tick, without repetitions
    refined_hz: int  # the TSC's rate that the kernel uses; None if no message has it
    messages: list   # messages that match TELLING, without their times


def fetch_all(folder):
    """Return the kernels of all SUITES. FOLDER keeps their files."""
    initrd = _make_initramfs(folder)
    return [Kernel(suite, str(_fetch(suite, folder)), str(initrd)) for suite in SUITES]


def _fetch(suite, folder):
    """Return the file with the kernel of SUITE. It is downloaded once to FOLDER."""
    made = folder / suite
    if not made.exists():
        new = folder / f"{suite}.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        tree = Release(suite, new / "apt").unpack_kernel(PACKAGE, new)
        (new / "vmlinux").write_bytes(_unpack(find_kernel_image(tree).read_bytes()))
        shutil.rmtree(tree)
        shutil.rmtree(new / "apt")
        new.rename(made)
    return made / "vmlinux"


def _unpack(image):
    """Return the ELF in the kernel IMAGE, which starts sooner by PVH, because no emulated processor has to unpack it. If it cannot
    be unpacked here, return IMAGE. The fields are in Linux's Documentation/arch/x86/boot.rst."""
    sectors, = struct.unpack_from("<B", image, 0x1F1)
    offset, length = struct.unpack_from("<II", image, 0x248)
    payload = image[(sectors + 1) * 512 + offset:][:length]
    for magic, words in UNPACKERS.items():
        if payload.startswith(magic) and shutil.which(words[0]):
            # after the compressed data there are 4 bytes with the size, about which the program may complain
            data = subprocess.run(words, input=payload, capture_output=True, check=False, timeout=60).stdout
            if data.startswith(ELF):
                return data
    return image


def _make_initramfs(folder):
    tree = folder / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    for name in ("bin", "dev", "proc", "sys"):
        (tree / name).mkdir(parents=True)
    shutil.copy(shutil.which("busybox"), tree / "bin/busybox")
    copy_libraries([tree / "bin/busybox"], tree)
    (tree / "init").write_text(INIT)
    (tree / "init").chmod(0o755)
    write_archive(tree, folder / "initrd")
    shutil.rmtree(tree)
    return folder / "initrd"


def qemu_arguments(kernel):
    return ["-kernel", kernel.image, "-initrd", kernel.initrd, "-append", COMMAND_LINE]


def parse_outcome(log):
    """Return the Outcome from LOG, the bytes of the serial line. The messages before SETTLED are from dmesg. The kernel prints later
    messages itself, so they are there even if its time stands still."""
    said = log.replace(b"\r", b"").replace(SETTLED, b"").decode(errors="replace").splitlines()
    found = {word: [line.partition(" ")[2] for line in said if line.startswith(f"{word} ")]
             for word in ("release", "current", "available", "tick")}
    lines = [line for _, line in messages.split_messages("\n".join(said))]
    facts = messages.parse_rates(lines)
    stands_still = not found["current"]
    clocksource = facts["switched_to"][-1] if stands_still else found["current"][0]
    return Outcome(found["release"][0], datetime.date.today().isoformat(), clocksource, stands_still,
                   sorted(found["available"][0].split()), sorted(set(found["tick"])), messages.get_kernel_tsc_hz(facts),
                   list(dict.fromkeys(line for line in lines if TELLING.search(line))))
