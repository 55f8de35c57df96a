"""A Linux with only the parts that nextboot needs: the distribution's kernel, and an initramfs with busybox and
Python."""
import hashlib
import lzma
import os
import re
import shutil
import subprocess

from boots import EFI, ROOT
from debian_packages import Release, find_kernel_image
from initramfs import copy_libraries, write_archive
from linux import COMMAND_LINE, FOLDERS, LOADER, MIB, Machine, copy_tool, run, run_machine
from mok import MICROSOFTS_KEYS, OWN_KEYS, SHIM, with_mok

PACKAGE = "linux-image-cloud-amd64"
MODULES = ["virtio_pci", "virtio_blk", "vfat", "nls_cp437", "nls_ascii", "efivarfs"]
CACHE = ROOT / "build" / "linux"
PROGRAMS = ["/usr/bin/python3", "busybox", "blkid", "efibootmgr", "lsblk"]
PARTITION_MIB, TRIAL_MIB = 72, 8
STARTS_MAX = 6  # no test starts the machine more than four times

INIT = """#!/usr/bin/busybox sh
/usr/bin/busybox --install -s /bin
export PATH=/usr/bin:/bin LANG=C.UTF-8
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
for module in /modules/*; do insmod $module; done
mount -t efivarfs efivarfs /sys/firmware/efi/efivars
mount -t vfat /dev/vda1 /boot/efi
mount -t vfat /dev/vdb /trial
# lsblk takes the kind of a partition from udev's database. There is no udev here.
mkdir -p /run/udev/data
(echo I:1; blkid -p -o udev /dev/vda1 | sed s/^/E:/) >/run/udev/data/b$(cat /sys/class/block/vda1/dev)
cd /opt/baretick
sh /trial.sh >>/trial/trial.txt 2>&1
umount /boot/efi /trial
[ ! -e /restart ] || reboot -f
poweroff -f
"""
SYSTEMCTL = """#!/bin/sh
[ "$*" = reboot ] && touch /restart
"""
# A script that compiles all modules that nextboot imports to the folder `target`.
IMPORTED = """
import os, py_compile, shutil, sys
target, tool = sys.argv[1:]
sys.path.insert(0, tool)
import argparse, encodings.utf_16_le, next.actions
library = os.path.dirname(os.__file__) + "/"
for module in list(sys.modules.values()):
    path = getattr(module, "__file__", None) or ""
    if not path.startswith(library) or "-packages" in path:
        continue
    made = target + path
    os.makedirs(os.path.dirname(made), exist_ok=True)
    if path.endswith(".py"):
        py_compile.compile(path, made + "c", path, True, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)
    else:
        shutil.copy(path, made)
os.makedirs(target + library + "lib-dynload", exist_ok=True)
"""


def lacking():
    """Return the reason why this Linux cannot be made on this host, or "" if it can."""
    for name in (*PROGRAMS, "apt-get", "dpkg-deb"):
        if not shutil.which(name, path=FOLDERS):
            return f"there is no {name}"
    if not os.path.exists(LOADER):
        return f"there is no {LOADER}: it is in the package systemd-boot-efi"
    try:
        kernel()
    except (subprocess.SubprocessError, OSError, ValueError) as error:
        said = (getattr(error, "stderr", None) or str(error).encode()).decode(errors="replace").strip()
        return f"there is no kernel to be had: {said.splitlines()[-1] if said else error}"
    return ""


def kernel():
    """Return the folder with vmlinuz and the modules. Their packages are downloaded once. The modules' names sort in
    loading order."""
    folder = CACHE / hashlib.sha256(repr((PACKAGE, MODULES)).encode()).hexdigest()[:8]
    if folder.exists():
        return folder
    shutil.rmtree(CACHE, ignore_errors=True)
    new = CACHE / "new"
    (new / "modules").mkdir(parents=True)
    tree = Release().unpack_kernel(PACKAGE, new)
    shutil.copy(find_kernel_image(tree), new / "vmlinuz")
    for number, data in enumerate(_modules(tree)):
        (new / "modules" / f"{number:02}.ko").write_bytes(data)
    shutil.rmtree(tree)
    new.rename(folder)
    return folder


def _modules(tree):
    """Return the contents of MODULES and of the modules that they need, in loading order. Built-in modules are left
    out, because they have no file."""
    paths = {path.name.partition(".ko")[0].replace("-", "_"): path for path in tree.rglob("*.ko*")}
    loaded = {}

    def add(name):
        if name in loaded or name not in paths:
            return
        data = paths[name].read_bytes()
        if paths[name].suffix == ".xz":
            data = lzma.decompress(data)
        found = re.search(rb"\0depends=([^\0]*)\0", data)
        if not found:
            raise ValueError(f"{paths[name].name} does not name the modules that it depends on")
        for each in found[1].decode().split(","):
            add(each)
        loaded[name] = data
    for name in MODULES:
        add(name)
    return loaded.values()


def _initramfs(folder, trial, programs, signed):
    """Make an initramfs with PROGRAMS that runs the script TRIAL. Return its path. SIGNED is a signed application,
    which is added next to the application from build."""
    tree = folder / "tree"
    for name in ("bin", "usr/bin", "dev", "proc", "sys", "tmp", "boot/efi", "trial", "modules", "opt/baretick"):
        (tree / name).mkdir(parents=True, exist_ok=True)
    run("/usr/bin/python3", "-I", "-c", IMPORTED, tree, ROOT / "qemu")
    for path in (kernel() / "modules").iterdir():
        shutil.copy(path, tree / "modules")
    for program in programs:
        shutil.copy(shutil.which(program, path=FOLDERS), tree / "usr/bin")
    copy_libraries([*(tree / "usr/bin").iterdir(), *tree.rglob("*.so")], tree)
    copy_tool(tree / "opt/baretick")
    if signed:
        shutil.copy(signed, tree / "opt/baretick/build/signed.efi")
    for name, text in (("init", INIT), ("usr/bin/systemctl", SYSTEMCTL), ("trial.sh", trial)):
        (tree / name).write_text(text)
        (tree / name).chmod(0o755)
    initrd = folder / "initrd"
    write_archive(tree, initrd)
    return initrd


class SmallLinux(Machine):
    """The distribution's kernel with an initramfs that runs the script TRIAL at each start."""

    cores = "1"  # with one core, Linux starts sooner

    def __init__(self, folder, trial, keys=None, is_by_shim=False):
        """If KEYS is given, the firmware enforces Secure Boot and trusts these keys. They also sign the loader, the
        kernel and build/signed.efi.

        If IS_BY_SHIM is true, the firmware trusts Microsoft's keys only. It starts the distribution's shim, which
        trusts KEYS."""
        self.trial = folder / "trial"
        self.trial.touch()
        os.truncate(self.trial, TRIAL_MIB * MIB)
        run("mkfs.fat", "-n", "TRIAL", self.trial)
        parts = {"loader": LOADER, "kernel": kernel() / "vmlinuz", "signed": EFI}
        for name in parts if keys else ():
            run("sbsign", "--key", keys[0], "--cert", keys[1], "--output", folder / name, parts[name])
            parts[name] = folder / name
        programs = [*PROGRAMS, "sbverify"] if keys else PROGRAMS
        initrd = _initramfs(folder, trial, programs, parts["signed"] if keys else None)
        more = {"EFI/BOOT/grubx64.efi": parts["loader"], "EFI/debian/shimx64.efi": SHIM} if is_by_shim else None
        super().__init__(folder, loader=SHIM if is_by_shim else parts["loader"], more=more, kernel=parts["kernel"], initrd=initrd,
                         command_line=COMMAND_LINE, partition_mib=PARTITION_MIB, memory="512M",
                         drives=["-drive", f"file={self.trial},format=raw,if=virtio"],
                         secure_firmware=(MICROSOFTS_KEYS if is_by_shim else OWN_KEYS) if keys else None)
        if is_by_shim:
            store = folder / "variables.fd"
            store.write_bytes(with_mok(store.read_bytes(), run("openssl", "x509", "-in", keys[1], "-outform", "DER")))

    def run(self):
        """Run the machine until it switches itself off. Each start has a QEMU of its own. In the same QEMU,
        firmware that starts after Linux needs two to three times as long. The probable reason is that it overwrites
        Linux's code, which QEMU has translated."""
        words = [*self.command(), "-no-reboot", "-qmp", "stdio"]
        for _ in range(STARTS_MAX):
            # without this question, QEMU sends no events
            said = run_machine(words, question=b'{"execute": "qmp_capabilities"}\n')
            assert b"SHUTDOWN" in said, said
            if b"guest-reset" not in said:
                return
        raise AssertionError(f"the machine did not switch itself off in {STARTS_MAX} starts")

    def read(self, name):
        """Return the content of the file NAME, which the system wrote to the disk `trial`."""
        return run("mtype", "-i", self.trial, f"::/{name}")
