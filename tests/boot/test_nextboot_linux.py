"""qemu/nextboot on a small Linux in QEMU, a kernel with an initramfs. It prepares the next start, restarts into
baretick, comes back, collects the report, and removes everything.

It takes more than 15 s: three starts of the firmware, two of Linux, and a run of baretick."""
import json
import os

import pytest

from boots import EFI_BUILT
from harness import TIMEOUTS
from linux import LOOK, LOOK_AT_VARIABLES, run_machine
from mok import SHIM, can_sign, key_pair
from small_linux import SmallLinux, lacking

pytestmark = [EFI_BUILT, pytest.mark.xdist_group("small-linux")]

WORDS = "profile=quick duration=10ms clocks=tsc,acpi_pm"
TRIAL = LOOK_AT_VARIABLES + f"""
echo "Linux was started"
if [ ! -e /trial/before ]; then
  look /trial/before
  qemu/nextboot --reboot -- {WORDS}; echo "status $?"
  ls /sys/firmware/efi/efivars >/trial/variables
else
  ls /boot/efi/baretick >/trial/reports
  qemu/nextboot --collect /trial/report; echo "status $?"
  qemu/nextboot --remove --reports; echo "status $?"
  look /trial/after
fi
"""


def ended(folder, trial, keys=None, is_by_shim=False):
    """Return a machine that ran the script TRIAL to its end and switched itself off."""
    if reason := lacking():
        pytest.skip(reason)
    machine = SmallLinux(folder, trial, keys, is_by_shim)
    machine.run()
    return machine


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    return ended(tmp_path_factory.mktemp("nextboot"), TRIAL)


def test_one_restart_leads_into_baretick_and_the_next_one_back(machine):
    said = machine.read("trial.txt").decode()
    assert said.count("status 0\n") == 3 and "status 2" not in said, said
    assert said.count("Linux was started\n") == 2
    assert machine.read("reports") == b"0001\n"
    assert b"\nBootNext-" in machine.read("variables")


def test_the_report_is_handed_over_with_what_the_kernel_believes(machine):
    report = json.loads(machine.read("report/report.json"))
    assert report["verdict"] in ("pass", "warn", "fail")
    assert "clocks=tsc,acpi_pm" in report["options"]["given"] and "exit=reboot" in report["options"]["given"]
    believed = json.loads(machine.read("report/kernel.json"))
    assert believed["log_is_whole"] and believed["tsc"]["believed_hz"] and believed["tick_devices"], believed
    said = machine.read("trial.txt").decode()
    assert f"the kernel uses {believed['clocksource']}" in said, said


def check_nothing_is_left(machine):
    """Check that the variables are as before nextboot, and the system partition as it was made."""
    before, after = machine.read("before"), machine.read("after")
    assert b"BootOrder" in before and after == before
    made, left = machine.read_partition()
    assert "linux" in made and left == made


def test_removed_partition_and_variables_are_as_before(machine):
    check_nothing_is_left(machine)


def test_a_machine_that_does_not_end_is_ended_with_its_registers():
    """QEMU stops the machine before its first instruction, at FFF0h (Intel SDM, volume 3: First Instruction Executed).
    Longer time-outs follow, because a busy host starts QEMU late."""
    for bound_s in TIMEOUTS:
        with pytest.raises(AssertionError) as failure:
            run_machine(["qemu-system-x86_64", "-S", "-display", "none", "-nodefaults", "-smp", "2"], bound_s)
        if "EIP" in str(failure.value):
            break
    assert str(failure.value).count("EIP=0000fff0") == 4, failure  # two cores are listed, twice


@pytest.mark.long
@pytest.mark.skipif(not can_sign(), reason="firmware with keys, or the package sbsigntool, is not there")
@pytest.mark.parametrize("is_by_shim", [False, pytest.param(True, marks=pytest.mark.skipif(
    not os.path.exists(SHIM), reason="the package shim-signed is not there"))], ids=["firmware", "shim"])
def test_with_secure_boot_a_signed_application_runs_and_an_unsigned_one_is_refused(tmp_path, is_by_shim):
    unsigned = 'qemu/nextboot; echo "unsigned $?"; look /trial/refused\n  qemu/nextboot --efi build/signed.efi --reboot'
    then = "ls /sys/firmware/efi/efivars >/trial/variables"
    trial = TRIAL.replace(LOOK_AT_VARIABLES, LOOK).replace("qemu/nextboot --reboot", unsigned)
    trial = trial.replace(then, f"{then}\n  ls /boot/efi/EFI/baretick >/trial/application")
    machine = ended(tmp_path, trial, key_pair(tmp_path), is_by_shim)
    assert (b"shimx64.efi\n" in machine.read("application")) == is_by_shim
    said = machine.read("trial.txt").decode()
    assert "baretick.efi is signed by no key of the firmware or the shim (make sign)\nunsigned 2\n" in said
    assert machine.read("refused") == machine.read("before")
    assert said.count("status 0\n") == 3 and said.count("Linux was started\n") == 2, said
    assert "exit=reboot" in json.loads(machine.read("report/report.json"))["options"]["given"]
    assert machine.read("after") == machine.read("before")


@pytest.mark.long
def test_with_exit_ask_the_machine_comes_back_without_a_key(tmp_path):
    """Takes half a minute more than the other tests, because the application waits for a key."""
    machine = ended(tmp_path, TRIAL.replace(WORDS, f"{WORDS} exit=ask"))
    assert machine.read("trial.txt").decode().count("status 0\n") == 3
    assert "exit" not in json.loads(machine.read("report/report.json"))["options"]["given"]
    assert b"If no key is pressed, this machine restarts within a minute." in (tmp_path / "serial.log").read_bytes()


@pytest.mark.long
def test_a_wrong_option_is_collected_as_a_report_that_names_it_and_the_machine_comes_back(tmp_path):
    """baretick.cfg has exit=restart, which should be exit=reboot. nextboot would refuse this option, so the script
    writes the file itself after nextboot. The collected report must name the option."""
    prepare = "qemu/nextboot; echo exit=restart >/boot/efi/EFI/baretick/baretick.cfg; touch /restart; echo"
    machine = ended(tmp_path, TRIAL.replace(f"qemu/nextboot --reboot -- {WORDS}; echo", prepare))
    said = machine.read("trial.txt").decode()
    assert said.count("status 0\n") == 3 and said.count("Linux was started\n") == 2, said
    assert machine.read("reports") == b"0001\n"
    report = json.loads(machine.read("report/report.json"))
    assert report["verdict"] == "incomplete" and "exit" in report["notes"][0] and "reboot" in report["notes"][0], report
    assert "report   incomplete\n" in said and f"reason   {report['notes'][0]}\n" in said, said
    assert "restart" in report["notes"][0]
    check_nothing_is_left(machine)
    assert b"If no key is pressed, this machine restarts within a minute." in (tmp_path / "serial.log").read_bytes()
