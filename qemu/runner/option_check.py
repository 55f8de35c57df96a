"""Checks baretick's options before a boot, by the program baretick-replay, which has the application's parser of options."""
import os
import subprocess

from results import files, product

PROGRAM = os.path.join(product.BUILD, "baretick-replay")
WAIT_S = 20
IMAGE_MAX = 1 << 28  # a larger file is no image of baretick
VALID, WRONG = 0, 2  # exit status of the program


class Unchecked(Exception):
    """The options could not be checked. The message says why."""


def is_of_this_version(image):
    """Return True if the file IMAGE has the version and the commit of the built files, as a signed copy of the application has."""
    version = product.read_version()
    try:
        return version is not None and version.encode() in files.read_file(image, IMAGE_MAX)
    except (OSError, ValueError):
        return False


def find_option_flaws(data):
    """Return a sentence for each word that the application would refuse. DATA is the contents of baretick.cfg or of the fw_cfg item.
    Raise Unchecked if there is no result: then only the application checks the options.
    """
    try:
        done = subprocess.run([PROGRAM, "--options", "/dev/stdin"], input=data, capture_output=True, timeout=WAIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise Unchecked(f"{PROGRAM} has not ended after {WAIT_S} s") from None
    except OSError as error:
        raise Unchecked(files.format_error(error)) from error
    lines = done.stdout.decode(errors="replace").splitlines()
    if done.returncode not in (VALID, WRONG) or not lines:
        reason = done.stderr.decode(errors="replace").splitlines()[-1:] or [f"status {done.returncode}"]
        raise Unchecked(f"{PROGRAM} failed: {reason[0]}")
    return [line.removesuffix(".") for line in lines] if done.returncode == WRONG else []
