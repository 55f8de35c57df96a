"""qemu/sign: its signatures, the files on its images, and its messages for wrong calls. No test boots."""
import os
import shutil
import struct
import subprocess

import pytest

from fat import Volume
from harness import ROOT

EFI = ROOT / "build" / "baretick.efi"
SIGN = ROOT / "qemu" / "sign"
PARTITION = 2048 * 512

pytestmark = pytest.mark.skipif(not (EFI.exists() and shutil.which("sbsign")),
                                reason="build/baretick.efi, or the package sbsigntool, is not there")


def new_key(folder, name):
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-keyout", key, "-out", cert], check=True, capture_output=True)
    return key, cert


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    return new_key(tmp_path_factory.mktemp("keys"), "one")


@pytest.fixture(scope="module")
def shims(tmp_path_factory):
    """Return a folder with the files of a distribution's shim, under Debian's names."""
    folder = tmp_path_factory.mktemp("shims")
    for name in ("shimx64.efi.signed", "mmx64.efi.signed"):
        (folder / name).write_bytes(name.encode())
    return folder


def sign(folder, *words, **environment):
    done = subprocess.run([SIGN, *map(str, words[:2]), EFI, folder / "signed", *words[2:]], capture_output=True, text=True, timeout=120,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})
    return done.returncode, done.stderr


def on_stick(folder):
    volume = Volume((folder / "signed.img").read_bytes(), PARTITION)
    return {"/": volume.files(""), "boot": volume.files("EFI/BOOT")}


def test_the_signature_is_the_keys_and_the_rest_is_as_it_was(keys, tmp_path):
    assert sign(tmp_path, *keys) == (0, "")
    signed, plain = (tmp_path / "signed.efi").read_bytes(), EFI.read_bytes()
    subprocess.run(["sbverify", "--cert", keys[1], tmp_path / "signed.efi"], check=True, capture_output=True)
    # A signature may change only two fields of the PE/COFF optional header: the checksum, and the address and size of
    # the certificates. The certificates come after the last section.
    optional = struct.unpack_from("<I", plain, 0x3C)[0] + 24
    written = {*range(optional + 64, optional + 68), *range(optional + 144, optional + 152)}
    assert len(signed) > len(plain)
    assert {at for at in range(len(plain)) if signed[at] != plain[at]} <= written
    assert struct.unpack_from("<I", signed, optional + 144)[0] == len(plain)


def test_the_images_have_what_is_signed_and_nothing_of_the_key(keys, tmp_path):
    assert sign(tmp_path, *keys) == (0, "")
    signed = (tmp_path / "signed.efi").read_bytes()
    found = on_stick(tmp_path)
    assert found["boot"] == {"BOOTX64.EFI": signed}
    assert set(found["/"]) == {"README.txt", "baretick.cfg"}
    assert signed in (tmp_path / "signed.iso").read_bytes()


def test_with_a_shim_firmware_starts_that_and_the_certificate_is_there_in_der_form(keys, shims, tmp_path):
    assert sign(tmp_path, *keys, "1", SHIM_FOLDER=str(shims)) == (0, "")
    found = on_stick(tmp_path)
    assert found["boot"] == {"BOOTX64.EFI": b"shimx64.efi.signed", "grubx64.efi": (tmp_path / "signed.efi").read_bytes(),
                             "mmx64.efi": b"mmx64.efi.signed"}
    der = subprocess.run(["openssl", "x509", "-in", keys[1], "-outform", "DER"], check=True, stdout=subprocess.PIPE).stdout
    assert found["/"]["baretick.cer"] == der and set(found["/"]) == {"README.txt", "baretick.cer", "baretick.cfg"}


def test_what_is_wrong_is_a_sentence_and_an_earlier_image_stays(keys, shims, tmp_path):
    other, nothing = new_key(tmp_path, "other"), tmp_path / "nothing"
    key, cert = keys
    (tmp_path / "signed.efi").write_bytes(b"earlier")
    for words, said in (
            (("", cert), "sign: no key: "),
            ((key, ""), "sign: no certificate: "),
            ((nothing, cert), f"sign: {nothing} cannot be read"),
            ((key, nothing), f"sign: {nothing} cannot be read"),
            ((key, key), f"sign: {key} is no certificate in PEM form"),
            ((other[0], cert), f"sign: {other[0]} is not the key of the certificate {cert}"),
            ((cert, cert), f"sign: nothing was signed: is {cert} a private key in PEM form"),
            ((key, cert, "yes"), "sign: SHIM=yes is neither 1 nor 0"),
            ((key, cert, "1"), "The package shim-signed")):
        status, stderr = sign(tmp_path, *words, SHIM_FOLDER=str(tmp_path))
        assert status == 2 and said in stderr.splitlines()[-1], (words, stderr)
    assert (tmp_path / "signed.efi").read_bytes() == b"earlier"
    assert sign(tmp_path, key, cert, "1", SHIM_FOLDER=str(shims)) == (0, "")
