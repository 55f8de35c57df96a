"""The machine in a report: facts from SMBIOS, CPUID and ACPI, a label, and the facts that identity=off omits."""
import csv
import io
import re

import pytest

from boots import EFI_BUILT, SHORT, checked, qemu
from harness import QUICK_BARE, QUICK_TCG

UUID = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0"
SMBIOS = qemu("-smbios", f"type=1,manufacturer=Example Inc.,product=Server 9,serial=SN-0042,uuid={UUID}",
              "-smbios", "type=2,manufacturer=Example Boards,product=X99-B,serial=BSN-7",
              "-smbios", "type=0,vendor=Example BIOS,version=2.10.0,date=11/30/2020,uefi=on")
ENTRY_64 = qemu("-machine", "smbios-entry-point-type=64")
CPU = qemu("-cpu", "Skylake-Server-v1")
ONE_CORE = ["--cpus", "1"]

pytestmark = EFI_BUILT

described = pytest.mark.boot(*QUICK_TCG, *ENTRY_64, *SMBIOS, *CPU, *ONE_CORE, "--", *SHORT, "clocks=tsc,acpi_pm", "label=rack 7, left")
without_serial = pytest.mark.boot(*QUICK_BARE, *SMBIOS, *CPU, *ONE_CORE, "--", *SHORT, "clocks=tsc,acpi_pm", "identity=off")


def identity(report):
    return report["machine"]["identity"]


def rows(done):
    return list(csv.DictReader(io.StringIO(done.file("report.csv").decode(), newline="")))


@described
def test_a_machine_is_known_by_its_vendor_product_serial_number_board_and_bios(booted):
    found = identity(checked(booted))
    host = found.pop("host")
    assert host.startswith("CPUID leaves to 4000000")
    microcode = found.pop("microcode")
    assert microcode is None or microcode > 0
    assert found == {"vendor": "Example Inc.", "product": "Server 9", "serial": "SN-0042", "board": "Example Boards X99-B",
                     "bios": "Example BIOS 2.10.0", "bios_date": "2020-11-30", "family": 6, "model": 85, "stepping": 4,
                     "oem": "BOCHS BXPC"}
    text = " ".join(booted.file("report.txt").decode().split())
    assert ("system rack 7, left; Example Inc. Server 9; serial number SN-0042; board Example Boards X99-B; BIOS Example BIOS "
            "2.10.0 of 2020-11-30; CPU family 6, model 85, stepping 4") in text
    assert {(row["metric"], row["unit"]) for row in rows(booted)} >= {
        ("vendor", "Example Inc."), ("product", "Server 9"), ("serial", "SN-0042"), ("board", "Example Boards X99-B"),
        ("bios", "Example BIOS 2.10.0"), ("bios_date", "2020-11-30")}


@described
def test_a_label_is_in_every_report(booted):
    report = checked(booted)
    assert report["options"]["label"] == "rack 7, left"
    assert 'label="rack 7, left"' in report["options"]["given"]
    assert {row["machine"] for row in rows(booted)} == {"rack 7, left"}
    assert re.search(r'"label": ?"rack 7, left"', booted.file("report.html").decode())


@without_serial
def test_with_identity_off_no_serial_number_leaves_the_machine(booted):
    report = checked(booted)
    assert (report["options"]["identity"], identity(report)["serial"], identity(report)["product"]) == ("off", None, "Server 9")
    assert {row["machine"] for row in rows(booted)} == {"Server 9"}
    for name in ("report.json", "report.txt", "report.csv", "report.html", "serial.log"):
        assert b"SN-0042" not in booted.file(name), name
        assert b"Server 9" in booted.file(name), name


@described
def test_neither_its_uuid_nor_its_boards_serial_number_is_in_a_report(booted):
    for name in ("report.json", "report.txt", "report.csv", "report.html", "serial.log"):
        data = booted.file(name).lower()
        assert b"bsn-7" not in data and UUID.encode() not in data and UUID.replace("-", "").encode() not in data, name
