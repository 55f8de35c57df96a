"""The stick of a machine that hung, was reset or lost its power during a run, and how the next boot reacts."""
import contextlib
import json
import re

import pytest

from levers import Ended, run_while
from stick import ON_STICK, copy_of_stick, folders, mtools, volume_of
from boots import IMAGE_BUILT, checked, qemu
from harness import FAST_TCG, NO_SCREEN, QUICK_TCG
from machine.events import PHASES

pytestmark = IMAGE_BUILT


def of_serial(number):
    return qemu("-smbios", f"type=1,product=Server 9,serial={number}")


MACHINE = of_serial("SN-0042")
TWO_CORES = [*FAST_TCG, *NO_SCREEN, *MACHINE, "--cpus", "2", "--boot", "usb"]
# arguments for a machine with two cores; for cores=mp use TWO_CORES, whose cores run at the same time
QUICK_CORES = [*QUICK_TCG, *MACHINE, "--cpus", "2", "--boot", "usb"]
SHORT = ["profile=quick", "duration=10ms", "clocks=tsc,acpi_pm"]
# a hang in a sleep state does not depend on how the cores were started
WITH_CORES = [phase for phase in PHASES[PHASES.index("start-cores"):PHASES.index("stop-cores") + 1] if phase != "sleep"]
IN_CHECK = {"rates", "start-cores"}
MP = "started by the firmware's MP services (cores=mp)"


TRIES = 5  # number of tries: on a busy host, the run may have ended before the test kills it
NAMED = re.compile("phase=([a-z-]+)[ =]")  # a marker of a run that did not end. In the phase sleep it also has a state, as in sleep=halt


def killed_in(phase, folder, stick, *options):
    """Return the stick of a run whose QEMU was killed in PHASE, or in a later phase if the host was too busy. It was not killed
    while it wrote its report."""
    for number in range(TRIES):
        done = kill_in(phase, folder / str(number), stick, *options)
        left = done.out / "stick.img"
        named = filter(None, map(NAMED.match, markers(left).values()))
        if done.status == 2 and any(marker[1] in PHASES for marker in named):
            return left
    raise AssertionError(done)


def kill_in(phase, folder, stick, *options):
    """Do a run, and kill QEMU in PHASE. The run's status is 2 if QEMU was still running when it was killed. Its report has no
    serial number, but its marker is for the machine with this number."""
    folder.mkdir()

    def kill(machine):
        machine.wait_for(f"phase: {phase}\r".encode())
        with contextlib.suppress(Ended), machine.process() as process:
            process.kill()

    return run_while(kill, folder / "killed", *TWO_CORES, "--image", stick, "--", *SHORT, "identity=off", *options)


def markers(stick):
    return {name: data.decode() for name, data in volume_of(stick.read_bytes()).files("baretick").items()}


def notes(report):
    return "\n".join(report["notes"])


@pytest.mark.parametrize("phase", [phase if phase in IN_CHECK else pytest.param(phase, marks=pytest.mark.long) for phase in PHASES])
def test_the_boot_after_a_killed_run_names_its_phase_and_uses_safer_methods(run, tmp_path, phase):
    stick = killed_in(phase, tmp_path, copy_of_stick(tmp_path))
    left, (marker,) = folders(volume_of(stick.read_bytes())), markers(stick).values()
    wanted, phase = phase, NAMED.match(marker)[1]
    is_last = marker.startswith("phase=timers cores=off")  # this phase occurs again after all other phases, without cores
    assert is_last or PHASES.index(phase) >= PHASES.index(wanted)
    method = "mp" if phase in WITH_CORES and not is_last else "sipi"
    assert len(left) == (PHASES.index(phase) >= PHASES.index("start-cores"))
    for files in left.values():
        assert sorted(files) == ON_STICK
        report = json.loads(files["report.json"])
        assert report["verdict"] == "incomplete" and "Saved in the phase " in notes(report)
        assert {clock["id"] for clock in report["clocks"] if clock["latency"] and clock["latency"]["count"]} == {"tsc", "acpi_pm", "null"}
    done = run(*(TWO_CORES if method == "mp" else QUICK_CORES), "--image", stick, "--", *SHORT)
    report = checked(done, started=2)
    assert f"did not finish: it stopped in its phase {phase}" in notes(report)
    assert (MP in notes(report)) == (method == "mp")
    assert report["options"]["cores"] == method
    after = folders(volume_of(done.file("stick.img")))
    assert after.items() >= left.items() and len(after) == len(left) + 1
    assert after[max(after)]["report.json"] == done.file("report.json")
    if wanted == "start-cores":  # another machine that boots from the same stick
        other = checked(run(*QUICK_TCG, *of_serial("SN-0043"), "--cpus", "2", "--boot", "usb", "--image", stick, "--", *SHORT))
        assert "did not finish: it stopped" not in notes(other) and other["options"]["cores"] == "sipi"


# The chip set's watchdog (ICH9 data sheet, 13.9) counts in steps of 0.6 s. When it expires for the second time, it
# resets the machine.
RCBA_GCS, TCO_RLD, TCO1_CNT, TCO_TMR = 0xfed1c000 + 0x3410, 0x660, 0x668, 0x672
NO_REBOOT, HALTED = 0x20, 0x800


def arm_watchdog(machine):
    with machine.registers() as registers:
        assert machine.wait_for(b"phase: rates\r")
        gcs = registers.read32(RCBA_GCS)
        registers.ask(f"writel {RCBA_GCS:#x} {gcs & ~NO_REBOOT:#x}", f"outw {TCO_TMR:#x} 2", f"outw {TCO_RLD:#x} 1",
                      f"outw {TCO1_CNT:#x} 0")


def test_a_watchdog_that_nobody_feeds_resets_the_machine_and_the_next_boot_says_in_which_phase(run, tmp_path):
    """The chip set's watchdog runs even while the firmware's own watchdog is off. It resets the machine during a run,
    and the next boot must report the phase of the reset."""
    done = run_while(arm_watchdog, tmp_path / "reset", *QUICK_CORES, *qemu("-global", "ICH9-LPC.noreboot=false"),
                     "--image", copy_of_stick(tmp_path), "--", "profile=standard", "duration=60s", "clocks=tsc,acpi_pm")
    assert done.status == 2, done
    (marker,) = markers(done.out / "stick.img").values()
    phase = NAMED.match(marker)[1]
    report = checked(run(*QUICK_CORES, "--image", done.out / "stick.img", "--", *SHORT))
    assert f"did not finish: it stopped in its phase {phase}" in notes(report)


def test_after_a_run_that_the_firmwares_cores_ended_too_no_core_is_started_then_and_later(run, tmp_path):
    """The marker file says that a run with cores=mp did not finish. It stays on the stick, so that later runs avoid this
    method, too."""
    stick = killed_in("prepare", tmp_path, copy_of_stick(tmp_path))
    name, = markers(stick)
    file = tmp_path / name
    file.write_text("phase=skew cores=mp least=mp report=0".ljust(159) + "\n")
    mtools(stick, "mcopy", "-o", file, f"::/baretick/{name}")
    done = run(*QUICK_CORES, "--image", stick, "--", *SHORT)
    report = checked(done)
    assert report["options"]["cores"] == "off"
    assert "In this run they are not started (cores=off)" in notes(report), report["notes"]
    left, = markers(done.out / "stick.img").values()
    assert re.match(r"phase= cores=off least=(mp|off) report=0 #", left)
