"""qemu/run --matrix: several runs from one description."""
import json
import os
import signal
import subprocess
import xml.etree.ElementTree as xml

import pytest

from harness import ROOT, RUNNER, matrix_of, report, spoken
from machine.command import UserError
from runner import arguments, matrix
from test_run import needs_kvm_node, no_kvm_script

MATRIX = """\
[DEFAULT]
options = profile=quick

[machine]
machine = q35 | pc
cpus = 1 | 2

[odd one]
cpus = 4
qemu-arg = -cpu qemu64
options = profile=quick cores=mp
"""
# Replaces QEMU. The report depends on the machine: a warning with 2 cores, a failure on pc, otherwise a pass.
BY_MACHINE = """
    if sys.argv[sys.argv.index("-smp") + 1] == "2":
        sys.stdout.buffer.write(open(here + "/warning", "rb").read()); sys.stdout.flush(); sys.exit(33)
    if "pc" in sys.argv:
        sys.stdout.buffer.write(open(here + "/failing", "rb").read()); sys.stdout.flush(); sys.exit(35)
    sys.stdout.buffer.write(open(here + "/well", "rb").read()); sys.stdout.flush(); sys.exit(33)
    """


def described(tmp_path, text, *words):
    words = [*map(str, matrix_of(tmp_path, text)), *words]
    return list(matrix.make_runs(arguments.parse_run_arguments(words), words))


def test_every_combination_is_a_run_called_after_what_was_chosen(tmp_path):
    runs = described(tmp_path, MATRIX, "--timeout", "9", "--", "duration=10ms")
    assert [(run.name, run.machine, run.cpus, run.qemu_arg, run.words, run.timeout) for run in runs] == [
        ("machine-q35-1", "q35", 1, [], ["label=machine-q35-1", "duration=10ms", "profile=quick"], 9),
        ("machine-q35-2", "q35", 2, [], ["label=machine-q35-2", "duration=10ms", "profile=quick"], 9),
        ("machine-pc-1", "pc", 1, [], ["label=machine-pc-1", "duration=10ms", "profile=quick"], 9),
        ("machine-pc-2", "pc", 2, [], ["label=machine-pc-2", "duration=10ms", "profile=quick"], 9),
        ("odd-one", "q35", 4, ["-cpu", "qemu64"], ["label=odd-one", "duration=10ms", "profile=quick", "cores=mp"], 9),
    ]


@pytest.mark.parametrize("text, words", [
    ("[a]\noptions = label=mine\n", ["label=mine"]), (f"[{'a' * 65}]\noptions = pic=on\n", ["pic=on"]),
], ids=["given", "too-long"])
def test_a_label_that_is_given_or_would_be_too_long_is_not_made(tmp_path, text, words):
    assert described(tmp_path, text)[0].words == words


def test_what_a_row_says_wins_over_the_command_line(tmp_path):
    assert described(tmp_path, "[a]\ncpus = 7\n", "--cpus", "3")[0].cpus == 7


@pytest.mark.parametrize("text, sentence", [
    ("", "describes no run"),
    ("cpus = 1\n", "File contains no section headers"),
    ("[a]\ncolour = red\n", "[a] has the key colour; there are accel, cpus, "),
    ("[a]\nout = /tmp\n", "[a] has the key out; there are"),
    ("[a]\ncpus = 0\n", "[a]: argument --cpus: '0' is not a whole number of 1 or more"),
    ("[a]\ncpus = 1\n[a]\n", "section 'a' already exists"),
    ("[a]\ncpus = 1 | 1\n", "two runs would be called a-1"),
    ("[a]\nqemu-arg = 'x\n", "[a]: No closing quotation"),
])
def test_what_is_wrong_in_the_description_is_named_before_anything_starts(run, fake, tmp_path, text, sentence):
    done = run(*fake(), *matrix_of(tmp_path, text))
    assert done.status == 2
    assert done.stderr.startswith("qemu/run: --matrix: ") and done.stderr.count("\n") == 1
    assert sentence in done.stderr and not (tmp_path / "argv").exists()


def test_the_matrix_of_make_matrix_describes_runs():
    common = arguments.parse_run_arguments(["--matrix", str(ROOT / "qemu" / "matrix")])
    runs = list(matrix.make_runs(common, ["--matrix", common.matrix]))
    assert {run.machine for run in runs} == {"q35", "pc"} and {run.boot for run in runs} == {"efi", "usb", "disk", "cd"}
    assert len({run.cpus for run in runs}) > 2 and len({tuple(run.words) for run in runs}) > 3
    assert all(os.path.abspath(run.out).startswith(str(ROOT / "build" / "matrix")) for run in runs)


def test_a_row_each_the_reports_in_folders_of_their_own_and_the_worst_status(run, fake, tmp_path):
    (tmp_path / "well").write_bytes(spoken())
    (tmp_path / "warning").write_bytes(spoken(report("warn", (("rtc", "warn"),))))
    (tmp_path / "failing").write_bytes(spoken(report("fail", (("hpet", "fail"),))))
    done = run(*fake(b"", BY_MACHINE), *matrix_of(tmp_path, MATRIX))
    assert done.status == 1, done
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [(row[0], row[1], row[3:]) for row in rows[1:-1]] == [
        ("machine-q35-1", "pass", []), ("machine-q35-2", "warn", []),
        ("machine-pc-1", "FAIL", ["rate"]), ("machine-pc-2", "warn", []), ("odd-one", "pass", [])]
    for name, verdict in ("machine-q35-1", "pass"), ("machine-pc-1", "fail"):
        folder = done.out / name
        assert json.loads((folder / "report.json").read_text())["verdict"] == verdict
        assert xml.parse(folder / "junit.xml").getroot().get("failures") == ("3" if verdict == "fail" else "0")
        assert f"**{verdict}**".replace("**pass**", "pass") in (folder / "summary.md").read_text()
    suites = xml.parse(done.out / "junit.xml").getroot()
    assert [(suite.get("name"), suite.get("failures")) for suite in suites] == [
        ("machine-q35-1", "0"), ("machine-q35-2", "0"), ("machine-pc-1", "3"), ("machine-pc-2", "0"), ("odd-one", "0")]
    one = xml.parse(done.out / "machine-pc-1" / "junit.xml").getroot()
    assert [(case.get("classname").replace("machine-pc-1.", "baretick."), case.get("name")) for case in suites[2].iter("testcase")] == [
        (case.get("classname"), case.get("name")) for case in one.iter("testcase")]


def test_a_run_that_cannot_be_done_is_a_row_and_the_others_go_on(run, fake, tmp_path):
    done = run(*fake(spoken()), *matrix_of(tmp_path, "[gone]\nfirmware = /nowhere/x.fd\n[here]\ncpus = 1\n"))
    assert done.status == 2
    assert done.stderr == "qemu/run: gone: --firmware: /nowhere/x.fd cannot be read: No such file or directory\n"
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:-1]] == [["gone", "not"], ["here", "pass"]]
    gone, here = xml.parse(done.out / "junit.xml").getroot()
    assert (gone.get("name"), gone.get("errors"), here.get("name"), here.get("errors")) == ("gone", "1", "here", "0")
    assert gone.find("testcase/error").get("message") == "--firmware: /nowhere/x.fd cannot be read: No such file or directory"


def test_cases_that_cannot_be_written_are_said_and_the_runs_go_on(run, fake, tmp_path):
    # a file that prevents the folder of the first run
    done = run(*fake(spoken()), *matrix_of(tmp_path, "[junit.xml]\ncpus = 1\n[here]\ncpus = 1\n"))
    assert done.status == 2
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:-1]] == [["junit.xml", "pass"], ["here", "pass"]]
    assert done.stderr.endswith("junit.xml cannot be written: Is a directory\n")


@needs_kvm_node
def test_kvm_that_does_not_work_is_tried_once(run, fake, tmp_path):
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script("os.abort()")), "--accel", "auto", *matrix_of(tmp_path, "[a]\ncpus = 1 | 2\n"))
    assert done.status == 0, done
    assert done.stderr == ("qemu/run: a-1: KVM does not work here (QEMU was killed by signal 6), "
                           "so the run continues with emulation (TCG); you need not do anything\n")


def test_an_earlier_matrix_is_its_baseline(run, fake, tmp_path):
    def tell(step):
        (tmp_path / "serial").write_bytes(spoken({**report(), "clocks": [
            {"id": "hpet", "verdict": "pass", "reason": None, "resolution_ns": step}]}))
    arguments_ = [*fake(), *matrix_of(tmp_path, "[a]\ncpus = 1\n")]
    tell(10)
    before = run(*arguments_)
    assert before.status == 0
    tell(80)
    with (tmp_path / "matrix").open("a") as file:
        file.write("[b]\ncpus = 2\n")
    done = run(*arguments_, "--baseline", before.out)
    assert done.status == 1
    assert done.stderr.splitlines() == [
        "qemu/run: a: worse than the baseline: hpet has a resolution of 80 ns, it was 10 ns: more than 2 times that",
        f"qemu/run: b: not in the baseline: there is no {before.out}/b/report.json"]
    assert run(*arguments_, "--baseline", before.out, "--tolerance", "9").status == 0
    assert run(*arguments_, "--baseline", "/nowhere").status == 2


def signalled(folder, words):
    """Run a matrix of three runs whose script instead of QEMU sends a signal to the runner. Return the status, and the
    words of each row."""
    done = subprocess.run([RUNNER, "--out", folder / "out", *matrix_of(folder, "[a]\ncpus = 1 | 2 | 3\n"), *words],
                          capture_output=True, text=True, timeout=60)
    return done.returncode, [line.split() for line in done.stdout.splitlines()[1:-1]]


def test_a_signal_ends_all_of_it(fake, tmp_path):
    status, rows = signalled(tmp_path, fake(b"baretick 1\n", 'os.kill(os.getppid(), signal.SIGTERM); time.sleep(600)'))
    assert status == 128 + signal.SIGTERM and [row[0] for row in rows] == ["a-1"]


def test_a_signal_that_ends_one_run_early_begins_no_other(fake, tmp_path):
    (tmp_path / "rest").write_bytes(spoken())
    body = """
        line = monitor()
        log = here + "/out/a-1/serial.log"
        while not os.path.getsize(log):
            time.sleep(0.01)
        size = os.path.getsize(log)
        print("the runner writes this after it has parsed the line before", flush=True)
        while os.path.getsize(log) == size:
            time.sleep(0.01)
        os.kill(os.getppid(), signal.SIGTERM)
        for word in line.makefile():
            asked = json.loads(word)
            line.sendall(json.dumps({"return": {}, "id": asked["id"]}).encode() + b"\\n")
            if asked["execute"] == "send-key":
                break
        sys.stdout.buffer.write(open(here + "/rest", "rb").read())
        sys.stdout.flush()
        sys.exit(33)
        """
    status, rows = signalled(tmp_path, fake(b"baretick 1\nphase: rates\n", body))
    assert status == 0 and [row[:2] for row in rows] == [["a-1", "pass"]]


def test_a_key_of_the_matrix_is_an_option_of_the_runner():
    known = {option[2:] for action in arguments.make_parser()._actions for option in action.option_strings}
    assert set(matrix.KEYS) - {"options"} < known
    with pytest.raises(UserError):
        arguments.parse_run_arguments(["--matrix", "x", "--junit", "y"])
