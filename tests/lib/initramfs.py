"""Makes an initramfs: copies of this machine's programs with their libraries, as a cpio archive."""
import re
import shutil
import stat
import subprocess


def find_libraries(path):
    """Return the paths of the shared libraries of the program or library PATH."""
    done = subprocess.run(["ldd", path], capture_output=True, text=True, check=False, timeout=60)
    return re.findall(r"(/\S+) \(0x", done.stdout) if done.returncode == 0 else []


def copy_libraries(paths, tree):
    """Copy the shared libraries of the files PATHS to the folder TREE."""
    for path in paths:
        for library in find_libraries(path):
            target = tree / library.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, target)


def write_archive(tree, archive):
    """Write the files of the folder TREE to the cpio archive ARCHIVE."""
    with open(archive, "wb") as file:
        for path in sorted(tree.rglob("*")):
            file.write(_entry(str(path.relative_to(tree)), path.stat().st_mode, b"" if path.is_dir() else path.read_bytes()))
        file.write(_entry("TRAILER!!!", 0, b""))


def _entry(name, mode, data):
    """Return an entry of a cpio archive, see Linux's Documentation/driver-api/early-userspace/buffer-format.rst."""
    links = 2 if stat.S_ISDIR(mode) else 1
    fields = (0, mode, 0, 0, links, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)
