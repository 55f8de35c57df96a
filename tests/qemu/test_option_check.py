"""qemu/run must refuse a wrong option of baretick before a boot, with the application's sentence. No test boots."""
import shutil
import subprocess
import xml.etree.ElementTree as xml

import pytest

from harness import ROOT, matrix_of, spoken, write_script
from results import product
from runner import option_check

MARK = "touch {}/was_run; echo '\"profile=quick\" is refused.'; exit 2"


@pytest.mark.parametrize("word, end", [
    ("duration=9x", "duration= takes a whole number and us, ms, s, m or h, from 10ms to 24h\n"),
    ("profile=quik", "profile= takes quick, standard or soak\n"),
    ("clocks=tsc,hept", "xen, null\n"),
    ("label=\x1b[2J", "options are key=value in printable ASCII\n"),
])
def test_a_wrong_value_is_found_before_qemu_is_started(run, word, end):
    done = run("--", word)
    assert done.status == 2 and end in done.stderr and "\x1b" not in done.stderr
    assert not (done.out / "qemu.log").read_bytes()


def test_all_wrong_words_are_named_at_once(run):
    done = run("--", "duration=9x", "warp=9", "profile=quick", "limit.tsc-wrap=1", "label=a b=c", "rules=1", "=1")
    lines = done.stderr.splitlines()
    assert done.status == 2 and not (done.out / "qemu.log").read_bytes()
    assert [line.partition('"')[2].partition('"')[0] for line in lines] == ["duration=9x", "warp=9", "limit.tsc-wrap=1", "rules=1", "=1"]


def test_an_application_of_another_version_checks_its_options_itself(run, fake, tmp_path):
    """The file may be from anybody, so a program next to it is not run, either."""
    write_script(tmp_path / "baretick-replay", f"#!/bin/sh\n{MARK.format(tmp_path)}\n")
    done = run(*fake(spoken()), "--", "duration=9x", "warp=9")
    assert done.status == 0 and done.stderr == "" and not (tmp_path / "was_run").exists()
    assert (tmp_path / "argv").exists(), "QEMU was not started"


def test_the_options_of_a_signed_copy_are_checked(run, tmp_path):
    """A signature is appended to the application, which is otherwise unchanged."""
    copy = tmp_path / "signed.efi"
    copy.write_bytes((ROOT / "build" / "baretick.efi").read_bytes() + bytes(1000))
    done = run("--efi", copy, "--", "warp=9")
    assert done.status == 2 and '"warp=9" is not an option; the options are duration, ' in done.stderr


@pytest.mark.parametrize("body, reason", [
    ("sleep 60", "has not ended after 1 s"), ("exit 0", "failed: status 0"), ("kill -SEGV $$", "failed: status -11"),
    ("echo 'version GLIBC_2.99 not found' >&2; exit 1", "failed: version GLIBC_2.99 not found"),
    ("echo 'baretick-replay: --options is no option' >&2; exit 2", "failed: baretick-replay: --options is no option"),
    (None, "/program: No such file or directory"),
], ids=["hangs", "prints nothing", "dies", "C library", "older", "missing"])
def test_a_program_without_a_result_is_named(tmp_path, monkeypatch, body, reason):
    """Such a program must not be taken for one that finds no wrong word, or that finds wrong ones."""
    monkeypatch.setattr(option_check, "PROGRAM", str(tmp_path / "program"))
    monkeypatch.setattr(option_check, "WAIT_S", 1)
    if body:
        write_script(tmp_path / "program", f"#!/bin/sh\n{body}\n")
    with pytest.raises(option_check.Unchecked) as raised:
        option_check.find_option_flaws(b"profile=quik\n")
    assert str(raised.value).startswith(str(tmp_path)) and str(raised.value).endswith(reason)


def test_without_the_program_the_words_go_to_the_application(fake, tmp_path):
    """A folder with only the runner and an application of the same version boots, and says that it does not check the options."""
    for folder in "qemu", "src/report":
        shutil.copytree(ROOT / folder, tmp_path / "part" / folder)
    shutil.copy(ROOT / "build" / "commit", tmp_path / "part")
    words = fake(spoken())
    (tmp_path / "some.efi").write_bytes(f"MZ baretick {product.read_version()}".encode())
    done = subprocess.run([tmp_path / "part/qemu/run", "--out", tmp_path / "out", *words, "--", "warp=9"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60, check=False)
    program = tmp_path / "part" / "baretick-replay"
    assert (done.returncode, done.stderr) == (
        0, f"qemu/run: baretick's options are not checked before the boot: {program}: No such file or directory\n")


@pytest.mark.parametrize("words, hint", [
    (["--cpu", "4"], "--cpu 4 (did you mean --cpus?)"), (["--junt=x.xml"], "--junt=x.xml (did you mean --junit?)"),
    (["--accel", "tgc"], "'tgc' (did you mean tcg?)"), (["--display", "vcn"], "'vcn' (did you mean vnc?)"),
    (["--machine", "q53,hpet=off"], "'q53,hpet=off' (did you mean q35?)"),
    (["--event", "rtaes=stop:3s"], "'rtaes=stop:3s' (did you mean rates?)"),
    (["--event", "rates=stpo:3s"], "'rates=stpo:3s' (did you mean stop?)"),
    (["--", "profil=quick"], '"profil=quick" is not an option (did you mean profile?); the options are duration, clocks, '),
    (["--", "clocks=tsc,hept"], '"clocks=tsc,hept" is not valid (did you mean hpet?)'),
    (["--", "limit.tsc-wrap=3"], '"limit.tsc-wrap=3" names no rule that has a limit (did you mean tsc-warp?)'),
    (["--", "clocks=tsc,gps"], '"clocks=tsc,gps" is not valid: '), (["--frobnicate"], "--frobnicate (see --help)"),
])
def test_a_misspelled_word_gets_the_nearest_name(run, words, hint):
    done = run(*words)
    assert done.status == 2 and hint in done.stderr


def test_a_misspelled_key_of_a_matrix_gets_the_nearest_name(run, tmp_path):
    assert "has the key memroy (did you mean memory?); there are" in run(*matrix_of(tmp_path, "[a]\nmemroy = 1G\n")).stderr


def test_a_wrong_value_in_a_matrix_is_found_before_its_first_boot(run, tmp_path):
    done = run(*matrix_of(tmp_path, "[first]\n[second]\noptions = duration=9x\n"))
    assert done.status == 2 and '[second]: "duration=9x" is not valid: ' in done.stderr and done.stderr.count("\n") == 1
    assert not done.out.exists()


@pytest.mark.parametrize("words", [["--cpus", "x"], ["--frobnicate"], ["--cpus"], ["--", "profile=quik"], ["--out", "/dev/null"]],
                         ids=["value", "option", "no value", "baretick's option", "folder"])
def test_a_wrong_call_is_an_error_in_junit_and_tap(run, tmp_path, words):
    (tmp_path / "junit.xml").write_text("of the last run")
    done = run("--junit", tmp_path / "junit.xml", "--summary", tmp_path / "summary.md", "--tap", *words)
    suite = xml.parse(tmp_path / "junit.xml").getroot()
    reason = done.stderr.removeprefix("qemu/run: ").rstrip("\n")
    case, = suite.iter("testcase")
    assert done.status == 2 and case.get("name") == "run" and case.find("error").get("message") == reason
    assert done.stdout == f"TAP version 13\n1..1\nnot ok 1 - run: run\n# error: {reason.replace('#', ' ')}\n"
    assert "incomplete" in (tmp_path / "summary.md").read_text()


def test_an_error_of_the_application_is_said_once(run, fake):
    said = b'baretick 0.1.0\nerror: In fw_cfg opt/baretick/options: "x=1" is not an option.\nNothing was measured.\n'
    done = run(*fake(said, "sys.exit(39)"))
    both = done.stdout + done.stderr
    assert both.count('"x=1" is not an option') == 1 and "fw_cfg" not in both + done.report["reason"]
    assert b"error: In fw_cfg" in done.file("serial.log")
