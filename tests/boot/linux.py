"""A Linux in QEMU that runs qemu/nextboot: its disks, its firmware variables, and its results."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import threading

import pytest

from boots import EFI, ROOT
from fat import Volume
from harness import SCHEMA, WHOLE_FIRMWARE
from levers import Monitor, connect

MIB = 1 << 20
SECTORS = MIB // 512
# time limit for a command that starts firmware four times and a system three times, which takes 80 s on an idle machine
COMMAND_BOUND_S = 1500
FOLDERS = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"  # search path for commands; mkfs.fat is in sbin
LOADER = "/usr/lib/systemd/boot/efi/systemd-bootx64.efi"
# The word "quiet" saves seconds, in which the kernel's messages would be sent over the serial line. A busy host may
# deliver the timer interrupts of Linux's test too late, and Linux would panic without "no_timer_check".
COMMAND_LINE = "console=ttyS0 quiet no_timer_check"

# LOOK_AT_VARIABLES defines the shell function look FILE, which lists the variables of boot entries in FILE. LOOK defines it
# to list the system partition and GRUB's files, too. --remove must leave all this unchanged.
VARIABLES = "cd /sys/firmware/efi/efivars && sha256sum Boot[0-9]* BootOrder-* && ls -d BootNext-* LoaderEntryOneShot-*"
LOOK_AT_VARIABLES = f"""look() {{
  ({VARIABLES}) >"$1" 2>/dev/null
}}
"""
LOOK = f"""look() {{
  (cd /boot/efi && find . -type f -exec sha256sum {{}} + | sort && find . -type d | sort
   sha256sum /boot/grub/*
   {VARIABLES}) >"$1" 2>/dev/null
}}
"""


def run(*words, timeout=COMMAND_BOUND_S, **more):
    more.setdefault("env", {**os.environ, "PATH": FOLDERS})
    return subprocess.run([os.fspath(word) for word in words], check=True, capture_output=True, timeout=timeout, **more).stdout


def list_registers(monitor):
    """Return the registers of all cores, as QEMU tells them on its socket MONITOR, or the reason why it does not."""
    try:
        with Monitor(connect(monitor)) as asked:
            return asked.execute("human-monitor-command", **{"command-line": "info registers -a"})
    except Exception as reason:  # the failure of the machine is to be shown, whatever is wrong with the answer
        return repr(reason)


def run_machine(words, bound_s=COMMAND_BOUND_S, question=b""):
    """Run QEMU with WORDS until it ends. Send QUESTION to its standard input, and return what it printed. If it does not end
    within BOUND_S, end it and fail with the registers of all cores, which show where it stood."""
    stood = []

    def stop():
        stood.append("")
        stood.extend(list_registers(monitor) for _ in range(2))
        qemu.kill()
    # a path of a socket has at most 107 bytes, so the test's own folder may be too long
    with tempfile.TemporaryDirectory(prefix="baretick-") as folder:
        monitor = pathlib.Path(folder, "qmp")
        qemu = subprocess.Popen([*map(os.fspath, words), "-qmp", f"unix:{monitor},server=on,wait=off"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        timer = threading.Timer(bound_s, stop)
        timer.start()
        try:
            qemu.stdin.write(question)
            qemu.stdin.flush()
            said = qemu.stdout.read()
            qemu.wait()
        finally:
            timer.cancel()
            qemu.kill()
            qemu.communicate()
    assert not stood, f"the machine did not end within {bound_s} s; its registers, twice:" + "\n".join(stood)
    assert qemu.returncode == 0, said
    return said


def grub_file(folder, text, modules):
    """Make a GRUB in one file in FOLDER. It includes MODULES and the configuration TEXT."""
    if not shutil.which("grub-mkstandalone"):
        pytest.skip("there is no grub-mkstandalone: it is in the package grub-common")
    if not pathlib.Path("/usr/lib/grub/x86_64-efi").is_dir():
        pytest.skip("GRUB has no modules for UEFI: they are in the package grub-efi-amd64-bin")
    config, loader = folder / "grub.cfg", folder / "grub.efi"
    config.write_text(text)
    run("grub-mkstandalone", "-O", "x86_64-efi", "-o", loader, f"--modules={modules}", f"boot/grub/grub.cfg={config}")
    return loader


def empty_disk(path, partition_mib):
    """Make the disk PATH with a system partition, which has no file system yet."""
    path.touch()
    os.truncate(path, (1 + partition_mib + 1) * MIB)
    run("sfdisk", "-q", path, input=f"label: gpt\nstart=2048,size={partition_mib * SECTORS},type=uefi\n".encode())


def copy_tool(tree):
    """Copy the files that nextboot needs from this repository to the folder TREE."""
    for name in ("next", "runner", "machine", "results"):
        shutil.copytree(ROOT / "qemu" / name, tree / "qemu" / name)
    shutil.copy(ROOT / "qemu/nextboot", tree / "qemu/nextboot")
    schema = tree / SCHEMA.relative_to(ROOT)
    schema.parent.mkdir(parents=True)
    shutil.copy(SCHEMA, schema)
    (tree / "build").mkdir()
    shutil.copy(EFI, tree / "build/baretick.efi")


def read_tree(volume, folder=""):
    """Return {path: digest} of all files in FOLDER of VOLUME and in the folders below. A folder has the digest None."""
    found = {}
    for name, entry in volume.folder(folder).items():
        path = f"{folder}/{name}".lstrip("/")
        found |= {path: None, **read_tree(volume, path)} if entry.folder else {path: hashlib.sha256(volume.read(path)).hexdigest()}
    return found


class Machine:
    """A Linux that the boot loader LOADER starts. Its disks are in FOLDER. DRIVES are disks in addition to the disk
    with the system partition.

    MORE maps paths on the system partition to the contents of further files."""

    cores = "2"

    def __init__(self, folder, *, kernel, initrd, command_line, partition_mib, memory, drives, loader=LOADER, secure_firmware=None,
                 more=None):
        self.folder, self.esp, self.disk = folder, folder / "esp", folder / "disk"
        self._words = ["-m", memory, *drives]
        files = {"EFI/BOOT/BOOTX64.EFI": loader, "linux": kernel, "initrd": initrd, **(more or {})}
        self._system_partition(files, command_line, partition_mib)
        if secure_firmware:
            self._words += ["-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"]
        self._firmware(secure_firmware)

    def _system_partition(self, files, command_line, partition_mib):
        self.esp.touch()
        os.truncate(self.esp, partition_mib * MIB)
        run("mkfs.fat", "-F", "32", "-n", "ESP", self.esp)
        entry = self.folder / "linux.conf"
        entry.write_text(f"title Linux\nlinux /linux\ninitrd /initrd\noptions {command_line}\n")
        run("mmd", "-i", self.esp, "::/EFI", "::/EFI/BOOT", "::/EFI/debian", "::/loader", "::/loader/entries")
        for target, source in {**files, "loader/entries/linux.conf": entry}.items():
            run("mcopy", "-i", self.esp, source, f"::/{target}")
        empty_disk(self.disk, partition_mib)
        run("dd", f"if={self.esp}", f"of={self.disk}", "bs=1M", "seek=1", "conv=notrunc")

    def _firmware(self, code):
        """Add QEMU's arguments for the firmware CODE. Without CODE, use firmware with code and variables in one file if
        possible, because it starts sooner."""
        variables = self.folder / "variables.fd"
        if not code and os.path.exists(WHOLE_FIRMWARE):
            shutil.copy(WHOLE_FIRMWARE, variables)
            self._words += ["-drive", f"if=pflash,format=raw,file={variables}"]
            return
        code = code or run(ROOT / "qemu/find", "firmware").decode().split()[0]
        shutil.copy(code.replace("CODE", "VARS"), variables)
        self._words += ["-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}",
                        "-drive", f"if=pflash,unit=1,format=raw,file={variables}"]

    def command(self):
        """Return QEMU's command line."""
        return ["qemu-system-x86_64", "-machine", "q35", "-smp", self.cores, "-accel", "tcg", "-cpu", "max", "-nic", "none",
                "-display", "none", "-vga", "none", "-monitor", "none", "-chardev", f"file,id=line,path={self.folder / 'serial.log'},append=on",
                "-serial", "chardev:line", "-drive", f"file={self.disk},format=raw,if=virtio", *self._words]

    def run(self):
        """Run the machine until it switches itself off."""
        run_machine(self.command())

    def read_partition(self):
        """Return the system partition as it was before the first start, and as it is now, each as {path: digest}."""
        return [read_tree(Volume(image.read_bytes(), offset)) for image, offset in ((self.esp, 0), (self.disk, MIB))]
