"""Firmware that enforces Secure Boot runs only signed applications. The firmware trusts signatures by its own key,
and shim trusts signatures by an enrolled certificate."""
import json
import os
import re
import shutil
import subprocess

import pytest

from boots import EFI, EFI_BUILT, checked, qemu
from harness import NO_SCREEN, ROOT, TCG, check_schema
from mok import MICROSOFTS_KEYS, OWN_KEYS, SHIM, WORDS, Manager, can_sign, guest, key_pair
from stick import folders, mtools, volume_of

# With a second core, this firmware needs five times the processor time: all cores enter each system management interrupt.
ONE_CORE = [*TCG, *NO_SCREEN, "--boot", "usb", "--cpus", "1", "--firmware", OWN_KEYS]
needs_shim = pytest.mark.skipif(not os.path.exists(SHIM), reason="the package shim-signed is not there")
pytestmark = [EFI_BUILT, pytest.mark.skipif(not can_sign(), reason="firmware with keys, or the package sbsigntool, is not there")]


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return key_pair(tmp_path_factory.mktemp("keys"))


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
    """Change one bit in a sentence. Without Secure Boot, the changed application would still run."""
    at = data.index(b"Powering off.")
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


def altered(stick, name, how, folder):
    """Return a copy of STICK with another application NAME: the unsigned application if HOW is "unsigned", otherwise
    the signed application with one changed bit."""
    copy, file = folder / how, folder / "application"
    shutil.copyfile(stick, copy)
    application = mtools(copy, "mtype", f"::/{name}")
    file.write_bytes(EFI.read_bytes() if how == "unsigned" else tampered(application))
    mtools(copy, "mcopy", "-o", file, f"::/{name}")
    assert mtools(copy, "mtype", f"::/{name}") != application
    return copy


def test_the_firmware_runs_what_is_signed_and_refuses_anything_else(run, signed, tmp_path):
    """The firmware has three sticks. It refuses the unsigned and the tampered application and runs the signed one to its
    verdict. Only the stick with the signed one gets a report."""
    unsigned, tampered_stick = (altered(signed, "EFI/BOOT/BOOTX64.EFI", how, tmp_path) for how in ("unsigned", "tampered"))
    last = tmp_path / "signed"
    shutil.copyfile(signed, last)
    more = [word for number, stick in enumerate((tampered_stick, last), 1)
            for word in ("-drive", f"if=none,id=stick{number},format=raw,file={stick}",
                         "-device", f"usb-storage,drive=stick{number},bootindex={number},removable=on")]
    done = run(*ONE_CORE, "--image", unsigned, *qemu(*more), "--", *WORDS)
    assert checked(done, started=1)["verdict"] in ("pass", "warn")
    tries = re.findall(rb"(failed to load|starting) Boot.*/USB\(0x(\d),0x0\)(: Access Denied)?", done.file("serial.log"))
    assert tries == [(b"failed to load", b"0", b": Access Denied"), (b"failed to load", b"1", b": Access Denied"), (b"starting", b"2", b"")]
    assert [folders(volume_of(stick.read_bytes())) for stick in (done.out / "stick.img", tampered_stick)] == [{}, {}]
    (number, files), = folders(volume_of(last.read_bytes())).items()
    assert number == "0001" and files["report.json"] == done.file("report.json")


@pytest.mark.long
def test_what_is_signed_by_another_key_is_refused(signed):
    with guest(MICROSOFTS_KEYS, signed) as shown:
        shown.wait_for_serial(b"No bootable option or device was found")
        said = shown.serial()
    assert re.search(rb"failed to load Boot\d{4} .*USB.*: Access Denied", said)
    assert b"BARETICK" not in said


def test_the_runner_says_who_refused_what_is_not_signed_and_does_not_wait(run):
    done = run(*ONE_CORE, "--timeout", "500")
    assert (done.status, done.stderr.splitlines()[0]) == (2, "qemu/run: the firmware found nothing to boot: the firmware printed Access Denied, "
                                                             "as Secure Boot does for an unsigned application (`make sign` signs it)")


@needs_shim
@pytest.mark.long
def test_with_microsofts_keys_it_runs_by_a_shim_after_its_certificate_was_enrolled(with_shim):
    """Takes 10 to 32 s of processor time, because the certificate is enrolled by keys in shim's screens, before a second
    start of the firmware. The short tests of the image for shim are in qemu/test_sign.py and test_image.py."""
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
