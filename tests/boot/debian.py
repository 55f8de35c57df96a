"""A Debian in QEMU on which qemu/nextboot runs: its disks, its firmware's variables, and what it leaves."""
import hashlib
import os
import pathlib
import shutil
import subprocess

from boots import EFI, ROOT

MIB = 1 << 20
SECTORS = MIB // 512
ESP_MIB, ROOT_MIB, TRIAL_MIB = 120, 1600, 32
COMMAND_BOUND_S = 1500  # four starts of the firmware, three of a system: some 80 s on an idle machine
SUITE = "bookworm"
FIRST = "systemd-sysv,udev,dbus,initramfs-tools,efibootmgr,python3"
THEN = ["linux-image-cloud-amd64", "grub2-common", "systemd-boot", "sbsigntool"]
FSTAB = """LABEL=root / ext4 defaults 0 1
LABEL=ESP /boot/efi vfat defaults 0 2
LABEL=trial /opt/baretick ext4 sync 0 2
"""
UNIT = """[Unit]
After=local-fs.target
[Service]
Type=oneshot
ExecStart=/opt/baretick/trial
TimeoutStartSec=1200
"""
CACHE = ROOT / "build" / "debian"
# Without quiet the kernel's messages on the serial line take seconds.
COMMAND_LINE = "root=LABEL=root rw console=ttyS0 quiet"


def run(*words, **more):
    return subprocess.run([os.fspath(word) for word in words], check=True, capture_output=True, timeout=COMMAND_BOUND_S, **more).stdout


def mirror():
    """The mirror of this machine's own apt."""
    lists = pathlib.Path("/etc/apt")
    texts = [path.read_text() for path in [*lists.glob("sources.list"), *lists.glob("sources.list.d/*")]]
    return next((word for text in texts for word in text.split() if word.rstrip("/").endswith("/debian")),
                "http://deb.debian.org/debian")


def _system(root):
    """Makes the root file system in the folder ROOT."""
    run("debootstrap", "--variant=minbase", f"--include={FIRST}", SUITE, root, mirror())
    run("mount", "--bind", "/proc", root / "proc")
    try:
        run("chroot", root, "apt-get", "install", "-y", "--no-install-recommends", *THEN,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    finally:
        run("umount", root / "proc")
    run("chroot", root, "apt-get", "clean")
    (root / "boot/efi").mkdir()
    (root / "opt/baretick").mkdir()
    (root / "etc/fstab").write_text(FSTAB)
    units = root / "etc/systemd/system"
    (units / "trial.service").write_text(UNIT)
    wants = units / "multi-user.target.wants"
    wants.mkdir(exist_ok=True)
    (wants / "trial.service").symlink_to("../trial.service")


def installed():
    """The folder with `root`, a file system, and its `vmlinuz` and `initrd`: made once, because it takes minutes."""
    recipe = hashlib.sha256(repr((SUITE, FIRST, THEN, FSTAB, UNIT)).encode()).hexdigest()[:8]
    folder = CACHE / recipe
    if folder.exists():
        return folder
    shutil.rmtree(CACHE, ignore_errors=True)
    new = CACHE / "new"
    new.mkdir(parents=True)
    root = new / "tree"
    _system(root)
    kernel, = root.glob("boot/vmlinuz-*")
    initrd, = root.glob("boot/initrd.img-*")
    shutil.copy(kernel, new / "vmlinuz")
    shutil.copy(initrd, new / "initrd")
    _ext4(new / "root", "root", ROOT_MIB, root)
    shutil.rmtree(root)
    new.rename(folder)
    return folder


def _ext4(path, label, mib, tree):
    path.touch()
    os.truncate(path, mib * MIB)
    run("mke2fs", "-q", "-t", "ext4", "-L", label, "-d", tree, path)


class Machine:
    """A Debian with systemd-boot that runs the script TRIAL at each start. FOLDER gets its disks."""

    def __init__(self, folder, trial):
        self.folder, made = folder, installed()
        self.esp, self.trial, self.disk = folder / "esp", folder / "trial", folder / "disk"
        tree = folder / "tree"
        for name in ("next", "runner", "machine", "results"):
            shutil.copytree(ROOT / "qemu" / name, tree / "qemu" / name)
        shutil.copy(ROOT / "qemu/nextboot", tree / "qemu/nextboot")
        (tree / "build").mkdir()
        shutil.copy(EFI, tree / "build/baretick.efi")
        (tree / "trial").write_text(trial)
        (tree / "trial").chmod(0o755)
        _ext4(self.trial, "trial", TRIAL_MIB, tree)
        self._system_partition(made)
        self.code = run(ROOT / "qemu/find", "firmware").decode().split()[0]
        shutil.copy(self.code.replace("CODE", "VARS"), folder / "vars.fd")
        self.root = made / "root"

    def _system_partition(self, made):
        for path, mib in ((self.esp, ESP_MIB), (self.disk, 1 + ESP_MIB + 1)):
            path.touch()
            os.truncate(path, mib * MIB)
        run("mkfs.fat", "-F", "32", "-n", "ESP", self.esp)
        (self.folder / "debian.conf").write_text(f"title Debian\nlinux /linux\ninitrd /initrd\noptions {COMMAND_LINE}\n")
        run("mmd", "-i", self.esp, "::/EFI", "::/EFI/BOOT", "::/loader", "::/loader/entries")
        for source, target in (("/usr/lib/systemd/boot/efi/systemd-bootx64.efi", "EFI/BOOT/BOOTX64.EFI"), (made / "vmlinuz", "linux"),
                               (made / "initrd", "initrd"), (self.folder / "debian.conf", "loader/entries/debian.conf")):
            run("mcopy", "-i", self.esp, source, f"::/{target}")
        run("sfdisk", "-q", self.disk, input=f"label: gpt\nstart=2048,size={ESP_MIB * SECTORS},type=uefi\n".encode())
        run("dd", f"if={self.esp}", f"of={self.disk}", "bs=1M", "seek=1", "conv=notrunc")

    def command(self):
        """QEMU's command line. Changes of the root file system are lost at QEMU's end."""
        return ["qemu-system-x86_64", "-machine", "q35", "-smp", "2", "-m", "1G", "-accel", "tcg", "-cpu", "max", "-nic", "none",
                "-display", "none", "-serial", f"file:{self.folder / 'serial.log'}", "-monitor", "none",
                "-drive", f"file={self.disk},format=raw,if=virtio", "-drive", f"file={self.root},format=raw,if=virtio,snapshot=on",
                "-drive", f"file={self.trial},format=raw,if=virtio",
                "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={self.code}",
                "-drive", f"if=pflash,unit=1,format=raw,file={self.folder / 'vars.fd'}"]

    def run(self):
        """Returns when the machine has switched itself off."""
        run(*self.command())

    def read(self, name):
        """The bytes of the file NAME of the trial."""
        return run("debugfs", "-R", f"cat /{name}", self.trial)
