"""qemu/run must accept the same options as baretick, and refuse others with the same sentences. No test boots."""
import re
import xml.etree.ElementTree as xml

import pytest

from harness import ROOT, spoken
from runner.grammar import Grammar

CASES = ROOT / "tests" / "unit" / "report" / "options.cases"
GRAMMAR = ROOT / "qemu" / "runner" / "options.json"


def cases():
    lines = CASES.read_bytes().splitlines()
    for line in lines:
        if line and not line.startswith(b"#"):
            text, _, expected = line.partition(b" ->")
            yield text.replace(rb"\n", b"\n"), expected.strip().decode()


def test_it_gives_the_answers_of_the_application():
    """qemu/run must accept and refuse the same options as baretick, with the same sentences.
    tests/unit/report/test_options.c uses the same file of cases."""
    grammar, seen = Grammar(GRAMMAR), [0, 0]
    for text, expected in cases():
        flaws = grammar.find_option_flaws(text)
        refused = expected.startswith("!")
        seen[refused] += 1
        assert bool(flaws) == refused, text
        if expected[2:] and refused:
            assert " ".join(f"{flaw}." for flaw in flaws) == expected[2:]
    assert min(seen) > 50


def test_the_samples_of_all_options_are_valid():
    samples = re.findall(r"^#([a-z].*)", (ROOT / "qemu" / "baretick.cfg").read_text(), re.M)
    assert len(samples) >= 19 and Grammar(GRAMMAR).find_option_flaws("\n".join(samples).encode()) == []


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


def test_an_application_of_another_version_has_its_own_options_beside_it(run, fake, tmp_path):
    """qemu/run must check the options by the file options.json next to the application, which may be of another
    version. Without this file, qemu/run does not check the options."""
    words = [*fake(spoken()), "--", "duration=9x", "warp=9"]
    assert run(*words).status == 0
    (tmp_path / "options.json").write_text(GRAMMAR.read_text().replace('"duration"', '"warp"'))
    done = run(*words)
    assert done.status == 2 and '"duration=9x" is not an option; the options are warp, ' in done.stderr
    assert '"warp=9" is not valid: warp= takes a whole number' in done.stderr
    (tmp_path / "options.json").write_text('{"options": []}')
    assert "options.json is no list of baretick's options" in run(*words).stderr


@pytest.mark.parametrize("words, hint", [
    (["--cpu", "4"], "--cpu 4 (did you mean --cpus?)"), (["--junt=x.xml"], "--junt=x.xml (did you mean --junit?)"),
    (["--accel", "tgc"], "'tgc' (did you mean tcg?)"), (["--display", "vcn"], "'vcn' (did you mean vnc?)"),
    (["--machine", "q53,hpet=off"], "'q53,hpet=off' (did you mean q35?)"),
    (["--event", "rtaes=stop:3s"], "'rtaes=stop:3s' (did you mean rates?)"),
    (["--event", "rates=stpo:3s"], "'rates=stpo:3s' (did you mean stop?)"),
    (["--", "clocks=tsc,hept"], '"clocks=tsc,hept" is not valid (did you mean hpet?)'),
    (["--", "limit.tsc-wrap=3"], '"limit.tsc-wrap=3" names no rule that has a limit (did you mean tsc-warp?)'),
    (["--", "clocks=tsc,gps"], '"clocks=tsc,gps" is not valid: '), (["--frobnicate"], "--frobnicate (see --help)"),
])
def test_a_misspelled_word_gets_the_nearest_name(run, words, hint):
    done = run(*words)
    assert done.status == 2 and hint in done.stderr


def test_a_misspelled_key_of_a_matrix_gets_the_nearest_name(run, tmp_path):
    (tmp_path / "matrix").write_text("[a]\nmemroy = 1G\n")
    assert "has the key memroy (did you mean memory?); there are" in run("--matrix", tmp_path / "matrix").stderr


def test_a_wrong_value_in_a_matrix_is_found_before_its_first_boot(run, tmp_path):
    (tmp_path / "matrix").write_text("[first]\n[second]\noptions = duration=9x\n")
    done = run("--matrix", tmp_path / "matrix")
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
