"""The images of `make cloud`. Each must have the format that its cloud requires, two builds must be identical, and a
machine must boot from the image with the cloud's type of disk controller."""
import os
import pathlib
import runpy
import shutil
import struct
import subprocess
import tarfile
import time

import pytest

from harness import ROOT, write_script
from machine import command

MAKE = ROOT / "qemu" / "cloud" / "make-images"
STICK = ROOT / "build" / "baretick.img"
MIB, GIB, SECTOR = 1 << 20, 1 << 30, 512
PASSED = (0x10 << 1) | 1  # QEMU's exit status if 10h is written to isa-debug-exit

pytestmark = pytest.mark.skipif(not shutil.which("qemu-img"), reason="there is no qemu-img: it is in the package qemu-utils")


# tests in one worker share the built images
with_built = pytest.mark.xdist_group("cloud")


@pytest.fixture(scope="module")
def stick(tmp_path_factory):
    """Return a stick without an application, because make-images checks only the disk's layout."""
    folder = tmp_path_factory.mktemp("stick")
    (folder / "some.efi").write_bytes(b"MZ" + bytes(1000))
    subprocess.run([ROOT / "qemu" / "image", folder / "some.efi", folder / "some.img", folder / "some.iso"], check=True, timeout=60)
    return folder / "some.img"


@pytest.fixture(scope="module")
def built(stick, tmp_path_factory):
    """Return the folders of two builds from one stick, at different times."""
    folders = [tmp_path_factory.mktemp(name) for name in ("a", "b")]
    for folder in folders:
        subprocess.run([MAKE, stick, folder], check=True, timeout=120)
        time.sleep(1.1)  # a VHD contains its creation time in seconds, which must differ between the builds
    return folders


@with_built
@pytest.mark.parametrize("suffix", ["vhd", "vdi", "vmdk", "qcow2", "tar.gz"])
def test_two_builds_are_the_same_bytes(built, suffix):
    images = [(folder / f"baretick.{suffix}").read_bytes() for folder in built]
    assert images[0] == images[1] and len(images[0]) > 1000
    assert len(list(built[0].iterdir())) == 5


SHORT_ID = r"""#!/bin/sh
# The real qemu-img, but the content id of a VMDK has leading zeros, which qemu-img leaves out.
"$REAL" "$@" && for last; do :; done
case $last in *.vmdk.new) sed -i '0,/^CID=[0-9a-f]*$/s//CID=7c9150/' "$last";; esac
"""


@with_built
def test_a_content_id_with_leading_zeros_is_replaced_too(built, stick, tmp_path, monkeypatch):
    write_script(tmp_path / "bin" / "qemu-img", SHORT_ID)
    monkeypatch.setenv("REAL", shutil.which("qemu-img"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    runpy.run_path(str(MAKE))["make_vmdk"](stick, str(tmp_path / "baretick.vmdk.new"))
    descriptor = (tmp_path / "baretick.vmdk.new").read_bytes()[512:4096]
    assert descriptor.partition(b"\0")[0] == (built[0] / "baretick.vmdk").read_bytes()[512:4096].partition(b"\0")[0]


@with_built
@pytest.mark.parametrize("suffix, form", [("vhd", "vpc"), ("vdi", "vdi"), ("vmdk", "vmdk"), ("qcow2", "qcow2")])
def test_qemu_reads_the_stick_out_of_each(built, stick, tmp_path, suffix, form):
    subprocess.run(["qemu-img", "convert", "-f", form, "-O", "raw", built[0] / f"baretick.{suffix}", tmp_path / "raw"], check=True, timeout=60)
    assert (tmp_path / "raw").read_bytes() == stick.read_bytes()


@with_built
def test_the_vhd_is_what_azure_takes(built):
    """Azure needs a fixed VHD whose virtual size is a multiple of 1 MiB and at least 20 MiB. The footer follows
    Microsoft's VHD specification 1.0."""
    data = (built[0] / "baretick.vhd").read_bytes()
    footer = data[-SECTOR:]
    cookie, size, kind = footer[:8], struct.unpack_from(">Q", footer, 48)[0], struct.unpack_from(">I", footer, 60)[0]
    assert (cookie, kind) == (b"conectix", 2)
    assert size == len(data) - SECTOR and size % MIB == 0 and size >= 20 * MIB
    assert struct.unpack_from(">I", footer, 64)[0] == ~sum(footer[:64] + footer[68:]) & 0xFFFFFFFF


@with_built
def test_the_tar_is_what_gce_takes(built, stick, tmp_path):
    """GCE needs one file disk.raw of whole GiB in the old GNU format. The GPT's backup table must be at the end of the
    disk."""
    with tarfile.open(built[0] / "baretick.tar.gz") as tar:
        member, = tar.getmembers()
        assert (member.name, member.size, member.issparse()) == ("disk.raw", GIB, True)
        tar.extract(member, tmp_path)
    disk = tmp_path / "disk.raw"
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    said = subprocess.run(["sfdisk", "--verify", disk], check=True, capture_output=True, text=True, env={**os.environ, "PATH": path})
    assert "No errors detected" in said.stdout, said
    with open(disk, "rb") as file:
        assert file.read(SECTOR + 8)[SECTOR:] == b"EFI PART"
        file.seek(-SECTOR, os.SEEK_END)
        assert file.read(8) == b"EFI PART"
        file.seek(MIB)
        assert file.read(38 * MIB) == stick.read_bytes()[MIB:39 * MIB]


def test_a_tool_that_fails_and_a_stick_that_is_not_there_are_named(tmp_path, stick):
    done = subprocess.run([MAKE, tmp_path / "none", tmp_path], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "none" in done.stderr and "Traceback" not in done.stderr
    tools = write_script(tmp_path / "tools" / "qemu-img", "#!/bin/sh\necho no space >&2\nexit 3\n").parent
    done = subprocess.run([MAKE, stick, tmp_path], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"})
    assert done.returncode == 1 and "qemu-img ended with 3: no space" in done.stderr


CONTROLLERS = {
    "ec2": ("img", "raw", ["-device", "nvme,drive=disk,serial=1"]),
    "gce": ("tar.gz", "raw", ["-device", "virtio-scsi-pci", "-device", "scsi-hd,drive=disk"]),
    "azure": ("vhd", "vpc", ["-device", "nvme,drive=disk,serial=1"]),
    "openstack": ("qcow2", "qcow2", ["-device", "virtio-blk-pci,drive=disk"]),
    "vmware": ("vmdk", "vmdk", ["-device", "nvme,drive=disk,serial=1"]),
    "virtualbox": ("vdi", "vdi", ["-device", "ahci,id=ahci", "-device", "ide-hd,bus=ahci.0,drive=disk"]),
}


@pytest.mark.skipif(not STICK.exists(), reason="build/baretick.img is not there: type make image")
@pytest.mark.parametrize("cloud", [each if each == "ec2" else pytest.param(each, marks=pytest.mark.long) for each in CONTROLLERS])
def test_each_image_boots_from_a_controller_of_its_cloud_and_saves_the_report(tmp_path, cloud):
    """Each image must boot and save the report. The test calls QEMU itself, because the runner connects the stick by
    USB. Firmware takes 5 s to start, and then searches for disks."""
    suffix, form, device = CONTROLLERS[cloud]
    if suffix == "img":
        image = shutil.copy(STICK, tmp_path / "baretick.img")
    else:
        subprocess.run([MAKE, STICK, tmp_path], check=True, timeout=120)
        image = tmp_path / f"baretick.{suffix}"
    if suffix == "tar.gz":
        subprocess.run(["tar", "-xSzf", image, "-C", tmp_path], check=True, timeout=60)
        image = tmp_path / "disk.raw"
    code = command.find_firmware(None)
    variables = shutil.copy(command.find_variables_file(code), tmp_path / "vars")
    log = tmp_path / "log"
    done = subprocess.run(["qemu-system-x86_64", "-M", "q35", "-m", "512", "-display", "none", "-no-reboot", "-nodefaults", "-serial", f"file:{log}",
                           "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}", "-drive", f"if=pflash,unit=1,format=raw,file={variables}",
                           "-drive", f"if=none,id=disk,format={form},file={image}", *device, "-device", "isa-debug-exit,iobase=0x501,iosize=2",
                           "-fw_cfg", "name=opt/baretick/options,string=profile=quick duration=10ms clocks=tsc cores=off serial=compact exit=debug-exit"],
                          timeout=240, check=False)
    said = log.read_bytes()
    assert done.returncode == PASSED and b"BARETICK COMPACT END" in said, said[-2000:].decode("ascii", "replace")
    assert pathlib.Path(image).exists() and rb"\baretick\0001" in said
