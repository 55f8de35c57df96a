"""Loaders that start baretick without UEFI: GRUB, ISOLINUX and PXELINUX on a machine with a BIOS, and QEMU's -kernel
with the Linux boot protocol."""
import pathlib
import shutil
import struct
import subprocess

import pytest

from boots import SHORT, checked, clocks, qemu
from harness import BY_INSTRUCTIONS, QUICK_BARE, ROOT
from test_bare import ALL, ELF, LINE_MAX

BIN = ROOT / "build" / "baretick.bin"
GRUB_FOR_BIOS, SEABIOS = pathlib.Path("/usr/lib/grub/i386-pc"), pathlib.Path("/usr/share/seabios/bios-256k.bin")
ISOLINUX, PXELINUX = pathlib.Path("/usr/lib/ISOLINUX/isolinux.bin"), pathlib.Path("/usr/lib/PXELINUX/pxelinux.0")
LDLINUX = pathlib.Path("/usr/lib/syslinux/modules/bios/ldlinux.c32")
SETUP_SIZE = 0x1400  # number of bytes in baretick.bin before the image (Linux's setup code)
BOOT_IMAGE = 'The words "BOOT_IMAGE='

pytestmark = [pytest.mark.skipif(not ELF.exists() or not BIN.exists(), reason="build/baretick.elf and .bin are not there: type make"),
              pytest.mark.skipif(not SEABIOS.exists(), reason=f"{SEABIOS} is not there: it is in the package seabios")]


def needed(*files):
    for file in files:
        if not file.exists():
            pytest.skip(f"{file} is not there: it is in the packages grub-pc-bin, grub-common, isolinux, pxelinux and syslinux-common")


def complete(report, firmware):
    assert report["machine"]["firmware"].startswith(firmware), report["machine"]
    assert all(clocks(report)[name]["latency"]["count"] for name in ALL)
    assert not [found for found in report["findings"] if found["severity"] == "fail"], report["findings"]


def from_cd(run, cd, firmware):
    """Return the report of a machine with a BIOS that boots from CD. The loader on the CD sets label=rack."""
    report = checked(run("--accel", "tcg", *BY_INSTRUCTIONS, "--boot", "cd", "--image", cd, "--firmware", SEABIOS, "--cpus", "2", "--", *SHORT), 2)
    complete(report, firmware)
    assert report["options"]["label"] == "rack"
    return report


@pytest.mark.parametrize("command", ["multiboot2", "linux", pytest.param("linux16", marks=pytest.mark.long)])
def test_grub_on_a_machine_with_a_bios_starts_it_with_its_options(run, tmp_path, command):
    """GRUB on a machine with a BIOS starts the image, and the image gets its options. After a BIOS, the PIT runs, the
    PICs are enabled, and memory contains the BIOS's data."""
    needed(GRUB_FOR_BIOS, pathlib.Path("/usr/bin/grub-mkrescue"))
    image, firmware = (ELF, "multiboot2, GRUB") if command == "multiboot2" else (BIN, "Linux boot protocol, loader type 72h")
    tree = tmp_path / "tree" / "boot" / "grub"
    tree.mkdir(parents=True)
    shutil.copy(image, tree.parent)
    (tree / "grub.cfg").write_text(f"{command} /boot/{image.name} label=rack\nboot\n")
    subprocess.run(["grub-mkrescue", "-d", GRUB_FOR_BIOS, "-o", tmp_path / "grub.iso", tmp_path / "tree",
                    f"--install-modules=iso9660 {command} biosdisk normal configfile", "--fonts=", "--locales=", "--themes="],
                   check=True, capture_output=True, timeout=120)
    report = from_cd(run, tmp_path / "grub.iso", f"none ({firmware}")
    assert image == ELF or any(note.startswith(BOOT_IMAGE) for note in report["notes"]), report["notes"]


def syslinux_tree(folder, configuration, words, *files):
    """Put FILES, the image, and a CONFIGURATION that starts the image with WORDS into FOLDER."""
    (folder / configuration).parent.mkdir(parents=True)
    for file in (BIN, LDLINUX, *files):
        shutil.copy(file, folder)
    (folder / configuration).write_text("DEFAULT it\nPROMPT 0\nLABEL it\n LINUX baretick.bin\n" f" APPEND {words}\n")


def isolinux_cd(folder, words):
    """Make a CD in FOLDER whose ISOLINUX passes WORDS to the image."""
    needed(ISOLINUX, LDLINUX)
    syslinux_tree(folder / "cd", "isolinux.cfg", words, ISOLINUX)
    subprocess.run(["xorriso", "-as", "mkisofs", "-quiet", "-o", folder / "linux.iso", "-b", "isolinux.bin", "-c", "boot.cat",
                    "-no-emul-boot", "-boot-load-size", "4", "-boot-info-table", folder / "cd"],
                   check=True, capture_output=True, timeout=60)
    return folder / "linux.iso"


def test_isolinux_starts_it_in_real_mode(run, tmp_path):
    from_cd(run, isolinux_cd(tmp_path, "label=rack"), "none (Linux boot protocol, loader type 30h)")


@pytest.mark.parametrize("machine", ["pc", "microvm"])
def test_qemu_starts_the_image_for_linux_in_real_mode(run, machine):
    report = checked(run(*QUICK_BARE, "--image", BIN, "--machine", machine, "--cpus", "2", *qemu("-append", "label=rack"), "--", *SHORT), 2)
    assert report["machine"]["firmware"] == "none (Linux boot protocol, loader type b0h)", report["machine"]
    assert report["options"]["label"] == "rack"
    assert [row["id"] for row in report["clocks"] if row["state"] == "present" and not row["latency"]["count"]] == []


@pytest.mark.parametrize("length", [LINE_MAX + 1, 65536 - 4096])
def test_a_line_that_is_too_long_for_linux_image_is_an_error(run, length):
    words = "exit=debug-exit #" + "x" * (length - 17)
    done = run(*QUICK_BARE, "--image", BIN, "--cpus", "1", *qemu("-append", words), "--", "exit=reboot")
    assert done.status == 2, done
    assert f"In the command line: the options are {length} bytes long; the maximum is {LINE_MAX} bytes" in done.stdout + done.stderr


@pytest.mark.long
def test_pxelinux_starts_it_over_the_network(tmp_path):
    """PXELINUX must start the image and pass the option in its configuration. The test calls QEMU itself, because the
    runner has no network. It takes some seconds, because the network card's ROM waits for its link."""
    needed(PXELINUX, LDLINUX)
    syslinux_tree(tmp_path / "tftp", "pxelinux.cfg/default", "label=rack", PXELINUX)
    log = tmp_path / "log"
    subprocess.run(["qemu-system-x86_64", "-M", "q35", "-m", "512", "-display", "none", "-no-reboot", "-nodefaults", "-serial", f"file:{log}",
                    "-netdev", f"user,id=net,tftp={tmp_path / 'tftp'},bootfile=pxelinux.0", "-device", "e1000,netdev=net,bootindex=0",
                    "-fw_cfg", "name=opt/baretick/options,string=profile=quick duration=10ms cores=off exit=poweroff serial=summary"],
                   check=True, timeout=120)
    said = log.read_text("ascii")
    assert "BARETICK TEXT END" in said and 'label="rack"' in said and "Linux boot protocol" in said, said[-2000:]


MULTIBOOT2_HEADER = struct.pack("<II", 0xE85250D6, 0)  # magic number and architecture: Multiboot2 Specification 2.0, 3.1.1


def entry_of(definitions):
    """Return the address at which a loader of the protocol in DEFINITIONS enters the image."""
    elf = ELF.read_bytes()
    at = elf.index(MULTIBOOT2_HEADER) + 24 if "MULTIBOOT2" in definitions else elf.index(b"Xen\0") + 4 if "PVH" in definitions else 24
    return struct.unpack_from("<I", elf, at)[0]


def loader_of(folder, words, *definitions):
    """Make a loader from tests/boot/loader.nasm that QEMU's -kernel starts, and that starts the image."""
    subprocess.run(["nasm", "-f", "bin", f'-DIMAGE="{BIN}"', f"-DSKIP={SETUP_SIZE}", f"-DENTRY={entry_of(definitions)}", f'-DWORDS="{words}"',
                    *(f"-D{each}" for each in definitions), "-o", folder / "loader.elf", ROOT / "tests" / "boot" / "loader.nasm"],
                   check=True, timeout=60)
    return folder / "loader.elf"


def test_a_loader_may_enter_in_64_bit_mode(run, tmp_path):
    """The loader enters the image in 64-bit mode, as crosvm and libkrun start an ELF file. They pass no address of the
    RSDP, and the memory after the image is not zero. The report must be complete."""
    # Linux's protocol puts the 64-bit entry 200h after the start of baretick.bin's image
    assert struct.unpack_from("<Q", ELF.read_bytes(), 24)[0] == 0x100200
    loader = loader_of(tmp_path, "label=rack virtio_mmio.device=4K@0xd0000000:5 --")
    report = checked(run(*QUICK_BARE, "--image", loader, "--cpus", "2", "--", *SHORT), 2)
    complete(report, "none (Linux boot protocol, loader type ffh)")
    assert report["options"]["label"] == "rack"


NO_MAP, NO_INFO = "the loader passed no memory map (PVH start info has one from version 1 on)", "the loader passed no start info (PVH); QEMU overwrites it if -append is too long"
NO_MAP_2, NO_INFO_2 = "the loader passed no memory map (multiboot2)", "the loader passed no boot information (multiboot2)"
TOO_LITTLE = "this machine has too little memory for a report"
ABSENT = "0c0000000h"  # an address without memory
UNUSABLE = [
    (["RANGES=0"], "the loader passed no memory map (Linux boot protocol)"),
    (["MAGIC=0"], "the loader passed no boot parameters (Linux boot protocol)"),
    (["PVH", "RANGES=0"], NO_MAP),
    (["PVH", "RANGES=0xffffffff"], NO_MAP),
    (["PVH", "VERSION=0"], NO_MAP),
    (["PVH", "MAGIC=0"], NO_INFO),
    (["PVH", "HANDED=0"], NO_INFO),
    (["RAM_END=1d0000h"], TOO_LITTLE),
    (["PVH", "RAM_END=1d0000h"], TOO_LITTLE),
    (["PVH", "RAM_END=300000h"], TOO_LITTLE),
    (["PVH", f"HANDED={ABSENT}"], NO_INFO),
    (["PVH", "HANDED=0fffffff8h"], NO_INFO),
    (["PVH", f"PATCH=mov dword [PARAMS + 40], {ABSENT}"], TOO_LITTLE),  # the address of the map
    (["MULTIBOOT2", "HANDED=0"], NO_INFO_2),
    (["MULTIBOOT2", f"HANDED={ABSENT}"], NO_INFO_2),
    (["MULTIBOOT2", "INFO_SIZE=0"], NO_INFO_2),
    (["MULTIBOOT2", "INFO_SIZE=-1"], NO_INFO_2),
    (["MULTIBOOT2", "ENTRY_SIZE=0"], NO_MAP_2),
    (["MULTIBOOT2", "ENTRY_SIZE=-8"], NO_MAP_2),
    (["MULTIBOOT2", "MAP_SIZE=0"], NO_MAP_2),
    (["MULTIBOOT2", "MAP_SIZE=-1"], NO_MAP_2),
    (["MULTIBOOT2", "LOW=2", f"RAM_BEGIN={ABSENT}", "RAM_END=0f0000000h"], TOO_LITTLE),
]


@pytest.mark.parametrize("definitions, sentence", UNUSABLE, ids=[" ".join(definitions) for definitions, _ in UNUSABLE])
def test_a_loader_that_hands_over_nothing_usable_is_an_error(run, tmp_path, definitions, sentence):
    done = run(*QUICK_BARE, "--image", loader_of(tmp_path, "", *definitions), "--cpus", "2", "--timeout", "60", "--", *SHORT)
    assert done.status == 2, done
    assert f"error: {sentence}\n" in done.file("serial.log").decode("ascii").replace("\r", ""), done


def test_a_memory_map_without_memory_below_1_mib_leaves_the_other_cores_alone(run, tmp_path):
    report = checked(run(*QUICK_BARE, "--image", loader_of(tmp_path, "", "LOW=2"), "--cpus", "2", "--", *SHORT, "clocks=tsc", "irq=off"), 1)
    assert "There is too little memory to start cores, or none below 1 MiB." in report["notes"], report["notes"]


@pytest.mark.parametrize("definitions", [["RAM_END=0ffffffffffffffffh", "RAM_BEGIN=0"], ["PVH", "RAM_END=0ffffffffffffffffh", "RAM_BEGIN=0"], ["PVH", "RAM_END=0fffff000h"]],
                         ids=" ".join)
def test_memory_that_only_the_map_claims_is_not_used(run, tmp_path, definitions):
    """The map claims RAM up to 2^64 - 1, or up to the BIOS's flash memory, on a machine with less. baretick must try memory
    before it uses it, also below 1 MiB, where the second core starts."""
    report = checked(run(*QUICK_BARE, "--memory", "256", "--image", loader_of(tmp_path, "", *definitions), "--cpus", "2", "--", *SHORT,
                         "clocks=tsc,pit", "irq=off"), 2)
    assert report["machine"]["cores_started"] == 2 and all(clocks(report)[name]["latency"]["count"] for name in ("tsc", "pit"))


def test_a_map_that_contradicts_itself_and_tags_of_wrong_sizes_do_no_harm(run, tmp_path):
    """The ranges overlap and are not sorted. Tags for a framebuffer and for two RSDPs are too short, and no tag is the last. The RSDP
    must be found in the BIOS area."""
    more = "dq 0fffffffffffff000h, -1, 1, 0f000000h, 1000000h, 1, 200000h, 0fe00000h, 1, 300000h, 4000000h, 2, 0, 0, 1"
    tags = "dd 8, 16, -1, -1, 14, 8, 15, 12, 0, 0"
    loader = loader_of(tmp_path, "label=rack", "MULTIBOOT2", f"MORE={more}", f"TAGS={tags}", "INFO_SIZE=info_end - info - 8")
    report = checked(run(*QUICK_BARE, "--image", loader, "--cpus", "1", "--", *SHORT), 1)
    complete(report, "none (multiboot2, a loader without a name)")
    assert report["options"]["label"] == "rack" and not [found for found in report["findings"] if found["rule"] == "acpi-table"]


@pytest.mark.parametrize("address", ["8000000h", "0ffffffffffffffffh"])
def test_an_rsdp_that_is_none_leaves_the_clocks_of_acpi_absent(run, tmp_path, address):
    report = run(*QUICK_BARE, "--image", loader_of(tmp_path, "", "PVH", f"RSDP={address}"), "--cpus", "1", "--", *SHORT,
                 "clocks=tsc,pit,acpi_pm", "irq=off").report
    assert clocks(report)["acpi_pm"]["state"] == "absent" and clocks(report)["pit"]["latency"]["count"], report
    assert any("ACPI" in note for note in report["notes"]), report["notes"]
