"""qemu/find searches the places in which distributions put files of other packages. In these tests a folder replaces
/."""
import os
import subprocess

import pytest

from harness import ROOT, write_script

CHART_JS = "/*!\n * Chart.js v{}.9.1\n * Released under the MIT License\n */\n"


@pytest.fixture
def find(tmp_path):
    """Return a function that calls qemu/find. This machine's compiler and pkg-config are hidden, because they would add
    places."""
    silent = tmp_path / "silent"
    silent.mkdir()
    (silent / "pkg-config").symlink_to("/bin/false")

    def call(name, **environment):
        return subprocess.run([ROOT / "qemu" / "find", name], capture_output=True, text=True, timeout=30, env={
            "PATH": f"{silent}:{os.environ['PATH']}", "CC": "false", "FIND_ROOT": str(tmp_path), **environment})
    return call


def put(root, path, text=""):
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return str(file)


@pytest.mark.parametrize("name, path", [
    ("gnu-efi-crt0", "/usr/lib/crt0-efi-x86_64.o"),                      # path in Debian 12 and 13, and in Arch
    ("gnu-efi-crt0", "/usr/lib/x86_64-linux-gnu/crt0-efi-x86_64.o"),     # path of gnu-efi 4 in Debian
    ("gnu-efi-crt0", "/usr/lib64/gnuefi/x64/crt0.o"),                    # path in Fedora
    ("gnu-efi-crt0", "/usr/lib64/crt0-efi-x86_64.o"),                    # path in openSUSE
    ("firmware", "/usr/share/OVMF/OVMF_CODE_4M.fd"),
    ("firmware", "/usr/share/edk2/x64/OVMF_CODE.4m.fd"),
    ("shim", "/usr/lib/shim/shimx64.efi.signed.latest"),                 # path in Ubuntu
    ("shim", "/usr/share/efi/x86_64/shim.efi"),                          # path in openSUSE
    ("mokmanager", "/boot/efi/EFI/fedora/mmx64.efi"),
])
def test_a_file_is_found_where_a_distribution_puts_it(find, tmp_path, name, path):
    expected = put(tmp_path, path)
    done = find(name)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{expected}\n", "")


def test_a_file_that_only_the_compiler_knows_is_found(find, tmp_path):
    expected = put(tmp_path, "/opt/gcc/crt0-efi-x86_64.o")
    compiler = write_script(tmp_path / "cc", "#!/bin/sh\necho /opt/gcc/crt0-efi-x86_64.o\n")
    assert find("gnu-efi-crt0", CC=str(compiler)).stdout == f"{expected}\n"


def test_chart_js_of_another_version_is_passed_over_and_named(find, tmp_path):
    other = put(tmp_path, "/usr/share/javascript/chart.js/chart.min.js", CHART_JS.format(4))
    done = find("chart.js")
    assert done.returncode == 2 and f"({other} is of another version)" in done.stderr
    fits = put(tmp_path, "/usr/local/lib/node_modules/chart.js/dist/chart.min.js", CHART_JS.format(3))
    assert find("chart.js").stdout == f"{fits}\n"


@pytest.mark.parametrize("name, variable, usual", [
    ("gnu-efi-crt0", "GNUEFI_CRT0", "/usr/lib/crt0-efi-x86_64.o"), ("firmware", "OVMF", "/usr/share/OVMF/OVMF_CODE_4M.fd")])
def test_a_variable_that_names_the_file_leaves_no_other_place(find, tmp_path, name, variable, usual):
    put(tmp_path, usual)
    done = find(name, **{variable: "/home/me/file"})
    assert done.returncode == 2 and f" was not found in {variable}=/home/me/file. The package " in done.stderr
    expected = put(tmp_path, "/home/me/file")
    assert find(name, **{variable: "/home/me/file"}).stdout == f"{expected}\n"


@pytest.mark.parametrize("name, words", [
    ("gnu-efi-include", ["GNU-EFI's folder of headers was not found in /usr/include/efi, ", "package gnu-efi ", "GNUEFI_INCLUDE=FOLDER"]),
    ("gnu-efi-crt0", ["crt0-efi-x86_64.o was not found in /usr/lib/x86_64-linux-gnu, ", "gnu-efi-devel (Fedora)", "GNUEFI_CRT0=FILE"]),
    ("chart.js", ["Chart.js 3 was not found in /usr/share/javascript/chart.js, ", "libjs-chart.js", "CHARTS=FILE"]),
    ("firmware", ["firmware for QEMU was not found in /usr/share/OVMF, ", "edk2-ovmf (Fedora, Arch)", "OVMF=FILE"]),
    ("shim", ["a signed shim was not found in /usr/lib/shim, ", "shim-signed (Debian)", "SHIM_FOLDER=FOLDER"]),
    ("mokmanager", ["MokManager was not found in /usr/lib/shim, ", "shim (openSUSE)", "SHIM_FOLDER=FOLDER"]),
])
def test_a_missing_file_has_its_folders_package_and_variable_in_one_line(find, name, words):
    done = find(name)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert all(word in done.stderr for word in words), done.stderr


def test_make_stops_with_that_line(tmp_path):
    done = subprocess.run(["make", "--no-print-directory", "NO_INSTALL=1", f"BUILD={tmp_path}/build", f"{tmp_path}/build/page.html"], cwd=ROOT,
                          capture_output=True, text=True, timeout=60,
                          env={"PATH": os.environ["PATH"], "FIND_ROOT": str(tmp_path), "MAKEFLAGS": ""})
    assert done.returncode == 2 and done.stderr.count("find: Chart.js 3 was not found in ") == 1, done.stderr
