"""The watchdogs of the board and of the firmware. QEMU's q35 has the TCO timer of an ICH9 chip set, and the test adds an ACPI
table WDAT for it."""
import struct
import time

import pytest

from boots import SHORT, checked, qemu
from harness import BY_INSTRUCTIONS, FAST_TCG, NO_SCREEN, ROOT
from levers import Ended, run_while

ELF = ROOT / "build" / "baretick.elf"
FAULTING = ROOT / "build" / "baretick-fault.elf"
# ports of the TCO's registers, which SeaBIOS puts at 600h and above
RELOAD, CONTROL, TIMER = 0x660, 0x668, 0x672
# the chip set's register GCS, at the address that SeaBIOS selects; its bit 5 (NR) prevents a reset by the timer
GCS = 0xFED1F410
# address space, register width in bits, and access size, as in an ACPI generic address structure
MEMORY, IO = (0, 32, 3), (1, 16, 2)
# Instructions of a table WDAT. Its question "is the watchdog running?" (action 8) reads the timer's countdown. The bit
# for a halted timer would mislead: SeaBIOS leaves it clear, but QEMU's timer starts only at the first reload.
ENTRIES = [  # action, instruction, register, shift, value, mask; see drivers/watchdog
    (1, 2, RELOAD, 0, 1, 0xFFFF), (5, 1, TIMER, 0, 0, 0x3FF), (6, 0x83, TIMER, 0, 0, 0x3FF),
    (8, 0, TIMER, 0, None, 0x3FF), (9, 0x82, CONTROL, 11, 0, 1), (11, 0x82, CONTROL, 11, 1, 1),
    (17, 0x82, GCS, 5, 0, 1)]
BOARD = ["--accel", "tcg", "--boot", "bare", "--machine", "q35", "--cpus", "1", *qemu("-global", "ICH9-LPC.noreboot=false")]

pytestmark = pytest.mark.skipif(not ELF.exists(), reason="build/baretick.elf is not there: type make")


def wdat(folder, period_ms, count_max, count):
    """Return QEMU's arguments for a file with a WDAT. COUNT is the countdown value that means an armed watchdog."""
    table = struct.pack("<IHBBB3xIIIB3xI", 32, 0xFFFF, 0, 0, 0, period_ms, count_max, 2, 1, len(ENTRIES))
    for action, instruction, port, shift, value, mask in ENTRIES:
        space, width, access = MEMORY if port == GCS else IO
        table += struct.pack("<BBHBBBBQII", action, instruction, 0, space, width, shift, access, port, count if value is None else value, mask)
    head = struct.pack("<4sIBB6s8sI4sI", b"WDAT", 36 + len(table), 1, 0, b"TEST", b"WATCHDOG", 1, b"TEST", 1)
    whole = bytearray(head + table)
    whole[9] = -sum(whole) & 0xFF
    file = folder / "wdat"
    file.write_bytes(whole)
    return qemu("-acpitable", f"file={file}")


@pytest.mark.parametrize("leave", ["reboot", "debug-exit"])
def test_it_is_armed_only_where_the_machine_is_to_restart_by_itself(run, tmp_path, leave):
    """The countdown of 300 s is longer than the run, so a run that ends in time must not be reset."""
    report = checked(run(*BOARD, *BY_INSTRUCTIONS, *wdat(tmp_path, 600, 1023, 500), "--", *SHORT, f"exit={leave}"), 1)
    armed = [note for note in report["notes"] if "watchdog" in note]
    assert armed == (["The board's watchdog was armed: it would have reset the machine 300 s after a hang."]
                     if leave == "reboot" else []), report["notes"]


PM_TIMER, PM_TIMER_HZ, PM_TIMER_MASK = 0x608, 3579545, 0xFFFFFF
HANG_S = 9  # longer than the 6 s of the watchdog in the test of a hang
POLL_S = 0.02


def outlasts_watchdog(machine, last_line=b"phase: prepare\r", hang_s=HANG_S):
    """Wait until the machine has hung after LAST_LINE for HANG_S of its own time. Return false if it was reset before."""
    passed = 0
    try:
        with machine.registers() as registers:
            assert machine.wait_for(last_line)
            before = int(registers.ask(f"inl {PM_TIMER:#x}").split()[1], 0)
            while passed < hang_s * PM_TIMER_HZ:
                time.sleep(POLL_S)
                now = int(registers.ask(f"inl {PM_TIMER:#x}").split()[1], 0)
                passed += (now - before) & PM_TIMER_MASK
                before = now
    except Ended:
        return False
    return True


@pytest.mark.skipif(not FAULTING.exists(), reason="build/baretick-fault.elf is not there: type make check")
@pytest.mark.parametrize("leave", ["reboot", "debug-exit"])
def test_a_hang_ends_by_a_reset_only_if_the_watchdog_is_armed(tmp_path, leave):
    """A run hangs. If exit=reboot armed the watchdog, the watchdog must reset the machine. Otherwise the machine must hang
    for longer than the watchdog's time. The table states a period ten times as long as the TCO's, so its 30 s are
    really 3 s. QEMU resets at the second expiry."""
    hung = []

    def watch(machine):
        hung.append(outlasts_watchdog(machine))
        if hung[0]:
            with machine.process() as process:
                process.kill()

    done = run_while(watch, tmp_path / "out", *BOARD, *qemu("-icount", "shift=8,sleep=off"), "--image", FAULTING, "--timeout", "60",
                     *qemu("-fw_cfg", "name=opt/baretick/fault,string=no 0 1"), *wdat(tmp_path, 6000, 5, 5), "--", *SHORT, f"exit={leave}")
    assert done.status == 2, done
    assert b"phase: prepare\r" in done.file("serial.log"), done
    assert hung == [leave == "debug-exit"], done


# Twice the time limit of the firmware's watchdog in main.c. The firmware counts its own ticks. One instruction takes 1 us of
# the machine's time here, so it loses some ticks, and 300 s of it last 305 to 310 s.
FIRMWARES_S = 600
START = b"Starting baretick "


@pytest.mark.skipif(not FAULTING.exists(), reason="build/baretick-fault.efi is not there: type make check")
@pytest.mark.parametrize("fault, begun", [("be 0 1", False), ("no 0 open", True)], ids=["options", "clocks"])
def test_the_firmwares_watchdog_covers_the_time_before_the_first_phase(tmp_path, fault, begun):
    """A machine hangs before it has read its options, or when it opens a clock. It must have printed the version, and the
    firmware must reset it."""
    hung = []
    done = run_while(lambda machine: hung.append(outlasts_watchdog(machine, START, FIRMWARES_S)), tmp_path / "out",
                     *FAST_TCG, *NO_SCREEN, *qemu("-icount", "shift=10,sleep=off"), "--cpus", "1", "--efi", FAULTING.with_suffix(".efi"),
                     *qemu("-fw_cfg", f"name=opt/baretick/fault,string={fault}"), "--", *SHORT, "exit=ask")
    log = done.file("serial.log")
    assert log.count(START) == 1 and (b"\nbaretick " in log) == begun and b"\nphase: " not in log, done
    assert hung == [False], done
