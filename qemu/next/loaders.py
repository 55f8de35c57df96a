"""The programs that can start baretick once: the firmware by BootNext, GRUB, and systemd-boot.

Each stores its choice for one start only, and deletes it before it starts the application. So a run that hangs is not repeated.
"""
import contextlib
import os
import re

from next import firmware, volume
from next.system import Refused, write_or_delete, read_file, restore_if_refused, restore_files_if_refused

TITLE = "baretick, once"


class Firmware:
    """A Boot#### entry outside of the boot order, and BootNext."""

    name, title, choice = "firmware", "the firmware", "BootNext"

    def __init__(self, system):
        self.system, self._old = system, set()

    def check_can_start(self, partition):
        """Raise Refused if this loader cannot start baretick on this machine. Change nothing."""
        if not partition.disk or not partition.number:
            raise Refused(f"{partition.path} is no partition of a disk, so no boot entry can name it")
        chosen = firmware.read_entry_number(self.system, self.choice)
        if chosen is not None and chosen not in firmware.list_own_entries(self.system):
            raise Refused(f"the firmware is already told to start another entry next: {chosen:04X}")

    def list_found_things(self, _folder):
        """Return the names of things that exist before a preparation, so that remove_choice() leaves them."""
        return []

    def undo_if_refused(self, _folder):
        """Return a context that reverses choose_next_start() if its block raises Refused."""
        return firmware.undo_if_refused(self.system)

    def choose_next_start(self, partition, _folder, application):
        """Choose APPLICATION, a file in volume.OWN, for the next start. Return a text for the user."""
        self._old = firmware.list_own_entries(self.system)
        path = "\\".join(["", *volume.OWN.split("/"), application])
        entry = firmware.add_entry(self.system, partition.disk, partition.number, path)
        firmware.choose_once(self.system, entry)
        return f"boot entry {entry:04X}"

    def remove_earlier_choice(self):
        """Remove what an earlier choose_next_start() of this loader left."""
        firmware.remove_entries(self.system, self._old)

    def is_chosen(self):
        """Return True if the next start is still chosen."""
        return firmware.read_entry_number(self.system, "BootNext") in firmware.list_own_entries(self.system)

    def remove_choice(self, _folder, _found):
        """Remove what choose_next_start() made, except for things that were FOUND before."""
        firmware.remove_entries(self.system, firmware.list_own_entries(self.system))


class Grub:
    """A menu entry in custom.cfg, and the variable next_entry in GRUB's environment block, as grub-reboot sets it."""

    name, title, choice = "grub", "GRUB", "next_entry"
    ID = "baretick-once"
    FOLDERS = ("/boot/grub", "/boot/grub2")  # Fedora and openSUSE use the second one; their commands are named grub2-*
    BEGIN, END = f"\n### BEGIN {TITLE}: nextboot --remove takes this block away\n", f"### END {TITLE}\n"
    BLOCK = re.compile(re.escape(BEGIN.encode()) + b".*?" + re.escape(END.encode()), re.DOTALL)
    # GRUB 2.06, util/grub.d: 41_custom.in and 00_header.in.
    SOURCES_CUSTOM = re.compile(r"^\s*source\s+\S*/custom\.cfg\s*$", re.MULTILINE)
    TAKES_NEXT = re.compile(r'^\s*set\s+default="\$\{next_entry\}"\s*$.*^\s*save_env\s+next_entry\s*$', re.MULTILINE | re.DOTALL)
    WRITABLE = ("ext2", "xfs", "fat")  # grub-probe's names of file systems; ext2 includes ext3 and ext4

    def __init__(self, system):
        self.system = system
        self.folder = next((each for each in self.FOLDERS if os.path.isfile(system.get_path(each, "grub.cfg"))), None)

    def _get_path(self, name):
        return self.system.get_path(self.folder, name)

    def _run_tool(self, name, *words):
        return self.system.run_command(f"{os.path.basename(self.folder)}-{name}", *words)

    def _read_next_entry(self):
        """Return the value of next_entry, or None if the block has none."""
        lines = self._run_tool("editenv", self._get_path("grubenv"), "list").splitlines()
        return next((line.partition("=")[2] for line in lines if line.startswith("next_entry=")), None)

    def _set_next_entry(self, value):
        words = ("unset", "next_entry") if value is None else ("set", f"next_entry={value}")
        self._run_tool("editenv", self._get_path("grubenv"), *words)

    def check_can_start(self, partition):
        loader = SystemdBoot(self.system).read_loader_info()
        if loader.startswith(SystemdBoot.name):
            raise Refused(f"this machine was started by {loader}, and not by GRUB")
        if not self.folder:
            raise Refused(f"GRUB is not the loader: there is no grub.cfg in {' or '.join(self.FOLDERS)}")
        text = self.system.read_text(f"{self.folder}/grub.cfg") or ""
        if not self.SOURCES_CUSTOM.search(text):
            raise Refused(f"{self.folder}/grub.cfg does not read custom.cfg (the script 41_custom makes it do so)")
        if not self.TAKES_NEXT.search(text):
            raise Refused(f"{self.folder}/grub.cfg does not take next_entry, so no entry can be chosen for one start")
        if not partition.uuid:
            raise Refused(f"{partition.path} has no UUID that GRUB could find it by")
        self._check_environment()

    def _check_environment(self):
        """Raise Refused if GRUB cannot write the environment block, because GRUB would start baretick again and again."""
        block = f"{self.folder}/grubenv"
        if not os.path.isfile(self._get_path("grubenv")):
            raise Refused(f"{block} does not exist (grub-editenv {block} create makes it)")
        layers = self._run_tool("probe", "--target=abstraction", self._get_path("grubenv")).split()
        kind = self._run_tool("probe", "--target=fs", self._get_path("grubenv")).strip()
        if layers or kind not in self.WRITABLE:
            raise Refused(f"{block} is on {' and '.join(layers) or kind or 'an unknown file system'}, where GRUB cannot clear "
                          "next_entry, so this machine would start baretick again and again")
        if self._read_next_entry() not in (None, "", self.ID):
            raise Refused(f"GRUB is already told to start another entry next: {self._read_next_entry()}")

    def list_found_things(self, _folder):
        return [name for name, value in (("custom.cfg", read_file(self._get_path("custom.cfg"))), ("next_entry", self._read_next_entry()))
                if value is not None]

    @contextlib.contextmanager
    def undo_if_refused(self, _folder):
        with restore_if_refused(self._read_next_entry, self._set_next_entry), restore_files_if_refused(self._get_path("custom.cfg")):
            yield

    def _make_menu_entry(self, partition, application):
        """Return the menu entry. If the application does not start, the entry restarts the machine and does not wait for a key."""
        return (f"{self.BEGIN}menuentry '{TITLE}' --id {self.ID} --unrestricted {{\n    insmod part_gpt\n    insmod part_msdos\n"
                f"    insmod fat\n    search --no-floppy --fs-uuid --set=root {partition.uuid}\n"
                f"    if chainloader /{volume.OWN}/{application}; then\n        boot\n    fi\n    reboot\n}}\n{self.END}").encode()

    def choose_next_start(self, partition, _folder, application):
        others = self.BLOCK.sub(b"", read_file(self._get_path("custom.cfg")) or b"")
        write_or_delete(self._get_path("custom.cfg"), others + self._make_menu_entry(partition, application))
        self._set_next_entry(self.ID)
        if self._read_next_entry() != self.ID:
            raise Refused(f"{self.folder}/grubenv did not keep next_entry")
        return f"GRUB's entry {self.ID}"

    def remove_earlier_choice(self):
        pass

    def is_chosen(self):
        return bool(self.folder) and self._read_next_entry() == self.ID

    def remove_choice(self, _folder, found):
        if not self.folder:
            return
        data = read_file(self._get_path("custom.cfg")) or b""
        is_ours = bool(self.BLOCK.search(data))
        if os.path.isfile(self._get_path("grubenv")) and (is_ours or "custom.cfg" in found):
            chosen = self._read_next_entry()
            # After GRUB used our next_entry, the variable is empty.
            if chosen == self.ID or (chosen == "" and "next_entry" not in found):
                self._set_next_entry("" if "next_entry" in found else None)
        if is_ours:
            others = self.BLOCK.sub(b"", data)
            write_or_delete(self._get_path("custom.cfg"), others if others or "custom.cfg" in found else None)


class SystemdBoot:
    """A file in loader/entries, and the variable LoaderEntryOneShot, which bootctl sets.

    The file has no sort-key, so entries with one come first. Its name sorts last among the others, because digits count as
    newer than letters, and a longer word counts as newer than its beginning (strverscmp_improved() of systemd 249 and later).
    """

    name, title, choice = "systemd-boot", "systemd-boot", "LoaderEntryOneShot"
    VENDOR = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"  # systemd.io/BOOT_LOADER_INTERFACE
    ENTRIES = "loader/entries"
    ID = "a-baretick-once.conf"

    def __init__(self, system):
        self.system = system

    def _read_variable_text(self, name):
        return (firmware.read_variable(self.system, name, self.VENDOR) or b"").decode("utf-16-le", "replace").rstrip("\0")

    def read_loader_info(self):
        """Return the name and version of the loader that started this machine, or "" if they are not known."""
        return self._read_variable_text("LoaderInfo")

    def check_can_start(self, partition):
        loader = self.read_loader_info()
        if not loader.startswith(self.name):
            raise Refused(f"this machine was started by {loader or 'a loader that sets no LoaderInfo'}, and not by systemd-boot")
        guid = self._read_variable_text("LoaderDevicePartUUID").lower()
        if guid and partition.guid and guid != partition.guid:
            raise Refused(f"systemd-boot was started from another partition than {partition.path}: {guid}")
        chosen = self._read_variable_text(self.choice)
        if chosen not in ("", self.ID):
            raise Refused(f"systemd-boot is already told to start another entry next: {chosen}")
        self.system.run_command("bootctl", "--version")

    def list_found_things(self, folder):
        return [self.ENTRIES] if os.path.isdir(os.path.join(folder, self.ENTRIES)) else []

    def _set_one_shot(self, chosen):
        if self._read_variable_text(self.choice) != chosen:
            self.system.run_command("bootctl", "set-oneshot", chosen)  # an empty choice deletes the variable

    @contextlib.contextmanager
    def undo_if_refused(self, folder):
        found = self.list_found_things(folder)
        try:
            with restore_files_if_refused(self._get_entry_path(folder)), restore_if_refused(lambda: self._read_variable_text(self.choice), self._set_one_shot):
                yield
        except Refused:
            self._delete_made_folder(folder, found)
            raise

    def _get_entry_path(self, folder):
        return os.path.join(folder, self.ENTRIES, self.ID)

    def _delete_made_folder(self, folder, found):
        if self.ENTRIES not in found:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(folder, self.ENTRIES))

    def choose_next_start(self, _partition, folder, application):
        self._set_one_shot("")  # bootctl would print an earlier choice as the default
        path = self._get_entry_path(folder)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_or_delete(path, f"title {TITLE}\nefi /{volume.OWN}/{application}\n".encode())
        said = self.system.run_command("bootctl", f"--esp-path={folder}", "--no-pager", "status")
        default = re.search(r"^Default Boot Loader Entry:.*?^\s*(?:id: |source: \S*/)(\S+)", said, re.MULTILINE | re.DOTALL)
        if not default or default[1] == self.ID:
            raise Refused("bootctl names no other entry as systemd-boot's default, so this machine would start baretick again "
                          "and again")
        self._set_one_shot(self.ID)
        if self._read_variable_text(self.choice) != self.ID:
            raise Refused(f"the firmware did not keep the variable {self.choice}")
        return f"systemd-boot's entry {self.ID}"

    def remove_earlier_choice(self):
        pass

    def is_chosen(self):
        return self._read_variable_text(self.choice) == self.ID

    def remove_choice(self, folder, found):
        if self.is_chosen():
            self._set_one_shot("")
        if os.path.exists(self._get_entry_path(folder)):
            write_or_delete(self._get_entry_path(folder), None)
            self._delete_made_folder(folder, found)


ALL = {each.name: each for each in (Firmware, Grub, SystemdBoot)}
EXCEPT_FIRMWARE = [name for name in ALL if name != Firmware.name]


def remove_choices(system, folder, state, but=None):
    """Remove what each loader but BUT has for a start of baretick. STATE is the preparation's state, or {}."""
    for name, each in ALL.items():
        if name != but:
            each(system).remove_choice(folder, state.get("found", []) if state.get("loader") == name else [])
