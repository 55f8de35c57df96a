"""Runs qemu/fresh. Scripts replace debootstrap, chroot and mount."""
import os
import subprocess

import pytest

from harness import ROOT, write_script

SETTINGS = ('Acquire::http::Proxy "http://proxy:3142";\nAcquire::Check-Valid-Until "false";\n')


@pytest.fixture
def fresh(tmp_path):
    """Return a function that calls fresh(SUITE...). The list `calls` has the commands that were called. `failing` names
    a command that fails in the new system."""
    tools = tmp_path / "bin"
    tools.mkdir()
    scripts = {
        "id": "echo 0",
        "mount": "",
        "apt-config": f"printf '%s' '{SETTINGS}'",
        "git": 'case $* in *status*) ;; *) for last; do :; done; mkdir -p "$last" ;; esac',
        "debootstrap": 'mkdir -p "$3/etc/apt/apt.conf.d" "$3/proc" "$3/dev" "$3/root"',
        "chroot": 'case "$*" in *"sh make "*) cat "$1/etc/apt/apt.conf.d/"* >"$TMP/settings"; '
                  'echo inside; case "$*" in *"$FAILING") exit 1 ;; esac ;; esac'}
    for name, body in scripts.items():
        write_script(tools / name, f'#!/bin/sh\necho "{name} $*" >>{tmp_path}/calls\n{body}\n')

    class Fresh:
        def __call__(self, *suites, failing="nothing"):
            done = subprocess.run([ROOT / "qemu" / "fresh", *suites], capture_output=True, text=True, timeout=60, env={
                "PATH": f"{tools}:/usr/sbin:/usr/bin:/sbin:/bin", "TMP": str(tmp_path), "FAILING": failing,
                "FRESH_DIR": str(tmp_path / "made"), "FRESH_MIRROR": "http://mirror/debian"})
            self.calls = (tmp_path / "calls").read_text().splitlines() if (tmp_path / "calls").exists() else []
            self.tried = [line.rpartition(" sh ")[2] for line in self.calls if " sh make " in line]
            self.left = os.listdir(tmp_path / "made") if (tmp_path / "made").exists() else []
            return done
        settings = tmp_path / "settings"
    return Fresh()


def test_each_release_gets_both_goals_and_its_folder_is_removed(fresh):
    done = fresh("bookworm", "trixie", "sid")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "fresh: passed: bookworm trixie sid"), done.stderr
    made = [line.split() for line in fresh.calls if line.startswith("debootstrap ")]
    assert [words[2] for words in made] == ["bookworm", "trixie", "sid"] and {words[4] for words in made} == {"http://mirror/debian"}
    assert fresh.tried == ["make run", "make check"] * 3
    assert sorted(fresh.left) == ["bookworm.log", "sid.log", "trixie.log"]


@pytest.mark.parametrize("goal, tried", [("run", ["make run"]), ("check", ["make run", "make check"])])
def test_a_goal_that_fails_is_named_and_the_next_release_is_tried(fresh, goal, tried):
    done = fresh("trixie", "sid", failing=f"make {goal}")
    assert done.returncode == 1 and f"fresh: failed: trixie (make {goal}) sid (make {goal})\n" in done.stderr
    assert fresh.tried == tried * 2 and sorted(fresh.left) == ["sid.log", "trixie.log"]


def test_apt_has_the_settings_of_this_machine_inside(fresh):
    """The package lists of an old mirror have expired. Therefore apt in the new system must get this machine's
    settings, which make apt accept such lists."""
    fresh("sid")
    assert fresh.settings.read_text() == SETTINGS
    asked, = (line for line in fresh.calls if line.startswith("apt-config "))
    assert {"Acquire::http::Proxy", "Acquire::Check-Valid-Until", "Acquire::Check-Date"} <= set(asked.split())


def test_make_fresh_tries_the_three_releases():
    done = subprocess.run(["make", "--no-print-directory", "-n", "NO_INSTALL=1", "fresh"], cwd=ROOT, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "MAKEFLAGS": ""})
    assert done.stdout.splitlines()[-1] == "qemu/fresh bookworm trixie sid", done.stderr
