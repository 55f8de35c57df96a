"""Boot loaders that start baretick and pass options on. Each loader replaces the application on a stick."""
import pathlib
import shutil
import subprocess
import types

import pytest

from boots import EFI, IMAGE_BUILT, checked, qemu
from linux import grub_file
from next.loaders import Grub
from next.system import System
from stick import PARTITION, REAL_TIME_STICK, copy_of_stick, folders, mtools, volume_of

pytestmark = IMAGE_BUILT

APPLICATION = "/EFI/baretick/baretick.efi"
IPXE = pathlib.Path("/usr/lib/ipxe/ipxe.efi")
OPTIONS = "profile=quick duration=10ms clocks=tsc cores=off label={loader}"

GRUB_MODULES = "part_msdos part_gpt fat chain search search_fs_file search_fs_uuid configfile loadenv test reboot"


def grub(folder, options):
    """Make a GRUB in one file that starts baretick with OPTIONS."""
    text = f"search --no-floppy --set=root --file {APPLICATION}\nchainloader {APPLICATION} {options}\nboot\n"
    return grub_file(folder, text, GRUB_MODULES), {}


def systemd_boot(_, options):
    return "/usr/lib/systemd/boot/efi/systemd-bootx64.efi", {
        "/loader/loader.conf": "timeout 0\ndefault baretick.conf\n",
        "/loader/entries/baretick.conf": f"title baretick\nefi {APPLICATION}\noptions {options}\n"}


def refind(_, options):
    return "/usr/share/refind/refind/refind_x64.efi", {
        "/EFI/BOOT/refind.conf": "timeout 1\ntextonly\nscanfor manual\n"
                                 f'menuentry "baretick" {{\n loader {APPLICATION}\n options "{options}"\n}}\n'}


@pytest.mark.parametrize("make", [
    systemd_boot, pytest.param(grub, marks=pytest.mark.long), pytest.param(refind, marks=pytest.mark.long)])
def test_a_loader_starts_baretick_with_its_options_and_the_report_is_on_its_volume(run, tmp_path, make):
    name = make.__name__
    loader, files = make(tmp_path, OPTIONS.format(loader=name))
    if not pathlib.Path(loader).exists():
        pytest.skip(f"there is no {loader}: {name} is not installed")
    stick = copy_of_stick(tmp_path)
    for folder in ("/EFI/baretick", "/loader", "/loader/entries"):
        mtools(stick, "mmd", f"::{folder}")
    mtools(stick, "mcopy", EFI, f"::{APPLICATION}")
    mtools(stick, "mcopy", "-o", loader, "::/EFI/BOOT/BOOTX64.EFI")
    for path, text in files.items():
        source = tmp_path / pathlib.Path(path).name
        source.write_text(text)
        mtools(stick, "mcopy", source, f"::{path}")
    done = run(*REAL_TIME_STICK, "--image", stick)
    report = checked(done)
    assert report["options"]["label"] == name
    assert report["options"]["duration_ms"] == 10 and report["options"]["cores"] == "off"
    assert folders(volume_of(done.file("stick.img")))["0001"]["report.json"] == done.file("report.json")


# Commands of iPXE. The second are those that netboot.xyz makes from an entry with `type: direct`, in its template
# roles/netbootxyz/templates/menu/utils-efi.ipxe.j2, without the line `initrd`.
@pytest.mark.long
@pytest.mark.parametrize("commands", ["chain {url} {options}", "imgfree\nkernel {url} {options}\nboot"], ids=["chain", "netboot.xyz"])
def test_ipxe_fetches_baretick_with_its_options_and_the_report_comes_by_the_serial_line(run, tmp_path, commands):
    if not IPXE.exists():
        pytest.skip(f"there is no {IPXE}: it is in the package ipxe")
    served, stick = tmp_path / "served", copy_of_stick(tmp_path)
    served.mkdir()
    shutil.copy(EFI, served)
    text = commands.format(url=f"tftp://10.0.2.2/{EFI.name}", options=OPTIONS.format(loader="ipxe"))
    (served / "script").write_text(f"#!ipxe\n{text}\n")
    mtools(stick, "mcopy", "-o", IPXE, "::/EFI/BOOT/BOOTX64.EFI")
    done = run(*REAL_TIME_STICK, "--image", stick, *qemu("-netdev", f"user,id=net,tftp={served},bootfile=script",
                                               "-device", "virtio-net-pci,netdev=net,romfile="))
    report = checked(done)
    assert report["options"]["label"] == "ipxe" and report["options"]["duration_ms"] == 10
    assert folders(volume_of(done.file("stick.img"))) == {}


# Part of the grub.cfg that GRUB 2.06's grub-mkconfig writes: next_entry chooses the entry for the next start only.
MENU = """load_env
if [ "${next_entry}" ] ; then
   set default="${next_entry}"
   set next_entry=
   save_env next_entry
fi
set timeout=0
menuentry 'Linux' {
  halt
}
source ${config_directory}/custom.cfg
"""


@pytest.mark.long
def test_grub_starts_the_entry_of_nextboot_and_takes_the_choice_back(run, tmp_path):
    folder = tmp_path / "root/boot/grub"
    folder.mkdir(parents=True)
    (folder / "grub.cfg").write_text(MENU)
    loader = grub_file(tmp_path, "search --no-floppy --set=root --file /grub/grub.cfg\nset prefix=($root)/grub\n"
                                 "configfile ($root)/grub/grub.cfg\n", GRUB_MODULES)
    subprocess.run(["grub-editenv", folder / "grubenv", "create"], check=True, timeout=60)
    before = (folder / "grubenv").read_bytes()
    stick = copy_of_stick(tmp_path)
    uuid = subprocess.run(["blkid", "-p", "-O", str(PARTITION), "-s", "UUID", "-o", "value", stick], check=True, capture_output=True,
                          text=True, timeout=60).stdout.strip()
    tool = Grub(System(str(tmp_path / "root")))
    found = tool.list_existing_loader_items(None)
    tool.choose_next_start(types.SimpleNamespace(uuid=uuid), None, "baretick.efi")
    options = tmp_path / "baretick.cfg"
    options.write_text("profile=quick\nduration=10ms\nclocks=tsc\ncores=off\nlabel=\"next to the application\"\n")
    assert tool.is_next_start_chosen()
    for made in ("/EFI/baretick", "/grub"):
        mtools(stick, "mmd", f"::{made}")
    for source, target in ((loader, "/EFI/BOOT/BOOTX64.EFI"), (EFI, APPLICATION), (options, "/EFI/baretick"),
                           *((folder / name, "/grub") for name in ("grub.cfg", "grubenv", "custom.cfg"))):
        mtools(stick, "mcopy", "-o", source, f"::{target}")
    done = run(*REAL_TIME_STICK, "--image", stick)
    assert checked(done)["options"]["label"] == "next to the application"
    (folder / "grubenv").write_bytes(volume_of(done.file("stick.img")).files("grub")["grubenv"])
    assert not tool.is_next_start_chosen()
    tool.remove_entry(None, found)
    assert (folder / "grubenv").read_bytes() == before and not (folder / "custom.cfg").exists()
