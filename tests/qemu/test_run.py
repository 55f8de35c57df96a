"""The runner itself, with a script in QEMU's place: no guest, no firmware's patience needed."""
import hashlib
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import textwrap
import time
import xml.etree.ElementTree as xml

import pytest

from harness import RUNNER, check_schema
import command
import transcript
from transcript import Transcript

CHATTER = b"\x1b[2J\x1b[01;01H\x1b[=3hBdsDxe: loading baretick.efi\r\n\x1b[2J\x1b[01;01H"
BOUND_S = 20  # for what takes a fraction of a second on an idle machine


def block(name, body, sha=None):
    sha = sha or hashlib.sha256(body).hexdigest()
    return f"BARETICK {name} BEGIN\n".encode() + body + f"BARETICK {name} END sha256={sha}\n".encode()


def report(verdict="pass", clocks=(("tsc", "pass"),)):
    """A report as far as the runner reads it."""
    return {"schema": "baretick.report/1", "verdict": verdict, "findings": [
        {"rule": "rate", "severity": "fail", "clock": name, "text": f"{name} is wrong"}
        for name, word in clocks if word == "fail"],
        "clocks": [{"id": name, "verdict": word, "reason": "not there" if word == "absent" else None}
                   for name, word in clocks]}


def spoken(document=None, text=b"the table\n", json_sha=None, text_sha=None):
    body = json.dumps(document or report(), indent=1).encode() + b"\n"
    return (CHATTER + b"baretick 0.1.0\n" + block("TEXT", text, text_sha)
            + block("REPORT", body, json_sha)).replace(b"\n", b"\r\n")


@pytest.fixture
def fake(tmp_path):
    """Makes an executable that stands in for QEMU: it writes SERIAL, then does BODY (Python)."""
    def make(serial=b"", body="sys.exit(33)"):
        path = tmp_path / "fake qemu,1"
        (tmp_path / "serial").write_bytes(serial)
        path.write_text(textwrap.dedent("""\
            #!/usr/bin/python3
            import os, signal, sys, time
            here = os.path.dirname(os.path.abspath(__file__))
            open(here + "/pid", "w").write(str(os.getpid()))
            open(here + "/argv", "w").write("\\0".join(sys.argv[1:]))
            sys.stdout.buffer.write(open(here + "/serial", "rb").read())
            sys.stdout.flush()
            """) + textwrap.dedent(body))
        path.chmod(0o755)
        efi = tmp_path / "some.efi"
        efi.write_bytes(b"MZ")
        code = tmp_path / "whole.fd"
        code.write_bytes(bytes(4096))
        return ["--accel", "tcg", "--qemu", path, "--efi", efi, "--firmware", code]
    return make


def alive(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def wait_until(condition):
    end = time.monotonic() + BOUND_S
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def start(tmp_path, arguments, **keywords):
    """Starts the runner without waiting for it; its process and the fake's pid, once that has one."""
    process = subprocess.Popen([str(RUNNER), "--out", str(tmp_path / "out"), *map(str, arguments)],
                               **keywords)
    pid = tmp_path / "pid"
    assert wait_until(lambda: pid.exists() and pid.read_text())
    return process, int(pid.read_text())


# What it makes of an ending.

@pytest.mark.parametrize("code, verdict, status", [
    (33, "pass", 0), (33, "warn", 0), (35, "fail", 1), (37, "incomplete", 2), (0, "pass", 0), (0, "fail", 1)])
def test_the_verdict_becomes_the_exit_status(run, fake, code, verdict, status):
    serial = spoken(report(verdict))
    done = run(*fake(serial, f"sys.exit({code})"))
    assert done.status == status, done
    assert json.loads(done.file("report.json"))["verdict"] == verdict
    assert done.file("report.txt") == b"the table\n"
    assert done.file("serial.log") == serial


def test_an_error_is_status_2_and_its_sentence_is_the_reason(run, fake):
    done = run(*fake(b"baretick 0.1.0\r\nerror: unknown option 'colour'.\r\n", "sys.exit(39)"))
    assert done.status == 2
    assert done.stderr == "qemu/run: unknown option 'colour'\n"
    assert done.report["reason"] == "unknown option 'colour'"
    assert done.report["verdict"] == "incomplete"


def test_a_guest_that_hangs_is_status_124_and_its_last_line_is_named(run, fake):
    done = run("--timeout", "5", *fake(b"baretick 0.1.0\nprogress: 3% tsc\n", "time.sleep(600)"))
    assert done.status == 124, done
    assert "no end within 5 s; the last line was: baretick 0.1.0" in done.stderr
    assert done.report["verdict"] == "incomplete" and done.report["clocks"] == []
    assert b"no end within 5 s" in done.file("report.txt")


def test_qemu_that_dies_is_named_with_its_last_words(run, fake):
    done = run(*fake(b"", 'sys.stderr.write("qemu: no such device\\n"); sys.exit(1)'))
    assert done.status == 2
    assert done.stderr == "qemu/run: QEMU ended with status 1: qemu: no such device\n"
    assert b"no such device" in done.file("qemu.log")


def test_qemu_killed_by_a_signal_is_named_so(run, fake):
    done = run(*fake(b"", "os.kill(os.getpid(), signal.SIGSEGV)"))
    assert done.status == 2
    assert done.stderr == "qemu/run: QEMU was killed by signal 11\n"


@pytest.mark.parametrize("which", ["json_sha", "text_sha"])
def test_a_block_that_is_not_what_its_sum_says_is_refused(run, fake, which):
    done = run(*fake(spoken(**{which: "0" * 64})))
    assert done.status == 2
    assert "is damaged: its SHA-256 is" in done.stderr
    assert done.report["verdict"] == "incomplete"


@pytest.mark.parametrize("cut, sentence", [
    (b"BARETICK REPORT END", "the report on the serial line ends in the middle"),
    (b"BARETICK REPORT BEGIN", "its report did not come over the serial line"),
])
def test_a_report_cut_short_is_refused(run, fake, cut, sentence):
    whole = spoken()
    done = run(*fake(whole[:whole.index(cut)]))
    assert done.status == 2
    assert sentence in done.stderr
    assert done.report["verdict"] == "incomplete"


def test_a_report_that_is_not_json_is_refused(run, fake):
    serial = b"baretick 0.1.0\n" + block("TEXT", b"t\n") + block("REPORT", b"{,}\n")
    assert "is not JSON in ASCII" in run(*fake(serial)).stderr


def test_a_report_of_another_schema_is_refused(run, fake):
    assert "is not of schema baretick.report/1" in run(*fake(spoken({"schema": "other/9"}))).stderr


def test_an_exit_value_that_contradicts_the_report_is_refused(run, fake):
    done = run(*fake(spoken(report("fail")), "sys.exit(33)"))
    assert done.status == 2
    assert "baretick ended with pass, its report says fail" in done.stderr


def test_a_run_that_is_refused_leaves_no_earlier_report_behind(run, tmp_path):
    (tmp_path / "out1").mkdir()
    (tmp_path / "out1" / "report.json").write_text(json.dumps(report()))
    done = run("--efi", "/nowhere/some.efi")
    assert done.status == 2 and "there is no /nowhere/some.efi" in done.stderr
    assert done.report["verdict"] == "incomplete" and "/nowhere/some.efi" in done.report["reason"]


def test_a_report_that_has_come_survives_an_interruption(fake, tmp_path):
    process, _ = start(tmp_path, fake(spoken(), "time.sleep(100)"))
    told = tmp_path / "out" / "serial.log"
    assert wait_until(lambda: b"REPORT END" in told.read_bytes())
    time.sleep(0.5)  # from the log into the transcript
    process.send_signal(signal.SIGTERM)
    assert process.wait(BOUND_S) == 128 + signal.SIGTERM
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "pass"


def test_what_an_earlier_run_left_is_gone(run, fake, tmp_path):
    (tmp_path / "out1").mkdir()
    for name in ("report.html", "report.csv"):
        (tmp_path / "out1" / name).write_text("old")
    run(*fake(spoken()))
    assert sorted(p.name for p in (tmp_path / "out1").iterdir()) == [
        "qemu.log", "report.json", "report.txt", "serial.log"]


# What it shows.

def test_the_firmwares_chatter_the_json_and_the_markers_are_not_shown(run, fake):
    done = run(*fake(spoken()))
    place, = re.findall(r"^The report is in (.*): report.txt, report.json$", done.stdout, re.M)
    assert done.stdout.splitlines()[:-1] == ["baretick 0.1.0", "the table"] and os.path.isdir(place)


def test_what_is_detail_goes_into_the_file_alone(run, fake):
    text = b"the table\n\n" + transcript.DETAIL + b"\n\ntsc: 15 ns\n"
    done = run(*fake(spoken(text=text) + b"Shell>\r\n"))
    assert done.file("report.txt") == text
    assert "tsc: 15 ns" not in done.stdout and "report.txt" in done.stdout and "Shell>" not in done.stdout


def test_the_line_where_detail_begins_is_the_applications():
    header = (RUNNER.parents[1] / "src" / "table.h").read_text()
    assert f'#define TABLE_DURATIONS "{transcript.DETAIL.decode()}"' in header


def test_control_characters_of_the_guest_do_not_reach_the_terminal(run, fake):
    done = run(*fake(b"baretick \x1b]0;title\x07 \xff\x1b[31mred\n"))
    assert done.stdout == "baretick ?]0;title? ?red\n"


def test_progress_is_a_line_each_where_there_is_no_terminal(run, fake):
    done = run(*fake(b"baretick 1\nprogress: 1% tsc\nprogress: 2% hpet\n"))
    assert done.stdout == "baretick 1\nprogress: 1% tsc\nprogress: 2% hpet\n"


def test_progress_is_drawn_over_itself_on_a_terminal(fake, tmp_path):
    arguments = fake(b"baretick 1\nprogress: 1% tsc\nprogress: 2% hpet\ndone\n")
    try:
        ours, theirs = pty.openpty()
    except OSError as error:
        pytest.skip(f"no terminal can be had here: {error}")
    process, _ = start(tmp_path, arguments, stdout=theirs, stderr=subprocess.DEVNULL)
    os.close(theirs)
    assert process.wait(BOUND_S) == 2
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert shown == "baretick 1\r\n\r1% tsc\x1b[K\r2% hpet\x1b[K\r\x1b[Kdone\r\n"


def test_lines_come_as_they_are_said_and_not_at_the_end(fake, tmp_path):
    process, _ = start(tmp_path, fake(b"baretick 1\n", "time.sleep(600)"), stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"baretick 1\n"
    process.terminate()
    assert process.wait(BOUND_S) == 143
    process.stdout.close()


def test_a_reader_that_goes_away_does_not_cost_the_report(fake, tmp_path):
    serial = b"baretick 1\n" * 100_000 + spoken()
    process, _ = start(tmp_path, fake(serial), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.wait(BOUND_S) == 0
    assert process.stderr.read() == b""
    process.stderr.close()
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "pass"


def test_the_transcript_is_the_same_however_the_bytes_are_cut():
    serial = spoken()
    for size in (1, 2, 7, 4096):
        lines = []
        said = Transcript(lines.append)
        for at in range(0, len(serial), size):
            said.feed(serial[at:at + size])
        said.close()
        assert lines == ["baretick 0.1.0", "the table"]
        assert said.complete and said.report["verdict"] == "pass" and not said.faults


# What it hands on.

def arguments_of(tmp_path):
    return (tmp_path / "argv").read_text().split("\0")


def value_of(arguments, option):
    return [after for before, after in zip(arguments, arguments[1:]) if before == option]


def test_words_behind_the_dashes_reach_baretick_after_the_runners_own(run, fake, tmp_path):
    read = """
        item = [a for a in sys.argv if a.startswith("name=opt/baretick/options,file=")][0]
        assert item.replace(",,", "").count(",") == 1
        path = item.partition(",file=")[2].replace(",,", ",")
        open(here + "/options", "w").write(open(path).read())
        sys.exit(33)
        """
    private = tmp_path / "with,comma"  # which QEMU's option syntax would take for the end of the value
    private.mkdir()
    run(*fake(spoken(), read), "--", "clocks=tsc,hpet", "profile=quick", "exit=poweroff",
        environment={"TMPDIR": str(private)})
    assert (tmp_path / "options").read_text() == (
        "save=off\nexit=debug-exit\nclocks=tsc,hpet\nprofile=quick\nexit=poweroff\n")


def test_qemu_arguments_go_on_as_they_are_and_replace_the_runners(run, fake, tmp_path):
    run(*fake(spoken()), "--qemu-arg", "-cpu", "--qemu-arg", "qemu64", "--qemu-arg=-vga",
        "--qemu-arg=none", "--qemu-arg", "-accel", "--qemu-arg", "tcg,thread=single")
    arguments = arguments_of(tmp_path)
    assert value_of(arguments, "-cpu") == ["qemu64"]
    assert value_of(arguments, "-vga") == ["none"]
    assert value_of(arguments, "-accel") == ["tcg,thread=single"]
    assert arguments[-6:] == ["-cpu", "qemu64", "-vga", "none", "-accel", "tcg,thread=single"]


def test_cores_memory_and_machine_reach_qemu(run, fake, tmp_path):
    run(*fake(spoken()), "--cpus", "7", "--memory", "1G", "--machine", "pc")
    arguments = arguments_of(tmp_path)
    assert value_of(arguments, "-smp") == ["7"]
    assert value_of(arguments, "-m") == ["1G"]
    assert value_of(arguments, "-machine") == ["pc"]


def test_the_stick_is_a_copy_that_stays_in_out(run, fake, tmp_path):
    image = tmp_path / "stick"
    image.write_bytes(b"stick")
    write = 'open(here + "/out1/stick.img", "ab").write(b"+report"); sys.exit(33)'
    run(*fake(spoken(), write), "--boot", "usb", "--image", image)
    assert image.read_bytes() == b"stick"
    assert (tmp_path / "out1" / "stick.img").read_bytes() == b"stick+report"


def test_qemu_comes_from_the_environment_where_it_is_not_named(run, fake):
    arguments = fake(spoken())
    at = arguments.index("--qemu")
    qemu = arguments[at + 1]
    del arguments[at:at + 2]
    assert run(*arguments, environment={"QEMU": str(qemu)}).status == 0


# Firmware.

@pytest.mark.parametrize("code, variables, smm", [
    ("OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd", False),
    ("OVMF_CODE_4M.secboot.fd", "OVMF_VARS_4M.fd", True),
    ("OVMF_CODE_4M.ms.fd", "OVMF_VARS_4M.ms.fd", True),
    ("OVMF_CODE_4M.secboot.strictnx.fd", "OVMF_VARS_4M.fd", True),
    ("edk2-x86_64-code.fd", "edk2-i386-vars.fd", False),
    ("ovmf-x86_64-code.bin", "ovmf-x86_64-vars.bin", False),
])
def test_code_finds_its_variables_and_smm_builds_their_machine(tmp_path, code, variables, smm):
    (tmp_path / code).write_bytes(bytes(3000))
    (tmp_path / variables).write_bytes(b"vars")
    private = tmp_path / "private"
    private.mkdir()
    arguments = command.firmware_arguments(str(tmp_path / code), str(private))
    assert (private / "variables.fd").read_bytes() == b"vars"
    assert ("smm=on" in arguments) == smm


def test_a_combined_image_goes_in_whole(tmp_path):
    whole = tmp_path / "OVMF.fd"
    whole.write_bytes(bytes(1 << 16))
    assert command.firmware_arguments(str(whole), str(tmp_path)) == ["-bios", str(whole)]


def test_a_build_that_needs_smm_is_refused_on_pc(run, fake, tmp_path):
    arguments = fake()
    code = tmp_path / "OVMF_CODE_4M.secboot.fd"
    code.write_bytes(bytes(3000))
    (tmp_path / "OVMF_VARS_4M.fd").write_bytes(b"vars")
    done = run(*arguments, "--firmware", code, "--machine", "pc")
    assert done.status == 2
    assert done.stderr == (f"qemu/run: --firmware: {code} needs system management mode: "
                           "use --machine q35\n")
    assert not (tmp_path / "argv").exists()


# Wrong use: one line that names it, status 2, and nothing was started.

@pytest.mark.parametrize("arguments, sentence", [
    (["--accel", "xen"], "argument --accel: invalid choice: 'xen'"),
    (["--cpus", "0"], "argument --cpus: invalid cores value: '0'"),
    (["--timeout", "-1"], "argument --timeout: invalid positive value: '-1'"),
    (["--tim", "1"], "unrecognized arguments: --tim 1"),
    (["--qemu", "/nowhere/qemu"], "there is no /nowhere/qemu: install the package qemu-system-x86"),
    (["--efi", "/nowhere/x.efi"], "there is no /nowhere/x.efi: type `make` first"),
    (["--boot", "cd", "--image", "/nowhere/x.iso"], "there is no /nowhere/x.iso: type `make image` first"),
    (["--firmware", "/nowhere/x.fd"], "--firmware: there is no file /nowhere/x.fd"),
    (["--baseline", "/nowhere/x.json"], "--baseline: /nowhere/x.json cannot be read"),
    (["--junit", "/nowhere/x.xml"], "--junit: there is no folder for /nowhere/x.xml"),
    (["--out", "/dev/null/x"], "--out: "),
])
def test_wrong_use_is_named_in_one_line(run, fake, tmp_path, arguments, sentence):
    done = run(*fake(), *arguments)
    assert done.status == 2
    assert done.stderr.startswith("qemu/run: ") and done.stderr.count("\n") == 1
    assert sentence in done.stderr
    assert not (tmp_path / "argv").exists()


# Other programs' formats, and the comparison.

CLOCKS = (("tsc", "pass"), ("hpet", "fail"), ("pit", "absent"), ("rtc", "warn"))


def test_junit_has_a_case_for_each_clock_and_one_for_the_run(run, fake, tmp_path):
    file = tmp_path / "junit.xml"
    done = run(*fake(spoken(report("fail", CLOCKS)), "sys.exit(35)"), "--junit", file)
    assert done.status == 1
    suite = xml.parse(file).getroot()
    assert [suite.get(k) for k in ("tests", "failures", "errors", "skipped")] == ["5", "1", "0", "1"]
    found = {case.get("name"): [child.tag for child in case] for case in suite}
    assert found == {"tsc": [], "hpet": ["failure"], "pit": ["skipped"], "rtc": [], "run": []}
    assert suite.find("testcase[@name='hpet']/failure").get("message") == "hpet is wrong"


def test_junit_of_a_run_that_was_not_done_is_an_error(run, fake, tmp_path):
    file = tmp_path / "junit.xml"
    assert run(*fake(b"", "sys.exit(1)"), "--junit", file).status == 2
    suite = xml.parse(file).getroot()
    assert suite.get("errors") == "1"
    assert "QEMU ended with status 1" in suite.find("testcase/error").get("message")


def test_tap_has_stdout_to_itself(run, fake):
    done = run(*fake(spoken(report("fail", CLOCKS)), "sys.exit(35)"), "--tap")
    assert done.stdout.splitlines() == [
        "TAP version 13", "1..5", "ok 1 - tsc", "not ok 2 - hpet", "# fail: hpet is wrong",
        "ok 3 - pit # SKIP not there", "ok 4 - rtc", "ok 5 - run"]
    assert "the table" in done.stderr


@pytest.mark.parametrize("before, status, sentence", [
    ((("tsc", "pass"),), 0, None),
    ((("tsc", "fail"), ("rtc", "absent")), 0, None),
    ((("pit", "warn"),), 1, "pit is gone, it was warn: not there"),
    ((("kvmclock", "pass"),), 1, "kvmclock is gone, it was pass"),
    ((("rtc", "pass"),), 1, "rtc is warn, it was pass"),
])
def test_a_clock_worse_than_in_the_baseline_is_named(run, fake, tmp_path, before, status, sentence):
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps(report("pass", before)))
    now = report("warn", (("tsc", "pass"), ("pit", "absent"), ("rtc", "warn")))
    done = run(*fake(spoken(now)), "--baseline", baseline)
    assert done.status == status, done
    assert done.stderr == (f"qemu/run: worse than the baseline: {sentence}\n" if sentence else "")


# KVM: tried once where it may be, and left.

def no_kvm_script(under_kvm):
    """A QEMU that does UNDER_KVM if KVM is asked for, and else gives a report."""
    return "if 'kvm' in sys.argv:\n" + textwrap.indent(textwrap.dedent(under_kvm), "    ") + textwrap.dedent("""
        sys.stdout.buffer.write(open(here + "/later", "rb").read())
        sys.stdout.flush()
        sys.exit(33)
        """)


needs_kvm_node = pytest.mark.skipif(not os.access("/dev/kvm", os.R_OK | os.W_OK),
                                    reason="/dev/kvm cannot be opened here")
ABORT = "sys.stderr.write('failed to set MSR 0x10a\\n'); sys.stderr.flush(); os.abort()\n"
STUCK = """
import json, re, socket
fd = [re.search(r",fd=(\\d+)", a) for a in sys.argv if ",fd=" in a][0]
line = socket.socket(fileno=int(fd[1]))
while line.recv(4096):
    line.sendall(json.dumps({"return": {"status": "internal-error"}}).encode() + b"\\n")
"""


@needs_kvm_node
@pytest.mark.parametrize("under_kvm, reason", [
    (ABORT, "QEMU was killed by signal 6: failed to set MSR 0x10a"),
    (STUCK, "the guest stopped with internal-error"),
    ("time.sleep(600)\n", "the guest said nothing for 10 s"),
])
def test_auto_falls_back_to_tcg_once_and_says_why(run, fake, tmp_path, under_kvm, reason):
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script(under_kvm)), "--accel", "auto")
    assert done.status == 0, done
    assert done.stderr == f"qemu/run: KVM does not work here ({reason}); going on with TCG\n"
    assert value_of(arguments_of(tmp_path), "-accel") == ["tcg"]


@needs_kvm_node
def test_kvm_asked_for_is_never_replaced(run, fake, tmp_path):
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script(ABORT)), "--accel", "kvm")
    assert done.status == 2
    assert done.stderr == ("qemu/run: --accel kvm: QEMU was killed by signal 6: "
                           "failed to set MSR 0x10a\n")
    assert value_of(arguments_of(tmp_path), "-accel") == ["kvm"]


# Nothing is left behind.

def test_killing_the_runner_kills_qemu(fake, tmp_path):
    process, pid = start(tmp_path, fake(b"baretick 1\n", "time.sleep(600)"), stdout=subprocess.DEVNULL)
    assert alive(pid)
    process.kill()
    process.wait(BOUND_S)
    assert wait_until(lambda: not alive(pid))


@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_qemu_and_keeps_the_logs(fake, tmp_path, number, status):
    stubborn = "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(600)"
    process, pid = start(tmp_path, fake(b"baretick 1\n", stubborn), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"baretick 1\n"
    process.send_signal(number)
    _, said = process.communicate(timeout=BOUND_S)
    assert process.returncode == status
    assert said == f"qemu/run: interrupted by {signal.Signals(number).name}\n".encode()
    assert not alive(pid)
    out = tmp_path / "out"
    assert (out / "serial.log").read_bytes() == b"baretick 1\n"
    left = json.loads((out / "report.json").read_text())
    check_schema(left)
    assert left["verdict"] == "incomplete" and "interrupted" in left["reason"]


def test_children_of_a_wrapper_around_qemu_end_with_it(run, fake, tmp_path):
    child = """
        import subprocess
        other = subprocess.Popen(["sleep", "600"])
        open(here + "/child", "w").write(str(other.pid))
        time.sleep(600)
        """
    assert run("--timeout", "8", *fake(b"", child)).status == 124
    other = int((tmp_path / "child").read_text())
    assert wait_until(lambda: not alive(other))


def test_private_files_are_removed(run, fake, tmp_path):
    private = tmp_path / "private"
    private.mkdir()
    assert run(*fake(spoken()), environment={"TMPDIR": str(private)}).status == 0
    assert list(private.iterdir()) == []
