"""Xen of Debian 12, and the platform timer that it prints at its start. No guest runs."""
import datetime
import gzip
import re
import shutil
import typing

from debian_packages import Release

SUITE, NAME, PACKAGE = "bookworm", "xen", "xen-hypervisor-4.17-amd64"
CHOSEN = b"Platform timer is "
COMMAND_LINE = "com1=115200,8n1 console=com1 loglvl=all"
# Xen's names of the platform timers, and baretick's names of these clocks
CLOCKS = {"HPET": "hpet", "ACPI PM Timer": "acpi_pm", "PIT": "pit"}


class Outcome(typing.NamedTuple):
    """The platform timer that Xen took on a machine. The other fields are as in kernels.Outcome."""
    release: str
    date: str
    clocksource: str
    stands_still: bool
    available: list
    tick: list
    refined_hz: int
    messages: list


def fetch(folder):
    """Return the file with Xen. It is downloaded once to FOLDER."""
    made = folder / NAME
    if not made.exists():
        new = folder / f"{NAME}.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        tree = Release(SUITE, new / "apt").unpack([PACKAGE], new)
        packed, = tree.glob("boot/xen-*-amd64.gz")
        (new / "xen").write_bytes(gzip.decompress(packed.read_bytes()))
        shutil.rmtree(tree)
        shutil.rmtree(new / "apt")
        new.rename(made)
    return made / "xen"


def qemu_arguments(image, domain):
    """Return QEMU's arguments that start Xen. Xen does not reach its timers without a file for its first domain, DOMAIN."""
    return ["-kernel", str(image), "-append", COMMAND_LINE, "-initrd", str(domain)]


def parse_outcome(log):
    """Return the Outcome from LOG, the bytes of the serial line."""
    said = log.replace(b"\r", b"").decode(errors="replace")
    timer = re.search(r"Platform timer is \S+ (.+)", said)
    rate = re.search(r"Detected (\d+)\.(\d{3}) MHz processor", said)
    return Outcome("Xen " + re.search(r"Xen version (\S+)", said)[1], datetime.date.today().isoformat(), CLOCKS[timer[1].strip()],
                   False, [], [], rate and (int(rate[1]) * 1000 + int(rate[2])) * 1000, [])
