#!/usr/bin/env python3
"""`make pictures`: makes one picture of the screens on which shim's MokManager enrols a certificate.

Usage: enrol_pictures.py FILE.png"""
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = map(str, [HERE, HERE.parent / "lib", HERE.parents[1] / "qemu"])

from boots import EFI  # noqa: E402
from harness import ROOT  # noqa: E402
from mok import MICROSOFTS_KEYS, Manager, guest  # noqa: E402

SIZE = 640, 480
SHOWN = {0: "verification failed", 1: "press any key", 2: "enrol key from disk", 4: "which file", 5: "continue", 6: "yes"}
COLUMNS = 2
COLOURS = 16


def signed(folder):
    """Make a stick with a shim and an application that is signed by a new key."""
    subprocess.run(["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=baretick of our lab",
                    "-keyout", folder / "key", "-out", folder / "cert"], check=True, capture_output=True)
    subprocess.run([ROOT / "qemu" / "sign", folder / "key", folder / "cert", EFI, folder / "signed", "1"], check=True)
    return folder / "signed.img"


def main(file):
    screens = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def look():
            shown.save(folder / "screen.png")
            screens.append(Image.open(folder / "screen.png").convert("RGB"))
        with guest(MICROSOFTS_KEYS, signed(folder), pixels=SIZE) as shown:
            Manager(shown, look).enrol()
    whole = Image.new("RGB", (SIZE[0] * COLUMNS, SIZE[1] * len(SHOWN) // COLUMNS))
    for place, number in enumerate(SHOWN):
        whole.paste(screens[number], (place % COLUMNS * SIZE[0], place // COLUMNS * SIZE[1]))
    whole.quantize(COLOURS, dither=Image.Dither.NONE).save(file, optimize=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    main(sys.argv[1])
