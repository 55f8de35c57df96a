"""Finds the built files of baretick. In a clone they are in build/. In a release and in an installation, they are in the folder
that contains qemu/.
"""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
COMMIT = "commit"  # name of the file with the version and the commit: `make` writes it, and a release contains it
IS_RELEASE = os.path.exists(os.path.join(ROOT, COMMIT))
BUILD = ROOT if IS_RELEASE else os.path.join(ROOT, "build")
OUTPUT = "baretick" if IS_RELEASE else BUILD  # default folder of reports; an installation cannot be written
MAKE = "take it from the release" if IS_RELEASE else "type `make`"


def get_command_name(name):
    """Return the name of the program NAME for the user: baretick-NAME if it is installed, else qemu/NAME."""
    called = os.path.basename(sys.argv[0])
    return called if called == f"baretick-{name}" else f"qemu/{name}"


def read_version():
    """Return the version of the built files, as they contain it: "0.1.0 (4bb6a2a485c9)". Return None if nothing is built."""
    try:
        with open(os.path.join(BUILD, COMMIT), encoding="ascii") as file:
            version, commit = file.read().split()
    except (OSError, ValueError):
        return None
    return f"{version} ({commit})"


def describe_version(name):
    """Return the line that --version of the program NAME prints."""
    return f"{get_command_name(name)} {read_version() or 'of unknown version: nothing is built'}"
