"""The programs that can start baretick once: the firmware by BootNext, GRUB, and systemd-boot.

For each of them, a variable names the entry for the next start. The loader deletes this variable before it starts the entry,
so a run that hangs is not repeated.
"""
import contextlib
import os
import re

from next import firmware, volume
from next.system import NEW, Refused, delete_temporary_file, write_or_delete, read_file, restore_value_on_error, restore_files_on_error

TITLE = "baretick, once"


class Firmware:
    """The firmware starts baretick: a variable Boot#### that is not in the boot order has the entry, and BootNext names it."""

    name, title, variable = "firmware", "the firmware", "BootNext"

    def __init__(self, system):
        self.system, self._old = system, set()

    def check_can_start(self, partition):
        """Raise Refused if this loader cannot start baretick on this machine. This check changes nothing."""
        if not partition.disk or not partition.number:
            raise Refused(f"{partition.path} is no partition of a disk, so no boot entry can name it")
        chosen = firmware.read_entry_number(self.system, self.variable)
        if chosen is not None and chosen not in firmware.list_own_entries(self.system):
            raise Refused(f"the firmware is already told to start another entry next: {chosen:04X}")

    def list_existing_loader_items(self, _folder):
        """Return the names of the loader's files, folders and variables that exist before nextboot changes anything.
        remove_entry() keeps them.
        """
        return []

    def undo_choice_of_next_start_on_error(self, _folder):
        """Return a context manager that undoes choose_next_start() if its block raises Refused."""
        return firmware.undo_choice_of_next_start_on_error(self.system)

    def choose_next_start(self, partition, _folder, application):
        """Make the next start of this machine start APPLICATION, a file in volume.OWN. Return the entry's name for the user."""
        self._old = firmware.list_own_entries(self.system)
        path = "\\".join(["", *volume.OWN.split("/"), application])
        entry = firmware.add_entry(self.system, partition.disk, partition.number, path)
        firmware.set_next_start(self.system, entry)
        return f"boot entry {entry:04X}"

    def remove_old_entries(self):
        """Remove the boot entries that an earlier preparation with this loader made."""
        firmware.remove_entries(self.system, self._old)

    def is_next_start_chosen(self):
        """Return True if the next start of this machine will start baretick."""
        return firmware.read_entry_number(self.system, "BootNext") in firmware.list_own_entries(self.system)

    def remove_entry(self, _folder, _existing):
        """Remove the entry that choose_next_start() made, and what a power cut left of it. Keep the items in EXISTING, the result
        of list_existing_loader_items() before the preparation. EXISTING is None if this loader was not prepared.
        """
        firmware.remove_entries(self.system, firmware.list_own_entries(self.system))


class Grub:
    """GRUB starts baretick: custom.cfg has the menu entry, and the variable next_entry in the file grubenv names it. The command
    grub-reboot sets the same variable.
    """

    name, title, variable = "grub", "GRUB", "next_entry"
    ID = "baretick-once"
    FOLDERS = ("/boot/grub", "/boot/grub2")  # Fedora and openSUSE use the second folder, and commands named grub2-*
    BEGIN, END = f"\n### BEGIN {TITLE}: nextboot --remove takes this block away\n", f"### END {TITLE}\n"
    BLOCK = re.compile(re.escape(BEGIN.encode()) + b".*?" + re.escape(END.encode()), re.DOTALL)
    # Patterns for the lines of grub.cfg that GRUB's scripts 41_custom.in and 00_header.in write (GRUB 2.06, util/grub.d).
    SOURCES_CUSTOM = re.compile(r"^\s*source\s+\S*/custom\.cfg\s*$", re.MULTILINE)
    TAKES_NEXT = re.compile(r'^\s*set\s+default="\$\{next_entry\}"\s*$.*^\s*save_env\s+next_entry\s*$', re.MULTILINE | re.DOTALL)
    WRITABLE = ("ext2", "xfs", "fat")  # grub-probe's names of file systems; ext2 includes ext3 and ext4

    def __init__(self, system):
        self.system = system
        self.folder = next((each for each in self.FOLDERS if os.path.isfile(system.get_path(each, "grub.cfg"))), None)

    def _get_grub_path(self, name):
        return self.system.get_path(self.folder, name)

    def _run_tool(self, name, *words):
        return self.system.run_command(f"{os.path.basename(self.folder)}-{name}", *words)

    def _read_next_entry(self):
        """Return the value of next_entry, or None if grubenv has no such variable."""
        lines = self._run_tool("editenv", self._get_grub_path("grubenv"), "list").splitlines()
        return next((line.partition("=")[2] for line in lines if line.startswith("next_entry=")), None)

    def _set_next_entry(self, value):
        words = ("unset", "next_entry") if value is None else ("set", f"next_entry={value}")
        self._run_tool("editenv", self._get_grub_path("grubenv"), *words)

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
            raise Refused(f"{self.folder}/grub.cfg does not use next_entry, so no entry can be chosen for one start")
        if not partition.uuid:
            raise Refused(f"{partition.path} has no UUID that GRUB could find it by")
        self._check_grubenv()

    def _check_grubenv(self):
        """Raise Refused if GRUB cannot write the file grubenv. Such a GRUB cannot delete next_entry, and would start baretick at
        each start.
        """
        block = f"{self.folder}/grubenv"
        if not os.path.isfile(self._get_grub_path("grubenv")):
            raise Refused(f"{block} does not exist (grub-editenv {block} create makes it)")
        layers = self._run_tool("probe", "--target=abstraction", self._get_grub_path("grubenv")).split()
        kind = self._run_tool("probe", "--target=fs", self._get_grub_path("grubenv")).strip()
        if layers or kind not in self.WRITABLE:
            raise Refused(f"{block} is on {' and '.join(layers) or kind or 'an unknown file system'}, where GRUB cannot clear "
                          "next_entry, so this machine would start baretick again and again")
        if self._read_next_entry() not in (None, "", self.ID):
            raise Refused(f"GRUB is already told to start another entry next: {self._read_next_entry()}")

    def list_existing_loader_items(self, _folder):
        values = {"custom.cfg": read_file(self._get_grub_path("custom.cfg")), "next_entry": self._read_next_entry()}
        return [name for name, value in values.items() if value is not None]

    @contextlib.contextmanager
    def undo_choice_of_next_start_on_error(self, _folder):
        with restore_value_on_error(self._read_next_entry, self._set_next_entry), \
                restore_files_on_error(self._get_grub_path("custom.cfg")):
            yield

    def _make_menu_entry(self, partition, application):
        """Return the menu entry. If the application does not start, the entry restarts the machine and does not wait for a key."""
        return (f"{self.BEGIN}menuentry '{TITLE}' --id {self.ID} --unrestricted {{\n    insmod part_gpt\n    insmod part_msdos\n"
                f"    insmod fat\n    search --no-floppy --fs-uuid --set=root {partition.uuid}\n"
                f"    if chainloader /{volume.OWN}/{application}; then\n        boot\n    fi\n    reboot\n}}\n{self.END}").encode()

    def choose_next_start(self, partition, _folder, application):
        others = self.BLOCK.sub(b"", read_file(self._get_grub_path("custom.cfg")) or b"")
        write_or_delete(self._get_grub_path("custom.cfg"), others + self._make_menu_entry(partition, application))
        self._set_next_entry(self.ID)
        if self._read_next_entry() != self.ID:
            raise Refused(f"{self.folder}/grubenv did not keep next_entry")
        return f"GRUB's entry {self.ID}"

    def remove_old_entries(self):
        pass

    def is_next_start_chosen(self):
        return bool(self.folder) and self._read_next_entry() == self.ID

    def remove_entry(self, _folder, existing):
        if not self.folder:
            return
        existing = existing or []
        delete_temporary_file(self._get_grub_path("custom.cfg"))
        data = read_file(self._get_grub_path("custom.cfg")) or b""
        is_ours = bool(self.BLOCK.search(data))
        if os.path.isfile(self._get_grub_path("grubenv")) and (is_ours or "custom.cfg" in existing):
            chosen = self._read_next_entry()
            # When GRUB uses next_entry, it leaves the variable with an empty value. The variable is removed if it did not exist
            # before the preparation.
            if chosen == self.ID or (chosen == "" and "next_entry" not in existing):
                self._set_next_entry("" if "next_entry" in existing else None)
        if is_ours:
            others = self.BLOCK.sub(b"", data)
            write_or_delete(self._get_grub_path("custom.cfg"), others if others or "custom.cfg" in existing else None)


class SystemdBoot:
    """systemd-boot starts baretick: a file in loader/entries has the entry, and the variable LoaderEntryOneShot names it. The
    command bootctl sets this variable.

    The entry must not become systemd-boot's default, which is the first entry in the menu. Entries with a sort-key come first,
    and this entry has none. Entries without a sort-key are sorted by file name, the newest version first. The name ID counts as
    old, because digits count as newer than letters, and a longer word counts as newer than its beginning (strverscmp_improved()
    of systemd 249 and later).
    """

    name, title, variable = "systemd-boot", "systemd-boot", "LoaderEntryOneShot"
    VENDOR = "4a67b082-0a4c-41cf-b6c7-440b29bb8c4f"  # GUID of its variables: systemd.io/BOOT_LOADER_INTERFACE
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
        chosen = self._read_variable_text(self.variable)
        if chosen not in ("", self.ID):
            raise Refused(f"systemd-boot is already told to start another entry next: {chosen}")
        self.system.run_command("bootctl", "--version")

    def list_existing_loader_items(self, folder):
        return [self.ENTRIES] if os.path.isdir(os.path.join(folder, self.ENTRIES)) else []

    def _set_one_shot_entry(self, chosen):
        if self._read_variable_text(self.variable) != chosen:
            self.system.run_command("bootctl", "set-oneshot", chosen)  # an empty name deletes the variable LoaderEntryOneShot

    @contextlib.contextmanager
    def undo_choice_of_next_start_on_error(self, folder):
        existing = self.list_existing_loader_items(folder)
        try:
            with restore_files_on_error(self._get_entry_path(folder)), \
                    restore_value_on_error(lambda: self._read_variable_text(self.variable), self._set_one_shot_entry):
                yield
        except Refused:
            self._delete_new_folder(folder, existing)
            raise

    def _get_entry_path(self, folder):
        return os.path.join(folder, self.ENTRIES, self.ID)

    def _delete_new_folder(self, folder, existing):
        if self.ENTRIES not in existing:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(folder, self.ENTRIES))

    def choose_next_start(self, _partition, folder, application):
        self._set_one_shot_entry("")  # bootctl would print the entry that the variable names as the default
        path = self._get_entry_path(folder)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_or_delete(path, f"title {TITLE}\nefi /{volume.OWN}/{application}\n".encode())
        output = self.system.run_command("bootctl", f"--esp-path={folder}", "--no-pager", "status")
        default = re.search(r"^Default Boot Loader Entry:.*?^\s*(?:id: |source: \S*/)(\S+)", output, re.MULTILINE | re.DOTALL)
        if not default or default[1] == self.ID:
            raise Refused("bootctl names no other entry as systemd-boot's default, so this machine would start baretick again "
                          "and again")
        self._set_one_shot_entry(self.ID)
        if self._read_variable_text(self.variable) != self.ID:
            raise Refused(f"the firmware did not keep the variable {self.variable}")
        return f"systemd-boot's entry {self.ID}"

    def remove_old_entries(self):
        pass

    def is_next_start_chosen(self):
        return self._read_variable_text(self.variable) == self.ID

    def remove_entry(self, folder, existing):
        if self.is_next_start_chosen():
            self._set_one_shot_entry("")
        path = self._get_entry_path(folder)
        if os.path.exists(path) or os.path.exists(path + NEW) or existing is not None:
            write_or_delete(path, None)
            self._delete_new_folder(folder, existing or [])


ALL = {each.name: each for each in (Firmware, Grub, SystemdBoot)}
EXCEPT_FIRMWARE = [name for name in ALL if name != Firmware.name]


def remove_entries_of_all_loaders(system, folder, state, except_loader=None):
    """Remove baretick's entries from all loaders but EXCEPT_LOADER. STATE is the content of prepared.json, or {}."""
    for name, each in ALL.items():
        if name != except_loader:
            each(system).remove_entry(folder, state.get("found", []) if state.get("loader") == name else None)
