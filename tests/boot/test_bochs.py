"""Boots in Bochs, an emulator whose clocks share no code with QEMU's. ISOLINUX starts the image without UEFI."""
import pathlib
import shutil
import subprocess

import pytest

from boots import clocks
from harness import check_schema
from machine.transcript import Transcript
from test_bare_loaders import BIN, isolinux_cd

BOCHS_BIOS = pathlib.Path("/usr/share/bochs/BIOS-bochs-latest")
VGA_BIOS = pathlib.Path("/usr/share/bochs/VGABIOS-lgpl-latest")
# Instructions per second of emulated time; the TSC counts each instruction. The fewer there are, the less processor time
# the same measurement takes.
IPS = 10_000_000
BOCHSRC = f"""\
megs: 256
romimage: file={BOCHS_BIOS}
vgaromimage: file={VGA_BIOS}
display_library: rfb, options="timeout=0"
cpu: model=corei7_haswell_4770, count=1, ips={IPS}, reset_on_triple_fault=0
clock: sync=none
ata0-master: type=cdrom, path=linux.iso, status=inserted
boot: cdrom
com1: enabled=1, mode=file, dev=com1.log
speaker: enabled=1, mode=none
sound: driver=dummy
"""

pytestmark = [pytest.mark.skipif(not shutil.which("bochs") or not BOCHS_BIOS.exists() or not VGA_BIOS.exists(),
                                 reason="there is no Bochs: it is in the packages bochs, bochsbios and vgabios"),
              pytest.mark.skipif(not BIN.exists(), reason="build/baretick.bin is not there: type make")]


def test_bochs_measures_every_clock_and_finds_no_fault(tmp_path):
    """All clocks of Bochs count its instructions, so each rate equals the nominal rate. The run ends with a power-off."""
    isolinux_cd(tmp_path, "profile=quick duration=10ms clocks=tsc,hpet,acpi_pm,pit,rtc exit=poweroff")
    (tmp_path / "bochsrc").write_text(BOCHSRC)
    # the package's Bochs has a debugger, which waits for the command to continue
    (tmp_path / "commands").write_text("c\n")
    with open(tmp_path / "words", "wb") as words:
        subprocess.run(["bochs", "-q", "-f", "bochsrc", "-rc", "commands"], cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=words,
                       stderr=words, timeout=300, check=False)
    said = Transcript(lambda line: None)
    said.parse_bytes((tmp_path / "com1.log").read_bytes())
    said.close()
    report = said.report
    assert said.is_report_complete and not said.faults, said.faults or said.last_line
    check_schema(report)
    # Bochs's iodev/hpet.cc comes from QEMU, whose comparator may fire a second time 10 ns later.
    found = [found for found in report["findings"] if (found["rule"], found["clock"]) != ("irq-doubled", "hpet0")]
    assert found == [] and report["verdict"] in ("pass", "warn"), found
    assert report["machine"]["firmware"] == "none (Linux boot protocol, loader type 30h)"
    assert all(row["latency"]["count"] for row in report["clocks"])
    rates = {name: clocks(report)[name]["measured_hz"] for name in ("tsc", "hpet", "acpi_pm", "pit")}
    nominal = {"tsc": IPS, "hpet": 100_000_000, "acpi_pm": 3_579_545, "pit": 1_193_182}
    assert [name for name, hz in nominal.items() if not rates[name]["low"] <= hz <= rates[name]["high"]] == [], rates
    assert {row["source"]: row["state"] for row in report["intervals"]}["lapic"] == "present"
