"""`make install` builds a Debian package in a clean Debian 13. The package is installed in another Debian 13, and its entry in
GRUB's menu starts baretick. Needs a mirror and takes minutes, so it belongs to `make check-long`."""
import os
import re
import shutil
import subprocess

import pytest

import debian
from boots import ROOT
from debian_packages import find_mirror
from linux import run
from machine.transcript import Transcript
from sources import copy_sources

MARKS = [pytest.mark.long, pytest.mark.xdist_group("debian"),
         pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("debootstrap"), reason="it needs root and debootstrap")]

SUITE = "trixie"
PAGES = ["man1/baretick-fleet.1", "man1/baretick-replay.1", "man1/baretick-run.1", "man7/baretick.7", "man8/baretick-nextboot.8"]
CONTROL = """Source: baretick
Maintainer: a test <test@localhost>
Build-Depends: debhelper-compat (= 13), git, {needs}
Standards-Version: 4.7.2

Package: baretick
Architecture: amd64
Depends: ${{shlibs:Depends}}, ${{misc:Depends}}, python3
Description: measures the clocks of a PC
 This package is made by a test.
"""
RULES = """#!/usr/bin/make -f
%:
	dh $@
override_dh_auto_build:
	$(MAKE) NO_INSTALL=1 all image build/man
override_dh_auto_test:
override_dh_auto_install:
	$(MAKE) NO_INSTALL=1 install PREFIX=/usr DESTDIR=$(CURDIR)/debian/baretick
"""
# Installs the package, makes GRUB's menu, and chooses baretick's entry for the next start only.
TRIAL = """#!/bin/bash
cd /opt/baretick
exec >>trial.txt 2>&1
set -x
dpkg --install baretick.deb; echo "status $?"
mkdir -p /boot/grub
printf '%s\\n' GRUB_DEFAULT=saved GRUB_TIMEOUT=0 \\
  'GRUB_BARETICK_OPTIONS="profile=quick duration=10ms clocks=tsc cores=off label=menu exit=poweroff"' >>/etc/default/grub
grub-mkconfig -o /boot/grub/grub.cfg; echo "status $?"
grub-editenv /boot/grub/grubenv create
grub-reboot 'Test of the clocks (baretick)'; echo "status $?"
baretick-run --version; baretick-nextboot --version; baretick-fleet --version; baretick-replay --version
baretick-run --help >/dev/null; echo "status $?"
cp /boot/grub/grub.cfg .
sync; systemctl reboot
"""


def needed_packages():
    """Return the packages that the build needs: the lists `build` and `image` of qemu/packages.mk."""
    text = (ROOT / "qemu" / "packages.mk").read_text()
    return sorted({word for purpose in ("build", "image") for word in re.search(rf"^PACKAGES_{purpose} +:= (.*)$", text, re.M)[1].split()})


def in_a_clean_debian(test):
    for mark in MARKS:
        test = mark(test)
    return test


def test_each_package_that_the_build_needs_is_a_name_for_build_depends():
    """Debian Policy, 5.6.1. A question mark after an optional package, as packages.mk has it, is not allowed."""
    assert len(needed_packages()) > 5 and all(re.fullmatch("[a-z0-9][a-z0-9+.-]+", name) for name in needed_packages())


def inside(root, *words):
    return run("chroot", root, "/usr/bin/env", "-i", "HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive",
               "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *(f"{name}={os.environ[name]}" for name in ("http_proxy",) if name in os.environ), *words)


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return the package, built in a new Debian 13 from a copy of the sources."""
    root = tmp_path_factory.mktemp("package") / "root"
    run("debootstrap", "--variant=minbase", SUITE, root, *filter(None, [find_mirror()]))
    for name in ("resolv.conf", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc" / name)
    source = copy_sources(root / "root" / "baretick")
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=test", "-c", "user.email=test@localhost", "commit", "-q", "-m", "all"]):
        run("git", "-C", source, *words)
    version, = re.findall(r"^VERSION := (\S+)$", (source / "Makefile").read_text(), re.M)
    folder = source / "debian"
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "format").write_text("3.0 (native)\n")
    (folder / "control").write_text(CONTROL.format(needs=", ".join(needed_packages())))
    (folder / "changelog").write_text(f"baretick ({version}) unstable; urgency=low\n\n  * A test.\n\n -- a test <test@localhost>  Fri, 02 Jan 2026 03:04:05 +0000\n")
    (folder / "rules").write_text(RULES)
    (folder / "rules").chmod(0o755)
    run("mount", "--bind", "/proc", root / "proc")
    try:
        inside(root, "apt-get", "update")
        inside(root, "apt-get", "install", "--yes", "--no-install-recommends", "build-essential", "debhelper", "git", *needed_packages())
        inside(root, "sh", "-c", "cd /root/baretick && dpkg-buildpackage --build=binary --no-sign")
    except subprocess.CalledProcessError as error:
        pytest.fail(f"{error.cmd}: {(error.stdout + error.stderr).decode(errors='replace')[-3000:]}")
    finally:
        run("umount", root / "proc")
    return root / "root" / f"baretick_{version}_amd64.deb"


@in_a_clean_debian
def test_the_package_has_the_files_in_their_places(package):
    listed = {line.split()[5].removeprefix(".") for line in run("dpkg-deb", "--contents", package).decode().splitlines()}
    library = {f"/usr/lib/baretick/{name}" for name in ("baretick.efi", "baretick.elf", "baretick.bin", "baretick.img", "baretick.iso",
                                                       "report.schema.json", "baretick-replay", "qemu/run", "qemu/nextboot", "qemu/fleet")}
    links = {"/usr/bin/baretick-run", "/usr/bin/baretick-fleet", "/usr/bin/baretick-replay", "/usr/sbin/baretick-nextboot"}
    wanted = library | links | {"/etc/grub.d/20_baretick"} | {f"/usr/share/man/{page}.gz" for page in PAGES}
    assert wanted - listed == set()
    assert not [name for name in listed if name.startswith("/root") or "/usr/local" in name]


@in_a_clean_debian
def test_the_entry_in_grubs_menu_starts_baretick(package, tmp_path, monkeypatch):
    """Takes minutes, because a Debian is made, started, and restarted into GRUB's menu."""
    monkeypatch.setattr(debian, "SUITE", SUITE)
    monkeypatch.setattr(debian, "CACHE", ROOT / "build" / f"debian-{SUITE}")
    machine = debian.Debian(tmp_path, TRIAL, is_by_grub=True, more_files={"baretick.deb": package})
    machine.run()
    said = machine.read("trial.txt").decode(errors="replace")
    assert said.count("\nstatus 0\n") == 4 and "\nstatus 1\n" not in said, said[-3000:]
    assert len(re.findall(r"^baretick-(?:run|nextboot|fleet|replay) \d+\.\d+\.\d+ \([0-9a-f]{12}\)$", said, re.M)) == 4, said[-3000:]
    transcript = Transcript(lambda line: None)
    transcript.parse_bytes((tmp_path / "serial.log").read_bytes())
    assert transcript.report and transcript.report["options"]["label"] == "menu", (tmp_path / "serial.log").read_bytes()[-2000:]
