"""qemu/packages, with scripts in the place of dpkg-query, apt-get, sudo and id."""
import os
import subprocess

import pytest

from harness import ROOT

BASE_TOOLS = ["sh", "tr", "flock", "env"]


@pytest.fixture
def machine(tmp_path):
    """A PATH with just those programs; INSTALLED names the packages that apt-get install adds to."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in BASE_TOOLS:
        found = next(f"{d}/{name}" for d in ("/usr/bin", "/bin") if os.path.exists(f"{d}/{name}"))
        (tools / name).symlink_to(found)
    installed, log = tmp_path / "installed", tmp_path / "log"
    log.touch()

    def script(name, body):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)

    class Machine:
        def __init__(self):
            self.has("gcc", "nasm")
            script("id", "echo 0")
            script("dpkg-query", f'while read p; do printf "installed=%s " $p; done <{installed}')
            script("apt-cache", '[ "$2" = libknown-dev ]')
            self.apt("")
            self.script, self.tools = script, tools

        def has(self, *packages):
            installed.write_text("".join(f"{package}\n" for package in packages))

        def apt(self, first):
            """apt-get, which does FIRST and then installs the last word it is given."""
            script("apt-get", f'echo "apt-get $*" >>{log}\n{first}\n'
                              f'for p; do :; done; [ "$p" = update ] || echo $p >>{installed}')

        def call(self, *arguments):
            done = subprocess.run([str(ROOT / "qemu" / "packages"), *arguments], capture_output=True, text=True,
                                  env={"PATH": str(tools)}, timeout=30)
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


def test_other_distributions_are_told_the_names_and_go_on(machine):
    (machine.tools / "dpkg-query").unlink()
    done = machine.call("install", "gcc", "ovmf")
    assert done.returncode == 0
    assert done.stderr == "packages: no dpkg here; what is needed is what Debian calls: gcc ovmf\n"
