"""The actions of qemu/nextboot: prepare a start of baretick, print the state, collect the report, or remove all added files."""
import contextlib
import glob
import json
import os
import re
import shutil
import struct

from machine import command
from next import compare, firmware, kernel, loaders, volume
from next.system import FILE_MAX, Refused, restore_files_on_error
from results import files, reports
from results.reports import KERNEL
from runner import option_check

STATE = "prepared.json"
BOOT_ID = "/proc/sys/kernel/random/boot_id"  # a different value after each start
APPLICATION, OPTIONS = "baretick.efi", "baretick.cfg"
SHIM, SECOND_STAGE = "shimx64.efi", "grubx64.efi"  # shimx64.efi starts the file grubx64.efi in its own folder
DEFAULTS = {"exit": "reboot", "deadline": "auto"}
# Keys of prepared.json, which describes the last preparation of a start. "earlier" lists uncollected reports of earlier
# preparations. "collected" lists the collected reports of the last preparation. "loader" is a name in loaders.ALL, and
# "found" is the result of list_existing_loader_items() for this loader.
STATE_KEYS = {"boot_id": str, "reports_before": list, "had_reports": bool, "earlier": list, "collected": list, "loader": str,
              "found": list}
NEW = ".new"  # suffix of the temporary file that files.replace_file() leaves behind after a power cut
FILES = (APPLICATION, SECOND_STAGE, SHIM, OPTIONS, STATE)
EFI_APPLICATION, AMD64 = 10, 0x8664  # subsystem and machine: Microsoft PE and COFF specification


def read_application(path):
    """Return the bytes of the file PATH. Raise Refused if it is no UEFI application."""
    try:
        data = files.read_file(path, FILE_MAX)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror} (type make, or name the application by --efi)") from error
    except ValueError as error:
        raise Refused(f"{path} {error}") from error
    try:
        start, = struct.unpack_from("<I", data, 0x3C)
        machine, = struct.unpack_from("<H", data, start + 4)
        subsystem, = struct.unpack_from("<H", data, start + 24 + 68)
    except struct.error:
        start, machine, subsystem = 0, 0, 0
    if data[:2] != b"MZ" or data[start:start + 4] != b"PE\0\0" or (machine, subsystem) != (AMD64, EFI_APPLICATION):
        raise Refused(f"{path} is no UEFI application for x86-64")
    return data


def collect_loader_files(system, path, folder):
    """Return {name: bytes} of the files to copy. The firmware starts the first of these files. This is a shim if only the shim
    knows the key that signed the application PATH, otherwise it is the application. FOLDER is the system partition."""
    data = read_application(path)
    if not firmware.enforces_signatures(system) or firmware.find_key_list_with_signing_key(system, path) == "db":
        return {APPLICATION: data}
    found = sorted(glob.glob(os.path.join(folder, "EFI", "*", SHIM)))
    if not found:
        raise Refused(f"{path} is signed for a shim, and there is no EFI/*/{SHIM} on the system partition")
    return {SHIM: files.read_file(found[0], FILE_MAX), SECOND_STAGE: data}


def make_options_file(words):
    """Return the bytes of baretick.cfg: the options WORDS, and defaults for a machine that no person watches."""
    given = {word.partition("=")[0] for word in words}
    added = [f"{key}={value}" for key, value in DEFAULTS.items() if key not in given]
    return command.join_options([*words, *added])


def check_options(words, path):
    """Raise Refused if the application PATH would refuse an option of WORDS. Yield a sentence if the options could not be checked. An
    application of another version checks its options itself, and comes back to Linux if one is wrong.
    """
    if not words or not option_check.is_of_this_version(path):
        return
    try:
        flaws = option_check.find_option_flaws(make_options_file(words))
    except option_check.Unchecked as error:
        yield f"the options are not checked before the restart: {error}"
        return
    if flaws:
        raise Refused("; ".join(flaws))


def check_series(options, loader):
    """Raise Refused if OPTIONS, the bytes of baretick.cfg, have boots= and the next boots would not be started. Only a boot entry of
    the firmware can be chosen again: LOADER starts Linux after the first boot.
    """
    if loader.name != loaders.Firmware.name and re.search(rb"(?m)^boots=(?!1$)", options):
        raise Refused(f"boots= needs BootNext, because {loader.title} would start baretick once: leave out --loader")


def _read_state(folder):
    try:
        state = files.parse_json(files.read_file(os.path.join(folder, volume.OWN, STATE), FILE_MAX))
        if {key: type(value) for key, value in state.items()} == STATE_KEYS and state["loader"] in loaders.ALL and all(
                isinstance(name, str) for value in state.values() if isinstance(value, list) for name in value):
            return state
    except FileNotFoundError:
        return None
    except (OSError, ValueError, AttributeError):
        pass
    raise Refused(f"{volume.OWN}/{STATE} on the EFI system partition is damaged: --remove takes it away")


def _delete_own_files(own, names):
    """Delete the files NAMES in the folder OWN. Delete the folder too if it has no other files."""
    for name in names:
        path = os.path.join(own, name)
        try:
            os.remove(path)
        except FileNotFoundError:
            pass
        except (IsADirectoryError, PermissionError):  # a damaged file system may have a folder in place of the file
            shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(own)


def _is_folder_ours(own):
    """Return True if the folder OWN has the file that marks it as nextboot's. An empty folder counts, too, because a power cut
    leaves one before the first file is written, and after the last one is removed.
    """
    return any(os.path.lexists(os.path.join(own, STATE + suffix)) for suffix in ("", NEW)) or not os.listdir(own)


def _read_old_state(folder):
    """Return the contents of prepared.json from an earlier preparation, or None."""
    try:
        return _read_state(folder)
    except Refused:  # prepared.json is damaged: treats all reports as older than the preparation
        return {"earlier": [], "collected": [], "had_reports": True, "reports_before": volume.list_reports(folder)}


def _make_state(system, folder, old, loader):
    """Return the content of prepared.json for a new preparation by LOADER. Its key "earlier" includes the
    uncollected reports of the earlier preparation OLD."""
    waiting = [*old["earlier"], *(name for name in _list_new_reports(folder, old) if name not in old["collected"])] if old else []
    had_reports = old["had_reports"] if old else os.path.isdir(os.path.join(folder, volume.REPORTS))
    return {"boot_id": system.read_text(BOOT_ID) or "", "reports_before": volume.list_reports(folder), "had_reports": had_reports,
            "earlier": waiting, "collected": [], "loader": loader.name,
            "found": old["found"] if old and old.get("loader") == loader.name else loader.list_existing_loader_items(folder)}


@contextlib.contextmanager
def _undo_choice_of_next_start_on_error(own, loader, folder):
    """If the block raises OSError or Refused, restore the files in OWN and LOADER's choice of the next start, and raise
    Refused.
    """
    left = "the earlier preparation stays" if os.path.exists(os.path.join(own, STATE)) else "nothing is prepared"
    try:
        with restore_files_on_error(*(os.path.join(own, name) for name in FILES)), loader.undo_choice_of_next_start_on_error(folder):
            try:
                yield
            except OSError as error:
                raise Refused(files.format_error(error)) from error
    except Refused as error:
        _delete_own_files(own, [])
        raise Refused(f"{error}; {left}") from error


def prepare_next_start(system, path, words, by=loaders.Firmware.name, restart=False):
    """Prepare one start of the application PATH with the options WORDS by the loader BY. Restart the machine if RESTART is
    true. The new preparation replaces an earlier one. If this function raises Refused, the earlier one stays as it was."""
    read_application(path)
    options = make_options_file(words)
    partition = volume.find_system_partition(system)
    loader = loaders.ALL[by](system)
    check_series(options, loader)
    loader.check_can_start(partition)
    with volume.mount_partition(system, partition) as folder:
        loaded = collect_loader_files(system, path, folder)
        if SHIM in loaded and by != loaders.Firmware.name:
            raise Refused(f"Secure Boot is on, and {path} is signed for a shim: {loader.title} starts only what is signed with a key of "
                          "the firmware")
        volume.check_free_space(folder, sum(map(len, loaded.values())))
        own = os.path.join(folder, volume.OWN)
        if os.path.exists(own) and not (os.path.isdir(own) and _is_folder_ours(own)):
            raise Refused(f"{volume.OWN} on {partition.path} is not nextboot's: move it away first")
        old = _read_old_state(folder)
        state = json.dumps(_make_state(system, folder, old, loader), indent=1).encode()
        made = {STATE: state, **loaded, OPTIONS: options}  # writes the state first, because it marks the other files as nextboot's
        with _undo_choice_of_next_start_on_error(own, loader, folder):
            os.makedirs(own, exist_ok=True)  # the folder may exist, with files that are not nextboot's
            for name, data in made.items():
                files.replace_file(os.path.join(own, name), data)
            _delete_own_files(own, [name for name in FILES if name not in made])
            entry = loader.choose_next_start(partition, folder, next(iter(loaded)))
            if restart:
                system.run_command("systemctl", "reboot")
        with contextlib.suppress(Refused, OSError):  # if this fails, the entry stays until `qemu/nextboot --remove`
            loader.remove_old_entries()
            loaders.remove_entries_of_all_loaders(system, folder, old or {}, except_loader=by)
    return f"prepared: the next restart runs baretick from {partition.path}, {entry}, and comes back"


def _describe_prepared_start(system, state, new):
    """Return a sentence that names the new report, or says why there is none."""
    if new:
        return f"report {new[-1]} is there"
    loader = loaders.ALL[state["loader"]](system)
    waits = loader.is_next_start_chosen()
    if state["boot_id"] == system.read_text(BOOT_ID):
        by = "" if loader.name == loaders.Firmware.name else f" by {loader.title}"
        return (f"prepared{by}, and the machine was not restarted since" if waits else
                f"the machine was not restarted since, and {loader.variable} was removed: prepare it again")
    return "the machine was restarted, and there is no report: " + (
        f"{loader.title} ignored {loader.variable}" if waits else
        f"{loader.title} did not start baretick, or baretick was cut off before its first checkpoint")


def _list_new_reports(folder, state):
    return [name for name in volume.list_reports(folder) if name not in state["reports_before"]]


def describe_status(system):
    """Yield lines on the prepared start and on the reports on the partition."""
    with volume.mount_partition(system, volume.find_system_partition(system)) as folder:
        state = _read_state(folder)
        yield _describe_prepared_start(system, state, _list_new_reports(folder, state)) if state else "nothing is prepared"
        yield f"reports: {', '.join(volume.list_reports(folder)) or 'none'}"


def _copy_report(source, target):
    os.makedirs(target, exist_ok=True)
    for name in sorted(os.listdir(source)):
        files.replace_file(os.path.join(target, name), files.read_file(os.path.join(source, name), volume.REPORT_MAX))


def collect_reports(system, target):
    """Copy the newest report to the folder TARGET, and add kernel.json. Copy each older uncollected report to a folder
    of its own in TARGET. Yield the lines of the comparison between the kernel and the newest report.
    """
    with volume.mount_partition(system, volume.find_system_partition(system)) as folder:
        state = _read_state(folder)
        if not state:
            raise Refused("nothing was prepared on this machine, so there is no report to collect")
        new = _list_new_reports(folder, state)
        waiting = [name for name in volume.list_reports(folder) if name in state["earlier"] or name in new]
        if not waiting:
            raise Refused(_describe_prepared_start(system, state, new))
        newest = waiting.pop()
        source = os.path.join(folder, volume.REPORTS, newest)
        try:
            report = reports.parse_report(files.read_file(os.path.join(source, "report.json"), reports.SIZE_MAX))
            _copy_report(source, target)
            for name in waiting:
                _copy_report(os.path.join(folder, volume.REPORTS, name), os.path.join(target, name))
            believed = kernel.collect_kernel_facts(system)
            files.replace_file(os.path.join(target, KERNEL), (json.dumps(believed, indent=1) + "\n").encode())
        except OSError as error:
            raise Refused(files.format_error(error)) from error
        except ValueError as error:
            raise Refused(f"report {newest} is no report, or cannot be read: {error}") from error
        situation = None if new else _describe_prepared_start(system, state, new)
        state.update(earlier=[], collected=new)
        with contextlib.suppress(OSError):  # if the copy fails, the next preparation keeps the reports in the list again
            files.replace_file(os.path.join(folder, volume.OWN, STATE), json.dumps(state, indent=1).encode())
    yield from compare.format_comparison(believed, report)
    if report.get("verdict") == "incomplete":
        yield f"reason   {'; '.join((report.get('notes') or ['the report does not say where'])[:1])}"
    if situation:
        yield f"earlier  report {newest} is of a start before the prepared one: {situation}"
    for name in waiting:
        yield f"earlier  report {name} was not collected before: it is in {os.path.join(target, name)}"


def remove_all_files_and_entries(system, with_reports):
    """Remove all that prepare_next_start() made, and the reports if WITH_REPORTS. Return a sentence."""
    with volume.mount_partition(system, volume.find_system_partition(system)) as folder:
        try:
            state = _read_state(folder)
        except Refused:  # prepared.json is damaged: keeps the reports, because some may be older than the preparation
            state = {"had_reports": True}
        failed = None
        try:
            loaders.remove_entries_of_all_loaders(system, folder, state or {})
        except (Refused, OSError) as error:  # the files are removed anyway; without them an entry starts nothing
            failed = error
        own = os.path.join(folder, volume.OWN)
        if os.path.isdir(own) and _is_folder_ours(own):
            _delete_own_files(own, [name + suffix for name in FILES for suffix in ("", NEW)])
        saved = os.path.join(folder, volume.REPORTS)
        if with_reports:
            shutil.rmtree(saved, ignore_errors=True)
        elif state and not state["had_reports"]:
            with contextlib.suppress(OSError):
                os.rmdir(saved)  # the folder is empty, so it is not needed
        left = volume.list_reports(folder)
    if failed:
        raise failed
    stay = f"; reports stay: {', '.join(left)} (--reports removes them)" if left else ""
    return ("removed" if state else "nothing was prepared") + stay
