"""Machine owner keys (MOK): a guest whose firmware has Microsoft's keys, and a simulated user who enrols a certificate
in shim's MokManager."""
import os
import re
import shutil
import struct
import subprocess
import time
import uuid

from harness import ROOT
from machine.variables import ADDED, HEADER, START
from next import firmware
from screens import BOUND_S, POLL_S, screen

# firmware with Microsoft's keys, from the package ovmf of Debian and Ubuntu
MICROSOFTS_KEYS = "/usr/share/OVMF/OVMF_CODE_4M.ms.fd"
# Firmware with a test key, from the same package, which includes the private key.
OWN_KEYS = "/usr/share/OVMF/OVMF_CODE_4M.snakeoil.fd"
TEST_KEY, TEST_CERT = "/usr/share/ovmf/PkKek-1-snakeoil.key", "/usr/share/ovmf/PkKek-1-snakeoil.pem"
PASS_PHRASE = "snakeoil"
SHIM = subprocess.run([ROOT / "qemu" / "find", "shim"], capture_output=True, text=True, check=False).stdout.strip()

TWO_CORES = ["--cpus", "2", "--boot", "usb"]
WORDS = ["profile=quick", "duration=10ms", "clocks=tsc,hpet"]
# In a menu of MokManager, the chosen row is black and has a frame. EDK II wrote the frame in code page 437, and has
# written it in UTF-8 since 2026.
FRAME = rb"(?:\xb3|\xe2\x94\x82)"
CHOSEN = re.compile(rb"\x1b\[37m\x1b\[40m\x1b\[\d+;\d+H" + FRAME + rb" *([^ \xb3\xe2][^\xb3\xe2]*?) *" + FRAME)
ENTRIES_MAX = 8
# The field Attributes of a UEFI variable: its offset, and NON_VOLATILE + BOOTSERVICE_ACCESS. A list of keys must not
# have RUNTIME_ACCESS, otherwise shim deletes it, because an operating system could change it.
ATTRIBUTES, BOOT_SERVICES_ONLY = 4, 3
# EDK II's file of variables: the first variable follows the headers of the volume (72 bytes) and of the variable store
# (28 bytes).
FIRST_VARIABLE, VARIABLE_ALIGNMENT = 72 + 28, 4


def guest(firmware, image, *words, pixels=(800, 600)):
    """Start a machine for a user at its keyboard. A reset restarts the machine and does not end QEMU, because the
    machine's firmware must keep the enrolled keys."""
    more = [*TWO_CORES, "--firmware", firmware, "--image", image, "--qemu-arg=-action", "--qemu-arg=reboot=reset"]
    return screen((80, 25), pixels, [*WORDS, *words], *more)


def can_sign():
    """Return true if the test can sign applications: there is firmware with a test key, the private key, and sbsign."""
    return os.path.exists(OWN_KEYS) and os.path.exists(TEST_KEY) and bool(shutil.which("sbsign"))


def key_pair(folder):
    """Return the private key that belongs to OWN_KEYS, stored without its pass phrase, and the key's certificate."""
    key = folder / "key"
    subprocess.run(["openssl", "pkey", "-in", TEST_KEY, "-passin", f"pass:{PASS_PHRASE}", "-out", key], check=True, capture_output=True)
    return key, TEST_CERT


def with_mok(store, der):
    """Return the firmware's variables STORE with the certificate DER added as a machine owner key, like MokManager
    does."""
    name = "MokList\0".encode("utf-16-le")
    vendor = uuid.UUID(dict(firmware.KEYS)["MokListRT"]).bytes_le
    size = firmware.OWNER_SIZE + len(der)
    keys = firmware.CERTIFICATES + struct.pack("<III", firmware.LIST_SIZE + size, 0, size) + bytes(firmware.OWNER_SIZE) + der
    variable = bytearray(HEADER.pack(START, ADDED, len(name), len(keys), vendor) + name + keys)
    struct.pack_into("<I", variable, ATTRIBUTES, BOOT_SERVICES_ONLY)
    at = FIRST_VARIABLE
    while store[at:at + 2] == struct.pack("<H", START):
        *_, name_size, data_size, _ = HEADER.unpack_from(store, at)
        at += HEADER.size + name_size + data_size
        at += -at % VARIABLE_ALIGNMENT
    assert store[at:at + len(variable)] == b"\xff" * len(variable), "the store has no space"
    return store[:at] + variable + store[at + len(variable):]


class Manager:
    """Operates MokManager, which also prints its screen on the serial line."""

    def __init__(self, shown, look=lambda: None):
        """LOOK is called for each screen before the user leaves it."""
        self.shown, self._look, self._at = shown, look, 0

    def _leave(self):
        self._look()
        self.shown.press("ret")

    def _new(self):
        return self.shown.serial()[self._at:]

    def wait_for(self, *words):
        """Wait until the output has all WORDS in this order, after the words of earlier calls. Return the output before
        the last of WORDS."""
        for word in words:
            end = time.monotonic() + BOUND_S
            while (at := self._new().find(word)) < 0:
                assert time.monotonic() < end, (word, self._new()[-4000:])
                time.sleep(POLL_S)
            before, self._at = self._new()[:at], self._at + at + len(word)
        return before

    def choose(self, title, entry):
        """Choose the row ENTRY in the menu TITLE. MokManager draws the menu again after each key."""
        self.wait_for(title)
        for drawn in range(1, ENTRIES_MAX):
            end = time.monotonic() + BOUND_S
            while len(rows := CHOSEN.findall(self._new())) < drawn:
                assert time.monotonic() < end, (title, entry, self._new()[-4000:])
                time.sleep(POLL_S)
            if rows[-1] == entry:
                return self._leave()
            self.shown.press("down")
        raise AssertionError((title, entry, rows))

    def enrol(self):
        """Do all steps of an enrolment, from shim's refusal to the restart."""
        self.wait_for(b"Verification failed", b" OK ")
        self._leave()
        self.wait_for(b"Press any key to perform MOK management")
        self._leave()
        self.choose(b"Perform MOK management", b"Enroll key from disk")
        self.choose(b"Select Key", b"BARETICK")
        self.choose(b"Select Key", b"baretick.cer")
        self.choose(b"[Enroll MOK]", b"Continue")
        self.choose(b"Enroll the key(s)?", b"Yes")
        self.choose(b"Perform MOK management", b"Reboot")
