"""A hostile guest, folder or user must not harm the runner, which must only report the problem.

Each test is about a problem that the runner once had: memory, time, escape sequences, tracebacks, lost inputs,
signals."""
import base64
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import time
import zlib

import pytest

from harness import RUNNER, block, check_schema, matrix_of, report, spoken
from machine import process
from machine.transcript import Transcript
from results import reports
from test_run import BOUND_S, alive, kill, start, wait_until

MEMORY_MAX_KIB = 500 << 10
FLOOD_MAX_KIB = 64 << 10  # the runner needs 20 to 30 MiB in each flood
LATE_S = 2.0
# Escape sequences: a terminal's title, a colour, CSI as a C1 character, right-to-left text, and a line that imitates
# the runner.
ESCAPES = "a\x1b]0;owned\x07b\x1b[31mc\x9b31md\u202ee\nqemu/run: all is well"


# Runs a command and prints its peak memory. A process inherits the peak memory of its parent, so this parent is small.
# The second field of schedstat is the time for which the command waited for a processor, in ns (Linux's
# Documentation/scheduler/sched-stats.rst). It does not count as the command's duration.
WATCH = """
import json, os, sys, time
begin, pid = time.monotonic(), os.fork()
if not pid:
    os.execv(sys.argv[2], sys.argv[2:])
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
end = time.monotonic()
try:
    waited_s = int(open(f"/proc/{pid}/schedstat").read().split()[1]) / 1e9
except OSError:
    waited_s = 0
_, status, used = os.wait4(pid, 0)
json.dump([os.waitstatus_to_exitcode(status), end - begin - waited_s, used.ru_maxrss], open(sys.argv[1], "w"))
"""


class Ended:
    """A finished run, with its peak memory and its duration. The duration is without its waits for a processor."""

    def __init__(self, tmp_path, words, **keywords):
        self.out = tmp_path / "out"
        cost = tmp_path / "cost"
        with open(tmp_path / "stdout", "wb") as stdout, open(tmp_path / "stderr", "wb") as stderr:
            subprocess.run(["/usr/bin/python3", "-S", "-c", WATCH, cost, RUNNER, "--out", self.out, *map(str, words)],
                           check=True, stdin=subprocess.DEVNULL, **{"stdout": stdout, "stderr": stderr, **keywords})
        self.status, self.seconds, self.memory_kib = json.loads(cost.read_text())
        self.stdout = (tmp_path / "stdout").read_text()
        self.stderr = (tmp_path / "stderr").read_text()

    def report(self):
        document = json.loads((self.out / "report.json").read_text())
        check_schema(document)
        return document


# Memory and time must be limited, whatever a guest prints.

SAY = "say = sys.stdout.buffer.write\nsay(b'baretick 1\\n')\nrest = lambda: (sys.stdout.flush(), time.sleep(600))\n"
FLOODS = {
    "a line without an end": "for _ in range(120): say(b'x' * (1 << 20))\nrest()",
    "such a line in a report": "say(b'BARETICK REPORT BEGIN\\n')\nfor _ in range(120): say(b'x' * (1 << 20))\nrest()",
    "lines without an end": "while True: say(b'hello world\\n' * 5000)",
    "empty lines without an end": "while True: say(b'\\n' * 65536)",
    "ends without a begin": "while True: say((b'BARETICK REPORT END sha256=' + b'0' * 64 + b'\\n') * 700)",
    "begins without an end": "while True: say(b'BARETICK REPORT BEGIN\\n' * 3000)",
    "blocks of names without an end":
        "import hashlib\nnames = (b'%c%c%c' % (65 + n % 26, 65 + n // 26 % 26, 65 + n // 676) for n in range(17576))\n"
        "for n in names:\n"
        "    body = b'y' * 65535 + b'\\n'\n"
        "    say(b'BARETICK %s BEGIN\\n%sBARETICK %s END sha256=%s\\n' % "
        "(n, body, n, hashlib.sha256(body).hexdigest().encode()))\nrest()",
    "blanks in a report": "say(b'BARETICK REPORT BEGIN\\n')\nfor _ in range(60): say(b' \\n' * (1 << 19))\nrest()",
    "phases without an end":
        "import itertools\nfor n in itertools.count(): say(b'phase: ' + bytes(97 + n // 26 ** i % 26 for i in range(6)) + b'\\n')",
    "messages of QEMU without an end": "say = sys.stderr.buffer.write\nwhile True: say(b'qemu: odd\\n' * 6000)",
    "one message of QEMU without an end": "say = sys.stderr.buffer.write\nwhile True: say(b'z' * 65536)",
    "both": "import threading\ndef talk(to):\n    while True: to.write(b'odd\\n' * 6000)\n"
            "threading.Thread(target=talk, args=[sys.stderr.buffer], daemon=True).start()\ntalk(sys.stdout.buffer)",
    "a machine protocol without an end":
        "import re, socket\nfd = [re.search(r',fd=(\\d+)', a) for a in sys.argv if ',fd=' in a][0]\n"
        "line = socket.socket(fileno=int(fd[1]))\n"
        "sys.stdout.flush()\nwhile True: line.sendall(b'[' * 60000)",
    "a child that keeps the line": "import subprocess\nsys.stdout.flush()\nsubprocess.Popen(['sh', '-c', "
                                   "'while :; do echo again; done'], start_new_session=True)\nrest()",
}


# Floods that reach a limit only after many bytes. They have 3 s, and the others 1 s.
SLOW_FLOODS = {"a line without an end", "such a line in a report", "blocks of names without an end", "messages of QEMU without an end",
               "one message of QEMU without an end"}


@pytest.fixture(scope="module")
def startup_s(tmp_path_factory):
    """Return an upper bound of the runner's start-up time on this machine in s: twice the time of a call that ends at
    once."""
    begin = time.monotonic()
    subprocess.run([str(RUNNER), "--help"], capture_output=True, check=True)
    return 2 * (time.monotonic() - begin)


def flooded(fake, tmp_path, name, bound_s):
    try:
        return Ended(tmp_path, ["--timeout", bound_s, *fake(b"", SAY + FLOODS[name])])
    finally:
        for folder in os.listdir("/proc"):  # finds a child process that has left its process group
            with contextlib.suppress(OSError, ValueError):
                if os.stat(f"/proc/{int(folder)}").st_uid == os.getuid() and os.readlink(f"/proc/{folder}/cwd") == str(tmp_path):
                    os.kill(int(folder), signal.SIGKILL)


TRIES = 3  # On a busy host some tries are late. If the runner is slow, all tries are late.


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_costs_neither_memory_nor_time(fake, tmp_path, startup_s, name):
    bound_s = 3 if name in SLOW_FLOODS else 1
    for _ in range(TRIES):
        done = flooded(fake, tmp_path, name, bound_s)
        if done.seconds < bound_s + LATE_S + startup_s:
            break
    assert done.status in (124, 2), done.stderr
    assert done.memory_kib < FLOOD_MAX_KIB, f"{done.memory_kib >> 10} MiB"
    assert done.seconds < bound_s + LATE_S + startup_s, f"{done.seconds:.1f} s"
    assert done.report()["verdict"] == "incomplete" and len(done.report()["reason"]) < 5000
    assert (done.out / "qemu.log").stat().st_size < 20 << 20
    assert (done.out / "serial.log").stat().st_size < 300 << 20
    assert "Traceback" not in done.stderr and done.stderr.count("\n") == 1


def test_a_block_that_is_longer_than_a_report_may_be_is_dropped():
    line = b"x" * 65535 + b"\n"
    limit = reports.SIZE_MAX // len(line)
    said = Transcript(lambda text: None)
    said.parse_bytes(b"baretick 1\n" + block("TEXT", line * (limit - 1)))
    assert "TEXT" in said.blocks and said.faults == []
    said = Transcript(lambda text: None)
    said.parse_bytes(b"baretick 1\n" + block("TEXT", line * (limit + 1)))
    assert said.blocks == {} and len(said.faults) == 1 and "is longer than 16 MiB" in said.faults[0], said.faults


def test_a_message_of_qemu_that_is_too_long_is_ignored():
    monitor = process.Monitor()
    received = []
    for message in ({"event": "LONG", "data": "x" * (2 << 20)}, {"event": "STOP"}):
        unsent = json.dumps(message).encode() + b"\n"
        while unsent:
            sent, unsent = unsent[:4096], unsent[4096:]
            monitor.qemu_end.sendall(sent)
            received += monitor.read_messages()
    monitor.close()
    assert received == [{"event": "STOP"}]


def whole(middle):
    """Return a report that follows the schema and has MIDDLE as the value of an unknown key."""
    return b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [], ' + middle + b"}\n"


def filled(part, size=15 << 20):
    return part * (size // len(part))


LARGE = {
    "lists": lambda: b'"news": [' + filled(b"[],") + b"[]]",
    "objects": lambda: b'"news": [' + filled(b'{"a":1},') + b"1]",
    "keys": lambda: b'"news": {' + b",".join(b'"%06x":1' % n for n in range(1_400_000)) + b"}",
    "findings": lambda: b'"findings": [' + filled(b'{"rule":"a"},') + b'{"rule":"a"}]',
    "numbers": lambda: b'"news": [' + filled(b"1.5,") + b"1]",
    "a text": lambda: b'"news": "' + filled(b"\\ud83d\\ude00") + b'"',
    "blanks": lambda: filled(b" ") + b'"news": 1',
}


@pytest.mark.parametrize("most", [False, True], ids=["too many", "as many as may be"])
@pytest.mark.parametrize("name", LARGE)
def test_a_large_report_is_read_or_refused_within_bounds(fake, tmp_path, name, most):
    large = LARGE[name]()
    body = whole(large)
    if most:  # shortens it so that the report has no more values than the limit
        part = large[:reports.VALUES_MAX]
        body = whole(part[:part.rfind(b",")] + (b"]" if b"[" in part else b"}")) if b"," in part else body
        body = body if name != "keys" else whole(b'"news": {' + b",".join(b'"%06x":1' % n for n in range(700_000)) + b"}")
    lines = body.replace(b",", b",\n").replace(b" " * 1000, b" " * 999 + b"\n")
    serial = b"baretick 1\n" + block("TEXT", b"t\n") + block("REPORT", lines)
    before = tmp_path / "before.json"
    before.write_bytes(body)
    done = Ended(tmp_path, ["--timeout", "600", *fake(serial), "--baseline", before, "--junit", tmp_path / "j.xml"])
    assert done.memory_kib < MEMORY_MAX_KIB, f"{done.memory_kib >> 10} MiB"
    assert done.status in (0, 2) and "Traceback" not in done.stderr, done.stderr[:2000]
    assert done.seconds < 30


def test_of_many_large_compact_reports_only_two_are_parsed(monkeypatch):
    """Each of 20 reports unpacks to as many values as a report may have, and takes seconds. A run must not last much
    longer than its time-out."""
    packer, parsed = zlib.compressobj(9, wbits=-zlib.MAX_WBITS), []
    text = base64.urlsafe_b64encode(packer.compress(whole(b'"news": [' + b"1," * (reports.VALUES_MAX - 10) + b"1]")) + packer.flush()).rstrip(b"=")
    lines = b"".join(b"bt%04d:%s\n" % (at // 72 + 1, text[at:at + 72]) for at in range(0, len(text), 72))
    monkeypatch.setattr(reports, "parse_json", lambda data: parsed.append(data) or {})
    said = Transcript(lambda line: None)
    said.parse_bytes(b"baretick 1\n" + 20 * block("COMPACT", lines))
    assert len(parsed) == 2 and any("the reports before it are too many or too long" in fault for fault in said.faults), said.faults


@pytest.mark.parametrize("option", ["--baseline", "--matrix", "--firmware", "--efi"])
def test_an_input_that_is_no_file_is_refused_and_not_waited_for(fake, tmp_path, option):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in fifo, "/dev/zero":
        done = Ended(tmp_path, [*fake(), option, path])
        assert done.status == 2 and "is no file" in done.stderr and done.memory_kib < MEMORY_MAX_KIB
        assert not (tmp_path / "argv").exists()


# A guest's text must not reach a terminal or another program unchanged.

def test_no_text_of_a_guest_reaches_a_terminal_or_a_program_raw(fake, tmp_path):
    document = report("fail", [(ESCAPES, "fail"), ("pit", "absent")])
    document["clocks"][1]["reason"] = ESCAPES
    document["findings"] = [{"rule": ESCAPES, "severity": "fail", "clock": "pit", "text": ESCAPES}]
    document["machine"] = {"cpu": ESCAPES, "hypervisor": ESCAPES, "firmware": ESCAPES}
    before = tmp_path / "before.json"
    before.write_text(json.dumps({**document, "verdict": "pass", "findings": [], "machine": {"cpu": "x"},
                                  "clocks": [{"id": ESCAPES, "verdict": "pass"}]}))
    text = ESCAPES.replace("\n", " ").encode("latin-1", "replace") + b"\n"
    words = [*fake(spoken(document, text=text, more=block("CSV", text)), "sys.exit(35)"), "--baseline", before]
    files = ["--junit", tmp_path / "j", "--summary", tmp_path / "s"]
    for more in [], ["--tap"], matrix_of(tmp_path, "[a]\ncpus = 1\n"):
        if "--matrix" in more:
            words = words[:-2]  # --baseline is left out, because with --matrix it needs a folder
        done = Ended(tmp_path, [*words, *more, *([] if more else files)])
        assert done.status == 1, done.stderr
        assert (done.stdout + done.stderr).replace("\n", "").isprintable()
        assert all(line.startswith("qemu/run: ") for line in done.stderr.splitlines()) or "--tap" in more
        assert "qemu/run: all is well" not in done.stdout.splitlines() + done.stderr.splitlines()
    for path in tmp_path / "j", tmp_path / "s", tmp_path / "out" / "report.txt", tmp_path / "out" / "report.csv":
        assert path.read_text().replace("\n", "").isprintable(), path


@pytest.mark.parametrize("serial, body", [
    (spoken({"schema": "baretick.report/1", "verdict": ESCAPES, "clocks": []}), ""),
    (spoken({**report("incomplete"), "reason": ESCAPES}), ""),
    (spoken({**report("incomplete"), "schema": ESCAPES}), ""),
    (b"baretick 1\nerror: " + ESCAPES.encode() + b"\n", ""),
    (b"", "sys.stderr.buffer.write(open(here + '/words', 'rb').read()); sys.exit(1)"),
    (b"", "sys.stderr.buffer.write(b'qemu: \\x1b[31m\\xff\\xc2\\x9b1m'); sys.exit(1)"),
])
def test_no_reason_of_a_failed_run_reaches_a_terminal_raw(fake, tmp_path, serial, body):
    (tmp_path / "words").write_bytes(ESCAPES.encode())
    done = Ended(tmp_path, fake(serial, body or "sys.exit(37)"))
    assert done.status == 2 and done.stderr.count("\n") == 1 and done.stderr[:-1].isprintable(), done.stderr


# Exit status 1 means that a clock failed, and must not be caused by anything else.

def test_a_bad_report_is_a_row_of_the_matrix(fake, tmp_path):
    odd = json.dumps({**report(), "elapsed_ms": 7}).replace("7", "1" + "0" * 400).encode() + b"\n"
    (tmp_path / "odd").write_bytes(b"baretick 1\n" + block("TEXT", b"t\n") + block("REPORT", odd))
    choose = """
        if sys.argv[sys.argv.index("-smp") + 1] == "1":
            sys.stdout.buffer.write(open(here + "/odd", "rb").read()); sys.stdout.flush(); sys.exit(33)
        sys.stdout.buffer.write(open(here + "/well", "rb").read()); sys.stdout.flush(); sys.exit(33)
        """
    (tmp_path / "well").write_bytes(spoken())
    done = Ended(tmp_path, [*fake(b"", choose), *matrix_of(tmp_path, "[a]\ncpus = 1 | 2\n")])
    assert done.status == 2
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:-1]] == [["a-1", "not"], ["a-2", "pass"]]


def broken(tmp_path, where):
    """Make a copy of the runner with an error in its code."""
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-r", RUNNER.parent, copy], check=True)
    for name in "src", "build":
        (tmp_path / name).symlink_to(RUNNER.parents[1] / name)
    path, _, function = where.partition(":")
    text = (copy / path).read_text()
    at = text.index("\n", text.index(f"def {function}("))
    assert text[at - 1] == ":"
    (copy / path).write_text(f"{text[:at]}\n    raise KeyError('\\x1b[31m')\n{text[at:]}")
    return copy / "run"


@pytest.mark.parametrize("where", ["machine/boot.py:judge_run", "runner/artifacts.py:write_outputs", "runner/arguments.py:parse_run_arguments",
                                   "results/cases.py:make_cases", "runner/arguments.py:check_run"])
def test_a_defect_of_the_runner_is_status_2_and_one_line(fake, tmp_path, where):
    qemu_run = broken(tmp_path, where)
    words = [str(qemu_run), "--out", str(tmp_path / "out"), *map(str, fake(spoken())), "--junit", str(tmp_path / "j")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "qemu/run: internal error: KeyError: '\\x1b[31m' (--debug shows where)\n"
    done = subprocess.run([*words, "--debug"], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" in done.stderr and where.partition(":")[0] in done.stderr


@pytest.mark.parametrize("closed", ["0<&-", ">&-", "2>&-", "0<&- >&- 2>&-", ">/dev/full", "2>/dev/full", "2>&- --tap"])
def test_a_stream_that_is_closed_costs_nothing(fake, tmp_path, closed):
    words = [str(RUNNER), "--out", str(tmp_path / "out"), *map(str, fake(spoken(report("warn"))))]
    more = " --tap" if "--tap" in closed else ""
    done = subprocess.run(["sh", "-c", f'"$@"{more} {closed.replace("--tap", "")}', "sh", *words], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "warn"
    help_ = subprocess.run(["sh", "-c", f'"$0" --help {closed.replace("--tap", "")}', str(RUNNER)], capture_output=True, text=True)
    assert "Traceback" not in help_.stderr and help_.returncode != 1


def test_the_time_out_holds_though_nobody_reads(fake, tmp_path, startup_s):
    for _ in range(TRIES):
        ours, theirs = os.pipe()
        done = Ended(tmp_path, ["--timeout", "2", *fake(b"baretick 1\n" + b"hello world\n" * 100_000, "time.sleep(600)")],
                     stdout=theirs)
        os.close(ours)
        os.close(theirs)
        if done.seconds < 2 + LATE_S + startup_s:
            break
    assert done.status == 124 and done.seconds < 2 + LATE_S + startup_s


# Tests that inputs are not lost, and that symbolic links are not followed.

def stick(path):
    path.write_bytes(bytes(510) + b"\x55\xaa")
    return path


def names(out):
    return sorted(path.name for path in out.iterdir())


@pytest.mark.parametrize("link", [None, os.symlink, os.link], ids=["itself", "symlink", "hard link"])
@pytest.mark.parametrize("option, name", [
    ("--image", "serial.log"), ("--image", "report.json.new"), ("--efi", "stick.img"), ("--firmware", "qemu.log"),
    ("--qemu", "report.csv"), ("--matrix", "report.txt"), ("--baseline", "serial.log")])
def test_an_input_in_out_is_refused_by_name(fake, tmp_path, option, name, link):
    out = tmp_path / "out"
    out.mkdir()
    inside, outside = out / name, tmp_path / "outside"
    stick(outside if link else inside)
    (outside if link else inside).chmod(0o755)
    if link:
        link(outside, inside)
    given = inside if link is not os.link else outside
    words = [*fake(boots_efi=False), *(["--boot", "usb"] if option == "--image" else []), option, given]
    done = Ended(tmp_path, words)
    assert done.status == 2, done.stderr
    if option != "--matrix":
        assert f"{option}: {given} is {out}/{name}, which this run would overwrite" in done.stderr
    assert names(out) == [name] and given.read_bytes() == bytes(510) + b"\x55\xaa"


@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("by", ["master", "out/stick.img"])
def test_a_stick_that_is_another_name_of_a_master_is_not_written_to(fake, tmp_path, link, by):
    master = stick(tmp_path / "master")
    (tmp_path / "out").mkdir()
    link(master, tmp_path / "out" / "stick.img")
    done = Ended(tmp_path, [*fake(boots_efi=False), "--boot", "usb", "--image", tmp_path / by])
    assert done.status == 2 and "stick.img, which this run would overwrite" in done.stderr
    assert not (tmp_path / "argv").exists() and (tmp_path / "out" / "stick.img").exists()


@pytest.mark.parametrize("name", ["report.json", "report.json.new", "report.html.new", "serial.log", "qemu.log", "stick.img",
                                  "report.csv"])
def test_a_link_that_somebody_planted_is_not_followed(fake, tmp_path, name):
    out, victim = tmp_path / "out", tmp_path / "victim"
    out.mkdir()
    victim.write_text("mine")
    (out / name).symlink_to(victim)
    words = [*fake(spoken(), boots_efi=False), "--boot", "usb", "--image", stick(tmp_path / "some.img")]
    assert Ended(tmp_path, words).status == 0
    assert victim.read_text() == "mine" and not any(path.is_symlink() for path in out.iterdir())


@pytest.mark.parametrize("what", ["a", "a/junit.xml", "a/summary.md"])
def test_a_link_that_somebody_planted_in_a_matrix_folder_is_not_followed(fake, tmp_path, what):
    (tmp_path / "out" / "a").mkdir(parents=True)
    victim = tmp_path / "victim"
    if what == "a":
        (tmp_path / "out" / "a").rmdir()
        victim.mkdir()
        (victim / "report.json").write_text("mine")
    else:
        victim.write_text("mine")
    (tmp_path / "out" / what).symlink_to(victim)
    done = Ended(tmp_path, [*fake(spoken()), *matrix_of(tmp_path, "[a]\ncpus = 1\n")])
    assert done.status == 2 and "is a link" in done.stderr
    assert (victim / "report.json" if what == "a" else victim).read_text() == "mine"


@pytest.mark.parametrize("option", ["--junit", "--summary", "--screenshot"])
def test_a_pipe_is_no_place_for_a_file(fake, tmp_path, option):
    fifo = tmp_path / "fifo.png"
    os.mkfifo(fifo)
    done = Ended(tmp_path, [*fake(spoken()), option, fifo])
    assert done.status == 2 and f"{option}: {fifo} cannot be written: it is no file" in done.stderr


def test_pipes_in_out_are_no_obstacle(fake, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    for name in "report.json", "report.json.new", "serial.log", "qemu.log":
        os.mkfifo(out / name)
    assert Ended(tmp_path, fake(spoken())).status == 0
    assert all(path.is_file() for path in out.iterdir())


# A folder is used by one run at a time.

def test_a_second_run_is_told_who_has_the_folder(fake, tmp_path):
    words = fake(b"baretick 1\n", "time.sleep(600)")
    first, _ = start(tmp_path, words, stdout=subprocess.DEVNULL)
    before = (tmp_path / "out" / "qemu.log").read_bytes()
    second = Ended(tmp_path, words)
    assert second.status == 2 and second.stderr.count("\n") == 1
    assert f"--out: {tmp_path}/out is in use by another run: process {first.pid}, " in second.stderr
    assert (tmp_path / "out" / "qemu.log").read_bytes() == before
    first.kill()
    first.wait(BOUND_S)
    assert Ended(tmp_path, fake(spoken())).status == 0  # the lock was removed


def test_of_many_runs_in_one_folder_only_one_starts(fake, tmp_path):
    words = [str(RUNNER), "--out", str(tmp_path / "out"), *map(str, fake(spoken(), "time.sleep(2); sys.exit(33)"))]
    every = [subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(6)]
    said = [process.communicate(timeout=BOUND_S)[1] for process in every]
    assert sorted(process.returncode for process in every).count(0) >= 1
    assert all(process.returncode == 0 or "is in use by another run" in words for process, words in zip(every, said))
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"] == "pass"


# Tests of a full disk.

def limit(size):
    """Limit the size of files to SIZE, which acts like a full disk. The kernel's signal at the limit is ignored, so
    that the write itself fails."""
    def bound():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return bound


@pytest.mark.parametrize("size", [0, 100, 5000, 20_000])
def test_a_disk_that_is_full_is_named_and_report_json_says_so(fake, tmp_path, size):
    serial = spoken({**report(), "news": "x" * 30_000})
    done = subprocess.run([str(RUNNER), "--out", str(tmp_path / "out"), *map(str, fake(serial))], capture_output=True,
                          text=True, preexec_fn=limit(size))
    assert done.returncode == 2 and "Traceback" not in done.stderr and "File too large" in done.stderr, done.stderr
    assert not list((tmp_path / "out").glob("*.new"))
    if size >= 5000:
        left = json.loads((tmp_path / "out" / "report.json").read_text())
        check_schema(left)
        assert left["verdict"] == "incomplete" and "File too large" in left["reason"]


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", place], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no small disk can be had here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


@pytest.mark.parametrize("length", [30_000, 50_000, 100_000])
def test_a_real_full_disk_is_named(fake, tmp_path, small_disk, length):
    words = [str(RUNNER), *map(str, fake(spoken({**report(), "news": "x" * length}))), "--out", str(small_disk / "out")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 2 and "No space left on device" in done.stderr and "Traceback" not in done.stderr
    left = json.loads((small_disk / "out" / "report.json").read_text())
    assert left["verdict"] == "pass" or "No space left on device" in left["reason"]
    assert not list((small_disk / "out").glob("*.new"))


def test_a_run_that_is_killed_leaves_the_reason_in_report_json(fake, tmp_path):
    process, pid = start(tmp_path, fake(b"baretick 1\n", "time.sleep(600)"), stdout=subprocess.DEVNULL)
    kill(process, pid)
    left = json.loads((tmp_path / "out" / "report.json").read_text())
    check_schema(left)
    assert left["verdict"] == "incomplete" and left["reason"] == "the run was ended before it could leave its report"


# Tests of signals, in bursts and at random times.

def handles_signals(pid):
    """Return true if the runner has installed its handlers. The last of them is for SIGTERM."""
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    return int(caught, 16) >> signal.SIGTERM - 1 & 1


@pytest.mark.parametrize("seed", range(12))
def test_a_burst_of_signals_is_one_line_and_no_traceback(fake, tmp_path, seed):
    draw = random.Random(seed)
    words = fake(spoken()[:-40], "time.sleep(600)")
    process = subprocess.Popen([str(RUNNER), "--out", str(tmp_path / "out"), *map(str, words)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: handles_signals(process.pid))  # Python's own start-up ends by a SIGINT with status 1
    time.sleep(draw.random() * 0.5)
    sent = [draw.choice([signal.SIGTERM, signal.SIGHUP, signal.SIGINT]) for _ in range(draw.randint(1, 40))]
    for number in sent:
        process.send_signal(number)
        if draw.random() < 0.5:
            time.sleep(draw.random() * 0.004)
    _, said = process.communicate(timeout=BOUND_S)
    assert process.returncode in {128 + number for number in sent} | {-number for number in sent}, said
    if process.returncode > 0:  # a negative status means that a signal came after Python had removed the handlers
        name = signal.Signals(process.returncode - 128).name
        assert said == f"qemu/run: interrupted by {name}\n"
    pid = tmp_path / "pid"
    assert not pid.exists() or not pid.read_text() or wait_until(lambda: not alive(int(pid.read_text())))


def test_ctrl_c_is_status_130_and_is_reported():
    help_ = subprocess.run([str(RUNNER), "--help"], capture_output=True, text=True, check=True).stdout
    assert "130 after Ctrl-C" in " ".join(help_.split())
    assert "| 130 | Ctrl-C" in (RUNNER.parent / "README.md").read_text()


def test_a_signal_that_is_ignored_at_the_start_stays_ignored(fake, tmp_path):
    words = fake(spoken(), "time.sleep(3); sys.exit(33)")
    process, _ = start(tmp_path, words, stdout=subprocess.DEVNULL,
                       # the runner starts with SIGHUP ignored, as under nohup
                       preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    process.send_signal(signal.SIGHUP)
    assert process.wait(BOUND_S) == 0


# Tests of invalid answers of QEMU in its machine protocol.

@pytest.mark.parametrize("answer", ["1", "[]", '{"return": 1}', '{"error": 7}', '{"return": [1]}', "{}"])
def test_an_invalid_answer_of_qemu_gives_no_traceback(fake, tmp_path, answer):
    odd = """
        line = monitor()
        while True:
            for word in line.recv(4096).splitlines():
                answer = json.loads(open(here + "/answer").read())
                if isinstance(answer, dict):
                    answer["id"] = json.loads(word)["id"]
                line.sendall(json.dumps(answer).encode() + b"\\n")
        """
    (tmp_path / "answer").write_text(answer)
    for event in "0=snapshot:100ms", "0=migrate:100ms":
        done = Ended(tmp_path, ["--timeout", "2", *fake(b"baretick 1\n", odd), "--event", event])
        assert done.status in (2, 124) and "internal error" not in done.stderr, done.stderr


# Tests of machines with screens.

def argv(tmp_path):
    return os.fsdecode((tmp_path / "argv").read_bytes()).split("\0")


@pytest.mark.parametrize("machine", ["pc-q35-7.2,hpet=off", "q35,hpet=off,pit=off", "pc-i440fx-6.2", "pc,max-ram-below-4g=3G"])
def test_any_machine_of_the_two_families_with_properties_goes_on(run, fake, tmp_path, machine):
    assert run(*fake(spoken()), "--machine", machine).status == 0
    words = argv(tmp_path)
    assert words[words.index("-machine") + 1] == machine


def test_a_matrix_accepts_machines_with_properties(run, fake, tmp_path):
    done = run(*fake(spoken()), *matrix_of(tmp_path, "[a]\nmachine = pc-q35-7.2,hpet=off | pc-i440fx-6.2\n"))
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:-1]] == [
        ["a-pc-q35-7.2-hpet-off", "pass"], ["a-pc-i440fx-6.2", "pass"]]


@pytest.mark.parametrize("machine, fits", [("pc-q35-7.2,hpet=off", True), ("pc-i440fx-7.2", False)])
def test_system_management_mode_is_a_matter_of_the_family(run, fake, tmp_path, machine, fits):
    words = fake(spoken())
    (tmp_path / "OVMF_CODE_4M.secboot.fd").write_bytes(bytes(3000))
    (tmp_path / "OVMF_VARS_4M.fd").write_bytes(b"vars")
    done = run(*words, "--firmware", tmp_path / "OVMF_CODE_4M.secboot.fd", "--machine", machine)
    assert done.status == (0 if fits else 2) and ("needs system management mode" in done.stderr) != fits


READ_OPTIONS = """
    item = [a for a in sys.argv if a.startswith("name=opt/baretick/options,file=")][0]
    open(here + "/options", "w").write(open(item.partition(",file=")[2]).read())
    time.sleep(7)
    sys.exit(0)
    """


def test_a_display_leaves_the_end_to_the_user_and_has_no_time_out(run, fake, tmp_path):
    """After its report, the machine stays on until the user closes its window."""
    done = run(*fake(spoken(), READ_OPTIONS), "--display", "vnc")
    assert done.status == 0 and done.report["verdict"] == "pass", done
    port, number = map(int, re.search(r"VNC, port (\d+) of this machine: vncviewer localhost:(\d+)", done.stderr).groups())
    words = argv(tmp_path)
    assert port == 5900 + number and words[words.index("-vnc") + 1] == f"localhost:{number}"
    assert (tmp_path / "options").read_text() == "save=off\nexit=ask\n"


def test_a_display_with_a_time_out_ends_then(fake, tmp_path):
    done = Ended(tmp_path, [*fake(spoken(), "time.sleep(600)"), "--display", "vnc", "--timeout", "2"])
    assert done.status == 124 and "the run did not end within 2 s" in done.stderr


def test_a_display_is_a_window_where_there_is_a_desktop(run, fake, tmp_path):
    run(*fake(spoken()), "--display", environment={"DISPLAY": ":0"})
    words = argv(tmp_path)
    assert words[words.index("-display") + 1] == "gtk" and "-vnc" not in words
    run(*fake(spoken()), "--display", environment={"DISPLAY": "", "WAYLAND_DISPLAY": ""})
    assert "-vnc" in argv(tmp_path)
