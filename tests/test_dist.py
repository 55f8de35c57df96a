"""`make dist`: the same commit gives the same bytes, the version is the same everywhere, and the list of parts (SPDX)
matches the packages."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

from harness import FAKE, ROOT, report, spoken

DATE = "2026-01-02T03:04:05+0000"
GIT = {"GIT_AUTHOR_DATE": DATE, "GIT_COMMITTER_DATE": DATE, "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "user.name", "GIT_CONFIG_VALUE_0": "a test",
       "GIT_CONFIG_KEY_1": "user.email", "GIT_CONFIG_VALUE_1": "test@localhost", "GIT_CONFIG_GLOBAL": "/dev/null"}
BOUND_S = 900
MADE = {"baretick.efi", "baretick.elf", "baretick.bin", "baretick.img", "baretick.iso", "baretick-replay"}
BUILT = {*MADE, "baretick.so", "baretick.elf.debug", "page.html", "page.0", "page.1", "page.2", "charts.gz", "commit"}
PROGRAMS = ("baretick.efi", "baretick.elf", "baretick-replay")
PAGES = {"baretick": 7, "baretick-run": 1, "baretick-nextboot": 8, "baretick-fleet": 1, "baretick-replay": 1}
LISTED = {*MADE, "report.schema.json", "baretick.cfg", "LICENSE", "CHANGELOG.md", "qemu/run", "qemu/nextboot", "qemu/fleet",
          *(f"man/{name}.{section}" for name, section in PAGES.items())}
VERSION = re.search(r"^VERSION := (\S+)$", (ROOT / "Makefile").read_text(), re.M)[1]
NAME = f"baretick-{VERSION}"

pytestmark = pytest.mark.xdist_group("dist")


def call(folder, *command, **environment):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=BOUND_S, stdin=subprocess.DEVNULL,
                          env={**os.environ, **GIT, "MAKEFLAGS": "", **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def commit(tmp_path_factory):
    """Return a copy of the present sources in a git repository with a single commit.

    The copy also has the files that were built here. They do not contain the path of their folder, so they need not be
    built again."""
    folder = tmp_path_factory.mktemp("commit") / "a"
    shutil.copytree(ROOT, folder, ignore=lambda at, _: {"build", ".git"} if at == str(ROOT) else {"__pycache__", ".pytest_cache"})
    (folder / "build").mkdir()
    for name in ("efi", "replay"):
        if (ROOT / "build" / name).exists():
            shutil.copytree(ROOT / "build" / name, folder / "build" / name)
    for path in (ROOT / "build").iterdir():
        if path.name in BUILT:
            shutil.copy2(path, folder / "build")
    call(folder, "git", "init", "--quiet")
    call(folder, "git", "add", "--all")
    call(folder, "git", "commit", "--quiet", "--message", "All of it")
    return folder


def dist(folder, *variables, **environment):
    call(folder, "make", "NO_INSTALL=1", *variables, "dist", **environment)
    return folder / "build" / "dist"


def short_hash(folder):
    return call(folder, "git", "rev-parse", "--short=12", "HEAD").strip()


@pytest.fixture(scope="module")
def named(commit):
    """Return the name of the commit that the copied files were built from."""
    path = commit / "build" / "commit"
    return path.read_text().split()[1] if path.exists() else short_hash(commit)


@pytest.fixture(scope="module")
def made(commit, named):
    """Make a release of the copied files. With the name of the copy's own commit, make would link all of them again,
    which takes 30 s."""
    return dist(commit, f"COMMIT={named}")


@pytest.fixture(scope="module")
def spdx(made):
    return json.loads((made / NAME / "baretick.spdx.json").read_text())


def contents(folder):
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.long
def test_two_builds_of_a_commit_in_different_folders_are_the_same_bytes(commit, tmp_path):
    """The second build has another folder, time zone, language and umask, and a user without settings. Both builds must
    give the same bytes, with the name of the commit."""
    first = dist(shutil.copytree(commit, tmp_path / "a"))
    other = tmp_path / "a folder that has a longer name" / "b"
    other.parent.mkdir()
    call(tmp_path, "git", "clone", "--quiet", str(commit), str(other))
    before = os.umask(0o077)
    try:
        again = dist(other, TZ="Asia/Tokyo", LC_ALL="C.UTF-8", HOME=str(tmp_path), USER="somebody")
    finally:
        os.umask(before)
    assert len(contents(first)) >= 12
    assert contents(again) == contents(first)
    for program in PROGRAMS:
        assert f"{VERSION} ({short_hash(commit)})".encode() in (first / NAME / program).read_bytes(), program


@pytest.mark.parametrize("program, word", [("run", "--baseline REPORT.json"), ("nextboot", "--collect DIR"), ("fleet", "--rejudge")])
def test_a_program_runs_from_the_release_without_the_sources(made, named, program, word):
    """The test uses only the release's folder, like a machine without a clone of the sources."""
    said = [subprocess.run([made / NAME / "qemu" / program, option], capture_output=True, text=True, timeout=60, check=True, cwd="/").stdout
            for option in ("--help", "--version")]
    assert word in said[0] and said[1] == f"qemu/{program} {VERSION} ({named})\n"
    # nextboot also reads the report of its run
    reader = "import sys; from results.reports import parse_report; parse_report(sys.stdin.buffer.read())"
    subprocess.run(["/usr/bin/python3", "-c", reader], input=(ROOT / "tests/goldens/clean.json").read_bytes(), timeout=60, check=True,
                   cwd=made / NAME / "qemu")


def test_the_runner_of_the_release_finds_its_files_and_writes_into_the_current_folder(made, fake, tmp_path):
    """A script stands for QEMU. report.html is the whole page, so the runner found the built page."""
    fake(spoken(report("pass", (("tsc", "pass"),))))
    subprocess.run([made / NAME / "qemu/run", "--accel", "tcg", "--firmware", tmp_path / "whole.fd", "--", "profile=quick"], check=True,
                   capture_output=True, timeout=180, cwd=tmp_path, env={**os.environ, "QEMU": str(tmp_path / FAKE)})
    assert b"<script" in (tmp_path / "baretick/report/report.html").read_bytes()


def test_make_install_puts_everything_below_destdir(commit, made, named, tmp_path):
    call(commit, "make", "NO_INSTALL=1", f"COMMIT={named}", "install", "PREFIX=/usr", f"DESTDIR={tmp_path}")
    installed, release = contents(tmp_path / "usr/lib/baretick"), contents(made / NAME)
    assert {name: release[name] for name in installed} == installed and installed.keys() >= {*MADE, "qemu/run", "commit"}
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file() and "usr/lib/" not in str(path)} == {
        "etc/grub.d/20_baretick", "usr/bin/baretick-run", "usr/bin/baretick-fleet", "usr/bin/baretick-replay", "usr/sbin/baretick-nextboot",
        *(f"usr/share/man/man{section}/{name}.{section}" for name, section in PAGES.items())}
    for program in ("bin/baretick-run", "bin/baretick-fleet", "bin/baretick-replay", "sbin/baretick-nextboot"):
        assert call(tmp_path, f"usr/{program}", "--version") == f"{program.partition('/')[2]} {VERSION} ({named})\n"
    script = (tmp_path / "etc/grub.d/20_baretick").read_text()
    assert "library=/usr/lib/baretick\n" in script and str(tmp_path) not in script


# Functions of GRUB's grub-mkconfig_lib, with the results for a file system on the first partition.
GRUB_LIBRARY = """make_system_path_relative_to_its_root() { echo "/@$1"; }
prepare_grub_to_access_device() { echo "search $1"; }
"""


@pytest.mark.parametrize("settings, entry", [
    ("", True), ('GRUB_BARETICK_OPTIONS="profile=quick"', True), ("GRUB_DISABLE_BARETICK=true", False)])
def test_the_script_for_grub_prints_an_entry(tmp_path, settings, entry):
    library = tmp_path / "lib"
    library.mkdir()
    (library / "baretick.efi").touch()
    (tmp_path / "grub-mkconfig_lib").write_text(GRUB_LIBRARY)
    (tmp_path / "settings").write_text(settings + "\n")
    (tmp_path / "script").write_text((ROOT / "qemu/release/20_baretick").read_text().replace("@LIBRARY@", str(library)))
    said = call(tmp_path, "sh", "script", pkgdatadir=str(tmp_path), GRUB_BARETICK_SETTINGS=str(tmp_path / "settings"), grub_probe="echo /dev/sda1 ")
    options = "profile=quick" if "OPTIONS" in settings else ""
    assert (f"\t\tchainloader /@{library}/baretick.efi {options}\n" in said and f"\t\tmultiboot2 /@{library}/baretick.elf {options}\n" in said
            and said.startswith("menuentry ") and said.endswith("}\n")) == entry, said


@pytest.mark.parametrize("page", PAGES)
def test_a_manual_page_has_no_warning_and_all_options(made, page):
    path = made / NAME / "man" / f"{page}.{PAGES[page]}"
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-K", "utf8", path], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr == ""
    text = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
    wanted = re.findall(r"^  (--[\w-]+)", call(made / NAME, f"qemu/{page.partition('-')[2]}", "--help"), re.M) if PAGES[page] != 7 and "replay" not in page \
        else re.findall(r"^\| `(\w+)`", (ROOT / "src/options/README.md").read_text().partition("<!-- options:")[2], re.M) if PAGES[page] == 7 else ["--out", "--compare", "--version"]
    assert len(wanted) >= 3 and [word for word in wanted if word not in text.replace("\u2010", "-").replace("\u2212", "-")] == []


def test_baretick_replay_runs_from_the_archive(made, tmp_path):
    """The program in the archive must be executable."""
    with tarfile.open(made / f"{NAME}.tar.xz") as archive:
        archive.extract(f"{NAME}/baretick-replay", tmp_path)
    said = subprocess.run([tmp_path / NAME / "baretick-replay", "--version"], capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 0 and said.stdout.startswith(f"baretick-replay {VERSION} ("), said.stderr


def test_a_wrong_option_is_found_in_a_release(made, tmp_path):
    """qemu/run must find baretick-replay in the folder of the release."""
    done = subprocess.run([made / NAME / "qemu/run", "--", "profile=quik"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and '"profile=quik" is not valid (did you mean quick?)' in done.stderr


def test_the_c_library_of_baretick_replay_is_listed_as_a_dynamic_link(spdx):
    linked = [each["relatedSpdxElement"] for each in spdx["relationships"] if each["relationshipType"] == "DYNAMIC_LINK"]
    assert [elements(spdx)[each]["name"] for each in linked] == ["libc6"]


def test_the_checksum_file_lists_all_files(made):
    lines = dict(reversed(line.split("  ", 1)) for line in (made / NAME / "SHA256SUMS").read_text().splitlines())
    found = contents(made / NAME)
    del found["SHA256SUMS"]
    assert lines == found
    assert LISTED < set(found) and "baretick.spdx.json" in found
    assert all((made / NAME / name).read_bytes() == (made.parent / name).read_bytes() for name in MADE)


def test_the_archive_has_the_same_files_and_no_trace_of_its_builder(made):
    with tarfile.open(made / f"{NAME}.tar.xz") as archive:
        members = archive.getmembers()
        found = {member.name: hashlib.sha256(archive.extractfile(member).read()).hexdigest() for member in members if member.isfile()}
    assert found == {f"{NAME}/{name}": digest for name, digest in contents(made / NAME).items()}
    assert {(member.uid, member.gid, member.mtime) for member in members} == {(0, 0, 1767323045)}
    assert [member.name for member in members] == sorted(member.name for member in members)


def test_the_version_is_the_same_in_all_places(made, named, spdx):
    for program in PROGRAMS:
        assert f"{VERSION} ({named})".encode() in (made / NAME / program).read_bytes(), program
    assert sorted(path.name for path in made.iterdir()) == [NAME, f"{NAME}.tar.xz"]
    own, = (each for each in spdx["packages"] if each["name"] == "baretick")
    assert own["versionInfo"] == VERSION and own["sourceInfo"] == f"git commit {named}"
    assert re.findall(r"^## \[([^]]+)\]", (ROOT / "CHANGELOG.md").read_text(), re.M)[0] == VERSION
    assert re.search(r"^    baretick (\S+) \(", (ROOT / "README.md").read_text(), re.M)[1] == VERSION


def test_uncommitted_changes_are_not_released(commit, made, tmp_path):
    folder = tmp_path / "b"
    call(tmp_path, "git", "clone", "--quiet", str(commit), str(folder))
    for name, text, said in (("README.md", "more\n", "there are changes that are in no commit"),
                             ("CHANGELOG.md", "## [9.9.9] - 2026-01-02\n", f"the newest version in CHANGELOG.md is not {VERSION}")):
        (folder / name).write_text(text)
        if name == "CHANGELOG.md":
            call(folder, "git", "commit", "--quiet", "--all", "--message", "Another version")
        done = subprocess.run([folder / "qemu" / "dist", VERSION, "0", commit / "build", *["/nothing"] * 3], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **GIT})
        assert done.returncode == 1 and said in done.stderr
    assert (made / f"{NAME}.tar.xz").exists()



def elements(spdx):
    return {each["SPDXID"]: each for each in [spdx, *spdx["packages"], *spdx["files"]]}


def test_the_spdx_list_has_all_fields_that_spdx_requires(spdx):
    """All fields that SPDX 2.3 requires must exist: clauses 6 (the document), 7 (packages), 8 (files), 10 (licences)
    and 11 (relationships)."""
    assert (spdx["spdxVersion"], spdx["dataLicense"], spdx["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert re.fullmatch(r"https://spdx\.org/spdxdocs/[\w.-]+", spdx["documentNamespace"])
    assert spdx["creationInfo"]["created"] == "2026-01-02T03:04:05Z"
    known = elements(spdx)
    assert len(known) == 1 + len(spdx["packages"]) + len(spdx["files"])
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in known)
    assert all({each["spdxElementId"], each["relatedSpdxElement"]} <= set(known) for each in spdx["relationships"])
    assert {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Package-baretick"} \
        in spdx["relationships"]
    related = {each[end] for each in spdx["relationships"] for end in ("spdxElementId", "relatedSpdxElement")}
    assert related == set(known)
    used = {name for each in spdx["packages"] for name in re.findall(r"LicenseRef-[\w.-]+", each["licenseDeclared"])}
    assert used == {each["licenseId"] for each in spdx["hasExtractedLicensingInfos"]}
    assert all(len(each["extractedText"]) > 200 for each in spdx["hasExtractedLicensingInfos"])


def test_the_spdx_list_is_valid_for_the_official_tool(made):
    tool = shutil.which("pyspdxtools")
    if not tool:
        pytest.skip("pyspdxtools is not installed, and no package of the distribution has it")
    call(made, tool, "--infile", str(made / NAME / "baretick.spdx.json"))


def test_the_spdx_list_has_all_files_with_their_checksums(made, spdx):
    for each in spdx["files"]:
        data = (made / NAME / each["fileName"]).read_bytes()
        assert {sum_["algorithm"]: sum_["checksumValue"] for sum_ in each["checksums"]} == {
            "SHA1": hashlib.sha1(data).hexdigest(), "SHA256": hashlib.sha256(data).hexdigest()}
    assert {each["fileName"][2:] for each in spdx["files"]} == set(contents(made / NAME)) - {"SHA256SUMS", "baretick.spdx.json"}


@pytest.mark.parametrize("name, licence, holder", [
    ("gnu-efi", r"LicenseRef-BSD-\S+ AND ", "Hewlett-Packard"),
    ("libjs-chart.js", "MIT$", "Chart.js Contributors"),
    ("dosfstools", "GPL-3.0-or-later$", "Roman Hodek"),
])
def test_third_party_parts_have_the_version_and_licence_of_their_packages(made, spdx, name, licence, holder):
    part, = (each for each in spdx["packages"] if each["name"] == name)
    installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], check=True, text=True, stdout=subprocess.PIPE).stdout
    assert part["versionInfo"] == installed
    assert re.match(licence, part["licenseDeclared"]) and holder in part["copyrightText"]
    own = pathlib.Path(f"/usr/share/doc/{name}/copyright").read_text()
    assert (made / NAME / "licences" / name).read_text() == own
    assert all(line.strip() in own for line in part["copyrightText"].splitlines())
    quoted = {each["licenseId"]: each["extractedText"] for each in spdx["hasExtractedLicensingInfos"]}
    for named in re.findall(r"LicenseRef-[\w.-]+", part["licenseDeclared"]):
        assert all(line.strip() in own for line in quoted[named].splitlines())


def test_the_spdx_list_names_the_parts_of_gnu_efi_in_the_image(made, spdx):
    """The list must name the parts of GNU-EFI in the image: crt0, which has the image's entry point, and the headers."""
    comment = next(each["comment"] for each in spdx["packages"] if each["name"] == "gnu-efi")
    assert "gnuefi/crt0-efi-x86_64.S" in comment and "inc/efi.h" in comment
