"""Runs the steps of qemu/action.yml. Scripts replace make, sudo, docker and QEMU."""
import json
import os
import re
import subprocess

import pytest
import yaml

from harness import FAKE, ROOT, report, spoken, write_script

ACTION = ROOT / "qemu" / "action.yml"
README = (ROOT / "qemu" / "README.md").read_text()


@pytest.fixture
def action():
    return yaml.safe_load(ACTION.read_text())


@pytest.fixture
def job(tmp_path, fake, action):
    """Return a function job(inputs) that runs the steps on a simulated GitHub runner. It returns the status of the
    last step."""
    tools, here, workspace = tmp_path / "bin", tmp_path / "baretick" / "qemu", tmp_path / "work"
    workspace.mkdir()
    fake(spoken(report("pass", (("tsc", "pass"),))))

    def script(path, body):
        write_script(path, f"#!/bin/bash\necho \"${{0##*/}} $*\" >>{tmp_path}/calls\n{body}\n")
    real = (f"exec env QEMU='{tmp_path / FAKE}' {ROOT}/qemu/run --accel tcg --firmware {tmp_path}/whole.fd --efi {tmp_path}/some.efi")
    script(here / "run", f'{real} "$@"')
    for name in ("make", "sudo"):
        script(tools / name, "")
    script(tools / "docker", f'while [ "$1" != some/image ]; do shift; done; shift; {real} "$@"')

    class Job:
        folder, tools_script = workspace, staticmethod(lambda name, body: script(tools / name, body))

        def __call__(self, **inputs):
            values = {name: entry.get("default", "") for name, entry in action["inputs"].items()} | inputs
            outputs = tmp_path / "outputs"
            environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "GITHUB_ACTION_PATH": str(here),
                           "GITHUB_WORKSPACE": str(workspace), "GITHUB_OUTPUT": str(outputs), "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
            for step in action["runs"]["steps"]:
                if "run" not in step or step.get("if") == "inputs.image == ''" and values["image"]:
                    continue
                given = {name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: values[found[1]], value)
                         for name, value in step.get("env", {}).items()}
                done = subprocess.run([step["shell"], "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]], cwd=workspace,
                                      env={**environment, **given}, capture_output=True, text=True, timeout=180)
                if done.returncode:
                    break
            calls = tmp_path / "calls"
            self.calls = calls.read_text().splitlines() if calls.exists() else []
            self.summary = (tmp_path / "summary").read_text() if (tmp_path / "summary").exists() else ""
            self.outputs = outputs.read_text() if outputs.exists() else ""
            return done
    return Job()


def test_the_steps_build_boot_and_leave_the_report(job):
    done = job()
    assert done.returncode == 0, done.stderr
    built, ran = [line for line in job.calls if not line.startswith("sudo ")]
    assert re.fullmatch(r"make -C .*/baretick/qemu/\.\. deps-run all", built)
    assert ran.endswith(" -- profile=quick") and "--cpus" not in ran and "--baseline" not in ran
    folder = job.folder / "baretick-report"
    assert json.loads((folder / "report.json").read_bytes())["verdict"] == "pass"
    assert "<testcase" in (folder / "junit.xml").read_text() and job.summary.startswith("## baretick: pass")
    assert job.outputs == f"report={folder}\n"


def test_a_second_use_in_a_job_adds_one_summary(job):
    job()
    job()
    assert job.summary.count("## baretick: pass") == 2


def test_every_input_reaches_the_runner(job):
    (job.folder / "last.json").write_text(json.dumps(report("pass", (("tsc", "pass"),))))
    (job.folder / "label=a-file").touch()
    done = job(options="profile=quick label=a-f*", cpus="3", baseline="last.json", **{"fail-on": "warn"})
    assert done.returncode == 0, done.stderr
    assert job.calls[-1].endswith(" --cpus 3 --baseline last.json --fail-on warn -- profile=quick label=a-f*")


def test_an_input_is_data_and_no_command(job):
    job(options="label=$(touch${IFS}made)", cpus="2;touch made")
    assert not (job.folder / "made").exists()


def test_what_fails_fails_the_step_and_leaves_its_summary(job, fake):
    fake(spoken(report("fail", (("tsc", "fail"),))), "sys.exit(35)")
    assert job().returncode == 1
    assert job.summary.startswith("## baretick: **fail**") and job.outputs


def test_a_failed_build_boots_nothing(job):
    job.tools_script("make", "exit 2")
    assert job().returncode == 2 and len([line for line in job.calls if line.startswith("run ")]) == 0


def test_an_image_is_run_in_place_of_a_build(job):
    done = job(image="some/image", cpus="2")
    assert done.returncode == 0, done.stderr
    ran, = [line for line in job.calls if not line.startswith("sudo ")]
    assert ran.startswith("docker run --rm --user ") and " some/image --out " in ran and ran.endswith(" --cpus 2 -- profile=quick")
    assert (job.folder / "baretick-report" / "report.json").exists()


def test_inputs_are_passed_on_only_as_environment_variables(action):
    """GitHub puts the value of an expression into a script as plain text, including quotes. A hostile input could then
    run commands. Therefore no script of the action may contain an expression."""
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert len(scripts) == 3 and not any("${{" in text for text in scripts)
    assert all(step.get("shell") == "bash" for step in action["runs"]["steps"] if "run" in step)


def test_every_input_is_used_and_every_one_that_is_used_is_there(action):
    used = set(re.findall(r"inputs\.([\w-]+)", ACTION.read_text()))
    assert used == set(action["inputs"]) and all(entry["description"] for entry in action["inputs"].values())


def test_the_readme_names_all_inputs(action):
    section = README.partition("**One step at GitHub.**")[2].partition("**GitHub Actions.**")[0]
    assert "\n    - uses: OWNER/baretick/qemu@main\n" in section
    assert all(f"`{name}`" in section for name in action["inputs"])
