"""qemu/run --event: its grammar, its execution, and its results."""
import re
import shutil
import subprocess
import time

import pytest

from harness import FAKE, ROOT, case, junit, matrix_of, report, run_for_long_enough, spoken
from machine import command, events
from machine.command import UserError
from machine.events import Event, Events
from machine.transcript import Transcript
from runner import arguments
from test_run import alive, kill, start, wait_until


@pytest.mark.parametrize("text, phase, after, what, seconds", [
    ("2=stop:3s", "", 2, "stop", 3), ("2.5s=stop:3", "", 2.5, "stop", 3), ("0=stop:1s", "", 0, "stop", 1),
    ("500ms=snapshot:1m", "", 0.5, "snapshot", 60), ("rates=migrate:500ms", "rates", 0, "migrate", 0.5),
    ("rates-again+1.5s=stop:.5s", "rates-again", 1.5, "stop", 0.5), ("rates=reset", "rates", 0, "reset", 0),
    ("2s=reset:3s", "", 2, "reset", 3)])
def test_an_event_is_a_moment_a_kind_and_a_time(text, phase, after, what, seconds):
    event, = arguments.parse_run_arguments(["--event", text]).event
    assert (event.text, event.phase, event.after, event.what, event.seconds) == (text, phase, after, what, seconds)


@pytest.mark.parametrize("text", [
    "", "stop:3s", "2=stop", "2=stop:", "2=reset:", "2=reset:0s", "2=stop:0s", "2=stop:-1s", "2=halt:3s", "2h=stop:3s", "-2=stop:3s",
    "tea=stop:3s", "rates+=stop:3s", "+1=stop:3s", "=stop:3s", "1e3=stop:3s", "2=stop:nan"])
def test_an_invalid_event_is_refused_with_a_valid_example(text):
    with pytest.raises(UserError, match=f"argument --event: {re.escape(repr(text))} is not AFTER=WHAT:TIME.*rates-again"):
        arguments.parse_run_arguments([f"--event={text}"])


def test_the_phases_are_the_applications():
    run, marker = ((ROOT / "src" / "run" / name).read_text() for name in ("run.c", "marker.h"))
    names = dict(re.findall(r"^#define (MARKER_\w+) +(\".*?\")", marker, re.MULTILINE))
    table = [names.get(word, word) for word in re.findall(r"^\t\{ \.id = (?!NULL)([\w\"-]+)", run, re.MULTILINE)]
    assert tuple(dict.fromkeys(word.strip('"') for word in table)) == events.PHASES


def test_they_do_not_go_with_the_rules_alone(run, fake):
    done = run(*fake(), "--event", "2=stop:1s", "--", "rules")
    assert done.status == 2 and "--event does not go with baretick's option rules" in done.stderr


def test_a_snapshot_does_not_go_with_a_stick(run, fake, tmp_path):
    stick = tmp_path / "stick"
    stick.write_bytes(bytes(510) + b"\x55\xaa")
    words = [*fake(spoken(), boots_efi=False), "--boot", "usb", "--image", stick, "--event", "rates=snapshot:1s"]
    done = run(*words)
    assert done.status == 2
    assert "--event rates=snapshot:1s does not go with --boot usb: a snapshot does not undo writes to the stick" in done.stderr


@pytest.mark.parametrize("what, cpu", [("stop", "host,migratable=off"), ("reset", "host,migratable=off"), ("snapshot", "host"),
                                       ("migrate", "host")])
def test_under_kvm_the_cpu_is_one_that_can_be_moved_where_it_must(what, cpu, tmp_path):
    """QEMU refuses to save a machine whose CPU has the property migratable=off. For an event that only stops the
    machine, the CPU has this property, because the guest sees an invariant TSC only with it."""
    run = arguments.parse_run_arguments(["--event", f"2={what}:3s"])
    run.code, run.image = tmp_path / "whole.fd", "x"
    run.code.write_bytes(bytes(4096))
    words = command.build_command(run, "kvm", command.PrivateFiles(), 7)
    assert words[words.index("-cpu") + 1] == cpu
    other = command.build_migration_target_command(words, 9)
    assert other[-2:] == ["-incoming", "defer"]
    assert [pair for pair in zip(words, other) if pair[0] != pair[1]] == [
        ("socket,id=monitor,fd=7", "socket,id=monitor,fd=9")]


# Tests of the execution of events.

class Stand:
    """A simulated guest, which records the commands that it gets. It knows the times at which phases started."""

    def __init__(self, *began):
        self.transcript = Transcript(None)
        self.ending = None
        self.sent, self.said = [], []
        for phase in ("", *began):
            self.transcript._note_phase_start(phase)

    def send_command(self, name, label=None, **_):
        self.sent.append((name, label))

    def mark_as_lost(self, why):
        self.ending = why

    def events(self, *texts):
        asked = arguments.parse_run_arguments([f"--event={text}" for text in texts]).event
        return asked, Events(asked, self, self.said.append)

    def step(self, happening, answer=None):
        """Let HAPPENING do one step, and answer the command that it sends. Return the command's name."""
        happening.run_due_event_step()
        name, label = self.sent[-1]
        happening.receive_answer({"id": label, **(answer or {"return": {}})})
        return name


def test_each_comes_when_its_moment_has_and_one_after_another():
    stand = Stand("rates")
    (first, second, never), happening = stand.events("rates=stop:1ms", "0=stop:1ms", "latency=stop:1s")
    assert happening.get_time_until_next_event(9) == 0
    done = [stand.step(happening)]
    while first.problem or second.problem:
        before = len(stand.sent)
        happening.run_due_event_step()
        if len(stand.sent) > before:
            done.append(stand.sent[-1][0])
            happening.receive_answer({"id": stand.sent[-1][1], "return": {}})
    assert done == ["stop", "cont"] * 2 and 0 < first.span[0] < first.span[1] <= second.span[0] < second.span[1]
    assert happening.get_time_until_next_event(9) == 9
    happening.fail_unfinished_events()
    assert str(never) == "not carried out: the run ended before its phase latency began"
    assert stand.said == [f"--event {event.text}: {event}" for event in (first, second)]


def test_another_messages_answer_is_not_taken_for_its_own():
    stand = Stand()
    _, happening = stand.events("0=stop:9s")
    happening.run_due_event_step()
    happening.receive_answer({"id": None, "return": {}})
    happening.receive_answer({"event": "STOP"})
    assert [name for name, _ in stand.sent] == ["stop"] and happening.get_time_until_next_event(99) > 9


def test_what_qemu_refuses_is_said_and_the_guest_goes_on():
    stand = Stand()
    (event,), happening = stand.events("0=snapshot:1s")
    stand.step(happening, {"error": {"desc": "no such driver"}})
    assert event.problem == "blockdev-add: no such driver"
    assert stand.sent[-1][0] == "cont" and stand.ending is None


def test_a_pause_that_will_not_end_is_the_end():
    stand = Stand()
    (event,), happening = stand.events("0=stop:1ms")
    stand.step(happening)
    while len(stand.sent) == 1:
        happening.run_due_event_step()
    happening.receive_answer({"id": stand.sent[-1][1], "error": {"desc": "no"}})
    assert event.problem == "cont: no" and stand.ending == "--event 0=stop:1ms: cont: no"


def test_an_answer_is_not_waited_for_for_ever(monkeypatch):
    monkeypatch.setattr(events, "ANSWER_S", 0.01)
    stand = Stand()
    (event,), happening = stand.events("0=stop:1s")
    while event.problem == Event.problem:
        happening.run_due_event_step()
    assert event.problem == "stop: QEMU gave no answer within 0.01 s"


@pytest.mark.parametrize("answer, problem", [
    ({"status": "active"}, "migrate did not end within 0.01 s"), ({"status": "failed", "error-desc": "disk full"}, "migrate: disk full"),
], ids=["without-end", "failed"])
def test_a_migration_that_fails_or_does_not_end_says_why(monkeypatch, answer, problem):
    monkeypatch.setattr(events, "WORK_S", 0.01)
    stand = Stand()
    (event,), happening = stand.events("0=migrate:1s")
    while event.problem == Event.problem:
        stand.step(happening, {"return": answer})
    assert event.problem == problem and stand.ending is None


@pytest.mark.parametrize("starts_again", [True, False])
def test_a_reset_machine_may_reset_itself_until_the_application_starts_again(starts_again):
    stand = Stand("rates")
    stand.transcript.show = lambda _: None
    stand.read_all_output = lambda: stand.transcript.parse_bytes(b"BARETICK TEXT BEGIN\n")
    (event, later), happening = stand.events("rates=reset", "rates=stop:1ms")
    for _ in range(5):
        stand.step(happening, {"return": {"status": "prelaunch"}})
    assert [name for name, _ in stand.sent] == ["stop", "set-action", "system_reset", "query-status", "cont"]
    assert not stand.transcript.phase_starts and event.problem == Event.problem
    if starts_again:
        stand.transcript.parse_bytes(spoken())
        stand.transcript.phase_starts["prepare"] = stand.transcript.phase_starts[""]
        time.sleep(2 * events.POLL_S)
        stand.step(happening)
        assert event.measuring is None
        assert stand.sent[-1][0] == "set-action" and not event.problem and 0 < event.span[0] < event.span[1]
        stand.transcript.close()
        assert stand.transcript.is_report_complete and not stand.transcript.faults
    happening.fail_unfinished_events()
    assert event.problem == (None if starts_again else "the run ended during the event")
    assert later.problem == ("the run ended before its phase rates began" if starts_again else Event.problem)


def test_what_was_said_after_the_snapshot_was_never_said():
    lines, serial = [], spoken()
    for at in (serial.index(b"TEXT BEGIN") + 20, serial.index(b"REPORT BEGIN") + 20, serial.index(b"baretick 0") + 3):
        said = Transcript(lines.append)
        said.parse_bytes(serial[:at])
        mark = said.save_state()
        said.parse_bytes(serial[at:at + 40] + b"\nphase: rates\nBARETICK TEXT BEGIN\n")
        said.restore_state(mark)
        said.parse_bytes(serial[at:])
        said.close()
        assert said.is_report_complete and not said.faults


def test_a_phase_that_a_snapshot_undoes_starts_again():
    said = Transcript(lambda _: None)
    said.parse_bytes(b"baretick 1\nphase: prepare\nphase: rates\n")
    mark, before = said.save_state(), dict(said.phase_starts)
    said.parse_bytes(b"phase: latency\n")
    said.restore_state(mark)
    assert said.phase_starts == before and list(before) == ["", "prepare", "rates"]
    undone = time.monotonic()
    said.parse_bytes(b"phase: latency\n")
    assert said.phase_starts["latency"] >= undone


@pytest.mark.parametrize("span, measuring, text", [
    ((1.25, 4.26), 0.65, "from 1.25 s to 4.26 s after the application's start, in the report's time from about 0.6 s to 3.6 s"),
    ((0.25, 4.26), 0.65, "from 0.25 s to 4.26 s after the application's start"),
    ((0.25, 4.26), None, "from 0.25 s to 4.26 s after the application's start")])
def test_an_event_has_its_time_in_the_report(span, measuring, text):
    event = Event("rates=stop:3s", "rates", 0, "stop", 3)
    event.problem, event.span, event.measuring = None, span, measuring
    assert str(event) == text


# Tests of the results of events.

ANSWERS = r"""
    line = monitor()
    while True:
        for word in line.recv(4096).splitlines():
            asked = json.loads(word)
            line.sendall(json.dumps({**ANSWER, "id": asked["id"]}).encode() + b"\n")
            if asked["execute"] == "cont":
                sys.stdout.buffer.write(open(here + "/rest", "rb").read()); sys.stdout.flush(); sys.exit(STATUS)
    """


def answering(fake, tmp_path, answer, verdict="pass"):
    """Make a script instead of QEMU that answers every command with ANSWER. It sends its report after it is
    continued."""
    (tmp_path / "rest").write_bytes(spoken(report(verdict)))
    status = {"pass": "33", "fail": "35"}[verdict]
    return fake(b"baretick 1\n", ANSWERS.replace("ANSWER", repr(answer)).replace("STATUS", status))


def test_an_event_that_happened_is_a_case_that_passed(run, fake, tmp_path):
    done = run(*answering(fake, tmp_path, {"return": {}}), "--event", "0=stop:100ms", *junit(tmp_path), "--tap")
    assert done.status == 0, done
    (tag, text), = case(done, "0=stop:100ms")
    assert tag == "system-out" and re.fullmatch(r"from \d+\.\d\d s to \d+\.\d\d s after the application's start", text)
    assert f"qemu/run: --event 0=stop:100ms: {text}" in done.stderr.splitlines(), done
    assert re.search(r"^ok \d+ - event: 0=stop:100ms$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("verdict", ["pass", "fail"])
def test_one_that_could_not_happen_is_a_case_that_failed_and_status_2(run, fake, tmp_path, verdict):
    arguments_ = answering(fake, tmp_path, {"error": {"desc": "no room"}}, verdict)
    done = run(*arguments_, "--event", "0=stop:1s", "--event", "checks=stop:1s", *junit(tmp_path))
    assert done.status == 2 and done.report["verdict"] == verdict, done
    for name, why in ("0=stop:1s", "stop: no room"), ("checks=stop:1s", "the run ended before its phase checks began"):
        assert case(done, name) == [("failure", f"not carried out: {why}")]
    assert done.stderr == ("qemu/run: --event 0=stop:1s: not carried out: stop: no room; --event checks=stop:1s: "
                           "not carried out: the run ended before its phase checks began\n")


def test_an_event_of_a_refused_run_is_a_test_case_too(run, fake, tmp_path):
    done = run(*fake(boots_efi=False), "--efi", "/nowhere/x", "--event", "0=stop:1s", *junit(tmp_path))
    assert done.status == 2
    assert case(done, "0=stop:1s") == [("failure", "not carried out: the run ended before the event's time")]


def test_the_time_out_holds_while_one_goes_on(run, fake, tmp_path):
    during = [("failure", "not carried out: the run ended during the event")]
    file = tmp_path / "junit.xml"

    def ended_during_event(done):
        shutil.copy(file, done.out)
        return case(done, "0=stop:10m") == during
    done, seconds = run_for_long_enough(run, ended_during_event, *answering(fake, tmp_path, {"return": {}}), "--event", "0=stop:10m",
                                        "--junit", file)
    assert done.status == 124 and f"the run did not end within {seconds} s" in done.stderr, done
    assert case(done, "0=stop:10m") == during


GONE = {"return": {"status": "completed"}}  # answer to the command for a migration: the migration has ended


@pytest.mark.parametrize("arrived, reason", [
    ("sys.stderr.write('fake qemu,1: no room here\\n'); sys.exit(1)",
     "QEMU ended with status 1: fake qemu,1: no room here"),
    ("ANSWER = {'error': {'desc': 'no room here'}}", "--event 0=migrate:100ms: query-status: no room here"),
])
def test_a_machine_that_does_not_arrive_is_the_end(run, fake, tmp_path, arrived, reason):
    words = answering(fake, tmp_path, GONE)
    script = tmp_path / FAKE
    text = script.read_text().replace("**" + repr(GONE), "**ANSWER")
    text = text.replace("line = monitor()", f"ANSWER = {GONE!r}\nif '-incoming' in sys.argv:\n    {arrived}\nline = monitor()")
    script.write_text(text)
    done = run(*words, "--event", "0=migrate:100ms", *junit(tmp_path))
    assert done.status == 2 and done.stderr == f"qemu/run: {reason}\n", done
    (tag, text), = case(done, "0=migrate:100ms")
    assert tag == "failure" and text.startswith("not carried out: ")


def test_no_qemu_stays_behind_where_the_machine_has_moved(fake, tmp_path):
    process, first = start(tmp_path, [*answering(fake, tmp_path, GONE), "--event", "0=migrate:10m"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    pids = tmp_path / "pid"
    assert wait_until(lambda: len(pids.read_text().split()) == 2)
    second = int(pids.read_text().split()[1])
    assert not alive(first)
    kill(process, second)


def test_in_a_matrix_it_is_a_key(run, fake, tmp_path):
    asked = matrix_of(tmp_path, "[a]\nevent = 0=stop:100ms | 0=stop:200ms 100ms=stop:1ms\n")
    done = run(*answering(fake, tmp_path, {"return": {}}), *asked)
    assert done.status == 2, done  # this machine ends when it is continued
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:-1]] == [
        ["a-0-stop-100ms", "pass"], ["a-0-stop-200ms-100ms-stop-1ms", "not"]]
    assert [len(re.findall("baretick.event", (path / "junit.xml").read_text()))
            for path in sorted(done.out.glob("*/"))] == [1, 2]
