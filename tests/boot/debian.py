"""A Debian system in QEMU that runs qemu/nextboot. debootstrap makes it once."""
import hashlib
import os
import shutil

from boots import ROOT
from debian_packages import find_mirror
from linux import COMMAND_LINE, LOADER, MIB, Machine, copy_tool, empty_disk, grub_file, run

ESP_MIB, ROOT_MIB, TRIAL_MIB = 120, 1600, 32
SUITE = "bookworm"
FIRST = "systemd-sysv,udev,dbus,initramfs-tools,efibootmgr,python3"
THEN = ["linux-image-cloud-amd64", "grub2-common", "systemd-boot", "sbsigntool", "mdadm", "dosfstools"]
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
KERNEL_COMMAND_LINE = f"root=LABEL=root rw {COMMAND_LINE}"
# GRUB reads Debian's grub.cfg if it exists. Otherwise GRUB starts the kernel on the system partition.
GRUB_CONFIG = f"""search --no-floppy --label root --set=root
set prefix=($root)/boot/grub
if [ -f $prefix/grub.cfg ]; then
  configfile $prefix/grub.cfg
fi
search --no-floppy --label ESP --set=root
linux /linux {KERNEL_COMMAND_LINE}
initrd /initrd
boot
"""
GRUB_MODULES = ("part_msdos part_gpt fat ext2 chain search search_label search_fs_uuid configfile loadenv test true echo sleep "
                "minicmd linux gzio reboot halt all_video")


def _system(root):
    """Make the root file system in the folder ROOT."""
    run("debootstrap", "--variant=minbase", f"--include={FIRST}", SUITE, root, *filter(None, [find_mirror()]))
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
    """Return the folder with the file system `root`, `vmlinuz` and `initrd`. They are made once, because this takes
    minutes."""
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


class Debian(Machine):
    """A Debian system that runs the script TRIAL at each start. The system's disks are made in FOLDER. If IS_BY_GRUB,
    GRUB starts the system instead of systemd-boot.

    MORE_FILES maps names on the disk `trial` to paths of files. If HAS_SECOND_DISK, /dev/vdd has a partition as large as the system partition, without a file system.
    """

    def __init__(self, folder, trial, is_by_grub=False, has_second_disk=False, more_files=None):
        made, tree = installed(), folder / "tree"
        self.trial = folder / "trial"
        copy_tool(tree)
        (tree / "trial").write_text(trial)
        (tree / "trial").chmod(0o755)
        for name, path in (more_files or {}).items():
            shutil.copy(path, tree / name)
        _ext4(self.trial, "trial", TRIAL_MIB, tree)
        drives = ["-drive", f"file={made / 'root'},format=raw,if=virtio,snapshot=on", "-drive", f"file={self.trial},format=raw,if=virtio"]
        if has_second_disk:
            empty_disk(folder / "second", ESP_MIB)
            drives += ["-drive", f"file={folder / 'second'},format=raw,if=virtio"]
        # The disk with the root file system is a snapshot, so changes to it are lost when QEMU ends.
        loader = grub_file(folder, GRUB_CONFIG, GRUB_MODULES) if is_by_grub else LOADER
        super().__init__(folder, loader=loader, kernel=made / "vmlinuz", initrd=made / "initrd", command_line=KERNEL_COMMAND_LINE,
                         partition_mib=ESP_MIB, memory="1G", drives=drives)

    def read(self, name):
        """Return the content of the file NAME, which the system wrote to the disk `trial`."""
        return run("debugfs", "-R", f"cat /{name}", self.trial)
