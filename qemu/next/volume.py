"""Finds and mounts the EFI system partition, and lists the reports on it."""
import contextlib
import os
import re
import tempfile

from next.firmware import read_booted_partition
from next.system import Refused
from results import files

# An EFI system partition: UEFI 2.10, tables 5.7 (GPT) and 5.4 (MBR).
KIND = ("c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "0xef")
MOUNT_POINTS = ("/boot/efi", "/efi", "/boot")
OWN = "EFI/baretick"     # nextboot's folder with the application, its options, and prepared.json
REPORTS = "baretick"     # baretick's folder for reports, with a folder for each run: see boot/README.md
REPORT_MAX = 64 << 20
REPORTS_SPACE = 3 * (3 << 19)  # bytes for three reports of 1.5 MiB each
# The column NAME makes lsblk print a tree, not a list (lsblk(8), --tree). The tree shows which partitions a mirror (RAID 1) has,
# because the mirror is a child of each of them.
COLUMNS = "NAME,PATH,PKNAME,PARTN,PARTTYPE,PARTUUID,UUID,FSTYPE,MOUNTPOINTS"
TEXTS = ("path", "pkname", "parttype", "partuuid", "uuid", "fstype")  # the columns with a text or null


def get_mount_points(row):
    """Return the mount points in a row of lsblk. If a device has no mount point, lsblk prints null or [null]."""
    return [path for path in row.get("mountpoints") or [] if path]


class Partition:
    """A system partition: its device path, its disk, its number on the disk, its GUID, the file system's UUID, and its mount points."""

    def __init__(self, row):
        self.path = row["path"]
        self.disk = f"/dev/{row['pkname']}" if row.get("pkname") else None
        self.number = row.get("partn") or self._parse_partition_number()
        self.guid = (row.get("partuuid") or "").lower()
        self.uuid = row.get("uuid")  # UUID of the file system
        self.mount_points = get_mount_points(row)

    def _parse_partition_number(self):
        """Return the number at the end of the device's name, or None. It replaces the column PARTN, which lsblk has since
        util-linux 2.39.
        """
        found = re.search(r"(\d+)$", self.path)
        return int(found[1]) if found else None


def _flatten_rows(devices):
    """Yield the rows of lsblk, with the rows in them. Raise TypeError if a value has another type than lsblk prints."""
    for device in devices:
        texts = [device.get(key) or "" for key in TEXTS] + [place or "" for place in device.get("mountpoints") or []]
        if not device["path"] or not all(isinstance(text, str) for text in texts) or not isinstance(device.get("partn") or 0, int):
            raise TypeError
        yield device
        yield from _flatten_rows(device.get("children") or [])


def _list_devices(system):
    """Return lsblk's rows of all devices."""
    columns = COLUMNS
    try:
        text = system.run_command("lsblk", "--json", "--output", columns)
    except Refused:
        text = system.run_command("lsblk", "--json", "--output", columns.replace("PARTN,", ""))
    try:
        return list(_flatten_rows(files.parse_json(text)["blockdevices"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Refused("lsblk printed something that is no list of disks") from error


def _is_system_partition(row):
    return (row.get("parttype") or "").lower() in KIND


def _is_half_of_mirror(row, guid):
    """Return True if ROW is one half of a mirrored system partition. GUID is the GUID of the partition that the firmware started
    from, or None.

    Some installers give the halves the type of Linux RAID instead of the type of a system partition. Therefore a mirror that is
    mounted in MOUNT_POINTS also counts.
    """
    has_place = any(each.get("fstype") == "vfat" and set(each.get("mountpoints") or []) & set(MOUNT_POINTS)
                    for each in row.get("children") or [])
    return row.get("fstype") == "linux_raid_member" and (
        _is_system_partition(row) or has_place or (guid and (row.get("partuuid") or "").lower() == guid))


def _get_partition_on_half_mirror(system, rows, halves):
    """Return the system partition on an md mirror (software RAID 1) that has one half only. Raise Refused if the mirror has two
    halves, because baretick writes its report to one half, and then the halves differ. ROWS has all devices. HALVES has the
    halves, and also partitions that were removed from the mirror.
    """
    mirrors = {each["path"] for row in halves for each in row.get("children") or []}
    used = [row for row in rows if row.get("fstype") == "linux_raid_member"
            and mirrors & {each["path"] for each in row.get("children") or []}]
    if len(used) != 1:
        paths = [row["path"] for row in used or halves]
        mirrored = f"the EFI system partition is mirrored by md ({', '.join(paths)})"
        if not used:
            raise Refused(f"{mirrored}, and the mirror does not run: mdadm --assemble --scan")
        raise Refused(f"{mirrored}, and baretick would save its report on one half only: take the other one out "
                      f"(mdadm {min(mirrors)} --fail {paths[-1]} --remove {paths[-1]}; qemu/README.md says how to put it back), "
                      "or start this machine from a stick")
    md, found = used[0]["children"][0], Partition(used[0])
    # GRUB gets no UUID to search for, because it would find the file system's UUID on more than one device.
    found.path, found.mount_points, found.uuid = md["path"], get_mount_points(md), None
    if system.read_text(f"/sys/class/block/{os.path.basename(found.path)}/md/bitmap/location") != "none":
        raise Refused(f"{found.path} has a bitmap, by which md would not copy the report to a half that comes back later "
                      f"(mdadm --grow {found.path} --bitmap=none)")
    return found


def find_system_partition(system):
    """Return the system partition that this machine was started from. Raise Refused if there is none, or if it is not known which
    of several partitions it is.
    """
    rows, guid = _list_devices(system), read_booted_partition(system)
    halves = [row for row in rows if _is_half_of_mirror(row, guid)]
    if halves:
        return _get_partition_on_half_mirror(system, rows, halves)
    found = [Partition(row) for row in rows if _is_system_partition(row)]
    if not found:
        raise Refused("no EFI system partition was found on any disk")
    mounted_there = [each for each in found if set(each.mount_points) & set(MOUNT_POINTS)]
    for chosen in ([each for each in found if each.guid == guid], mounted_there, found):
        if len(chosen) == 1:
            return chosen[0]
    raise Refused(f"there are {len(found)} EFI system partitions ({', '.join(each.path for each in found)}), and "
                  f"neither the firmware nor a mount at {', '.join(MOUNT_POINTS)} tells which one was started from")


@contextlib.contextmanager
def mount_partition(system, partition):
    """Yield the folder of PARTITION. Mount the partition during the block if it is not mounted."""
    mount_points = sorted(partition.mount_points, key=lambda path: (path not in MOUNT_POINTS, path))
    if mount_points:
        yield system.get_path(mount_points[0])
        return
    with tempfile.TemporaryDirectory(prefix="baretick-") as folder:
        system.run_command("mount", "-t", "vfat", partition.path, folder)
        try:
            yield folder
        finally:
            system.run_command("umount", folder)


def check_free_space(folder, size):
    """Raise Refused if the partition is read-only, or has no space for SIZE bytes of new files and three reports."""
    about = os.statvfs(folder)
    if about.f_flag & os.ST_RDONLY:
        raise Refused(f"the EFI system partition at {folder} is mounted read-only")
    free, needed = about.f_bavail * about.f_frsize, size + REPORTS_SPACE
    if free < needed:
        raise Refused(f"the EFI system partition at {folder} has {free >> 10} KiB free, and the application with three "
                      f"reports needs {needed >> 10} KiB")


def _has_complete_report(path):
    """Return True if the folder PATH has a complete report.

    baretick renames the folder NNNN.new to NNNN when the report is complete. Some firmware cannot rename, so NNNN.new may also be
    complete. After a power cut NNNN.new has only a part of a report, and its JSON is cut off.
    """
    name, report = os.path.basename(path), os.path.join(path, "report.json")
    if re.fullmatch(r"[0-9]{4}", name):
        return os.path.isfile(report)
    try:
        return re.fullmatch(r"[0-9]{4}\.new", name, re.IGNORECASE) and bool(files.parse_json(files.read_file(report, REPORT_MAX)))
    except (OSError, ValueError):
        return False


def list_reports(folder):
    """Return the names of the complete reports on the partition, oldest first. The names start with the number of the run, and
    each run has a higher number than the runs before.
    """
    try:
        names = os.listdir(os.path.join(folder, REPORTS))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in names if _has_complete_report(os.path.join(folder, REPORTS, name)))
