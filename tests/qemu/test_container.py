"""qemu/Containerfile: the files that it copies, the packages that it installs, and its entry point with a script
instead of QEMU."""
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import textwrap

import pytest
import yaml

from harness import FAKE, ROOT, report, spoken
from runner import arguments

LINES = (ROOT / "qemu" / "Containerfile").read_text().replace("\\\n", " ").splitlines()
INSTRUCTIONS = [line.split(None, 1) for line in LINES if line and not line.startswith("#")]
FINAL = INSTRUCTIONS[max(at for at, (word, _) in enumerate(INSTRUCTIONS) if word == "FROM"):]


def installed(instructions):
    text = " ".join(rest for word, rest in instructions if word == "RUN")
    return set(re.search(r"--no-install-recommends ([^&]*)", text)[1].split())


def test_it_installs_what_make_run_needs():
    run, = re.findall(r"^PACKAGES_run +:= (.*)$", (ROOT / "qemu" / "packages.mk").read_text(), re.M)
    assert installed(FINAL) == {*run.split(), "mtools"}  # mtools reads the report on a stick


def test_the_build_has_all_that_it_needs(tmp_path):
    """make must find everything that it needs for the application in a folder with only the copied files."""
    copied = [rest.split() for word, rest in INSTRUCTIONS if word == "COPY" and not rest.startswith("--from")]
    for source, target in copied:
        if source != ".git":
            place = tmp_path / (source if target == "." else target)
            place = place / pathlib.Path(source).name if target.endswith("/") else place
            place.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / source).is_dir() else shutil.copy)(ROOT / source, place)
    done = subprocess.run(["make", "--dry-run", "NO_INSTALL=1", "all", "image"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "MAKEFLAGS": ""})
    assert done.returncode == 0 and "build/baretick.efi" in done.stdout, done.stderr


@pytest.fixture
def container(tmp_path, fake):
    """Return a function container(words) that calls the entry point in a folder with the files of the last build
    stage."""
    fake(spoken(report("pass", (("tsc", "pass"),))))
    root = tmp_path / "root"
    for word, rest in FINAL:
        if word == "COPY":
            _, *sources, target = rest.split()
            for source in sources:
                place = root / target.lstrip("/")
                place = place / pathlib.Path(source).name if target.endswith("/") else place
                place.parent.mkdir(parents=True, exist_ok=True)
                path = ROOT / source.removeprefix("/baretick/")
                (shutil.copytree if path.is_dir() else shutil.copy)(path, place)
    entry, = (json.loads(rest) for word, rest in FINAL if word == "ENTRYPOINT")

    def call(*words):
        command = [f"{root}{entry[0]}", *(str(root / word.lstrip("/")) if word.startswith("/") else word for word in entry[1:]), *words]
        return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=180,
                              env={**os.environ, "QEMU": str(tmp_path / FAKE)})
    return root, call


def test_the_entry_point_boots_and_leaves_the_report(container, tmp_path):
    root, call = container
    done = call("--accel", "tcg", "--firmware", str(tmp_path / "whole.fd"), "--cpus", "4", "--", "profile=quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads((root / "report" / "report.json").read_bytes())["verdict"] == "pass"
    assert b"\x00-smp\x004" in (tmp_path / "argv").read_bytes()
    wrong = call("--", "profile=quik")
    assert wrong.returncode == 2 and '"profile=quik" is not valid (did you mean quick?)' in wrong.stderr
    help_text = call("--help")
    assert help_text.returncode == 0 and "profile=" in help_text.stdout


@pytest.mark.parametrize("words", [["--boot", "bare"], ["--boot", "bare", "--machine", "microvm"], ["--boot", "usb"], ["--boot", "cd"]],
                         ids=" ".join)
def test_the_container_has_the_images_of_all_kinds_of_boot(container, tmp_path, words):
    firmware = [] if "bare" in words else ["--firmware", str(tmp_path / "whole.fd")]
    root, call = container
    done = call("--accel", "tcg", *words, *firmware, "--", "profile=quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert b"<script" in (root / "report" / "report.html").read_bytes()  # the whole page, and not only a text


def test_the_readmes_commands_are_understood():
    section = (ROOT / "qemu" / "README.md").read_text().partition("## In a container\n")[2].partition("\n## ")[0]
    ran, = re.findall(r"^ +podman run .* baretick (.*)$", section, re.M)
    job = yaml.safe_load(textwrap.dedent(section.partition("builds nothing:\n\n")[2]))["clocks"]
    command, = job["script"]
    assert command.startswith("/baretick/qemu/run ") and job["image"]["entrypoint"] == [""]
    calls = [arguments.parse_run_arguments(shlex.split(words)) for words in (ran, command.partition(" ")[2])]
    assert calls[0].cpus == 4 and [calls[1].out] == job["artifacts"]["paths"]
    assert [calls[1].junit] == [job["artifacts"]["reports"]["junit"]]
