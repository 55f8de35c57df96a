"""Firmware that enforces Secure Boot: what is signed runs, by its own key or by shim and an enrolled certificate; nothing else does."""
import json
import os
import re
import shutil
import subprocess
import time

import pytest

from boots import EFI, EFI_BUILT, checked
from harness import ROOT, TCG, check_schema
from screens import BOUND_S, POLL_S, screen
from stick import folders, mtools, volume_of

# Debian's and Ubuntu's package ovmf. A test key, whose private half is in the package; the keys of Microsoft.
OWN_KEYS = "/usr/share/OVMF/OVMF_CODE_4M.snakeoil.fd"
MICROSOFTS_KEYS = "/usr/share/OVMF/OVMF_CODE_4M.ms.fd"
TEST_KEY, TEST_CERT = "/usr/share/ovmf/PkKek-1-snakeoil.key", "/usr/share/ovmf/PkKek-1-snakeoil.pem"
PASS_PHRASE = "snakeoil"
SHIM = "/usr/lib/shim/shimx64.efi.signed"

TWO_CORES = ["--cpus", "2", "--boot", "usb"]
WORDS = ["profile=quick", "duration=10ms", "clocks=tsc,hpet"]
CHOSEN = re.compile(rb"\x1b\[37m\x1b\[40m\x1b\[\d+;\d+H\xb3 *(\S[^\xb3]*?) *\xb3")  # by MokManager: a row in black, in its frame
ENTRIES_MAX = 8

needs_shim = pytest.mark.skipif(not os.path.exists(SHIM), reason="the package shim-signed is not there")
pytestmark = [EFI_BUILT, pytest.mark.skipif(not (os.path.exists(OWN_KEYS) and os.path.exists(TEST_KEY) and shutil.which("sbsign")),
                                 reason="firmware with keys, or the package sbsigntool, is not there")]


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    """Key and certificate that OWN_KEYS trusts; the key without its pass phrase."""
    key = tmp_path_factory.mktemp("keys") / "key"
    subprocess.run(["openssl", "pkey", "-in", TEST_KEY, "-passin", f"pass:{PASS_PHRASE}", "-out", key], check=True, capture_output=True)
    return key, TEST_CERT


def sign(keys, folder, shim=""):
    subprocess.run([ROOT / "qemu" / "sign", *keys, EFI, folder / "signed", shim], check=True, capture_output=True)
    return folder / "signed.img"


@pytest.fixture(scope="module")
def signed(keys, tmp_path_factory):
    return sign(keys, tmp_path_factory.mktemp("signed"))


@pytest.fixture(scope="module")
def with_shim(keys, tmp_path_factory):
    return sign(keys, tmp_path_factory.mktemp("shim"), "1")


def tampered(data):
    """One bit of the text of the page: what is started with it would run as well."""
    at = data.index(b"<!DOCTYPE html>")
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def altered(stick, name, how, folder):
    """A copy of STICK on which the application, NAME, is HOW."""
    copy, file = folder / "stick", folder / "application"
    shutil.copyfile(stick, copy)
    application = mtools(copy, "mtype", f"::/{name}")
    file.write_bytes(EFI.read_bytes() if how == "unsigned" else tampered(application))
    mtools(copy, "mcopy", "-o", file, f"::/{name}")
    assert mtools(copy, "mtype", f"::/{name}") != application
    return copy


def guest(firmware, image, *words):
    """With a person at its keyboard; a restart is one, for the keys that were enrolled meanwhile are the machine's."""
    more = [*TWO_CORES, "--firmware", firmware, "--image", image, "--qemu-arg=-action", "--qemu-arg=reboot=reset"]
    return screen((80, 25), (800, 600), [*WORDS, *words], *more)


def test_what_is_signed_with_an_enrolled_key_runs_to_its_verdict_and_leaves_its_report(run, signed, tmp_path):
    done = run(*TCG, *TWO_CORES, "--image", signed, "--firmware", OWN_KEYS, "--", *WORDS)
    report = checked(done, started=2)
    assert report["verdict"] in ("pass", "warn") and report["cores"][1]["started"]
    (number, files), = folders(volume_of((done.out / "stick.img").read_bytes())).items()
    assert number == "0001" and files["report.json"] == done.file("report.json")


@pytest.mark.parametrize("how, firmware", [("unsigned", OWN_KEYS), ("tampered", OWN_KEYS),
                                           pytest.param("by-another-key", MICROSOFTS_KEYS, marks=pytest.mark.long)])
def test_anything_else_is_refused(signed, how, firmware, tmp_path):
    image = signed if how == "by-another-key" else altered(signed, "EFI/BOOT/BOOTX64.EFI", how, tmp_path)
    with guest(firmware, image) as shown:
        shown.wait_for_serial(b"No bootable option or device was found")
        said = shown.serial()
    assert re.search(rb"failed to load Boot0001 .*USB.*: Access Denied", said)
    assert b"BARETICK" not in said


class Manager:
    """MokManager, which draws on the serial line what it draws on the screen."""

    def __init__(self, shown):
        self.shown, self._at = shown, 0

    def _new(self):
        return self.shown.serial()[self._at:]

    def wait_for(self, *words):
        """Until WORDS came, in this order, after what was waited for before; what came before them."""
        for word in words:
            end = time.monotonic() + BOUND_S
            while (at := self._new().find(word)) < 0:
                assert time.monotonic() < end, (word, self._new()[-4000:])
                time.sleep(POLL_S)
            before, self._at = self._new()[:at], self._at + at + len(word)
        return before

    def choose(self, title, entry):
        """The row ENTRY in the menu TITLE, which is drawn at first, and after each key."""
        self.wait_for(title)
        for drawn in range(1, ENTRIES_MAX):
            end = time.monotonic() + BOUND_S
            while len(rows := CHOSEN.findall(self._new())) < drawn:
                assert time.monotonic() < end, (title, entry, self._new()[-4000:])
                time.sleep(POLL_S)
            self.shown.press("ret" if rows[-1] == entry else "down")
            if rows[-1] == entry:
                return
        raise AssertionError((title, entry, rows))

    def enrol(self):
        """From the shim's refusal to the restart."""
        self.wait_for(b"Verification failed", b" OK ")
        self.shown.press("ret")
        self.wait_for(b"Press any key to perform MOK management")
        self.shown.press("ret")
        self.choose(b"Perform MOK management", b"Enroll key from disk")
        self.choose(b"Select Key", b"BARETICK")
        self.choose(b"Select Key", b"baretick.cer")
        self.choose(b"[Enroll MOK]", b"Continue")
        self.choose(b"Enroll the key(s)?", b"Yes")
        self.choose(b"Perform MOK management", b"Reboot")


@needs_shim
def test_with_microsofts_keys_it_runs_by_a_shim_after_its_certificate_was_enrolled(with_shim):
    with guest(MICROSOFTS_KEYS, with_shim) as shown:
        manager = Manager(shown)
        manager.enrol()
        assert b"BARETICK" not in manager.wait_for(b"BARETICK TEXT BEGIN")
        manager.wait_for(b"BARETICK REPORT BEGIN")
        report = json.loads(manager.wait_for(b"BARETICK REPORT END"))
    check_schema(report)
    assert report["verdict"] in ("pass", "warn")
    assert report["machine"]["cores_started"] == 2


@needs_shim
@pytest.mark.long
@pytest.mark.parametrize("how", ["tampered", "unsigned"])
def test_a_shim_refuses_anything_else_after_the_certificate_was_enrolled(with_shim, how, tmp_path):
    with guest(MICROSOFTS_KEYS, altered(with_shim, "EFI/BOOT/grubx64.efi", how, tmp_path)) as shown:
        manager = Manager(shown)
        manager.enrol()
        manager.wait_for(b"Verification failed", b"Security Violation")
        assert b"BARETICK REPORT" not in shown.serial()
