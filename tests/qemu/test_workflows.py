"""The workflows and the issue form in .github: their form, and each of their commands."""
import json
import os
import pathlib
import re
import subprocess

import jsonschema
import pytest
import yaml

from harness import ROOT, write_script
from sources import copy_sources

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BUILT_IN = "lib/*/site-packages/check_jsonschema/builtin_schemas/vendor"
FORM = ROOT / ".github" / "ISSUE_TEMPLATE" / "report.yml"
ACCOUNT = "Some-Account"
STEP_BOUND_S = 1500
GIT = {"GIT_AUTHOR_NAME": "a test", "GIT_AUTHOR_EMAIL": "test@localhost", "GIT_COMMITTER_NAME": "a test", "GIT_COMMITTER_EMAIL": "test@localhost",
       "GIT_CONFIG_GLOBAL": "/dev/null"}


def read_workflow(path):
    """Return a workflow. PyYAML reads the key `on` as true, as in YAML 1.1."""
    return {"on" if key is True else key: value for key, value in yaml.safe_load(path.read_text()).items()}


def steps_of(path):
    return [step for job in read_workflow(path)["jobs"].values() for step in job["steps"]]


def commands():
    return [pytest.param(path, at, id=f"{path.stem}-{at}") for path in WORKFLOWS for at, step in enumerate(steps_of(path)) if "run" in step]


def test_there_are_a_check_and_a_release_of_tags():
    check, release = map(read_workflow, WORKFLOWS)
    assert [path.name for path in WORKFLOWS] == ["check.yml", "release.yml"]
    assert check["on"] == ["push", "pull_request"] and check["permissions"] == {"contents": "read"}
    assert [(job["runs-on"], job.get("container")) for job in check["jobs"].values()] == [("ubuntu-24.04", None), ("ubuntu-24.04", "debian:13")]
    assert release["on"] == {"push": {"tags": ["v*"]}} and release["permissions"] == {"contents": "read"}
    assert release["jobs"]["release"]["permissions"] == {"contents": "write", "packages": "write", "id-token": "write", "attestations": "write"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_fits_the_published_schema(path):
    found = list((ROOT / "build" / "schema-python").glob(f"{BUILT_IN}/github-workflows.json"))
    if not found:
        pytest.skip("there are no published schemas: `make check` puts them into build/schema-python if it reaches PyPI")
    jsonschema.Draft7Validator(json.loads(found[0].read_bytes())).validate(read_workflow(path))


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "qemu" / "action.yml"], ids=lambda path: path.stem)
def test_each_action_is_pinned_by_a_commit_and_names_its_version(path):
    used = re.findall(r"^ *(?:- )?uses: (.*)$", path.read_text(), re.M)
    assert used and [each for each in used if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each)] == []


def test_no_command_contains_an_expression_or_the_name_of_an_account():
    """GitHub puts the value of an expression into a script as plain text, so a hostile tag could run commands."""
    texts = [step["run"] for path in WORKFLOWS for step in steps_of(path) if "run" in step]
    assert len(texts) >= 9 and not any("${{" in text for text in texts)
    assert "OWNER/" not in "".join(path.read_text() for path in WORKFLOWS)
    assert any("$GITHUB_REPOSITORY_OWNER" in text.replace("{", "").replace(",", "") for text in texts)


@pytest.mark.parametrize("path, at", commands())
def test_a_shell_understands_each_command(path, at):
    subprocess.run(["bash", "-n", "-c", steps_of(path)[at]["run"]], check=True, timeout=60)


def test_the_issue_form_asks_for_the_record():
    form = yaml.safe_load(FORM.read_text())
    fields = {field["id"]: field for field in form["body"]}
    assert {"name", "description", "body"} <= set(form)
    assert fields["record"]["attributes"]["label"] == "report.record" and fields["record"]["validations"] == {"required": True}
    assert all(field["type"] in ("input", "textarea") and field["attributes"]["label"] for field in form["body"])


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """Return a clone of the present sources with the tag of their version, and an environment like GitHub's. Scripts replace
    the programs that would change the system or need an account. `make check` runs one program of the tests."""
    folder = copy_sources(tmp_path_factory.mktemp("workflow") / "sources")
    version, = re.findall(r"^VERSION := (\S+)$", (folder / "Makefile").read_text(), re.M)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "all"], ["tag", f"v{version}"]):
        subprocess.run(["git", "-C", folder, *words], check=True, capture_output=True, timeout=60, env={**os.environ, **GIT})
    tools = folder.parent / "tools"
    real_make = subprocess.run(["which", "make"], check=True, capture_output=True, text=True).stdout.strip()
    scripts = {name: f'#!/bin/sh\necho "{name} $*" >>"{folder.parent}/calls"\n' for name in ("apt-get", "docker", "gh")}
    scripts["make"] = (f'#!/bin/sh\necho "make $*" >>"{folder.parent}/calls"\ncase " $* " in *" check "*) set -- "$@" TEST=test_text ;; esac\n'
                       f'exec {real_make} NO_INSTALL=1 "$@"\n')
    for name, text in scripts.items():
        write_script(tools / name, text)
    home = folder.parent / "home"
    home.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "PYTEST", "GITHUB"))}
    return folder, {**clean, **GIT, "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(home), "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
                    "GITHUB_WORKSPACE": str(folder), "GITHUB_REF_NAME": f"v{version}", "GITHUB_REPOSITORY_OWNER": ACCOUNT,
                    "GITHUB_ACTOR": ACCOUNT, "RUNNER_TEMP": str(folder.parent), "TOKEN": "secret", "GH_TOKEN": "secret"}


@pytest.mark.long
@pytest.mark.xdist_group("workflows")  # one worker runs the commands, in their order
@pytest.mark.parametrize("path, at", commands())
def test_each_command_runs_as_a_script(clone, path, at):
    """Takes minutes, because the release is really built twice."""
    folder, environment = clone
    done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", steps_of(path)[at]["run"]], cwd=folder, env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=STEP_BOUND_S)
    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.long
@pytest.mark.xdist_group("workflows")
def test_the_commands_have_made_and_attached_the_release(clone):
    """Looks at the results of the commands above, so it needs them in the same session."""
    folder, environment = clone
    if not (folder / "build" / "assets").exists():
        pytest.skip("the commands of the release did not run in this session")
    calls = (folder.parent / "calls").read_text()
    version = environment["GITHUB_REF_NAME"].removeprefix("v")
    named = {line.split("  ")[1] for line in (folder / "build" / "assets" / "SHA256SUMS").read_text().splitlines()}
    assert {f"baretick-{version}.tar.xz", "baretick.efi", "baretick.elf", "baretick.bin", "baretick.img", "baretick.iso", "baretick-replay",
            "baretick.spdx.json", "baretick.cfg"} == named
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=folder / "build" / "assets", check=True, timeout=60)
    image = "ghcr.io/some-account/baretick"
    assert f"docker build --file qemu/Containerfile --tag {image}:{version} --tag {image}:latest ." in calls
    assert f"docker push --all-tags {image}" in calls
    attached, = re.findall(r"^gh release create (.*)$", calls, re.M)
    assert attached.startswith(f"v{version} ") and {pathlib.Path(word).name for word in attached.split() if "assets/" in word} == {*named, "SHA256SUMS"}
