"""Finds all files that may be reports. Links are not followed, because they could form a loop."""
import os
import stat

from results import reports

FILES_MAX = 200_000  # maximum number of files in one call
DEPTH_MAX = 32       # maximum number of levels of nested folders
NAMES = (".json", ".csv", ".log")
LOG = ".log"         # extension of a console's log: see qemu/readers/console.py
STICKS = (".img", ".iso", ".raw")


def find_files(words, refuse):
    """Yield (kind, path) for each file in the list WORDS, and for each file in its folders. The kind is "stick" or "file". Call
    REFUSE(path, sentence) for skipped files.
    """
    seen, count = set(), 0
    for word in words:
        for kind, path in _find_files_of_argument(word, refuse, seen):
            count += 1
            if count > FILES_MAX:
                refuse(path, f"is one more than {FILES_MAX:,} files: it and the rest are not read")
                return
            yield kind, path


def get_kernel_json_path(path):
    """Return the path of the kernel.json that belongs to the report PATH, or None if PATH is not named report.json."""
    folder, name = os.path.split(path)
    return os.path.join(folder, reports.KERNEL) if name.lower() == "report.json" else None


def has_json_of_same_run(name, names):
    """Return True if one of NAMES is the JSON report of the same run as NAME, which is a table or a log. NAME is then skipped,
    because JSON contains more data. NAMES are all files in the folder.
    """
    return name.endswith(".csv") and name[:-4] + ".json" in names or name.endswith(LOG) and "report.json" in names


def _find_files_of_argument(word, refuse, seen):
    try:
        mode = os.stat(word).st_mode
    except (OSError, ValueError) as error:
        refuse(word, f"cannot be read: {getattr(error, 'strerror', None) or error}")
        return
    if stat.S_ISDIR(mode):
        yield from _walk_folder(word, refuse, seen, 0)
    elif not stat.S_ISREG(mode):
        refuse(word, "is no file")
    else:
        yield "stick" if word.lower().endswith(STICKS) else "file", word


def _walk_folder(folder, refuse, seen, depth):
    """Yield the reports in FOLDER and below. Each folder is read once."""
    try:
        about = os.stat(folder)
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        refuse(folder, f"cannot be read: {error.strerror}")
        return
    if (about.st_dev, about.st_ino) in seen:
        return
    seen.add((about.st_dev, about.st_ino))
    if depth > DEPTH_MAX:
        refuse(folder, f"is more than {DEPTH_MAX} folders deep")
        return
    names = {entry.name.lower() for entry in entries}
    for entry in entries:
        name = entry.name.lower()
        if entry.is_symlink():
            if name.endswith(NAMES) or os.path.isdir(entry.path):
                refuse(entry.path, "is a link: links in a folder are not followed")
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk_folder(entry.path, refuse, seen, depth + 1)
        elif name == reports.KERNEL or not name.endswith(NAMES) or has_json_of_same_run(name, names):
            continue
        elif not entry.is_file(follow_symlinks=False):
            refuse(entry.path, "is no file")
        else:
            yield "file", entry.path
