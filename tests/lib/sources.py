"""The source files, and the goals of `make help`, for tests of the build."""
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def copy_sources(folder):
    """Copy everything except build/ and .git/ to FOLDER, and return FOLDER. A build of the copy does not disturb other
    tests."""
    shutil.copytree(ROOT, folder, ignore=lambda at, _: {"build", ".git"} if at == str(ROOT) else set())
    return folder


def help_text():
    return subprocess.run(["make", "--no-print-directory", "NO_INSTALL=1", "help"], cwd=ROOT, check=True, capture_output=True, text=True,
                          timeout=60).stdout


def listed_goals(said):
    """Return the goals that are listed in SAID, the output of `make help`."""
    return re.findall(r"^make (\S+) +\S", said, re.M)
