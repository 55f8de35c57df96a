"""Tests of the runner. A script replaces QEMU, so no guest starts."""
import base64
import contextlib
import hashlib
import json
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import sys
import textwrap
import time
import uuid
import xml.etree.ElementTree as xml

import pytest

from harness import CHATTER, RUNNER, block, check_schema, load_program, report, run_for_long_enough, spoken
from machine import command, interruption, transcript
from machine.process import Process
from machine.transcript import Transcript
from machine.qemu_messages import QemuMessages
from runner import arguments as command_line
from test_console_log import compact, framed

LEFT = ["qemu.log", "report.csv", "report.html", "report.json", "report.txt", "serial.log"]
BOUND_S = 60  # limit in seconds for actions that take a fraction of a second on an idle machine


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
    """Start the runner, and do not wait for its end. Return its process, and the process id of the script instead of
    QEMU after it has started."""
    process = subprocess.Popen([str(RUNNER), "--out", str(tmp_path / "out"), *map(str, arguments)],
                               **keywords)
    pid = tmp_path / "pid"
    assert wait_until(lambda: pid.exists() and pid.read_text())
    return process, int(pid.read_text().split()[0])


def kill(process, pid):
    """Kill the runner PROCESS. Then the script instead of QEMU, PID, must end."""
    assert alive(pid)
    process.kill()
    process.wait(BOUND_S)
    assert wait_until(lambda: not alive(pid))


def end_by(process, number):
    """Send the signal NUMBER to the runner PROCESS. Return its exit status and its last words."""
    process.send_signal(number)
    _, said = process.communicate(timeout=BOUND_S)
    return process.returncode, said.decode()


# Tests of the end of a run.

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
    serial = b"baretick 0.1.0\nphase: latency\nprogress: 3% tsc\n"
    done, seconds = run_for_long_enough(run, lambda done: done.file("serial.log") == serial, *fake(serial, "time.sleep(600)"))
    assert done.status == 124, done.stderr
    assert f"the run did not end within {seconds} s (--timeout); the last line was: progress: 3% tsc;" in done.stderr
    assert "--accel" not in done.stderr
    assert done.report["verdict"] == "incomplete" and done.report["clocks"] == []
    assert f"the run did not end within {seconds} s" in done.file("report.txt").decode()


@pytest.mark.parametrize("rest", [b"pro", b"progress: 4% ts"])
def test_the_start_of_a_line_of_progress_is_not_named_as_the_last_line(run, fake, rest):
    serial = b"baretick 0.1.0\n" + rest
    done, _ = run_for_long_enough(run, lambda done: done.file("serial.log") == serial, *fake(serial, "time.sleep(600)"))
    assert done.status == 124, done.stderr
    assert "the last line was: baretick 0.1.0\n" in done.stderr


@pytest.mark.parametrize("key", [True, False], ids=["efi", "bare"])
def test_a_run_that_takes_longer_than_its_timeout_is_announced_once_by_its_own_estimate(run, fake, tmp_path, key):
    arguments = fake(b"baretick 0.1.0\nphase: rates\nprogress: 0% rates, 290 s left\nprogress: 1% rates, 289 s left\n", "time.sleep(600)",
                     boots_efi=key)
    if not key:
        (tmp_path / "some.elf").write_bytes(b"\x7fELF")
        at = arguments.index("--firmware")
        arguments[at:at + 2] = ["--boot", "bare", "--image", tmp_path / "some.elf"]
    done, _ = run_for_long_enough(run, lambda done: "--timeout ends it in" in done.stderr, *arguments)
    assert done.status == 124, done.stderr
    said = [line for line in done.stderr.splitlines() if "--timeout ends it in" in line]
    assert len(said) == 1 and "the run still takes about 2" in said[0] and ("Ctrl-C" in said[0]) == key, done.stderr
    assert "; no measurements were kept, because only a run with --boot usb saves checkpoints\n" in done.stderr


def test_a_run_that_ends_before_its_timeout_by_its_own_estimate_is_not_announced(run, fake):
    done = run(*fake(spoken().replace(b"baretick 0.1.0\r\n", b"baretick 0.1.0\r\nphase: rates\r\nprogress: 0% rates, 30 s left\r\n")))
    assert done.status == 0 and "--timeout" not in done.stderr, done.stderr


def test_without_firmware_it_is_said_where_it_was_looked_for_and_who_has_it(run, fake, tmp_path):
    """Without firmware, the error must name the searched folders and the packages. FIND_ROOT names a folder that is
    used instead of /, and has no firmware."""
    arguments = fake(b"")
    at = arguments.index("--firmware")
    done = run(*arguments[:at], *arguments[at + 2:], environment={"FIND_ROOT": str(tmp_path / "nothing"), "OVMF": ""})
    assert done.status == 2, done
    assert done.stderr.startswith("qemu/run: UEFI firmware for QEMU was not found in /usr/share/OVMF, ")
    assert done.stderr.endswith("; OVMF=FILE names another place.\n") and " ovmf (Debian), " in done.stderr
    named = run(*arguments[:at], *arguments[at + 2:], environment={"OVMF": str(arguments[at + 1])})
    assert f"{arguments[at + 1]}" in named.file("qemu.log").decode(), named


@pytest.mark.parametrize("body, said", [
    ("sys.stderr.write('qemu: no such device\\n'); sys.exit(1)", "ended with status 1: qemu: no such device"),
    ("sys.stderr.write('fake qemu,1: warning: odd\\nfake qemu,1: -m x: no size\\nfake qemu,1: warning: old\\nand so on.\\n'); sys.exit(1)",
     "ended with status 1: fake qemu,1: -m x: no size"),
    ("os.kill(os.getpid(), signal.SIGSEGV)", "was killed by signal 11")], ids=["dies", "error among warnings", "killed"])
def test_qemu_that_ended_is_named_with_its_last_error(run, fake, body, said):
    done = run(*fake(b"", body))
    assert (done.status, done.stderr) == (2, f"qemu/run: QEMU {said}\n")
    assert "killed" in said or said.rpartition("1: ")[2].encode() in done.file("qemu.log")


def test_qemu_that_a_signal_asked_to_end_is_not_a_machine_that_was_switched_off(run, fake):
    ends = "print('qemu-system-x86_64: terminating on signal 15 from pid 7 (sh)', file=sys.stderr); sys.exit(0)"
    done = run(*fake(b"baretick 1\n", ends))
    assert done.status == 2
    assert done.stderr.startswith("qemu/run: QEMU was ended by signal 15, but its report did not come over the serial line")
    assert done.report["reason"].startswith("QEMU was ended by signal 15")


def test_a_report_that_a_key_has_cut_is_told_from_one_that_is_damaged(run, fake):
    said = spoken()
    at = said.index(b"BARETICK REPORT BEGIN") + 60
    done = run(*fake(said[:at] + b"\r\nBARETICK REPORT CUT after 37 of 1234 bytes\r\n"))
    assert done.status == 2
    assert done.stderr == "qemu/run: the report on the serial line was cut by a key at the machine, after 37 of 1234 bytes\n"
    assert done.report["verdict"] == "incomplete" and "cut by a key" in done.report["reason"]


def test_a_run_that_may_not_speak_is_refused(run, fake):
    done = run(*fake(spoken()), "--", "serial=full", "serial=off")
    assert done.status == 2 and "serial=off and serial=summary are for real machines" in done.stderr
    assert run(*fake(spoken()), "--", "serial=off", "serial=full").status == 0


def test_the_short_report_of_a_console_is_understood(run, fake):
    said = b"baretick 0.1.0\n" + block("TEXT", b"the table\n") + compact(report()).encode()
    done = run(*fake(said.replace(b"\n", b"\r\n")), "--", "serial=compact")
    assert (done.status, done.report["verdict"], done.file("report.txt")) == (0, "pass", b"the table\n")


TEXT_BLOCK = b"baretick 0.1.0\n" + block("TEXT", b"t\n")


@pytest.mark.parametrize("serial, sentence", [
    (spoken().partition(b"BARETICK REPORT END")[0], "the report on the serial line ends in the middle"),
    (spoken().partition(b"BARETICK REPORT BEGIN")[0], "its report did not come over the serial line"),
    (TEXT_BLOCK + block("REPORT", b"{,}\n"), "is not JSON in ASCII"),
    (spoken({"schema": "other/9"}), "is not of schema baretick.report/1"),
    (TEXT_BLOCK + framed("bt0001:AAAA\n").encode(), "the output on the serial line has a compact report whose packed text has no end"),
    (spoken(json_sha="0" * 64), "is damaged: its SHA-256 is"), (spoken(text_sha="0" * 64), "is damaged: its SHA-256 is"),
    (spoken(report("fail")), "baretick ended with pass, its report says fail"),
], ids=["cut in the middle", "cut before", "no JSON", "other schema", "cannot be unpacked", "wrong sum", "wrong sum of the text", "other status"])
def test_a_report_that_is_no_whole_report_is_refused(run, fake, serial, sentence):
    done = run(*fake(serial))
    assert done.status == 2 and sentence in done.stderr
    assert "report says fail" in sentence or done.report["verdict"] == "incomplete"


def test_a_call_that_is_refused_replaces_the_reason_of_an_earlier_one(run, tmp_path):
    (tmp_path / "out1").mkdir()
    (tmp_path / "out1" / "report.json").write_text(json.dumps(report("incomplete", clocks=())))
    done = run("--efi", "/nowhere/some.efi")
    assert done.status == 2 and "--efi: /nowhere/some.efi cannot be read" in done.stderr
    assert done.report["verdict"] == "incomplete" and "/nowhere/some.efi" in done.report["reason"]


def test_a_report_that_has_come_survives_an_interruption(fake, tmp_path):
    process, _ = start(tmp_path, fake(spoken(), "time.sleep(100)"))
    told = tmp_path / "out" / "serial.log"
    assert wait_until(lambda: b"REPORT END" in told.read_bytes())
    process.send_signal(signal.SIGTERM)
    assert process.wait(BOUND_S) == 128 + signal.SIGTERM
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "pass"


@pytest.mark.parametrize("serial, body, status", [
    (spoken(), "sys.exit(33)", 0),
    (b"", "sys.exit(1)", 2),
    (b"baretick 0.1.0\r\nerror: unknown option 'colour'.\r\n", "sys.exit(39)", 2),
    (CHATTER + b"baretick 0.1.0\nBARETICK REPORT BEGIN\n{", "os.kill(os.getpid(), signal.SIGKILL)", 2),
])
def test_the_same_files_are_left_whatever_happened(run, fake, serial, body, status):
    done = run(*fake(serial, body))
    assert done.status == status, done
    assert sorted(path.name for path in done.out.iterdir()) == LEFT
    assert json.loads(done.file("report.json"))["verdict"] == ("incomplete" if status else "pass")
    assert done.file("report.html").startswith(b"<!DOCTYPE html>")


def test_a_run_that_is_refused_leaves_them_too(run, fake):
    done = run(*fake(boots_efi=False), "--boot", "cd", "--image", "/nowhere/x.iso")
    assert done.status == 2
    assert sorted(path.name for path in done.out.iterdir()) == LEFT
    assert "/nowhere/x.iso" in done.report["reason"] and b"/nowhere/x.iso" in done.file("report.txt")


def test_the_csv_is_the_applications_own(run, fake):
    table = b"run,clock,core,metric,value,low,high,unit,machine\n1,tsc,,p50,30,,,ns,\n"
    done = run(*fake(spoken(more=block("CSV", table))))
    assert done.status == 0 and done.file("report.csv") == table
    done = run(*fake(spoken(more=block("CSV", table, "0" * 64))))
    assert done.status == 2 and "the csv on the serial line is damaged" in done.stderr


RECORD = bytes(range(256))


def with_record(record=RECORD, encoded=None):
    """Return the output of a run whose report has the checksum of RECORD. ENCODED is the block with the record."""
    document = {**report(), "record": {"bytes": len(record), "dropped": 0, "sha256": hashlib.sha256(record).hexdigest()}}
    return spoken(document, more=block("RECORD", base64.encodebytes(RECORD) if encoded is None else encoded))


def test_the_record_is_decoded_and_named(run, fake):
    done = run(*fake(with_record()))
    assert done.status == 0 and done.file("report.record") == RECORD
    assert ", report.csv, report.record" in done.stdout


@pytest.mark.parametrize("serial", [with_record(RECORD + b"!"), with_record(encoded=b"A\n"), with_record(encoded=b"\xff==\n"),
                                    spoken(more=block("RECORD", base64.encodebytes(RECORD)))],
                         ids=["another", "cut", "no-base64", "not-named"])
def test_a_record_that_is_not_the_one_of_the_report_is_left_out_and_named(run, fake, serial):
    done = run(*fake(serial))
    assert done.status == 2 and "the record of the run is lost: its SHA-256 is not the one in the report" in done.stderr
    assert sorted(path.name for path in done.out.iterdir()) == LEFT


def test_what_an_earlier_run_left_is_gone(run, fake, tmp_path):
    (tmp_path / "out1").mkdir()
    for name in ("report.html", "report.csv", "report.record"):
        (tmp_path / "out1" / name).write_text("an earlier run")
    run(*fake(spoken()))
    assert sorted(p.name for p in (tmp_path / "out1").iterdir()) == LEFT
    assert b"an earlier run" not in (tmp_path / "out1" / "report.html").read_bytes()
    assert (tmp_path / "out1" / "report.csv").read_text() == "run,clock,core,metric,value,low,high,unit,machine\n"


@pytest.mark.parametrize("word", ["rules", "help"])
def test_a_list_alone_is_shown_and_the_last_report_stays(run, fake, tmp_path, word):
    out, ruled = tmp_path / "last", b"baretick 0.1.0\n" + block("TEXT", b"clock-stuck (any, fail)\n")
    assert run(*fake(spoken()), "--out", out).status == 0
    before = {name: (out / name).read_bytes() for name in LEFT}
    done = run(*fake(ruled), "--out", out, "--", word)
    assert done.status == 0 and done.stderr == ""
    assert done.stdout == "baretick 0.1.0\nclock-stuck (any, fail)\n"
    assert {name: (out / name).read_bytes() for name in LEFT} == before
    assert sorted(path.name for path in (out / word).iterdir()) == ["qemu.log", "serial.log"]


def test_rules_that_did_not_come_are_a_run_that_was_not_done(run, fake):
    done = run(*fake(b"baretick 0.1.0\n"), "--", "rules")
    assert done.status == 2 and "did not come over the serial line" in done.stderr
    assert not (done.out / "report.json").exists()
    assert json.loads(done.file("rules/report.json"))["verdict"] == "incomplete"


# Tests of output.

def test_it_ends_with_where_the_report_is_and_how_its_page_is_opened(run, fake):
    last = run(*fake(spoken())).stdout.splitlines()[-2:]
    place, = re.findall(r"^The report is in (.*): report.json, report.html, report.txt, report.csv$", last[0])
    assert os.path.isdir(place)
    address, = re.findall(r"^Open the page in a browser: file://(/.*)$", last[1])
    assert os.path.samefile(address, os.path.join(place, "report.html"))


def test_the_last_lines_are_the_answer(run, fake):
    text = "Use tsc: 28.7 ns a read. Linux takes hpet (999 ns): it marks the TSC unstable. No clock failed. \x1b[31m"
    lines = run(*fake(spoken({**report(), "answer": {"text": text}}))).stdout.splitlines()
    assert lines[-3].startswith("Open the page in a browser: ") and all(len(line) <= 79 for line in lines[-2:])
    assert " ".join(lines[-2:]) == text.replace("\x1b", "?")


def test_the_answer_keeps_a_unit_with_its_number(run, fake):
    text = f"Use tsc{' x' * 31} for 28.7 ns a read. Linux takes it."
    lines = run(*fake(spoken({**report(), "answer": {"text": text}}))).stdout.splitlines()
    assert lines[-2].endswith(" for") and lines[-1] == "28.7 ns a read. Linux takes it."


@pytest.mark.parametrize("whole", [True, False])
def test_the_folder_is_named_as_it_was_given(run, fake, tmp_path, monkeypatch, whole):
    monkeypatch.chdir(tmp_path)
    for folder in "near", str(tmp_path / "far"), f"../{tmp_path.name}/round":
        last = run("--out", folder, *fake(spoken() if whole else b"baretick 1\n")).stdout.splitlines()[-2 if whole else -1]
        assert last.startswith(f"The report is in {folder}: " if whole else f"The files of the run are in {folder}: ")


DENIED = b'BdsDxe: failed to load Boot0001 "UEFI QEMU USB" from PciRoot(0x0)/USB(0x0,0x0): Access Denied\r\n'


@pytest.mark.parametrize("serial, said", [
    (DENIED, "baretick printed nothing: the firmware printed Access Denied, as Secure Boot does for an unsigned application (`make sign` signs it)"),
    (DENIED.replace(b"Access Denied", b"Not Found"), "baretick printed nothing"),
    (b"baretick 1\nAccess Denied\n", "the last line was: Access Denied"),
    (CHATTER + b"Starting baretick 0.1.0 (0123)\r\n", "baretick printed nothing after its start, and has not read its options")])
def test_what_secure_boot_refused_is_said_to_be_so(run, fake, serial, said):
    done, seconds = run_for_long_enough(run, lambda done: done.file("serial.log") == serial, *fake(serial, "time.sleep(600)"))
    assert done.status == 124 and done.stderr.splitlines()[0] == f"qemu/run: the run did not end within {seconds} s (--timeout); {said}"


def make_application(signed):
    """Return the headers of a PE32+ file, with a certificate table if SIGNED."""
    header = bytearray(1024)
    header[:2], header[0x3C:0x40], header[0x80:0x84] = b"MZ", struct.pack("<I", 0x80), b"PE\0\0"
    header[0x80 + 24 + 144:0x80 + 24 + 152] = struct.pack("<II", 512, 64 if signed else 0)
    return bytes(header)


@pytest.mark.parametrize("signed", [True, False])
def test_a_signed_application_is_not_told_to_be_signed(run, fake, tmp_path, signed):
    application = tmp_path / "signed.efi"
    application.write_bytes(make_application(signed))
    done = run("--timeout", "60", *fake(DENIED + b"BdsDxe: No bootable option or device was found.\r\n", "time.sleep(600)"), "--efi", application)
    said = done.stderr.splitlines()[0]
    assert ("`make sign` signs it" in said) != signed and ("its certificate is probably not enrolled" in said) == signed, done


@pytest.mark.parametrize("serial, said", [
    (DENIED, ": the firmware printed Access Denied, as Secure Boot does for an unsigned application (`make sign` signs it)"), (b"", "")])
def test_a_firmware_that_finds_nothing_to_boot_is_not_waited_for(run, fake, serial, said):
    done = run(*fake(serial + b"BdsDxe: No bootable option or device was found.\r\n", "time.sleep(600)"))
    assert done.status == 2 and done.stderr.splitlines()[0] == f"qemu/run: the firmware found nothing to boot{said}"


@pytest.mark.parametrize("first", [b"", b"baretick 1\nphase: prepare\n"], ids=["before", "within"])
def test_a_firmware_that_crashes_ends_the_run_before_the_time_out(fake, run, first):
    dump = (b"!!!! X64 Exception Type - 0D(#GP - General Protection)  CPU Apic ID - 00000000 !!!!\r\n"
            b"RIP  - 000000001EB6CB16, CS  - 0000000000000038, RFLAGS - 0000000000010202\r\n")
    done = run("--timeout", "300", *fake(first + dump, "time.sleep(600)"))
    assert done.status == 2
    assert ("the firmware took an exception in its own code and stopped: 0D(#GP - General Protection)"
            in done.stderr.splitlines()[0]), done.stderr
    assert "RIP" in done.file("serial.log").decode()


@pytest.mark.parametrize("value, state, said", [(b"\1", 0x3F, True), (b"\0", 0x3F, False), (b"\1", 0x3C, False)])
@pytest.mark.parametrize("serial", [b"", b"\x1b[2J\x1b[01;01H"], ids=["nothing", "screen clears"])
def test_of_a_silent_firmware_whose_variables_switch_secure_boot_on_that_is_said(run, fake, tmp_path, serial, value, state, said):
    name = "SecureBootEnable\0".encode("utf-16-le")
    arguments = fake(serial, "time.sleep(600)")
    code, store = tmp_path / "OVMF_CODE.fd", tmp_path / "OVMF_VARS.fd"
    code.write_bytes(bytes(4095))
    other = struct.pack("<HB33xII16s", 0x55AA, 0x3F, len(name), 1, bytes(16)) + name + b"\1"
    vendor = uuid.UUID("f0a30bc7-af08-4556-99c4-001009c93a44").bytes_le
    store.write_bytes(bytes(100) + other + bytes(3) + struct.pack("<HB33xII16s", 0x55AA, state, len(name), 1, vendor) + name + value)
    done = run("--timeout", "2", *arguments, "--firmware", code)
    why = ": Secure Boot is on in the firmware's variables, so no unsigned application starts (`make sign` signs it)" if said else ""
    assert done.status == 124 and done.stderr.splitlines()[0] == f"qemu/run: the run did not end within 2 s (--timeout); baretick printed nothing{why}"


@pytest.mark.parametrize("arguments, serial, body, status", [
    (["--timeout", "3"], b"baretick 1\n", "time.sleep(600)", 124),
    ([], b"", "sys.exit(1)", 2),
], ids=["time-out", "no QEMU"])
def test_a_run_that_was_not_done_ends_with_where_its_logs_are(run, fake, arguments, serial, body, status):
    done = run(*arguments, *fake(serial, body))
    assert done.status == status
    last = done.stdout.splitlines()[-1]
    place, rest = re.fullmatch(r"The files of the run are in (\S*): (.*)", last).groups()
    assert os.path.samefile(place, done.out)
    assert all((done.out / name).is_file() for name in re.findall(r"\w+\.(?:log|json)", rest))
    assert "serial.log" in rest and "qemu.log" in rest and "report.json" in rest


def test_a_run_that_never_began_has_nothing_to_look_at(run):
    assert run("--efi", "/nowhere/x.efi").stdout == ""


def test_what_is_detail_goes_into_the_file_alone(run, fake):
    text = b"the table\n\n" + transcript.DETAIL + b"\n\ntsc: 15 ns\n"
    done = run(*fake(spoken(text=text) + b"Shell>\r\n"))
    assert done.file("report.txt") == text
    assert "tsc: 15 ns" not in done.stdout and "report.txt" in done.stdout and "Shell>" not in done.stdout


def test_the_line_where_detail_begins_is_the_applications():
    header = (RUNNER.parents[1] / "src" / "render" / "sections" / "table_sections.h").read_text()
    assert f'#define TABLE_DURATIONS "{transcript.DETAIL.decode()}"' in header


@pytest.mark.parametrize("serial, lines", [
    (b"baretick \x1b]0;title\x07 \xff\x1b[31mred\n", ["baretick ?]0;title? ?red"]),
    (b"baretick 1\nprogress: 1% tsc\nprogress: 2% hpet\n", ["baretick 1", "progress: 1% tsc", "progress: 2% hpet"]),
    (b"baretick 1\n" + b"progress: 81%\n" * 9 + b"same\nsame\nprogress: 82%\n", ["baretick 1", "progress: 81%", "same", "same", "progress: 82%"]),
    (b"baretick 1\nphase: rates\nhello\nphase: latency\n", ["baretick 1", "hello"]),
], ids=["no control characters", "a line for each progress", "the same progress once", "no phases"])
def test_without_a_terminal_lines_are_for_people(run, fake, serial, lines):
    assert run(*fake(serial)).stdout.splitlines()[:-1] == lines


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
    assert shown.startswith("baretick 1\r\n\r1% tsc\x1b[K\r2% hpet\x1b[K\r\x1b[Kdone\r\nThe files of the run")


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


@pytest.mark.skipif(not os.path.exists("/proc/self/schedstat"), reason="this kernel does not count how long a task waits")
def test_the_time_that_qemu_waited_never_becomes_less_while_qemu_ends():
    """A process that has ended has no threads in /proc. The time that they waited was then lost, and a machine that had
    just ended by itself counted as one that had not printed for long enough."""
    busy = ["taskset", "--cpu-list", str(min(os.sched_getaffinity(0))), sys.executable, "-c", "while True: pass"]
    process, end = Process(), time.monotonic() + BOUND_S
    with subprocess.Popen(busy) as rival, subprocess.Popen(busy) as process._process:
        try:
            while process.get_waiting_s() < 0.1:
                assert process.get_exit_status() is None and time.monotonic() < end
        finally:
            rival.kill()
            process._process.kill()
    assert process.get_exit_status() is not None
    assert process.get_waiting_s() >= 0.1


def test_a_full_pipe_that_is_read_slowly_is_read_to_its_end(monkeypatch):
    """On a busy host, QEMU may have ended while half of its output is not read yet. The runner must read all of it, even
    if each read takes longer than its time limit."""
    monkeypatch.setattr("machine.process.END_S", 0.01)
    said, heard, process = b"x" * 10, [], Process()
    with open(os.devnull, "wb") as null:
        process.start_process(lambda fd: [sys.executable, "-c", f"print({said.decode()!r}, end='')"], [], QemuMessages(null))
    while process.get_exit_status() is None:
        time.sleep(0.01)

    def hear():
        time.sleep(0.02)
        data = process.output.read(1)
        heard.append(data or b"")
        return data
    process.kill_process(hear, lambda: b"")
    assert b"".join(heard) == said


def test_the_transcript_is_the_same_however_the_bytes_are_cut():
    serial = spoken()
    for size in (1, 2, 7, 4096):
        lines = []
        said = Transcript(lines.append)
        for at in range(0, len(serial), size):
            said.parse_bytes(serial[at:at + size])
        said.close()
        assert lines == ["baretick 0.1.0", "the table"]
        assert said.is_report_complete and said.report["verdict"] == "pass" and not said.faults


# Tests of arguments for QEMU and baretick.

def arguments_of(tmp_path):
    return os.fsdecode((tmp_path / "argv").read_bytes()).split("\0")


def value_of(arguments, option):
    return [after for before, after in zip(arguments, arguments[1:]) if before == option]


def test_words_behind_the_dashes_reach_baretick_after_the_runners_own(run, fake, tmp_path):
    read = """
        item = [a for a in sys.argv if a.startswith("name=opt/baretick/options,file=")][0]
        path = item.partition(",file=")[2]
        open(here + "/options", "w").write(open(path).read())
        sys.exit(33)
        """
    run(*fake(spoken(), read), "--", "clocks=tsc,hpet", "profile=quick", "exit=poweroff")
    assert (tmp_path / "options").read_text() == (
        "save=off\nexit=debug-exit\nclocks=tsc,hpet\nprofile=quick\nexit=poweroff\n")
    run(*fake(spoken(), read), "--", "label=rack 7", 'label="rack 8"', "label=rack-9", "rules # x")
    assert (tmp_path / "options").read_text().splitlines()[2:] == ['label="rack 7"', 'label="rack 8"', "label=rack-9", "rules # x"]


def test_qemu_arguments_go_on_as_they_are_and_replace_the_runners(run, fake, tmp_path):
    run(*fake(spoken()), "--qemu-arg", "-cpu", "--qemu-arg", "qemu64", "--qemu-arg=-vga",
        "--qemu-arg=none", "--qemu-arg", "-accel", "--qemu-arg", "tcg,thread=single")
    arguments = arguments_of(tmp_path)
    assert value_of(arguments, "-cpu") == ["qemu64"]
    assert value_of(arguments, "-vga") == ["none"]
    assert value_of(arguments, "-accel") == ["tcg,thread=single"]
    assert arguments[-6:] == ["-cpu", "qemu64", "-vga", "none", "-accel", "tcg,thread=single"]

@pytest.mark.parametrize("processors, cores", [(1, 2), (2, 2), (3, 3), (4, 4), (64, 4)])
def test_the_guest_has_no_more_cores_than_the_host_but_a_pair(monkeypatch, processors, cores):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)))
    assert command_line.parse_run_arguments([]).cpus == cores and command_line.parse_run_arguments(["--cpus", "9"]).cpus == 9



def test_cores_memory_and_machine_reach_qemu(run, fake, tmp_path):
    run(*fake(spoken()), "--cpus", "7", "--memory", "1G", "--machine", "pc")
    arguments = arguments_of(tmp_path)
    assert value_of(arguments, "-smp") == ["7"]
    assert value_of(arguments, "-m") == ["1G"]
    assert value_of(arguments, "-machine") == ["pc"]


def test_the_stick_is_a_copy_that_stays_in_out(run, fake, tmp_path):
    image, plain = tmp_path / "stick", bytes(510) + b"\x55\xaa"
    image.write_bytes(plain)
    write = 'open(here + "/out1/stick.img", "ab").write(b"+report"); sys.exit(33)'
    run(*fake(spoken(), write, boots_efi=False), "--boot", "usb", "--image", image)
    assert image.read_bytes() == plain
    assert (tmp_path / "out1" / "stick.img").read_bytes() == plain + b"+report"


def test_a_stick_in_out_that_is_named_goes_on_from_where_it_was(run, fake, tmp_path):
    out, first = tmp_path / "again", tmp_path / "stick"
    first.write_bytes(bytes(510) + b"\x55\xaa")
    write = 'open(here + "/again/stick.img", "ab").write(b"+report"); sys.exit(33)'
    for image in first, out / "stick.img":
        assert run(*fake(spoken(), write, boots_efi=False), "--out", out, "--boot", "usb", "--image", image).status == 0
    assert (out / "stick.img").read_bytes() == first.read_bytes() + b"+report+report"


def test_qemu_comes_from_the_environment_where_it_is_not_named(run, fake):
    arguments = fake(spoken())
    at = arguments.index("--qemu")
    qemu = arguments[at + 1]
    del arguments[at:at + 2]
    assert run(*arguments, environment={"QEMU": str(qemu)}).status == 0


def test_the_help_ends_with_all_of_bareticks_own_options():
    """The help must end with options.txt, which tests/unit/render/test_options_print.c compares with the table of
    options."""
    done = subprocess.run([str(RUNNER), "--help"], capture_output=True, text=True, check=True)
    text = (RUNNER.parent / "options.txt").read_text()
    assert done.stdout.endswith(text) and done.stderr == ""
    keys = re.findall(r"^[a-z].*", text, re.M)
    assert keys == re.findall(r"^#([a-z].*)", (RUNNER.parent / "baretick.cfg").read_text(), re.M) and len(keys) >= 13


# Tests of firmware.

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
    with contextlib.closing(command.PrivateFiles()) as private:
        arguments = command.make_firmware_arguments(str(tmp_path / code), private)
        copy, = (word.partition("unit=1,format=raw,file=")[2] for word in arguments if "unit=1" in word)
        with open(copy, "r+b") as file:
            assert file.read() == b"vars"
            file.write(b"changed")
    assert (tmp_path / variables).read_bytes() == b"vars" and not os.path.exists(copy)
    assert ("smm=on" in arguments) == smm


def test_a_combined_image_goes_in_whole(tmp_path):
    whole = tmp_path / "OVMF.fd"
    whole.write_bytes(bytes(1 << 16))
    assert command.make_firmware_arguments(str(whole), str(tmp_path)) == ["-bios", str(whole)]


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


# Wrong arguments give exit status 2 and one line that names them. Nothing is started.

@pytest.fixture(scope="module")
def runner():
    """Return the runner as a module, which saves its start for each wrong use. Its handlers of signals are not for pytest."""
    before = {number: signal.getsignal(number) for number in interruption.SIGNALS}
    module = load_program(RUNNER)
    for number, handler in before.items():
        signal.signal(number, handler)
    return module


@pytest.mark.parametrize("arguments, sentence", [
    (["--accel", "xen"], "argument --accel: invalid choice: 'xen'"),
    *[(["--cpus", number], f"argument --cpus: '{number}' is not a whole number of 1 or more") for number in ("0", "4.5")],
    *[(["--timeout", number], f"argument --timeout: '{number}' is not a number of seconds above 0") for number in ("-1", "inf")],
    (["--tim", "1"], "unrecognized arguments: --tim 1"),
    (["--qemu", "/nowhere/qemu"], "there is no /nowhere/qemu: install the package qemu-system-x86"),
    (["--qemu", "faketime -f +1d qemu-system-x86_64"], "--qemu takes one path, and there is no faketime -f +1d qemu-system-x86_64: "
     "put that command into a script"),
    *[(["--memory", size], f"argument --memory: '{size}' is not a size such as 512M or 2G, 64M or more")
      for size in ("lots", "0", "12", "65535K", "1.2.3M")],
    (["--boot", "floppy"], "argument --boot: invalid choice: 'floppy'"),
    (["--machine", "virt"], "argument --machine: 'virt' is not q35, pc, a type of these families"),
    (["--machine", "microvm"], "--machine microvm has no UEFI: use --boot bare"),
    (["--machine", "q35,hpet"], "argument --machine: 'q35,hpet' is not q35, pc, a type"),
    (["--machine", "q35,accel=kvm"], "--accel chooses the accelerator"),
    (["--display", "tty"], "argument --display: 'tty' is not window, vnc, or nothing"),
    (["--display", "--screenshot", "/dev/shm/baretick.png"], "--screenshot does not go with --display"),
    (["--efi", "/nowhere/x.efi"], "--efi: /nowhere/x.efi cannot be read: No such file or directory"),
    (["--efi", "/"], "--efi: / is no file"),
    (["--boot", "cd", "--image", "/nowhere/x.iso"], "--image: /nowhere/x.iso cannot be read: No such file"),
    (["--boot", "cd", "--image", RUNNER], f"--image: {RUNNER} is no CD with a file system of ISO 9660"),
    (["--boot", "usb", "--image", RUNNER], f"--image: {RUNNER} is no disk with a boot sector"),
    (["--boot", "usb", "--image", "/dev"], "--image: /dev is no file"),
    (["--qemu", "/"], "there is no /: install the package qemu-system-x86"),
    (["--firmware", "/nowhere/x.fd"], "--firmware: /nowhere/x.fd cannot be read: No such file or directory"),
    (["--firmware", "/dev"], "--firmware: /dev is no file"),
    (["--firmware", RUNNER], f"--firmware: {RUNNER} has no VARS file beside it and is not a combined image"),
    (["--baseline", "/"], "--baseline: / cannot be read: Is a directory"),
    (["--baseline", RUNNER], f"--baseline: {RUNNER} is not JSON in ASCII"),
    (["--baseline", "/nowhere/x.json"], "--baseline: /nowhere/x.json cannot be read"),
    (["--junit", "/nowhere/x.xml"], "--junit: /nowhere/x.xml cannot be written: No such file or directory"),
    (["--summary", "/nowhere/x.md"], "--summary: /nowhere/x.md cannot be written: No such file"),
    (["--junit", "/dev/null", "--summary", "/dev/null"], "--summary: /dev/null cannot be written: --junit uses this file"),
    (["--tap", "--summary", "-"], "--summary: - cannot be written: it is not a file name"),
    (["--screenshot", "/nowhere/x.png"], "--screenshot: /nowhere/x.png cannot be written: No such file"),
    (["--screenshot", "/dev/shm/baretick.jpg"],
     "--screenshot: /dev/shm/baretick.jpg cannot be written: a picture is a PNG, and its name ends in .png"),
    (["--screenshot", "/"], "--screenshot: / cannot be written: Is a directory"),
    (["--out", "/dev/null/x"], "--out: /dev/null/x cannot be written: Not a directory"),
    (["--out", RUNNER], f"--out: {RUNNER} cannot be written: File exists"),
    *[(["--tolerance", number], f"argument --tolerance: '{number}' is not a number of 1 or more") for number in ("x", "nan", "0.5")],
    (["--tolerance", "3"], "--tolerance needs --baseline"),
    *[([f"--max-stolen={percent}"], f"argument --max-stolen: '{percent}' is not a percentage from 0 to 100")
      for percent in ("x", "nan", "101", "-1")],
    (["--fail-on", "pass"], "argument --fail-on: invalid choice: 'pass', choose from fail, warn"),
    *[(["--baseline", path], f"--baseline: {path} is no file") for path in ("/dev/null", "/dev/zero")],
    (["--matrix", "/dev/zero"], "--matrix: /dev/zero: is no file"),
    (["--junit", "/dev/zero/x"], "--junit: /dev/zero/x cannot be written: Not a directory"),
    (["--display", "--matrix", "/nowhere/x"], "--display does not go with --matrix"),
    (["--efi", RUNNER], f"--efi: {RUNNER} is no UEFI application"),
    (["--efi", "/x", "--boot", "usb"], "--efi does not go with --boot usb"),
    (["--image", "/x"], "--image does not go with --boot efi"),
    (["profile=quick"], "unrecognized arguments: profile=quick (baretick's own options go behind --)"),
    (["--qemu-arg"], "argument --qemu-arg: expected one argument"),
    (["--matrix", "/nowhere/x"], "--matrix: /nowhere/x cannot be read"),
    (["--matrix", "/nowhere/x", "--tap"], "--tap does not go with --matrix"),
    *[([option, "/dev/null", "--", "rules"], f"{option} does not go with baretick's option rules: nothing is measured then")
      for option in ("--junit", "--summary", "--screenshot", "--baseline", "--matrix")],
    (["--tap", "--", "rules"], "--tap does not go with baretick's option rules: nothing is measured then"),
])
def test_wrong_use_is_named_in_one_line(runner, fake, tmp_path, capfd, arguments, sentence):
    words = ["--out", tmp_path / "out", *fake(boots_efi="--image" not in arguments), *arguments]
    assert runner.main([str(word) for word in words]) == 2
    said = capfd.readouterr().err
    assert said.startswith("qemu/run: ") and said.count("\n") == 1
    assert sentence in said
    assert not (tmp_path / "argv").exists()
    assert RUNNER.read_bytes().startswith(b"#!")


def test_all_that_is_wrong_is_named_at_once(run, fake, tmp_path):
    done = run(*fake(), "--cpus", "0", "--memory", "x", "--qemu", "/nowhere/q", "--efi", RUNNER, "--event", "2=tea:1s",
               "--machine", "virt", "--colour", "--baseline", "/dev/zero")
    assert done.status == 2 and not (tmp_path / "argv").exists() and not done.out.exists()
    lines = done.stderr.splitlines()
    assert [re.match(r"qemu/run: (?:argument |unrecognized arguments: |there is no )?(--[a-z]+|/nowhere/q)", line)[1]
            for line in lines] == ["--cpus", "--machine", "--memory", "--event", "--colour", "/nowhere/q", "--efi", "--baseline"]


def test_nor_is_one_of_the_files_alone(run, fake):
    done = run(*fake(), "--junit", "/nowhere/x.xml", "--summary", "/nowhere/x.md", "--tolerance", "3")
    assert done.status == 2 and [re.match("qemu/run: (--[a-z]+)", line)[1] for line in done.stderr.splitlines()] == [
        "--junit", "--summary", "--tolerance"]
    assert done.report["reason"].count("; ") == 2


def test_the_application_is_not_written_over(run, fake, tmp_path):
    words = fake()
    done = run(*words, "--junit", tmp_path / "some.efi")
    assert done.status == 2 and f"--junit: {tmp_path}/some.efi cannot be written: --efi uses this file" in done.stderr
    assert (tmp_path / "some.efi").read_bytes() == b"MZ"


def test_words_that_are_no_text_are_handed_on_as_they_are(run, fake, tmp_path):
    odd = os.fsdecode(b"\xff\xfe")
    done = run(*fake(spoken()), "--out", tmp_path / odd, f"--qemu-arg={odd}", "--", odd)
    assert done.status == 0 and done.stderr == ""
    assert arguments_of(tmp_path)[-1] == odd
    assert b"\xff\xfe" in (tmp_path / odd / "qemu.log").read_bytes()


# Machines without KVM. The runner tries KVM once if it may exist, and otherwise does not use it.

def no_kvm_script(under_kvm):
    """Return a script instead of QEMU. It runs UNDER_KVM if KVM is requested, and otherwise sends a report."""
    return "if 'kvm' in sys.argv:\n" + textwrap.indent(textwrap.dedent(under_kvm), "    ") + textwrap.dedent("""
        sys.stdout.buffer.write(open(here + "/later", "rb").read())
        sys.stdout.flush()
        sys.exit(33)
        """)


needs_kvm_node = pytest.mark.skipif(not os.access("/dev/kvm", os.R_OK | os.W_OK),
                                    reason="/dev/kvm cannot be opened here")
ABORT = "sys.stderr.write('failed to set MSR 0x10a\\n'); sys.stderr.flush(); os.abort()\n"
STUCK = """
line = monitor()
while line.recv(4096):
    line.sendall(json.dumps({"return": {"status": "internal-error"}}).encode() + b"\\n")
"""

AT = """
line = monitor()
answered = 0
for question in map(json.loads, line.makefile()):
    if question["execute"] == "human-monitor-command":
        text = "".join("EIP=%08x EFL=46\\n" % pointer for pointer in {0})
        line.sendall(json.dumps(dict([("id", question["id"]), ("return", text)])).encode() + b"\\n")
        answered += 1
        if answered == 14:
            break
"""


@needs_kvm_node
@pytest.mark.parametrize("under_kvm, reason", [
    (ABORT, "QEMU was killed by signal 6: failed to set MSR 0x10a"),
    ("sys.stderr.write('failed to initialize kvm: Device or resource busy\\n'); sys.exit(1)\n",
     "QEMU ended with status 1: failed to initialize kvm: Device or resource busy"),
    (STUCK, "the guest stopped with internal-error"),
    ("time.sleep(600)\n", "for 10 s the guest printed nothing and QEMU did not tell its address"),
    (AT.format("[0xfffced45 + answered % 2, 0xfff0]"),
     "for 10 s the guest printed nothing and stayed near address fffced45h"),
], ids=["aborts", "busy", "stuck", "mute", "loops"])
def test_auto_falls_back_to_tcg_once_and_says_why(run, fake, tmp_path, under_kvm, reason):
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script(under_kvm)), "--accel", "auto")
    assert done.status == 0, done
    assert done.stderr == f"qemu/run: KVM does not work here ({reason}), so the run continues with emulation (TCG); you need not do anything\n"
    assert value_of(arguments_of(tmp_path), "-accel") == ["tcg"]


@needs_kvm_node
def test_what_qemu_says_of_its_command_line_is_not_kvms_fault(run, fake, tmp_path):
    (tmp_path / "later").write_bytes(spoken())
    words = "fake qemu,1: -cpu: requires an argument"
    done = run(*fake(b"", no_kvm_script(f"sys.stderr.write('{words}\\n'); sys.exit(1)\n")), "--accel", "auto")
    assert done.status == 2 and done.stderr == f"qemu/run: QEMU ended with status 1: {words}\n"


@needs_kvm_node
@pytest.mark.parametrize("accelerator, wait", [
    ("auto", AT.format("[0xfff0, 0x1000 * answered]")),
    ("kvm", "time.sleep(14)"),
], ids=["auto", "kvm"])
def test_kvm_is_waited_for_where_the_guest_gets_on_or_it_was_asked_for(run, fake, tmp_path, accelerator, wait):
    """The runner must wait for a guest under KVM that prints its first word only after 14 s, as on a busy machine or in
    a nested guest."""
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script(wait)), "--accel", accelerator)
    assert done.status == 0 and done.stderr == ""
    assert value_of(arguments_of(tmp_path), "-accel") == ["kvm"]


INTERPRETED = r"""
sys.stdout.write("baretick 0.1.0\ninstruction: 1043 TSC ticks\nphase: prepare\n")
sys.stdout.flush()
time.sleep(600)
"""


@needs_kvm_node
def test_auto_does_not_wait_for_a_kvm_that_interprets_instructions(run, fake, tmp_path):
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script(INTERPRETED)), "--accel", "auto", "--timeout", "60")
    assert done.status == 0, done
    assert done.stderr == ("qemu/run: KVM is slower than emulation here (it interprets instructions: each takes 1043 ticks of the TSC), "
                           "so the run continues with emulation (TCG); you need not do anything\n")
    assert value_of(arguments_of(tmp_path), "-accel") == ["tcg"]


@needs_kvm_node
@pytest.mark.parametrize("line, advice", [
    ("instruction: 1043 TSC ticks", "this KVM needs 1043 ticks of the TSC for each instruction: use emulation (--accel tcg)"),
    ("rates", "if this KVM is slow, use emulation (--accel tcg)")])
def test_a_time_out_under_kvm_advises_emulation(run, fake, line, advice):
    script = INTERPRETED.replace("instruction: 1043 TSC ticks", line)
    done, _ = run_for_long_enough(run, lambda done: b"phase: prepare\n" in done.file("serial.log"),
                                  *fake(b"", no_kvm_script(script)), "--accel", "kvm")
    assert done.status == 124, done
    assert "the last line was: phase: prepare;" in done.stderr and done.stderr.splitlines()[0].endswith(advice), done


@needs_kvm_node
def test_kvm_asked_for_is_never_replaced(run, fake, tmp_path):
    (tmp_path / "later").write_bytes(spoken())
    done = run(*fake(b"", no_kvm_script(ABORT)), "--accel", "kvm")
    assert done.status == 2
    assert done.stderr == ("qemu/run: --accel kvm: QEMU was killed by signal 6: "
                           "failed to set MSR 0x10a\n")
    assert value_of(arguments_of(tmp_path), "-accel") == ["kvm"]


# No process and no file remains after the runner has ended.

def test_killing_the_runner_together_with_its_watcher_kills_qemu(fake, tmp_path):
    """The watcher has the same command line as the runner, so `pkill -9 -f qemu/run` kills both. The kernel must then kill QEMU."""
    process, pid = start(tmp_path, fake(b"baretick 1\n", "time.sleep(600)"), stdout=subprocess.DEVNULL)
    assert wait_until(lambda: len(started_from(tmp_path)) == 3)
    for watcher in set(started_from(tmp_path)) - {pid, process.pid}:
        os.kill(watcher, signal.SIGKILL)
    kill(process, pid)


@pytest.mark.parametrize("number, status", [
    (signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_qemu_and_keeps_the_logs(fake, tmp_path, number, status):
    stubborn = "[signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; time.sleep(600)"
    process, pid = start(tmp_path, fake(b"baretick 1\n", stubborn), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    assert process.stdout.readline() == b"baretick 1\n"
    assert end_by(process, number) == (status, f"qemu/run: interrupted by {signal.Signals(number).name}\n")
    assert not alive(pid)
    out = tmp_path / "out"
    assert (out / "serial.log").read_bytes() == b"baretick 1\n"
    left = json.loads((out / "report.json").read_text())
    check_schema(left)
    assert left["verdict"] == "incomplete" and "interrupted" in left["reason"]


# The keyboard: the first Ctrl-C only ends the measurements early.

KEYBOARD = r"""
    line = monitor()
    for word in line.makefile():
        asked = json.loads(word)
        if asked["execute"] != "send-key":
            continue
        open(here + "/pressed", "a").write(json.dumps(asked["arguments"]))
        line.sendall(json.dumps({**ANSWER, "id": asked["id"]}).encode() + b"\n")
        WHAT
    """
LAST = b"this line is shown\n"
MEASURING = b"baretick 1\nphase: prepare\nphase: rates\n" + LAST
REPORTS = 'sys.stdout.buffer.write(open(here + "/rest", "rb").read()); sys.stdout.flush(); sys.exit(33)'
HAS_KEYBOARD = {"return": {}}
HAS_NONE = {"error": {"desc": "no keyboard"}}


def keyboard(fake, tmp_path, answer, what, serial=MEASURING):
    (tmp_path / "rest").write_bytes(spoken())
    return fake(serial, KEYBOARD.replace("ANSWER", repr(answer)).replace("WHAT", what))


def started(tmp_path, words):
    """Start the runner. Return its process after it has printed LAST, and so has parsed all lines before it."""
    process, _ = start(tmp_path, words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert [process.stdout.readline() for _ in range(2)] == [b"baretick 1\n", LAST]
    return process


def measuring(fake, tmp_path, *how, **keywords):
    return started(tmp_path, keyboard(fake, tmp_path, *how, **keywords))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_presses_q_where_it_measures_and_the_report_follows(fake, tmp_path, number):
    process = measuring(fake, tmp_path, HAS_KEYBOARD, REPORTS)
    assert end_by(process, number) == (0, f"qemu/run: {signal.Signals(number).name}: the measurements end early, and the report follows; "
                                          "a second signal ends the run at once\n")
    assert json.loads((tmp_path / "pressed").read_text()) == {"keys": [{"type": "qcode", "data": "q"}]}
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "pass"


def test_the_second_signal_ends_the_run_at_once(fake, tmp_path):
    process = measuring(fake, tmp_path, HAS_KEYBOARD, "pass")
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().startswith(b"qemu/run: SIGINT: the measurements end early")
    assert end_by(process, signal.SIGTERM) == (143, "qemu/run: interrupted by SIGTERM\n")


def test_after_the_first_signal_ctrl_c_is_not_offered_again(fake, tmp_path):
    process = measuring(fake, tmp_path, HAS_KEYBOARD, 'print("progress: 1% rates, 999999 s left", flush=True)')
    process.send_signal(signal.SIGINT)
    assert process.stderr.readline().startswith(b"qemu/run: SIGINT: the measurements end early")
    said = process.stderr.readline()
    assert b"but --timeout ends it in" in said and b"Ctrl-C" not in said
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=BOUND_S)


@pytest.mark.parametrize("number, answer, serial", [
    (signal.SIGINT, HAS_NONE, MEASURING), (signal.SIGHUP, HAS_KEYBOARD, MEASURING),
    (signal.SIGINT, HAS_KEYBOARD, b"baretick 1\n" + LAST)], ids=["no-keyboard", "nobody-there", "before-it-measures"])
def test_the_first_signal_ends_the_run_where_an_early_end_is_of_no_use(fake, tmp_path, number, answer, serial):
    process = measuring(fake, tmp_path, answer, "pass", serial=serial)
    assert end_by(process, number) == (128 + number, f"qemu/run: interrupted by {signal.Signals(number).name}\n")


def test_a_qemu_that_does_not_take_the_key_is_not_waited_for(fake, tmp_path):
    process = started(tmp_path, fake(MEASURING, "time.sleep(600)"))
    assert end_by(process, signal.SIGTERM) == (143, "qemu/run: interrupted by SIGTERM\n")


CHILD = """
    import subprocess
    other = subprocess.Popen(["sleep", "600"])
    open(here + "/child", "w").write(str(other.pid))
    time.sleep(600)
    """


def test_killing_the_runner_kills_the_children_of_a_wrapper_around_qemu(fake, tmp_path):
    process, _ = start(tmp_path, fake(b"baretick 1\n", CHILD), stdout=subprocess.DEVNULL)
    child = tmp_path / "child"
    assert wait_until(lambda: child.exists() and child.read_text())
    kill(process, int(child.read_text()))


def started_from(folder):
    """Return the processes that have FOLDER in their command line: the runner, its watcher process, and the script
    instead of QEMU."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if os.fsencode(folder) in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            pass  # the process has ended
    return found


def test_killed_at_any_moment_it_leaves_no_process_behind(fake, tmp_path):
    """The runner is killed at different times, from before the start of QEMU to the middle of the report. No process
    may remain."""
    arguments = fake(spoken()[:-40], "time.sleep(600)")
    seen = 0
    for delay_ms in range(20, 420, 40):
        process = subprocess.Popen([str(RUNNER), "--out", str(tmp_path / "out"), *map(str, arguments)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay_ms / 1000)
        seen += len(started_from(tmp_path))
        process.kill()
        process.wait(BOUND_S)
        assert wait_until(lambda: not started_from(tmp_path)), delay_ms
    assert seen  # without any process, the test would prove nothing


def test_children_of_a_wrapper_around_qemu_end_with_it(run, fake, tmp_path):
    child = tmp_path / "child"
    done, _ = run_for_long_enough(run, lambda done: child.exists() and child.read_text(), *fake(b"", CHILD))
    assert done.status == 124
    other = int(child.read_text())
    assert wait_until(lambda: not alive(other))


def test_a_runner_that_is_killed_leaves_no_file_but_in_out(fake, tmp_path):
    """The firmware's variables and the options must not be in a temporary folder, because a killed runner could not
    remove it."""
    arguments = fake(b"baretick 1\n", "time.sleep(600)")
    private, code = tmp_path / "private", tmp_path / "OVMF_CODE.fd"
    private.mkdir()
    code.write_bytes(bytes(3000))
    (tmp_path / "OVMF_VARS.fd").write_bytes(b"vars")
    before = sorted(tmp_path.iterdir())
    process, pid = start(tmp_path, [*arguments, "--firmware", code], stdout=subprocess.DEVNULL,
                         env={**os.environ, "TMPDIR": str(private)})
    own = [word.rpartition("file=")[2] for word in arguments_of(tmp_path) if "/proc/self/fd/" in word]
    assert len(own) == 2 and all(os.path.exists(path.replace("self", str(pid))) for path in own)
    kill(process, pid)
    assert list(private.iterdir()) == []
    assert sorted(tmp_path.iterdir()) == sorted({*before, *(tmp_path / name for name in ("argv", "out", "pid"))})


def of_stolen(percent, **words):
    return {**report(**words), "quality": {"stolen_percent": percent, "reliable_tails": False, "text": "Stolen time."}}


@pytest.mark.parametrize("stolen, most, said", [
    (12.34, "12.3", "12.34 % of the observed time was stolen, more than the 12.3 % of --max-stolen: "),
    (40.5, "10", "40.5 % of the observed time was stolen, more than the 10 % of --max-stolen: measure again on a host that is less busy"),
    (0.001, "0", "0.001 % of the observed time was stolen, more than the 0 % of --max-stolen: "),
    (None, "100", "it is not known how much time was stolen: --max-stolen cannot be checked"),
    (10, "10", None), (0, "0", None), (100, "100", None),
])
def test_a_pass_with_too_much_stolen_time_is_none(run, fake, tmp_path, stolen, most, said):
    file, words = tmp_path / "junit.xml", tmp_path / "summary.md"
    done = run(*fake(spoken(of_stolen(stolen))), "--max-stolen", most, "--junit", file, "--summary", words)
    assert done.status == (2 if said else 0)
    assert done.stderr.startswith(f"qemu/run: {said}") if said else done.stderr == ""
    assert ("<error message=" in file.read_text()) == bool(said)
    assert ("Reason: " in words.read_text()) == bool(said)
    assert done.report["verdict"] == "pass"  # the option --max-stolen does not change the machine's report
    assert run(*fake(spoken(of_stolen(stolen)))).status == 0


def test_what_failed_on_a_busy_host_failed(run, fake):
    done = run(*fake(spoken(of_stolen(99, verdict="fail", clocks=[("tsc", "fail")])), "sys.exit(35)"), "--max-stolen", "1")
    assert done.status == 1 and "99 % of the observed time was stolen" in done.stderr


@pytest.mark.parametrize("words, status, problem", [
    ([], 0, ""), (["--fail-on", "fail"], 0, ""),
    (["--fail-on", "warn"], 1, "qemu/run: the verdict is warn, and --fail-on warn was given\n"),
])
def test_a_warning_fails_a_run_that_asks_for_it(run, fake, tmp_path, words, status, problem):
    file = tmp_path / "junit.xml"
    done = run(*fake(spoken(report("warn", clocks=[("tsc", "pass"), ("rtc", "warn")]))), "--junit", file, *words)
    assert (done.status, done.stderr) == (status, problem)
    failed = [case.get("name") for case in xml.parse(file).getroot().iter("testcase") if case.find("failure") is not None]
    assert failed == (["rtc", "run"] if status else [])


@pytest.mark.parametrize("verdict, status", [("pass", 0), ("fail", 1)])
def test_other_verdicts_end_as_ever_where_a_warning_fails(run, fake, verdict, status):
    assert run(*fake(spoken(report(verdict)), f"sys.exit({33 + 2 * status})"), "--fail-on", "warn").status == status


def test_a_python_without_any_module_of_others_will_do(run, fake, tmp_path):
    """The runner may use only Python's standard library."""
    done = subprocess.run(["/usr/bin/python3", "-S", "-E", RUNNER, "--out", tmp_path / "out", *map(str, fake(spoken()))],
                          capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
