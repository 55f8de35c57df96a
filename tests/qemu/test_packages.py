"""Runs qemu/packages. Scripts replace dpkg-query, apt-get, sudo and id."""
import os
import re
import shutil
import subprocess

import pytest

from harness import ROOT, write_script

BASE_TOOLS = ["sh", "tr", "flock", "env"]


@pytest.fixture
def machine(tmp_path):
    """A machine whose only commands are BASE_TOOLS and scripts. The file INSTALLED lists the installed packages, and
    apt-get install appends to it."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in BASE_TOOLS:
        found = next(f"{d}/{name}" for d in ("/usr/bin", "/bin") if os.path.exists(f"{d}/{name}"))
        (tools / name).symlink_to(found)
    installed, log = tmp_path / "installed", tmp_path / "log"
    log.touch()

    def script(name, body):
        write_script(tools / name, f"#!/bin/sh\n{body}\n")

    class Machine:
        def __init__(self):
            self.has("gcc", "nasm")
            script("id", "echo 0")
            script("dpkg-query", f'while read p; do printf "installed=%s " $p; done <{installed}')
            script("apt-cache", '[ "$2" = libknown-dev ]')
            self.apt("")
            self.script, self.tools = script, tools
            self.environment = {"PATH": str(tools)}

        def has(self, *packages):
            installed.write_text("".join(f"{package}\n" for package in packages))

        def apt(self, first):
            """Make an apt-get that runs the command FIRST, and then installs the package that is its last argument."""
            script("apt-get", f'echo "apt-get $*" >>{log}\n{first}\n'
                              f'for p; do :; done; [ "$p" = update ] || echo $p >>{installed}')

        def call(self, *arguments):
            done = subprocess.run([str(ROOT / "qemu" / "packages"), *arguments], capture_output=True, text=True,
                                  env=self.environment, timeout=30)
            self.asked = [line for line in log.read_text().splitlines()]
            return done
    return Machine()


def test_nothing_is_done_or_said_where_all_are_there(machine):
    done = machine.call("install", "gcc", "nasm")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert machine.asked == []


def test_only_what_is_missing_is_named_and_then_installed(machine):
    done = machine.call("install", "gcc", "ovmf", "nasm")
    assert done.returncode == 0
    assert done.stderr.startswith("packages: installing what is missing: ovmf")
    assert machine.asked == [
        "apt-get -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends ovmf"]
    assert machine.call("install", "gcc", "ovmf", "nasm").stderr == ""


def test_a_failed_install_is_tried_again_with_fresh_lists(machine):
    machine.apt('[ "$3" = update ] && : >"$0.updated"; [ -e "$0.updated" ] || exit 100')
    done = machine.call("install", "ovmf")
    assert done.returncode == 0, done.stderr
    assert [line.split()[3] for line in machine.asked] == ["install", "update", "install"]


def test_a_second_failure_is_the_end(machine):
    machine.apt("exit 100")
    assert machine.call("install", "ovmf").returncode == 2


def test_a_package_that_this_release_does_not_know_is_left_out(machine):
    assert machine.call("install", "gcc", "libnew-dev?").returncode == 0
    assert machine.asked == []
    assert machine.call("install", "gcc", "libknown-dev?").returncode == 0
    assert machine.asked[0].endswith(" libknown-dev")


def test_without_leave_to_install_it_is_named_with_what_to_type(machine):
    done = machine.call("name", "gcc", "ovmf")
    assert done.returncode == 2
    assert "packages: missing: ovmf" in done.stderr
    assert "type: apt-get install --yes --no-install-recommends ovmf" in done.stderr
    assert machine.asked == []


def test_skip_names_what_is_missing_and_goes_on(machine):
    done = machine.call("skip", "ovmf")
    assert (done.returncode, done.stderr) == (0, "packages: not installed, going on without: ovmf \n")


def test_a_user_goes_through_sudo(machine):
    machine.script("id", "echo 1000")
    machine.script("sudo", 'echo "sudo $*" >&2; exec "$@"')
    done = machine.call("install", "ovmf")
    assert done.returncode == 0
    assert "sudo env DEBIAN_FRONTEND=noninteractive apt-get" in done.stderr


def test_a_user_without_sudo_is_told_what_root_would_type(machine):
    machine.script("id", "echo 1000")
    done = machine.call("install", "ovmf")
    assert done.returncode == 2
    assert "as root, type: apt-get install --yes --no-install-recommends ovmf" in done.stderr
    assert machine.asked == []


# Systems without dpkg use the table packages.txt. Its second column names a file or a program that exists if the
# package is installed.

def rows():
    lines = (ROOT / "qemu" / "packages.txt").read_text().splitlines()
    return {words[0]: words[1:] for words in (line.split() for line in lines if not line.startswith("#"))}


@pytest.fixture
def elsewhere(machine):
    """A machine without dpkg. It has the package manager TOOL and the given programs."""
    (machine.tools / "dpkg-query").unlink()
    for name in ("dirname", "awk", "head", "grep"):
        (machine.tools / name).symlink_to(shutil.which(name))

    def has(*programs):
        for name in programs:
            machine.script(name, "exit 3")  # a script that fails, so that a call of it is noticed
        return machine
    return has


@pytest.mark.parametrize("tool, missing, typed", [
    ("dnf", "ShellCheck golang-github-evanw-esbuild", "dnf install"),
    ("zypper", "ShellCheck esbuild", "zypper install"),
    ("pacman", "shellcheck esbuild", "pacman -S --needed")])
def test_other_distributions_have_their_own_names_and_nothing_is_installed(elsewhere, tool, missing, typed):
    machine = elsewhere(tool, "nasm")
    for mode in ("install", "name"):
        done = machine.call(mode, "nasm", "shellcheck", "esbuild")
        assert done.returncode == 2
        assert done.stderr.splitlines() == [
            f"packages: missing: {missing} ", f"packages: type: {typed} {missing} ",
            "packages: if they are in another place, type: make NO_INSTALL=1"]
    assert machine.asked == []
    machine.script("id", "echo 1000")
    assert f"packages: type: sudo {typed} {missing}" in machine.call("name", "shellcheck", "esbuild").stderr


def test_on_other_distributions_nothing_is_said_where_all_are_there(elsewhere):
    machine = elsewhere("dnf", "nasm", "shellcheck")
    done = machine.call("install", "nasm", "shellcheck", "python3-yaml", "libc6-dev")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_two_packages_of_one_name_are_named_once(elsewhere):
    machine = elsewhere("pacman")
    machine.environment["PYTHON"] = str(machine.tools / "no-such-python")
    done = machine.call("name", "python3", "python3-venv", "nasm")
    assert done.stderr.startswith("packages: missing: python nasm \n"), done.stderr


def test_an_optional_package_that_a_distribution_lacks_is_left_out(elsewhere):
    done = elsewhere("dnf").call("name", "esbuild", "grub-common?")
    assert done.stderr.startswith("packages: missing: golang-github-evanw-esbuild \n")


def test_what_a_distribution_lacks_has_a_sentence_of_find(elsewhere, tmp_path):
    machine = elsewhere("dnf")
    machine.environment["FIND_ROOT"] = str(tmp_path)
    done = machine.call("install", "libjs-chart.js")
    assert done.returncode == 2
    first, second, _ = done.stderr.splitlines()
    assert first == "packages: missing, as Debian calls it: libjs-chart.js "
    assert second.startswith("find: Chart.js 3 was not found in ") and "chart.js@3.9.1 (npm install --no-save)" in second


def test_without_a_tool_that_is_known_the_names_are_debians(elsewhere):
    machine = elsewhere()
    done = machine.call("install", "shellcheck", "esbuild", "chromium?")
    assert done.returncode == 2
    assert done.stderr.startswith("packages: missing, as Debian calls it: shellcheck esbuild \n")
    done = machine.call("skip", "shellcheck")
    assert (done.returncode, done.stderr) == (0, "packages: not installed, going on without: shellcheck \n")


def test_every_package_that_is_asked_for_has_a_row():
    lists = "$(filter-out PACKAGES_GOAL PACKAGES_MODE,$(filter PACKAGES_%,$(.VARIABLES)))"
    done = subprocess.run(["make", "-s", f"--eval=lists: ; @echo $(foreach each,{lists},$($(each)))", "lists",
                           "MAKECMDGOALS=check-long"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    named = {word.rstrip("?") for word in done.stdout.split()}
    assert len(named) > 35 and named == set(rows())
    assert all(len(words) == 4 and re.match("(program|file|python|find):.", words[0]) for words in rows().values())


@pytest.mark.parametrize("package", rows())
def test_what_tells_that_a_package_is_there_is_true_of_debians(package, elsewhere):
    """If this machine has Debian's package, the file or program in the second column must be found."""
    if f"{package} installed" not in subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"], text=True, check=True,
                                                    stdout=subprocess.PIPE).stdout.splitlines():
        pytest.skip(f"{package} is not installed here")
    machine = elsewhere()
    kind, _, what = rows()[package][0].partition(":")
    if kind == "program":
        found = shutil.which(what, path=f"{os.environ['PATH']}:/usr/sbin")
        assert found, what
        if not (machine.tools / what).exists():
            (machine.tools / what).symlink_to(found)
    done = machine.call("install", package)
    assert (done.returncode, done.stderr) == (0, "")
