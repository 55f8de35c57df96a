"""Boots from U-Boot, whose EFI implementation has fewer features than EDK II's."""
import pathlib

import pytest

from boots import IMAGE_BUILT, checked
from harness import BY_INSTRUCTIONS, TCG

UBOOT = pathlib.Path("/usr/lib/u-boot/qemu-x86_64/u-boot.rom")

pytestmark = [IMAGE_BUILT, pytest.mark.skipif(not UBOOT.exists(), reason="there is no U-Boot: it is in the package u-boot-qemu")]


def test_uboot_boots_the_stick_and_its_report_has_a_verdict(run):
    done = run(*TCG, *BY_INSTRUCTIONS, "--machine", "pc", "--boot", "disk", "--firmware", UBOOT, "--cpus", "2", "--", "profile=quick")
    report = checked(done, started=2)
    assert "U-Boot" in report["machine"]["firmware"]
    # U-Boot takes a TSC of 1 GHz, which is right only with instruction-counted time
    services = {row["id"]: row for row in report["firmware_times"]}
    assert set(services) == {"efi_stall", "efi_timer", "efi_time", "efi_counter"}
    assert not [finding for finding in report["findings"] if finding["rule"].startswith("efi-")], report["findings"]
    # U-Boot cannot rename files. It also lacks EFI_SERIAL_IO_PROTOCOL, so the runner reads the report from the stick.
    assert "\\baretick\\0001.new" in done.file("serial.log").decode("ascii", "replace")
    # U-Boot's console is a serial line, which already has the screen's text. Therefore the text report is not sent
    # there again.
    assert b"BARETICK TEXT BEGIN" not in done.file("serial.log")
    notes = [note for note in report["notes"] if "load options" in note or "call back" in note]
    assert notes == ['The words "root=/dev/sdb3 init=/sbin/init rootwait ro" in the load options are no options of baretick: they are not used.']
    assert all(row["verdict"] in ("pass", "warn", "not_determined") for row in report["clocks"] if row["state"] == "present")
