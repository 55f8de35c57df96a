"""Boots without UEFI: QEMU's -kernel starts the ELF file (PVH)."""
import re
import struct
import subprocess

import pytest

from boots import SHORT, VERDICT_STATUS, checked, clocks, qemu
from harness import QUICK_BARE, ROOT
from test_exceptions import KINDS, faulted

ELF, EFI = ROOT / "build" / "baretick.elf", ROOT / "build" / "baretick.efi"
FAULTING = ROOT / "build" / "baretick-fault.elf"
WITHOUT_UEFI = ("Started without UEFI: baretick sends the report only over the serial line. There is no boot volume, no "
                "screen, no network, and no Secure Boot.")
ALL = ("tsc", "hpet", "acpi_pm", "pit", "rtc")
OPTION_ROM_MAX = 8193  # longest command line that the option ROM of QEMU 10 and 11 passes to the kernel
LINE_MAX = 8192  # longest command line that baretick accepts, in bytes

pytestmark = pytest.mark.skipif(not ELF.exists(), reason="build/baretick.elf is not there: type make")


def measured(run, *arguments, started, words=SHORT, lacking=()):
    """Return the report of a run. No rule may have failed, and every clock except those in LACKING must have been
    measured."""
    report = checked(run(*QUICK_BARE, "--cpus", str(started), *arguments, "--", *words), started)
    assert WITHOUT_UEFI in report["notes"], report["notes"]
    assert report["machine"]["firmware"].startswith("none (PVH"), report["machine"]
    rows = clocks(report)
    assert [name for name in ALL if rows[name]["state"] == "absent"] == [name for name in ALL if name in lacking]
    assert all(rows[name]["latency"]["count"] for name in ALL if name not in lacking)
    assert not [found for found in report["findings"] if found["severity"] == "fail"], report["findings"]
    assert not [found for found in report["findings"] if found["rule"] == "acpi-table"], report["findings"]
    return report


@pytest.mark.parametrize("cpus", [4, pytest.param(64, marks=pytest.mark.long)])
def test_every_clock_and_every_core_is_measured(run, cpus):
    report = measured(run, started=cpus)
    states = {timer["source"]: timer["state"] for timer in report["intervals"]}
    assert states["lapic"] == states["self_ipi"] == states["hpet0"] == "present", states


def test_a_microvm_lacks_hpet_and_pm_timer(run):
    measured(run, "--machine", "microvm", started=2, lacking=["hpet", "acpi_pm"])


def test_without_acpi_and_rsdp_all_cores_are_found_by_a_broadcast(run):
    report = measured(run, "--machine", "microvm,acpi=off", started=4, lacking=["hpet", "acpi_pm"])
    assert "This machine has no ACPI tables." in report["notes"]
    assert "ACPI has no MADT, which would list the cores: all cores were started at once, and 3 answered." in report["notes"]
    assert sorted(core["apic_id"] for core in report["cores"]) == [0, 1, 2, 3]


def test_a_microvm_without_pit_and_rtc_has_only_the_tsc(run):
    report = run(*QUICK_BARE, "--cpus", "1", "--machine", "microvm,acpi=off,pit=off,rtc=off,pic=off", "--", *SHORT).report
    assert clocks(report)["tsc"]["latency"]["count"]
    assert all(clocks(report)[name]["state"] != "present" for name in ALL[1:]), report["clocks"]


def test_a_processor_without_64_bit_mode_is_an_error(run):
    done = run(*QUICK_BARE, *qemu("-cpu", "qemu32"), "--cpus", "1", "--")
    assert done.status == 2 and "error: this processor has no 64-bit mode\n" in done.file("serial.log").decode("ascii").replace("\r", ""), done


def qemu_major():
    shown = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"version (\d+)", shown)[1])


@pytest.mark.parametrize("length", [LINE_MAX + 1, 65536])
def test_a_command_line_that_is_too_long_is_an_error(run, length):
    """A line that is too long must be an error. The machine is a microvm, because QEMU's option ROM for PVH on q35 and
    pc has a buffer of only 4 KiB. A longer line overflows the buffer, and destroys PVH's start info.

    In QEMU 7.2 a microvm has its own loader. From QEMU 8 on it uses the option ROM, too. In QEMU 10 the ROM then
    overwrites itself with 64 KiB, and never starts the kernel."""
    if length > OPTION_ROM_MAX and qemu_major() >= 8:
        pytest.skip("QEMU's option ROM may overwrite itself before it starts the kernel")
    words = "exit=debug-exit #" + "x" * (length - 17)
    done = run(*QUICK_BARE, "--machine", "microvm", "--cpus", "1", *qemu("-append", words), "--", "exit=reboot")
    assert done.status == 2, done
    if qemu_major() < 8:
        expected = f"In the command line: the options are {length} bytes long; the maximum is {LINE_MAX} bytes"
    else:
        expected = "the loader passed no start info (PVH); QEMU overwrites it if -append is too long"
    assert expected in done.stdout + done.stderr


@pytest.mark.skipif(qemu_major() >= 8, reason="the buffer of QEMU's option ROM is larger since QEMU 8")
def test_a_command_line_that_overflows_the_option_rom_is_named_as_the_cause(run):
    done = run(*QUICK_BARE, "--cpus", "1", *qemu("-append", "#" * 5000), "--")
    assert done.status == 2 and "no start info (PVH); QEMU overwrites it if -append is too long" in done.stdout + done.stderr, done


@pytest.mark.parametrize("port, name", [(0x2F8, "SPCR"), (0x3E8, "DBG2")])
def test_without_a_com1_the_port_that_acpi_names_gets_the_report(tmp_path, port, name):
    """A machine without COM1 must send the report to the port in the ACPI table SPCR or DBG2. The test calls QEMU
    itself, because the runner's serial line is always COM1."""
    table, log = tmp_path / "table", tmp_path / "log"
    address = bytes([1, 8, 0, 1]) + port.to_bytes(8, "little")
    # Both tables lack their header of 36 bytes, which QEMU adds.
    table.write_bytes({"SPCR": bytes(4) + address + bytes(28),
                       "DBG2": struct.pack("<IIBHBHHHHHHHHH", 44, 1, 0, 38, 1, 0, 0, 0, 0, 0x8000, 0, 0, 22, 34) + address + bytes(4)}[name])
    subprocess.run(["qemu-system-x86_64", "-M", "q35", "-m", "512", "-display", "none", "-no-reboot", "-nodefaults",
                    "-chardev", f"file,id=line,path={log}", "-device", f"isa-serial,chardev=line,iobase={port:#x},irq=3",
                    "-acpitable", f"sig={name},data={table}", "-kernel", ELF, "-append",
                    "profile=quick duration=10ms clocks=tsc cores=off exit=poweroff serial=summary"], check=True, timeout=120)
    assert re.search(rb"^baretick .*BARETICK TEXT BEGIN.*BARETICK TEXT END sha256=[0-9a-f]{64}\r\n$", log.read_bytes(), re.DOTALL)


def test_a_wrong_option_of_the_command_line_is_named(run):
    done = run(*QUICK_BARE, "--cpus", "1", *qemu("-append", "profil=quick"), "--")
    assert done.status == 2 and "In the command line" in done.stdout + done.stderr, done


@pytest.mark.parametrize("way", ["reboot", "poweroff", "ask", "return"])
def test_each_exit_option_ends_the_machine_after_its_report(run, way):
    """Each exit option must end the machine. For a power-off, QEMU's log has the event of a shutdown. Otherwise a reset
    ended QEMU."""
    words = [*SHORT, "clocks=tsc", "cores=off", f"exit={way}"]
    done = run(*QUICK_BARE, "--cpus", "1", *qemu("-trace", "qemu_system_shutdown_request"), "--", *words)
    assert done.status == VERDICT_STATUS[done.report["verdict"]], done
    assert ("qemu_system_shutdown_request reason=" in done.file("qemu.log").decode()) == (way in ("poweroff", "ask")), done


def test_an_exception_before_the_options_are_read_is_printed(run):
    done = run("--accel", "tcg", "--boot", "bare", "--image", FAULTING, "--cpus", "1",
               *qemu("-fw_cfg", "name=opt/baretick/fault,string=ea 0 open"), "--")
    assert done.status == 2, done
    assert re.search(f"baretick itself took an exception: {KINDS['ud']}", done.stdout + done.stderr), done


def test_without_memory_below_1_mib_the_boot_core_is_measured_alone(run):
    report = faulted(run, "bare", "lo", 0, "open")
    assert "There is too little memory to start cores, or none below 1 MiB." in report["notes"], report["notes"]
    assert [core["started"] for core in report["cores"]] == [True]


def test_the_image_has_nothing_that_only_uefi_needs():
    names = subprocess.run(["nm", f"{ELF}.debug"], check=True, capture_output=True, text=True).stdout
    assert "bare_main" in names
    assert not re.search(r"efi_main|firmware_system|page_parts|html_render", names)
    page = sum((ELF.parent / name).stat().st_size for name in ("page.0", "page.1", "page.2", "charts.gz"))
    assert ELF.stat().st_size < EFI.stat().st_size - page
