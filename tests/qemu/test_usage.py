"""The usage of the programs for the host, and hints after wrong words."""
import subprocess

import pytest

from harness import ROOT


def call(*words):
    return subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("program, first", [
    ("image", "Makes a bootable USB stick"), ("sign", "Signs the application for Secure Boot")])
def test_scripts_print_their_usage(program, first):
    for word in "--help", "-h":
        done = call(ROOT / "qemu" / program, word)
        assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith(first), done
        assert "set -eu" not in done.stdout
    for words in [], ["one"], ["one", "two", "three", "four", "five", "six", "seven"]:
        done = call(ROOT / "qemu" / program, *words)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr.startswith(first), done


def test_nextboot_says_where_options_of_baretick_go():
    done = call(ROOT / "qemu" / "nextboot", "profile=quick")
    assert done.returncode == 2
    assert done.stderr.endswith("unrecognized arguments: profile=quick; baretick's own options go behind --\n"), done
    assert "behind --" not in call(ROOT / "qemu" / "nextboot", "--frobnicate").stderr


@pytest.mark.parametrize("word, known", [
    ("OPTION=profile=quick", False), ("OPTIONS=profile=quick duration=2s", True), ("CFLAGS=-O3", False), ("WERROR=1", True),
    ("OVMF=/firmware.fd", True), ("FRESH_KEEP=1", True)])
def test_make_refuses_a_misspelt_variable(word, known):
    done = call("env", "-u", "MAKELEVEL", "make", "-n", "NO_INSTALL=1", word, "help")
    assert (done.returncode == 0) == known, done
    assert known or f"{word.partition('=')[0]}= is no variable of this Makefile" in done.stderr


def test_make_accepts_the_variables_of_a_makefile_that_started_it():
    done = call("env", "MAKELEVEL=1", "make", "-n", "NO_INSTALL=1", "TREE=/elsewhere", "help")
    assert done.returncode == 0, done
