"""Tests of the Makefile, with builds in other folders."""
import os
import re
import subprocess

import pytest

from sources import ROOT, copy_sources, help_text, listed_goals


def make(*words, timeout=120, folder=ROOT):
    return subprocess.run(["make", "NO_INSTALL=1", *words], cwd=folder, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "MAKEFLAGS": "", "OPTIONS": "of somebody else"})


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory):
    """Return a copy of the sources in a folder whose name contains a blank."""
    folder = tmp_path_factory.mktemp("build") / "with a blank"
    return copy_sources(folder)


@pytest.mark.parametrize("targets", [
    ["build/efi/src/base/text.o", "build/efi/boot/uefi/main.o", "build/efi/boot/uefi/page.o", "build/host/src/base.a"],
    pytest.param(["all", "image", "build/baretick-skew.efi", "build/baretick-fault.efi", "build/unit/base/test_text", "build/fuzz/fuzz_options"],
                 marks=pytest.mark.long),
], ids=["parts", "all"])
def test_it_builds_in_a_folder_with_a_blank_in_its_name(elsewhere, targets):
    done = make(*targets, timeout=600, folder=elsewhere)
    assert done.returncode == 0, done.stdout + done.stderr
    assert all((elsewhere / target).is_file() for target in targets if "/" in target)


@pytest.mark.parametrize("words, called", [
    ([], "qemu/run --out build/report"),
    (['OPTIONS=profile=quick label="rack 7"'], 'qemu/run --out build/report -- profile=quick label="rack 7"')])
def test_make_run_passes_its_options_to_baretick(words, called):
    done = make("--no-print-directory", "-n", "run", *words)
    assert [line.strip() for line in done.stdout.splitlines() if line.startswith("qemu/run")] == [called], done.stderr


@pytest.mark.long
def test_make_lint_finds_nothing():
    done = make("lint", timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_make_image_ends_with_the_next_step_from_the_readme():
    done = make("--no-print-directory", "-n", "image")
    trial, stick = done.stdout.splitlines()[-2:]
    written = re.search(r"sudo dd .+(?=')", stick)[0]
    assert "qemu/run --boot usb" in trial and f"    {written}\n" in (ROOT / "README.md").read_text(), done.stdout + done.stderr


def test_each_file_with_the_commits_name_is_built_again_for_another_commit():
    """In a dry run, make does not know yet whether the commit is another one, so it lists these files."""
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout
    done = make("-n", "V=1", "all")
    built = set(re.findall(rf"-DCOMMIT='\"{commit.strip()}\"' .*-c (\S+)", done.stdout))
    naming = {str(path.relative_to(ROOT)) for path in (ROOT / "boot").rglob("*.c") if re.search(r"\bCOMMIT\b", path.read_text())}
    assert len(naming) >= 4 and naming <= built, done.stdout + done.stderr


# Goals that `make help` does not list, because only other goals use them.
INNER = {"FORCE", "rooms", "seeds"}


def test_help_has_every_goal_once_and_nothing_else():
    said = help_text()
    listed = listed_goals(said)
    makefiles = "".join(path.read_text() for path in (ROOT / "Makefile", ROOT / "tests" / "tests.mk", ROOT / "qemu" / "packages.mk"))
    goals = {goal for line in re.findall(r"^\.PHONY:(.*)$", makefiles, re.M) for goal in line.split()}
    assert sorted(listed) == sorted(goal for goal in goals - INNER if not goal.startswith("deps-") or goal == "deps-run")
    assert {"run", "check", "dist"} < set(listed)
    switches = [line.partition("=")[0] for line in said.splitlines() if not line.startswith("make ")]
    assert switches == ["V", "WERROR", "DEBUG", "NO_INSTALL"]
    assert all(len(line) <= 120 for line in said.splitlines())
