"""The sources and the goals of `make help`, for tests of the build."""
import pathlib
import re
import shutil
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def copy_sources(folder):
    """Copies all but build/ and .git/ to FOLDER, so that a build there disturbs no other; returns FOLDER."""
    shutil.copytree(ROOT, folder, ignore=lambda at, _: {"build", ".git"} if at == str(ROOT) else set())
    return folder


def help_text():
    return subprocess.run(["make", "--no-print-directory", "NO_INSTALL=1", "help"], cwd=ROOT, check=True, capture_output=True, text=True,
                          timeout=60).stdout


def listed_goals(said):
    """The goals that SAID, the output of `make help`, lists."""
    return re.findall(r"^make (\S+) +\S", said, re.M)
