"""qemu/nextboot on a complete Debian in QEMU. It prepares the next start, restarts into baretick, comes back, collects
the report, and removes everything.

Except for the tests of the cached systems, all tests need a mirror and take minutes, so they belong to `make
check-long`."""
import json
import os
import shutil
import subprocess
import time

import pytest

import debian
from boots import EFI_BUILT
from debian import Debian
from linux import COMMAND_BOUND_S, LOOK

MARKS = [EFI_BUILT, pytest.mark.long, pytest.mark.xdist_group("debian"),
         pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("debootstrap"), reason="it needs root and debootstrap")]

TRIAL = """#!/bin/bash
cd /opt/baretick
exec >>trial.txt 2>&1
""" + LOOK + """
if [ ! -e before ]; then
  {first}
  look before
  qemu/nextboot {words} -- profile=quick; echo "status $?"
  ls /sys/firmware/efi/efivars >variables
  [ ! -e /boot/grub/grubenv ] || grub-editenv /boot/grub/grubenv list >>variables
  sync; systemctl reboot
else
  qemu/nextboot --collect report; echo "status $?"
  qemu/nextboot --remove --reports; echo "status $?"
  look after
  sync; systemctl poweroff
fi
"""


# For each way to choose the next start: nextboot's arguments, and a text in the file `variables` of TRIAL that shows
# that nextboot chose this way.
WAYS = {"firmware": ("", "\nBootNext-"), "systemd-boot": ("--loader systemd-boot", "\nLoaderEntryOneShot-"),
        "grub": ("--loader grub", "\nnext_entry=baretick-once\n")}
# Lets Debian make its own configuration of GRUB.
MAKES_GRUB_CONFIG = "mkdir /boot/grub && grub-mkconfig -o /boot/grub/grub.cfg && grub-editenv /boot/grub/grubenv create"


def on_debian(test):
    """Mark TEST as a test that boots the Debian system."""
    for mark in MARKS:
        test = mark(test)
    return test


@pytest.fixture
def makings(tmp_path, monkeypatch):
    """Return the list of Debian systems that would be made, each as the names of its packages. None is really made."""
    made = []

    def system(root):
        made.append(list(debian.THEN))
        (root / "boot").mkdir(parents=True)
        for name in ("vmlinuz-6.1", "initrd.img-6.1"):
            (root / "boot" / name).write_text(name)
    monkeypatch.setattr(debian, "CACHE", tmp_path / "debian")
    monkeypatch.setattr(debian, "_system", system)
    monkeypatch.setattr(debian, "_ext4", lambda path, label, mib, tree: path.write_text(label))
    return made


def test_the_debian_is_made_once_and_again_for_another_recipe(makings, monkeypatch):
    first = debian.installed()
    assert debian.installed() == first and len(makings) == 1
    assert {path.name for path in first.iterdir()} == {"root", "vmlinuz", "initrd"}
    monkeypatch.setattr(debian, "THEN", [*debian.THEN, "shim-signed"])
    second = debian.installed()
    assert second != first and len(makings) == 2 and "shim-signed" in makings[1]
    assert not first.exists() and debian.installed() == second


@pytest.fixture(scope="module", params=WAYS)
def restarted(request, tmp_path_factory):
    """Return a machine that ran the script TRIAL to its end and switched itself off."""
    is_by_grub = request.param == "grub"
    trial = TRIAL.replace("{words}", WAYS[request.param][0]).replace("{first}", MAKES_GRUB_CONFIG if is_by_grub else ":")
    machine = Debian(tmp_path_factory.mktemp("nextboot"), trial, is_by_grub)
    machine.way = request.param
    machine.run()
    return machine


@on_debian
def test_a_loader_is_told_by_its_own_variable_and_not_by_the_firmwares(restarted):
    variables = restarted.read("variables").decode()
    assert [way for way, (_, choice) in WAYS.items() if choice in variables] == [restarted.way], variables


@on_debian
def test_the_machine_comes_back_with_a_report_of_the_run(restarted):
    said = restarted.read("trial.txt").decode()
    assert said.count("status 0\n") == 3 and "status 2" not in said, said
    report = json.loads(restarted.read("report/report.json"))
    assert report["verdict"] in ("pass", "warn", "fail") and "exit=reboot" in report["options"]["given"], said


@on_debian
def test_it_says_which_clock_and_which_rate_the_kernel_took(restarted):
    believed = json.loads(restarted.read("report/kernel.json"))
    assert believed["log_is_whole"] and believed["clocksource"] in believed["clocksources"], believed
    assert believed["tsc"]["believed_hz"] and believed["tick_devices"], believed


@on_debian
def test_partition_and_variables_are_as_they_were_before(restarted):
    before, after = restarted.read("before"), restarted.read("after")
    assert b"linux" in before and b"BootOrder" in before
    assert after == before


CUT_TRIAL = """#!/bin/bash
cd /opt/baretick
exec >>trial.txt 2>&1
if [ ! -e prepared ]; then
  touch prepared
  qemu/nextboot -- profile=quick; echo "status $?"
  sync; systemctl reboot
else
  qemu/nextboot --status; qemu/nextboot --collect report; echo "status $?"
  sync; systemctl poweroff
fi
"""
CUT_AT = b"phase: timers"  # a phase before which some checkpoints were saved


@on_debian
def test_after_a_power_cut_linux_starts_and_hands_over_the_checkpoint(tmp_path):
    machine = Debian(tmp_path, CUT_TRIAL)
    serial = tmp_path / "serial.log"
    with subprocess.Popen(machine.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            end = time.monotonic() + COMMAND_BOUND_S
            while not (serial.exists() and CUT_AT in serial.read_bytes()):
                assert process.poll() is None and time.monotonic() < end, machine.read("trial.txt").decode()
                time.sleep(0.1)
        finally:
            process.kill()
    machine.run()
    said = machine.read("trial.txt").decode()
    assert said.count("status 0\n") == 2 and "\nreason   Saved in the phase " in said, said
    assert json.loads(machine.read("report/report.json"))["verdict"] == "incomplete"


MIRROR_TRIAL = """#!/bin/bash
cd /opt/baretick
exec >>trial.txt 2>&1
""" + LOOK + """
if [ ! -e before ]; then
  cp -r /boot/efi /root/esp; umount /boot/efi
  mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.0 --bitmap=none /dev/vda1 /dev/vdd1
  mkfs.vfat -F 32 -n ESP /dev/md0; mount /dev/md0 /boot/efi; cp -r /root/esp/. /boot/efi
  sync; mdadm --wait /dev/md0
  look before
  qemu/nextboot -- profile=quick; echo "two halves $?"
  look refused
  mdadm /dev/md0 --fail /dev/vdd1 --remove /dev/vdd1
  qemu/nextboot --reboot -- profile=quick
else
  md=$(findmnt -no SOURCE /boot/efi); echo "mounted $md"
  qemu/nextboot --collect report; echo "status $?"
  qemu/nextboot --remove --reports; echo "status $?"
  look after
  mdadm $md --add /dev/vdd1; mdadm --wait $md
  umount /boot/efi; mdadm --stop $md
  cmp -n $((100 << 20)) /dev/vda1 /dev/vdd1 && echo "equal halves"
  sync; systemctl poweroff
fi
"""


@on_debian
def test_a_mirror_is_used_when_it_has_one_half_and_the_other_half_gets_all_of_it_back(tmp_path):
    machine = Debian(tmp_path, MIRROR_TRIAL, has_second_disk=True)
    machine.run()
    said = machine.read("trial.txt").decode()
    assert "(mdadm /dev/md0 --fail /dev/vdd1 --remove /dev/vdd1; " in said and "\ntwo halves 2\n" in said, said
    assert machine.read("refused") == machine.read("before")
    assert "runs baretick from /dev/md0" in said and "\nmounted /dev/md" in said and said.count("status 0\n") == 2, said
    assert json.loads(machine.read("report/report.json"))["verdict"] in ("pass", "warn", "fail"), said
    assert machine.read("after") == machine.read("before")
    assert said.endswith("equal halves\n"), said
