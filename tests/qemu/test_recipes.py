"""The recipes for CI services in the READMEs, as far as they can be tested without these services."""
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import textwrap

import jsonschema
import pytest
import yaml

from harness import FAKE, ROOT, report, spoken, write_script
from runner import arguments

README = (ROOT / "qemu/README.md").read_text()
FIRST = (ROOT / "README.md").read_text()


def recipe(heading):
    """Return the indented text after the paragraph that starts with HEADING."""
    return indented(README.partition(f"**{heading}.**")[2])


def indented(text):
    """Return the indented text after TEXT's first paragraph."""
    after = text.partition("\n\n")[2]
    return textwrap.dedent(re.match(r"((?: {4}.*)?\n)*", after)[0])


def steps():
    return yaml.safe_load(recipe("GitHub Actions"))


def elsewhere():
    """Return the complete job for a repository that is not this one."""
    return yaml.safe_load(recipe("A job of another repository"))


def own():
    return indented(README.partition("## Your own QEMU or firmware, a matrix\n\n")[2]).splitlines()


def job():
    return yaml.safe_load(recipe("GitLab"))["clocks"]


def shell_lines():
    """Return the shell commands of all recipes, each as one script."""
    lab, = re.findall(r"^ {4}(sed .*)$", README, re.M)
    return [*(step["run"] for step in [*steps(), *elsewhere()["jobs"]["clocks"]["steps"]] if "run" in step), *job()["script"], lab, *own()]


def quoted(key):
    value, = re.findall(rf"^ +{key}: '(.*)'$", README, re.M)
    return value


def test_every_call_of_the_runner_is_one_that_it_understands():
    calls = [line.partition("qemu/run")[2] for line in (README + FIRST).splitlines()
             if line.startswith("    ") and re.match(r"(- (run: )?)?(baretick/)?qemu/run ", line.strip())]
    assert len(calls) >= 12
    for call in calls:
        arguments.parse_run_arguments(shlex.split(call))


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_every_command_is_one_that_a_shell_understands(shell):
    lines = shell_lines()
    assert len(lines) >= 11
    for line in lines:
        subprocess.run([shell, "-n", "-c", line], check=True, timeout=60)


def test_every_target_of_make_is_there():
    targets = {word for line in shell_lines() for call in re.findall(r"^make (?:-C baretick )?(.*)$", line, re.M) for word in call.split()}
    assert targets == {"deps-run", "all", "matrix"}
    make = "".join((ROOT / name).read_text() for name in ("Makefile", "qemu/packages.mk", "tests/tests.mk"))
    assert all(re.search(rf"^(?:[\w-]+ )*{target}\b[\w -]*:", make, re.M) for target in targets)


# These tests check that the recipes for GitHub and GitLab have the form that the documentation of these services requires.

def test_the_steps_for_github_are_steps():
    assert [sorted(step) for step in steps()] == [["uses"], ["name", "run"], ["run"], ["run"], ["if", "uses", "with"]]
    assert steps()[-1]["with"] == {"name": "clocks", "path": "build/report\njunit.xml\n"} and steps()[-1]["if"] == "always()"


def test_the_job_of_another_repository_clones_this_and_does_the_same_in_short():
    """The job for another repository must clone this repository and run the same commands. PyYAML reads the key `on` as
    true, as in YAML 1.1."""
    job_there = elsewhere()["jobs"]["clocks"]
    own_files, cloned, made, called, kept = job_there["steps"]
    assert elsewhere()[True] == ["push"] and job_there["runs-on"] == "ubuntu-24.04"
    assert own_files == {"uses": cloned["uses"]} and cloned["uses"] == steps()[0]["uses"] and cloned["with"]["path"] == "baretick"
    assert made["run"] == steps()[2]["run"].replace("make", "make -C baretick")
    call = arguments.parse_run_arguments(shlex.split(called["run"].removeprefix("baretick/qemu/run ")))
    assert (call.out, call.junit, call.baseline) == ("report", "junit.xml", "clocks.json")
    assert kept == {**steps()[4], "with": {"name": "clocks", "path": "report\njunit.xml\n"}}


def test_the_first_readmes_job_is_one_step_with_an_input_of_the_action():
    """The job in the top README must be one step, with inputs that the action has. PyYAML reads the key `on` as true,
    as in YAML 1.1."""
    first = yaml.safe_load(indented(FIRST.partition("## In CI\n\n")[2]))
    step, = first["jobs"]["clocks"]["steps"]
    inputs = yaml.safe_load((ROOT / "qemu" / "action.yml").read_text())["inputs"]
    assert first[True] == ["push"] and step["uses"].endswith("/qemu@main") and set(step["with"]) <= set(inputs)


def test_the_job_for_gitlab_is_a_job():
    assert sorted(job()) == ["artifacts", "image", "script"]
    assert job()["artifacts"] == {"when": "always", "paths": ["report"], "reports": {"junit": "junit.xml"}}
    call = arguments.parse_run_arguments(shlex.split(job()["script"][-1].removeprefix("baretick/qemu/run ")))
    assert (call.out, call.junit, call.baseline) == ("report", "junit.xml", "clocks.json")


def test_the_action_for_lava_is_an_action():
    text, = re.findall(r"^ {4}- test:\n(?: {5,}.*\n)*", README, re.M)
    action, = yaml.safe_load(textwrap.dedent(text))
    monitor, = action["test"]["monitors"]
    assert sorted(monitor) == ["end", "fixupdict", "name", "pattern", "start"]
    assert all(re.compile(monitor[key]) for key in ("start", "end", "pattern"))
    assert set(re.compile(monitor["pattern"]).groupindex) == {"test_case_id", "result"}


# The recipes and the action must match the schemas that GitHub and GitLab publish.

def read_on(workflow):
    """Return WORKFLOW with the key `on`, which PyYAML reads as true, as in YAML 1.1."""
    return {"on" if key is True else key: value for key, value in workflow.items()}


def in_container():
    return yaml.safe_load(textwrap.dedent(README.partition("## In a container\n")[2].partition("In GitLab ")[2].partition(":\n\n")[2].partition("\n## ")[0]))


@pytest.mark.parametrize("schema, document", [
    ("github-actions", lambda: yaml.safe_load((ROOT / "qemu" / "action.yml").read_text())),
    ("github-workflows", lambda: {"on": "push", "jobs": {"clocks": {"runs-on": "ubuntu-24.04", "steps": steps()}}}),
    ("github-workflows", lambda: read_on(elsewhere())),
    ("gitlab-ci", lambda: {"clocks": job()}),
    ("gitlab-ci", in_container),
], ids=["action", "github", "elsewhere", "gitlab", "container"])
def test_it_fits_the_published_schema(schema, document):
    found = list((ROOT / "build" / "schema-python").glob(f"lib/*/site-packages/check_jsonschema/builtin_schemas/vendor/{schema}.json"))
    if not found:
        pytest.skip("there are no published schemas: `make check` puts them into build/schema-python if it reaches PyPI")
    jsonschema.Draft7Validator(json.loads(found[0].read_bytes())).validate(document())


# The commands of recipes, with scripts instead of sudo, udev and QEMU.

def test_the_rule_for_udev_is_written_and_udev_is_told(tmp_path):
    """The command must write the rule for /dev/kvm, and udev must load it. The rule is from GitHub's announcement that
    Android emulators can use KVM on its runners."""
    write_script(tmp_path / "sudo", '#!/bin/sh\necho "$*" >>"$CALLS"\n[ "$1" != tee ] || cat >"$RULE"\n')
    command, = (step["run"] for step in steps() if "udev" in step.get("run", ""))
    subprocess.run(["bash", "-e", "-c", command], check=True, timeout=60, env={
        "PATH": f"{tmp_path}:{os.environ['PATH']}", "CALLS": str(tmp_path / "calls"), "RULE": str(tmp_path / "rule")})
    assert (tmp_path / "rule").read_text() == 'KERNEL=="kvm", GROUP="kvm", MODE="0666", OPTIONS+="static_node=kvm"\n'
    assert (tmp_path / "calls").read_text().splitlines() == [
        "tee /etc/udev/rules.d/99-kvm4all.rules", "udevadm control --reload-rules", "udevadm trigger --name-match=kvm"]


@pytest.fixture
def checkout(tmp_path, fake):
    """Return a folder with the runner, and a home folder. They contain all that the recipes need."""
    fake(spoken(report("pass", (("tsc", "pass"),))))
    folder, home = tmp_path / "checkout", tmp_path / "home"
    shutil.copytree(ROOT / "qemu", folder / "qemu")
    shutil.copytree(ROOT / "src" / "report", folder / "src" / "report")
    (home / "edk2").mkdir(parents=True)
    (home / "edk2" / "OVMF.fd").write_bytes(bytes(4096))
    (home / "qemu" / "build").mkdir(parents=True)
    (home / "qemu" / "build" / "qemu-system-x86_64").symlink_to(tmp_path / FAKE)
    (folder / "build" / "matrix").mkdir(parents=True)
    (folder / "baretick").symlink_to(".")  # the job of another repository makes such a link to its clone of baretick
    (folder / "build" / "baretick.efi").write_bytes(b"MZ")
    (folder / "build" / "baretick.img").write_bytes(bytes(510) + b"\x55\xaa")
    (folder / "build" / "baretick.iso").write_bytes(bytes(0x8001) + b"CD001")
    return folder, {**os.environ, "HOME": str(home), "QEMU": str(tmp_path / FAKE), "GITHUB_STEP_SUMMARY": str(home / "summary")}


def stand_in(command):
    """Return COMMAND changed so that it works here: this machine may have no firmware, and the script instead of QEMU
    cannot use KVM."""
    firmware = "" if "--firmware" in command else " --firmware ~/edk2/OVMF.fd"
    return command.replace("qemu/run", f"qemu/run --accel tcg{firmware}", 1)


@pytest.mark.parametrize("command", [line for line in shell_lines() if re.match("(baretick/)?qemu/run", line)],
                         ids=["github", "elsewhere", "gitlab", "own", "matrix"])
def test_the_runner_does_what_the_recipe_says(checkout, command):
    folder, environment = checkout
    for name in ("clocks.json", "last-week.json"):
        (folder / name).write_bytes(report_bytes())
    if "--matrix" in command:
        (folder / "qemu" / "matrix").write_text("[boot]\nboot = efi | usb | cd\n")
    done = subprocess.run(["bash", "-e", "-c", stand_in(command)], cwd=folder, env=environment, capture_output=True,
                          text=True, timeout=180)
    assert done.returncode == 0, done
    left = folder / ("new/boot-cd" if "--matrix" in command else "report" if "--out report" in command else "build/report")
    assert (left / "report.json").is_file() and (left / "report.html").is_file()
    if "junit" in command:
        assert "<testcase" in (folder / "junit.xml").read_text()
        assert ("baretick.baseline" in (folder / "junit.xml").read_text()) == ("--baseline" in command)
    if "STEP_SUMMARY" in command:
        assert (folder.parent / "home" / "summary").read_text().startswith("## baretick: pass")


def report_bytes():
    """Return the report as the script instead of QEMU sends it over the serial line."""
    line = spoken(report("pass", (("tsc", "pass"),))).replace(b"\r", b"")
    return line.partition(b"REPORT BEGIN\n")[2].partition(b"BARETICK REPORT END")[0]


def test_lava_finds_each_clock_of_the_table():
    """The recipe's monitor must find each clock with its result. The test does the same as LAVA: after START it
    searches for END or the next PATTERN, where . matches every character."""
    golden = (ROOT / "tests" / "goldens" / "sick.txt").read_bytes().replace(b" pass\n", b" n.d.\n", 1)
    line = spoken(text=golden).decode("ascii")
    at = re.search(quoted("start"), line).end()
    found = {}
    while True:
        end, row = (re.compile(quoted(key), re.S).search(line, at) for key in ("end", "pattern"))
        if row is None or end.start() < row.start():
            break
        found[row["test_case_id"]], at = row["result"], row.end()
    assert end
    told = re.findall(r"^(\w+) .* (pass|n\.d\.|warn|fail|absent)$", golden.decode("ascii"), re.M)
    assert found == dict(told) and len(set(found.values())) > 2
    fixup, = re.findall(r"fixupdict: \{(.*)\}", README)
    assert set(found.values()) <= {word.split(":")[0] for word in fixup.split(", ")}


def test_sed_takes_the_report_out_of_the_line(tmp_path):
    (tmp_path / "serial.log").write_bytes(spoken(report("fail", (("hpet", "fail"),))))
    command, = re.findall(r"^ {4}(sed .*)$", README, re.M)
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True, timeout=60)
    told, = re.findall(r"REPORT END sha256=(\w+)", (tmp_path / "serial.log").read_text())
    assert hashlib.sha256((tmp_path / "report.json").read_bytes()).hexdigest() == told
