"""The images for a stick and a CD. Two builds of a commit must give the same bytes, and the layout must be as firmware
and Windows expect it."""
import json
import os
import struct
import subprocess
import time

import pytest

from fat import Volume
from harness import ROOT

FAT_TIME_STEP_S = 2  # resolution of a file's date on FAT, in seconds
SECTOR = 512
PAYLOAD = b"MZ" + bytes(range(256)) * 500


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the images of two builds, at different times and in different time zones: [(img, iso), (img, iso)]."""
    folder = tmp_path_factory.mktemp("images")
    efi = folder / "some.efi"
    efi.write_bytes(PAYLOAD)
    found = []
    for name, zone in (("a", "UTC"), ("b", "Asia/Tokyo")):
        images = folder / f"{name}.img", folder / f"{name}.iso"
        subprocess.run([ROOT / "qemu" / "image", efi, *images], check=True, timeout=60,
                       env={**os.environ, "TZ": zone})
        found.append([image.read_bytes() for image in images])
        time.sleep(FAT_TIME_STEP_S + 0.1)
    return found


@pytest.mark.parametrize("which", [0, 1], ids=["img", "iso"])
def test_two_builds_are_byte_identical(built, which):
    assert built[0][which] == built[1][which]


def test_the_mbr_has_the_protective_entry_and_an_active_fat32_partition_that_windows_shows(built):
    """The entry of type EEh must start at sector 1 and must not be active (UEFI 2.10, 5.2.3)."""
    table = built[0][0][446:510]
    entries = [struct.unpack("<B3xB3xII", table[i:i + 16]) for i in range(0, 64, 16)]
    assert entries[0] == (0, 0xEE, 1, 2047)
    assert entries[1] == (0x80, 0x0C, 2048, 38 * 2048)
    assert entries[2:] == [(0, 0, 0, 0)] * 2
    assert built[0][0][510:512] == b"\x55\xaa"


def test_the_gpt_has_the_same_partition_as_an_efi_system_partition_and_is_whole(built, tmp_path):
    """sfdisk checks both headers and both tables of the GPT. This test must also work if sfdisk is not in the user's
    PATH."""
    stick = tmp_path / "stick"
    stick.write_bytes(built[0][0])
    tools = {"env": {**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"}, "capture_output": True, "text": True, "check": True}
    said = json.loads(subprocess.run(["sfdisk", "--json", stick], **tools).stdout)["partitiontable"]
    partition, = said["partitions"]
    assert said["label"] == "gpt"
    assert (partition["start"], partition["size"], partition["type"]) == (2048, 38 * 2048, "C12A7328-F81F-11D2-BA4B-00A0C93EC93B")
    verified = subprocess.run(["sfdisk", "--verify", stick], **tools)
    assert "No errors detected" in verified.stdout, verified
    assert built[0][0][-SECTOR:].startswith(b"EFI PART")


def test_the_partition_is_large_enough_to_be_fat32(built):
    """The volume must have at least 65,525 clusters, otherwise it is not FAT32 (Microsoft's FAT specification, "FAT
    Type Determination")."""
    boot = built[0][0][2048 * SECTOR:2049 * SECTOR]
    bytes_per_sector, sectors_per_cluster, reserved, fats = struct.unpack_from("<HBHB", boot, 11)
    hidden, total, fat_sectors = struct.unpack_from("<III", boot, 28)
    assert (bytes_per_sector, hidden) == (SECTOR, 2048)
    assert (total - reserved - fats * fat_sectors) // sectors_per_cluster >= 65525


@pytest.mark.parametrize("name, begins", [("EFI/BOOT/BOOTX64.EFI", PAYLOAD), ("baretick.cfg", b"# Options"),
                                          ("README.txt", b"baretick measures the clocks")],
                         ids=["application", "options", "how-to-use-it"])
def test_the_files_are_on_the_stick(built, tmp_path, name, begins):
    stick = tmp_path / "stick"
    stick.write_bytes(built[0][0])
    done = subprocess.run(["mtype", "-i", f"{stick}@@1M", f"::/{name}"], check=True, capture_output=True)
    assert done.stdout.startswith(begins)


def test_label_and_serial_number_are_fixed(built):
    """The fields BS_VolID and BS_VolLab in the boot sector of FAT32 (Microsoft's FAT specification) must have the same
    values in all images."""
    boot = built[0][0][2048 * SECTOR:2049 * SECTOR]
    assert struct.unpack_from("<I11s", boot, 67) == (0x62746B31, b"BARETICK   ")


def test_the_reports_folder_takes_255_runs_without_growing(built):
    """The folder must have free entries for 255 runs. Each run has two entries in the folder: NNNN.new, and the final
    name. "." and ".." come first."""
    image = built[0][0]
    volume = Volume(image, 2048 * SECTOR)
    entries = volume.content(volume.find("baretick").cluster)
    assert volume.folder("baretick") == {}
    assert entries[64:].count(0) == len(entries[64:]) == (2 * 255) * 32


def test_every_option_of_the_shipped_file_is_commented_out():
    for line in (ROOT / "qemu" / "baretick.cfg").read_text().splitlines():
        assert not line or line.startswith("#"), line


def test_the_cd_boots_by_uefi_and_as_a_stick(built):
    """El Torito must have the platform EFh (UEFI 2.10, 13.3.2.1). The MBR must have a system partition of type EFh
    (5.2.1) at the same place."""
    iso = built[0][1]
    boot_record = iso[17 * 2048:18 * 2048]
    assert boot_record[7:39].rstrip(b"\0") == b"EL TORITO SPECIFICATION"
    catalog = iso[struct.unpack_from("<I", boot_record, 71)[0] * 2048:]
    assert catalog[1] == 0xEF
    start = struct.unpack_from("<I", catalog, 32 + 8)[0] * 2048
    kinds = {iso[446 + 16 * i + 4]: struct.unpack_from("<I", iso, 446 + 16 * i + 8)[0] for i in range(4)}
    assert kinds[0xEF] * SECTOR == start
    assert iso[start + 54:start + 59] == b"FAT12"
