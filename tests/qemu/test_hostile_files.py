"""Reads many changed logs and files of nextboot. Each must be read, or refused with a sentence, within a short time. HOSTILE_RUNS
sets the number of changed files of each kind (`make fuzz` is for the readers in C)."""
import contextlib
import copy
import json
import os
import pathlib
import random
import subprocess
import time

import pytest

import test_nextboot
from harness import ROOT
from next import actions, firmware, loaders, volume
from next.system import System
from readers import gather
from results import files, reports
from test_console_log import LOG

command = test_nextboot.command  # a fixture
RUNS = int(os.environ.get("HOSTILE_RUNS", "150"))
BOUND_S = 20  # longest time for one file; the machine may be busy
ODD = [None, True, 0, -1, 2**63, 2**64, 1e308, "", "x", "\x1b[2J", "ok 1\nok 2", "<script>", "\ud800", [], [[]], [None], {}, {"value": None}, {"id": 5}, "pass", "fail", "absent"]


def list_places(value, found):
    """Append (container, key) of each value in VALUE to FOUND."""
    for key in range(len(value)) if isinstance(value, list) else list(value):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            list_places(value[key], found)
    return found


def change_values(document, chosen):
    """Replace or remove some values of DOCUMENT."""
    for _ in range(chosen.randint(1, 4)):
        container, key = chosen.choice(list_places(document, []) or [({"": 0}, "")])
        if chosen.random() < 0.2 and isinstance(container, dict):
            del container[key]
        else:
            container[key] = copy.deepcopy(chosen.choice(ODD))
    return document


@pytest.fixture(scope="module")
def golden():
    return reports.parse_json((ROOT / "tests" / "goldens" / "sick.json").read_bytes())


def change_bytes(data, chosen):
    """Change, repeat or remove some parts of DATA."""
    for _ in range(chosen.randint(1, 6)):
        at, length = chosen.randrange(len(data)), chosen.choice((1, 8, 72, 500))
        piece = chosen.choice((b"", bytes([chosen.randrange(256)]) * length, data[at:at + length] * chosen.choice((2, 50)), b"BARETICK COMPACT BEGIN\n",
                               b"bt99999:a\n", b"BARETICK COMPACT END sha256=" + b"0" * 64 + b"\n", b"[" * 5000))
        data = data[:at] + piece + data[at + length:]
        data = data or b"\n"
    return data


def test_a_changed_log_of_a_console_is_read_or_refused(tmp_path):
    chosen, path = random.Random(4), tmp_path / "serial.log"
    for _ in range(RUNS):
        path.write_bytes(change_bytes(LOG.encode(), chosen))
        begin = time.monotonic()
        found, refused = gather.read_reports_of_task(("file", str(path)), frozenset(), "")
        assert found or refused
        assert time.monotonic() - begin < BOUND_S


def test_json_of_any_bytes_and_any_depth_gives_a_value_or_a_value_error():
    chosen = random.Random(5)
    for _ in range(RUNS):
        data = change_bytes(chosen.choice((b'{"a": [1]}', b"[" * 100_000, b'{"a":' * 50_000, b'"\xff"', b"1e999", b"9" * 5000)), chosen)
        for parse in files.parse_json, reports.parse_json:
            try:
                parse(data)
            except ValueError:
                pass


class QuickSystem(System):
    """A machine whose commands are simulated in this process, so that many runs take little time."""

    def __init__(self, machine, disks, messages):
        super().__init__(str(machine.root))
        self.variables, self.disks, self.messages = machine.efivars, disks, messages

    def _run_command(self, words):
        name, last, output = words[0], words[-1], b""
        if name == "lsblk":
            output = self.disks
        elif name == "dmesg":
            output = self.messages
        elif "--delete-bootnum" in words or "--delete-bootnext" in words or words[:2] == ("bootctl", "set-oneshot"):
            variable = {"efibootmgr": f"BootNext-{firmware.GLOBAL}" if "--delete-bootnext" in words else f"Boot{last}-{firmware.GLOBAL}"}
            (self.variables / variable.get(name, f"{loaders.SystemdBoot.variable}-{loaders.SystemdBoot.VENDOR}")).unlink(missing_ok=True)
        elif name.endswith("-editenv") and last == "list":
            with contextlib.suppress(OSError):
                output = pathlib.Path(words[1]).read_bytes()
        elif name not in ("efibootmgr", "grub-editenv", "journalctl"):
            return subprocess.CompletedProcess(words, 1, b"", b"\x1b[31mno")
        return subprocess.CompletedProcess(words, 0, output, b"")


PREPARED = json.dumps({"boot_id": "start 1", "reports_before": [], "had_reports": False, "earlier": [], "collected": [], "loader": "firmware", "found": []})
DISKS = json.dumps({"blockdevices": [{"path": "/dev/sda", "children": [
    {"path": "/dev/sda1", "pkname": "sda", "partn": 1, "parttype": volume.KIND[0], "partuuid": "11223344-5566-7788-99aa-bbccddeeff00",
     "uuid": "1234-ABCD", "fstype": "vfat", "mountpoints": ["/boot/efi"]}]}]})
MESSAGES = "".join(f"[    {seconds}] {text}\n" for seconds, text in (
    ("0.000000", "Linux version 6.1.0"), ("0.000010", "tsc: Detected 2000.000 MHz processor"),
    ("1.500000", "tsc: Refined TSC clocksource calibration: 1999.999 MHz"), ("2.000000", "clocksource: Switched to clocksource tsc")))
BLOCK = loaders.Grub.BEGIN + "menuentry\n" + loaders.Grub.END


def spoil_text(text, chosen):
    """Return changed bytes of TEXT. Mostly valid JSON stays valid JSON."""
    if text.startswith("{") and chosen.random() < 0.6:
        return json.dumps(change_values(json.loads(text), chosen)).encode()
    if chosen.random() < 0.3:
        number = chosen.choice(("9" * 400, "9" * 5000, "0", "-1", "\u0663", "1e999", "\x1b[2J"))
        return text.replace(chosen.choice(("1", "2", "9")), number).encode()
    return change_bytes(text.encode() or b"\n", chosen)


def spoil_files(machine, golden, chosen):
    """Make the files of a prepared start and of its report, and spoil some of them."""
    made = {f"boot/efi/{volume.OWN}/{actions.STATE}": PREPARED, f"boot/efi/{volume.OWN}/{actions.OPTIONS}": "profile=quick\n",
            "boot/efi/baretick/0001/report.json": golden, "boot/efi/baretick/0001/report.txt": "text\n",
            "boot/efi/loader/entries/a-baretick-once.conf": "title baretick, once\n", "boot/grub/grub.cfg": "", "boot/grub/custom.cfg": BLOCK,
            "boot/grub/grubenv": "# GRUB Environment Block\nnext_entry=baretick-once\n"}
    names = list(made)
    spoiled = set(chosen.sample(names, chosen.randint(1, 3)))
    for name, text in made.items():
        path, how = machine.root / name, chosen.random() if name in spoiled else 1
        if how < 0.1:
            continue
        folder = path.parent
        with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            if how < 0.2:
                folder.parent.mkdir(parents=True, exist_ok=True)
                folder.write_bytes(b"no folder")
                continue
            folder.mkdir(parents=True, exist_ok=True)
            if how < 0.3:
                (path / "inner").mkdir(parents=True)
            elif how < 0.35:
                (folder / (path.name + ".new")).write_text(text)
            else:
                path.write_bytes(spoil_text(text, chosen) if name in spoiled else text.encode())
    for name in chosen.sample(("0002", "0003.new", "0004.NEW", "\u0660\u0660\u0660\u0661", "9" * 200, "0005\x1b[2J"), 2):
        with contextlib.suppress(FileExistsError, NotADirectoryError, IsADirectoryError):
            (machine.esp / "baretick" / name).mkdir(parents=True)
            (machine.esp / "baretick" / name / "report.json").write_bytes(spoil_text(golden, chosen))
    for name in ("BootCurrent", "BootNext", "Boot0001", "Boot0000"):
        if chosen.random() < 0.2:
            machine.variable(name, chosen.randbytes(chosen.choice((0, 1, 2, 3, 40))))
    if chosen.random() < 0.2:
        machine.variable(loaders.SystemdBoot.variable, chosen.choice((b"", b"\xff", "a-baretick-once.conf\0".encode("utf-16-le"))), loaders.SystemdBoot.VENDOR)


@pytest.mark.parametrize("seed", range(2))
def test_nextboot_survives_any_file_and_remove_takes_its_own_away(tmp_path, golden, command, capsys, monkeypatch, seed):
    """Each action must end with 0 or with one sentence. --remove must delete prepared.json."""
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    chosen, text = random.Random(seed), json.dumps(golden)
    for number in range(RUNS // 3):
        machine = test_nextboot.Machine(tmp_path / str(number))
        spoil_files(machine, text, chosen)
        system = QuickSystem(machine, spoil_text(DISKS, chosen) if chosen.random() < 0.1 else DISKS.encode(),
                             spoil_text(MESSAGES, chosen) if chosen.random() < 0.5 else MESSAGES.encode())
        is_known = system.disks == DISKS.encode()
        for words in (["--status"], ["--collect", str(tmp_path / f"{number}.collected")], ["--remove"]):
            status = command.main(words, system)
            said = capsys.readouterr()
            assert status in (0, 2) and (said.err.count("\n") == 1) == (status == 2), (number, words, said)
            assert (said.out + said.err).replace("\n", "").isprintable() and "internal error" not in said.err, (number, words, said)
        print(said)
        assert not is_known or not (machine.esp / volume.OWN / actions.STATE).exists(), (number, said)
