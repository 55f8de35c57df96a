"""Reports from firmware that gives applications no serial line. qemu/run takes them from the stick."""
import json
import shutil

import pytest

from harness import block, report, run_for_long_enough
from test_fleet import stick

pytestmark = pytest.mark.skipif(not shutil.which("mformat"), reason="there are no mtools")

# Replaces QEMU: saves the reports NAMES on the stick. Their files are in the script's folder, and some may be missing.
SAVES = """
    import glob, os, subprocess
    image = max(glob.glob(here + "/out*/stick.img")) + "@@1M"
    for name in {names!r}:
        subprocess.run(["mmd", "-i", image, "::/baretick/" + name], check=True)
        for kind in "json", "txt", "csv":
            file = here + "/" + name + "." + kind
            if os.path.exists(file):
                subprocess.run(["mcopy", "-i", image, file, f"::/baretick/{{name}}/report.{{kind}}"], check=True)
    open(here + "/saved", "w")
    {end}
    """
PASS, FAIL = 33, 35  # QEMU's exit status for the verdicts pass and fail, see qemu/README.md, "How a run ends"


def saved(folder, name, verdict):
    (folder / f"{name}.json").write_text(json.dumps(report(verdict)))
    (folder / f"{name}.txt").write_text(f"the table of {name}\n")
    (folder / f"{name}.csv").write_text("")


@pytest.fixture(name="booted")
def boot_from_stick(run, fake, tmp_path):
    """Return a function that starts the runner with a stick that has an earlier report. The script instead of QEMU
    saves the reports NAMES, and ends with STATUS. If STATUS is None, it never ends."""
    image = tmp_path / "some.img"
    stick(image, {"0001/report.json": json.dumps(report("pass"))})
    with open(image, "r+b") as file:
        file.seek(510)
        file.write(b"\x55\xaa")

    def boot(names, status, serial=b"U-Boot 2023.01\r\n"):
        body = SAVES.format(names=names, end="time.sleep(600)" if status is None else f"sys.exit({status})")
        words = [*fake(serial, body, boots_efi=False), "--boot", "disk", "--image", image]
        if status is not None:
            return run(*words)
        return run_for_long_enough(run, lambda done: (tmp_path / "saved").exists(), *words)[0]
    return boot


@pytest.mark.parametrize("verdict, ended, status", [("pass", PASS, 0), ("fail", FAIL, 1)])
def test_a_report_that_is_on_the_stick_alone_is_the_runs(booted, tmp_path, verdict, ended, status):
    saved(tmp_path, "0002.new", verdict)
    done = booted(["0002.new"], ended)
    assert done.status == status, done
    assert json.loads(done.file("report.json"))["verdict"] == verdict
    assert done.file("report.txt") == b"the table of 0002.new\n" and "the table of 0002.new" in done.stdout


def test_a_report_of_an_earlier_run_is_not_taken(booted):
    done = booted([], PASS)
    assert done.status == 2
    assert "baretick ended with pass, but its report did not come over the serial line" in done.stderr


def test_a_checkpoint_is_not_taken_for_the_report(booted, tmp_path):
    saved(tmp_path, "0002", "pass")
    saved(tmp_path, "0003", "incomplete")
    done = booted(["0003", "0002"], PASS)
    assert done.status == 0 and done.file("report.txt") == b"the table of 0002\n"


MEASURING = b"baretick 0.1.0\r\nphase: prepare\r\nphase: rates\r\n"


def test_after_the_time_out_the_checkpoint_is_the_report(booted, tmp_path):
    saved(tmp_path, "0003", "incomplete")
    done = booted(["0003"], None, MEASURING)
    assert done.status == 124 and " s (--timeout); the report has the measurements up to" in done.stderr
    assert done.report["clocks"] and done.file("report.txt") == b"the table of 0003\n"


@pytest.mark.parametrize("kind, is_cut", [("json", True), ("json", False), ("csv", False)])
def test_a_checkpoint_that_the_time_out_left_incomplete_is_not_the_report(booted, tmp_path, kind, is_cut):
    saved(tmp_path, "0002.new", "incomplete")
    saved(tmp_path, "0003", "incomplete")
    file = tmp_path / f"0002.new.{kind}"
    file.write_text(file.read_text()[:100]) if is_cut else file.unlink()
    done = booted(["0003", "0002.new"], None, MEASURING)
    assert done.status == 124 and "the report has the measurements up to the last checkpoint" in done.stderr
    assert done.report["clocks"] and done.file("report.txt") == b"the table of 0003\n"


def test_without_a_checkpoint_the_time_out_says_that_nothing_was_kept(booted):
    done = booted([], None, MEASURING)
    assert done.status == 124 and "no measurements were kept, because the run had saved no checkpoint on its stick" in done.stderr
    assert done.report["clocks"] == []


def test_a_report_whose_verdict_is_not_that_of_the_exit_status_is_an_error(booted, tmp_path):
    saved(tmp_path, "0002", "fail")
    done = booted(["0002"], PASS)
    assert done.status == 2 and "baretick ended with pass, its report says fail" in done.stderr


def test_a_serial_line_that_was_cut_is_not_replaced(booted, tmp_path):
    saved(tmp_path, "0002", "pass")
    done = booted(["0002"], PASS, b"baretick 0.1.0\r\n" + block("TEXT", b"the table\n"))
    assert done.status == 2 and "its report did not come over the serial line" in done.stderr
