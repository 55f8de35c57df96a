"""Each goal of `make help` works. `make check-long` runs each goal with its smallest settings."""
import os
import re
import shutil
import subprocess
import typing

import pytest

from sources import ROOT, copy_sources, help_text, listed_goals


class Smallest(typing.NamedTuple):
    """The shortest run of a goal of `make help`: its settings and requirements, and the results that show success."""
    words: tuple = ()     # variables for make's command line
    files: tuple = ()     # files that must exist after the run
    printed: str = ""     # a regular expression that the output must match
    commands: tuple = ()  # commands that the goal needs and that `make check-long` does not install
    built: tuple = ()     # folders in build/ that the run needs, and that would take a download to make
    refused: str = ""     # reason why no test can run this goal


GOAL_BOUND_S = 1500
DUCKDB, SPARK = "fleet-python", "fleet-spark"
ONE_PROGRAM = Smallest(("TEST=test_text",), printed=r"(?m)^\d+ passed, 0 failed$")
REPORT = "tests/goldens/clean.json"
SMALLEST = {
    "all": Smallest(files=("build/baretick.efi",)),
    "run": Smallest(("OPTIONS=profile=quick",), ("build/report/report.json",)),
    "matrix": Smallest(("MATRIX=one.matrix",), ("build/matrix-fleet/fleet.html",), built=(DUCKDB,)),
    "fleet": Smallest((f"REPORTS={REPORT} --out build/one-fleet",), ("build/one-fleet/fleet.html",), built=(DUCKDB,)),
    "gallery": Smallest(("RECORDS=tests/goldens/clean.json",), ("build/gallery/index.html",)),
    "install": Smallest(("PREFIX=/usr", "DESTDIR=build/installed"), ("build/installed/usr/share/man/man7/baretick.7",)),
    "fleet-spark": Smallest(printed="Spark is there", built=(DUCKDB, SPARK)),
    "image": Smallest(files=("build/baretick.img", "build/baretick.iso")),
    "sign": Smallest(("KEY=one.key", "CERT=one.pem"), ("build/baretick-signed.efi",), commands=("sbsign",)),
    "cloud": Smallest(files=("build/baretick.vhd", "build/baretick.qcow2"), commands=("qemu-img",)),
    "deps-run": Smallest(),
    "dist": Smallest(files=("build/dist",)),
    "fresh": Smallest(refused="it installs three Debians with debootstrap: minutes of a mirror's time"),
    "clean": Smallest(("BUILD=build/cleaned",)),
    "help": Smallest(printed="(?m)^make help "),
    "truth": Smallest(("TRIALS=1", "SEED=1"), printed=r"\S"),
    "schema": Smallest(files=("src/report/report.schema.json",)),
    "fuzz": Smallest(("FUZZ_SECONDS=1",), printed="fuzz_options"),
    "check": ONE_PROGRAM,
    "check-long": ONE_PROGRAM,
    "check-repeat": Smallest((*ONE_PROGRAM.words, "REPEAT=4"), printed=r"(?m)^run 4 of 4, nice: \d+ passed, 0 failed$"),
    "check-spark": Smallest(("TEST=test_a_table_that_was_never_written_is_empty",), built=(DUCKDB, SPARK)),
    "kvm": Smallest(("TEST=kvm-pc-1",)),
    "bench": Smallest(("BENCH_CORES=2", "BENCH_REPORTS=100"), printed="(?s)times the bare loop.*instructions a sample.*quick:.*fleet, duckdb:",
                      built=(DUCKDB,)),
    "pictures": Smallest(files=("tests/pictures/light.png",), commands=("chromium",)),
    "quiet": Smallest(("QUIET_BOOTS=1",), ("build/quiet",)),
    "quiet-events": Smallest(("QUIET_BOOTS=1",), ("build/quiet",)),
    "systems": Smallest(("MACHINES=q35-1",), ("build/systems/q35-1/report.json",), printed=r"(?m)^0 predictions were wrong, and 0 "),
    "sentences": Smallest(printed=r"src/\S+\.c"),
    "lint": Smallest(commands=("cppcheck", "shellcheck", "pyflakes3")),
}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """Return a copy of the sources in a git repository, because some goals call git. The folder next to it has inputs
    for the goals."""
    folder = copy_sources(tmp_path_factory.mktemp("goals") / "with a blank")
    environments = folder / "build"
    environments.mkdir(exist_ok=True)
    for name in (DUCKDB, SPARK):
        if (ROOT / "build" / name / "made").exists():
            (environments / name).symlink_to(ROOT / "build" / name)
    (folder / "one.matrix").write_text("[one]\ncpus = 1\noptions = profile=quick\n")
    subprocess.run(["openssl", "req", "-new", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=one",
                    "-keyout", folder / "one.key", "-out", folder / "one.pem"], check=True, capture_output=True)
    git = ["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return folder


def test_each_goal_of_help_has_smallest_settings():
    assert sorted(SMALLEST) == sorted(listed_goals(help_text()))


@pytest.mark.long
@pytest.mark.xdist_group("goals")  # one worker runs all of these tests, so the copied sources are built only once
@pytest.mark.parametrize("goal", sorted(SMALLEST))
def test_each_goal_of_help_works_with_its_smallest_settings(goal, request):
    """Takes minutes, because each goal really runs. It runs in a copy of the sources. Nothing is installed or
    downloaded."""
    smallest = SMALLEST[goal]
    if smallest.refused:
        pytest.skip(f"make {goal}: {smallest.refused}")
    for command in smallest.commands:
        if not shutil.which(command):
            pytest.skip(f"make {goal}: there is no {command}")
    for name in smallest.built:
        if not (ROOT / "build" / name / "made").exists():
            pytest.skip(f"make {goal}: there is no build/{name}")
    checkout = request.getfixturevalue("checkout")
    environment = {name: value for name, value in os.environ.items() if name != "KVM_RIG" and not name.startswith(("MAKE", "PYTEST"))}
    done = subprocess.run(["make", "NO_INSTALL=1", goal, *smallest.words], cwd=checkout, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=GOAL_BOUND_S,
                          env={**environment, "PIP_NO_INDEX": "1", "ACPI_CORPUS": str(checkout / "no-corpus")})
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(smallest.printed, done.stdout), done.stdout[-4000:]
    missing = [name for name in smallest.files if not (checkout / name).exists()]
    assert not missing, done.stdout[-4000:]
