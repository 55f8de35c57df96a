"""Results for other programs: JUnit, TAP, the job summary and the HTML page. Also tests of invalid reports."""
import html
import itertools
import json
import re
import xml.etree.ElementTree as xml

import pytest

from harness import ROOT, report, spoken
from results import baseline, cases, junit, page, reports, summary, tap

HOSTILE = "www.b </script><img src=x onerror=alert(1)>|`*_[a](http://b)\n# @c ]]>\x00\x1b\u202e\ud800&amp;"


def finding(rule, severity, clock, text):
    return {"rule": rule, "severity": severity, "clock": clock, "text": text}


def behaviour(rule, clock, severity, outcome, text):
    return {"rule": rule, "clock": clock, "severity": severity, "outcome": outcome, "text": text}


def full():
    """Return a report that has a clock with each verdict, and a rule with each outcome."""
    return {
        "schema": "baretick.report/1", "verdict": "fail",
        "options": {"clocks": [], "label": "rack 7", "given": "profile=quick clocks=tsc,hpet"},
        "quality": {"stolen_percent": 61, "reliable_tails": False,
                    "text": "61.0 % of the observed time was stolen: latency tails are unreliable."},
        "machine": {"cpu": "Some CPU", "hypervisor": None, "firmware": "EDK II", "accelerator": "tcg",
                    "identity": {"vendor": "Example Inc.", "product": "Server 9", "serial": "SN-1"},
                    "cores_started": 4},
        "clocks": [
            {"id": "tsc", "verdict": "pass", "reason": None, "resolution_ns": 0.409, "claimed_hz": None,
             "measured_hz": {"value": 2445423968.556, "low": 2445423038.166, "high": 2445424898.947},
             "latency": {"min_ns": 20, "p50_ns": 30, "p99_ns": 50, "loop_ns": 27.812},
             "cost": {"read_ns": {"value": 20.25, "low": 19.5, "high": 21}}},
            {"id": "hpet", "verdict": "fail", "reason": None},
            {"id": "pit", "verdict": "absent", "reason": "not there"},
            {"id": "rtc", "verdict": "warn", "reason": None, "not_determined": 0},
            {"id": "acpi_pm", "verdict": "pass", "reason": None, "not_determined": 1},
        ],
        "skew": {"pairs": 6, "warps": 0, "within_ns": 42},
        "behaviours": [
            behaviour("hpet-period", "hpet", "fail", "passed", "10 ns."),
            behaviour("hpet-torn", "hpet", "fail", "failed", "3 were torn."),
            behaviour("rtc-battery", "rtc", "warn", "failed", "VRT is 0."),
            behaviour("rtc-periodic", "rtc", "warn", "passed", "8192 Hz."),
            behaviour("rtc-periodic", "rtc", "warn", "not_checked", "64 Hz takes too long."),
            behaviour("rtc-update", "rtc", "fail", "not_checked", "Away each time."),
            behaviour("pm-glitch", "acpi_pm", "fail", "not_determined", "0 to 2 were off."),
        ],
        "findings": [
            finding("hpet-torn", "fail", "hpet", "hpet is torn."),
            finding("rtc-battery", "warn", "rtc", "rtc has no battery."),
            finding("core-missing", "warn", None, "Core 3 did not start."),
        ],
        "taken": [{"system": system, "clock": "acpi_pm", "reason": "rating 200."}
                  for system in ("Linux before 6.12", "Linux 6.12 to 7.0")],
        "advice": [{"clock": "tsc", "avoid": False, "reason": "30 ns a read."},
                   {"clock": "hpet", "avoid": True, "reason": "hpet-torn: see the finding."}],
    }


def test_what_is_said_of_a_clock_is_said_of_its_other_ways_of_reading_where_nothing_else_is():
    document = full()
    document["clocks"] += [{"id": "hpet_32", "main": "hpet", "verdict": "fail", "reason": None},
                           {"id": "acpi_pm_3", "main": "acpi_pm", "verdict": "pass", "reason": None, "not_determined": 1}]
    found = {case.name: (case.outcome, case.text) for case in cases.make_cases(document, None) if case.group == "clocks"}
    assert found["hpet_32"] == ("fail", "hpet is torn.") and found["acpi_pm_3"] == ("skip", "not determined: pm-glitch")


EXPECTED = [
    ("clocks", "tsc", "pass", ""),
    ("clocks", "hpet", "fail", "hpet is torn."),
    ("clocks", "pit", "skip", "not there"),
    ("clocks", "rtc", "warn", "rtc has no battery."),
    ("clocks", "acpi_pm", "skip", "not determined: pm-glitch"),
    ("rules", "hpet-torn (hpet)", "fail", "hpet is torn."),
    ("rules", "rtc-battery (rtc)", "warn", "rtc has no battery."),
    ("rules", "core-missing", "warn", "Core 3 did not start."),
    ("rules", "hpet-period (hpet)", "pass", "10 ns."),
    ("rules", "rtc-periodic (rtc)", "pass", "8192 Hz."),
    ("rules", "rtc-update (rtc)", "skip", "not checked: Away each time."),
    ("rules", "pm-glitch (acpi_pm)", "skip", "not determined: 0 to 2 were off."),
    ("run", "run", "fail", "The verdict is fail."),
]


def hostile(value):
    """Return VALUE with hostile text in each string that the schema does not restrict."""
    if isinstance(value, dict):
        return {key: text if key in ("schema", "verdict", "outcome", "severity") else hostile(text)
                for key, text in value.items()}
    if isinstance(value, list):
        return [hostile(item) for item in value]
    return HOSTILE if isinstance(value, str) else value


# Tests of the test cases that a report is converted to.

def interval(source, mode, state="present", reason=None, **figures):
    return {"source": source, "mode": mode, "state": state, "reason": reason, "core": 0, "expected": 100, "delivered": 97, "empty": 2,
            "early": 0, "doubled": 1, "excused": 2, "lateness_ns": {"p50": 812, "error": 31} if state == "present" else None, **figures}


def test_there_is_a_case_for_each_source_of_interrupts_and_mode():
    document = full() | {"intervals": [
        interval("lapic", "one-shot"), interval("lapic", "one-shot", lateness_ns={"p50": 900, "error": 1200}, core=2),
        interval("lapic", "periodic"), interval("hpet0", "one-shot", "disabled", "In use by the firmware: not tested."),
        interval("pit0", "one-shot", lateness_ns=None), interval("pit0", "periodic"), interval("rtc", "periodic"),
        interval("hpet1", "one-shot", "absent", lateness_ns=None),
        interval("hpet2", "one-shot", expected=3, delivered=0, empty=0, doubled=0, excused=3, lateness_ns=None)]}
    document["findings"] += [finding("irq-missing", "fail", "pit0", "pit0: 3 never came."), finding("irq-late", "warn", "pit0", "pit0: late."),
                             finding("irq-doubled", "warn", "lapic", "lapic: doubled.")]
    document["behaviours"].append(behaviour("irq-rate", "rtc", "fail", "not_determined", "Too uneven."))
    one = "100 deadlines, 97 interrupts: 2 missed, 0 early, 1 doubled, 2 excused; late by 812 ns in the median, +-31."
    assert [case for case in cases.make_cases(document, None) if case.group == "timers"] == [
        ("timers", "lapic one-shot", "warn", "lapic: doubled."), ("timers", "lapic periodic", "warn", "lapic: doubled."),
        ("timers", "hpet0 one-shot", "skip", "disabled: In use by the firmware: not tested."),
        ("timers", "pit0 one-shot", "fail", "pit0: 3 never came. pit0: late."), ("timers", "pit0 periodic", "pass", one),
        ("timers", "rtc periodic", "skip", "not determined: irq-rate; " + one),
        ("timers", "hpet1 one-shot", "skip", "absent: not asked"),
        ("timers", "hpet2 one-shot", "skip", "no deadline counts: 3 deadlines, 0 interrupts: 0 missed, 0 early, 0 doubled, 3 excused.")]
    document["findings"] = []
    found = {case.name: case.text for case in cases.make_cases(document, None)}
    assert found["lapic one-shot"] == "200 deadlines, 194 interrupts: 4 missed, 0 early, 2 doubled, 4 excused; late by at most 2100 ns in the median."
    assert found["pit0 one-shot"] == "100 deadlines, 97 interrupts: 2 missed, 0 early, 1 doubled, 2 excused."
    for lateness, words in [({"p50": -900, "error": 20}, "early in the median."),
                            ({"p50": 900}, "late by 900 ns in the median, with an unknown error.")]:
        document["intervals"] = [interval("lapic", "one-shot", lateness_ns=lateness)]
        found = {case.name: case.text for case in cases.make_cases(document, None)}
        assert found["lapic one-shot"].endswith(f"2 excused; {words}")


def test_a_finding_adds_no_case_to_those_of_a_run_without_it():
    """A finding on a read method belongs to the case of its clock, and one on a broken timer to the cases of this timer."""
    document = full() | {"intervals": [interval("lapic", "one-shot"), interval("lapic", "periodic")]}
    document["clocks"].append({"id": "hpet_32", "main": "hpet", "verdict": "fail", "reason": None})
    sick = document | {"findings": [*document["findings"], finding("clock-slow", "warn", "hpet_32", "hpet_32 is slow."),
                                    finding("clock-broken", "fail", "lapic", "lapic: an access faulted.")]}
    healthy = document | {"other_rules": [{"rule": "clock-slow", "clock": "hpet", "obstacle": None}]}
    found = {(case.group, case.name): case for case in cases.make_cases(sick, None)}
    assert set(found) == {(case.group, case.name) for case in cases.make_cases(healthy, None)}
    assert found["rules", "clock-slow (hpet)"].outcome == "warn"
    assert {found["timers", f"lapic {mode}"].outcome for mode in ("one-shot", "periodic")} == {"fail"}


def test_there_is_a_case_for_each_clock_and_each_rule_and_one_for_the_run():
    assert cases.make_cases(full(), None) == EXPECTED


@pytest.mark.parametrize("verdict", ["warn", "fail"])
def test_a_rule_that_failed_without_a_finding_weighs_as_much_as_it_says_whatever_the_verdict(verdict):
    document = {**full(), "findings": [], "verdict": verdict}
    found = cases.make_cases(document, None)
    assert cases.Case("rules", "hpet-torn (hpet)", "fail", "3 were torn.") in found
    assert cases.Case("rules", "rtc-battery (rtc)", "warn", "VRT is 0.") in found


@pytest.mark.parametrize("verdict, outcome, text", [
    ("pass", "pass", ""), ("warn", "pass", ""), ("fail", "fail", "The verdict is fail.")])
def test_the_runs_own_case_is_what_the_exit_status_says(verdict, outcome, text):
    assert cases.make_cases(report(verdict), None)[-1] == ("run", "run", outcome, text)


@pytest.mark.parametrize("verdict, heading, text", [
    ("pass", "pass, but **worse than the baseline**", "It is worse than the baseline."),
    ("warn", "pass, with warnings, but **worse than the baseline**", "It is worse than the baseline."),
    ("fail", "**fail**, and **worse than the baseline**", "The verdict is fail. It is worse than the baseline."),
])
def test_a_run_that_is_worse_than_the_baseline_says_so_first_and_does_not_pass(verdict, heading, text):
    document = report(verdict)
    worse, same = (baseline.Comparison(report(verdict, clocks), document, 2)
                   for clocks in ((("tsc", "pass"), ("pit", "pass")), (("tsc", "pass"),)))
    assert summary.format_summary(document, None, worse).splitlines()[0] == f"## baretick: {heading}"
    assert "worse than" not in summary.format_summary(document, None, same)
    found = cases.make_cases(document, None, worse)
    assert found[-1] == ("run", "run", "fail", text)
    assert [case[1:3] for case in found if case.group == "baseline"] == [
        ("tsc", "pass"), ("pit", "fail"), ("machine", "pass")]


def test_a_run_that_was_not_done_is_one_error():
    assert cases.make_cases(reports.make_incomplete_report("no QEMU", None, 0), "no QEMU") == [("run", "run", "error", "no QEMU")]


# Tests of JUnit and TAP.

def test_junit_has_the_cases(run, fake, tmp_path):
    file = tmp_path / "junit.xml"
    done = run(*fake(spoken(full()), "sys.exit(35)"), "--junit", file)
    assert done.status == 1
    suite = xml.parse(file).getroot()
    assert [suite.get(key) for key in ("tests", "failures", "errors", "skipped")] == ["13", "3", "0", "4"]
    elements = {"pass": [], "warn": ["system-out"], "fail": ["failure"], "skip": ["skipped"]}
    listed, *found = list(suite)
    assert {each.get("name"): each.get("value") for each in listed} == cases.collect_properties(full())
    assert [(case.get("classname"), case.get("name")) for case in found] == [
        (f"baretick.{group}", name) for group, name, _, _ in EXPECTED]
    for case, (_, name, outcome, text) in zip(found, EXPECTED):
        assert [child.tag for child in case] == (elements[outcome] or (["system-out"] if text else [])), name
    assert suite.find("testcase[@name='hpet-torn (hpet)']/failure").get("message") == "hpet is torn."
    assert suite.find("testcase[@name='rtc-battery (rtc)']/system-out").text == "rtc has no battery."


def test_junit_of_a_run_that_was_not_done_or_was_refused_is_an_error(run, fake, tmp_path):
    file = tmp_path / "junit.xml"
    assert run(*fake(b"", "sys.exit(1)"), "--junit", file).status == 2
    suite = xml.parse(file).getroot()
    assert suite.get("errors") == "1"
    assert "QEMU ended with status 1" in suite.find("testcase/error").get("message")
    assert run(*fake(), "--firmware", "/nowhere/x.fd", "--junit", file).status == 2
    assert "/nowhere/x.fd" in xml.parse(file).getroot().find("testcase/error").get("message")


def test_junit_is_xml_whatever_the_machine_says():
    suite = xml.fromstring(junit.format_junit(cases.make_cases(hostile(full()), None), 1.5))
    assert suite.get("tests") == str(len(suite)) and suite.get("time") == "1.500"
    assert "<img" in suite.find("testcase/skipped").get("message")


def test_tap_has_stdout_to_itself(run, fake):
    done = run(*fake(spoken(full()), "sys.exit(35)"), "--tap")
    assert done.stdout.splitlines() == [
        "TAP version 13", "1..13", "ok 1 - clocks: tsc", "not ok 2 - clocks: hpet", "# fail: hpet is torn.",
        "ok 3 - clocks: pit # SKIP not there", "ok 4 - clocks: rtc", "# warn: rtc has no battery.",
        "ok 5 - clocks: acpi_pm # SKIP not determined: pm-glitch",
        "not ok 6 - rules: hpet-torn (hpet)", "# fail: hpet is torn.",
        "ok 7 - rules: rtc-battery (rtc)", "# warn: rtc has no battery.",
        "ok 8 - rules: core-missing", "# warn: Core 3 did not start.",
        "ok 9 - rules: hpet-period (hpet)", "# pass: 10 ns.",
        "ok 10 - rules: rtc-periodic (rtc)", "# pass: 8192 Hz.",
        "ok 11 - rules: rtc-update (rtc) # SKIP not checked: Away each time.",
        "ok 12 - rules: pm-glitch (acpi_pm) # SKIP not determined: 0 to 2 were off.",
        "not ok 13 - run: run", "# fail: The verdict is fail."]
    assert "the table" in done.stderr


def test_junit_names_the_machine_in_its_properties_as_far_as_the_report_does():
    assert cases.collect_properties(full()) == {
        "label": "rack 7", "vendor": "Example Inc.", "product": "Server 9", "serial": "SN-1", "cpu": "Some CPU",
        "options": "profile=quick clocks=tsc,hpet", "stolen_percent": "61", "reliable_tails": "false",
        "quality": "61.0 % of the observed time was stolen: latency tails are unreliable."}
    assert set(cases.collect_properties({**full(), "machine": None, "options": None, "quality": None})) == set()


def test_no_two_cases_have_one_name_in_tap():
    compared = baseline.Comparison(full(), full(), 2)
    names = re.findall(r"ok \d+ - ([^#\n]*)", "\n".join(tap.format_tap(cases.make_cases(full(), None, compared))))
    assert {"clocks: tsc", "baseline: tsc", "run: run"} < set(names) and len(set(names)) == len(names)


def test_tap_is_one_line_a_case_whatever_the_machine_says():
    found = cases.make_cases(hostile(full()), None)
    lines = tap.format_tap(found)
    points = [line for line in lines if re.match(r"(not )?ok \d+ - ", line)]
    assert len(points) == len(found)
    assert [line for line in points if " # SKIP" in line] == [line for line in points if "#" in line]
    assert all(line.isprintable() for line in lines)


# Tests of the job summary.

@pytest.mark.parametrize("skew, said", [
    ({"within_ns": None, "text": "not synchronised at 3.1 s, 1 of 5 cores differs from the majority"},
     "TSCs of the cores: not synchronised at 3.1 s, 1 of 5 cores differs from the majority (6 pairs of cores, no warps)."),
    ({"within_ns": None, "text": None}, "TSCs of the cores: not judged (6 pairs of cores, no warps)."),
])
def test_the_summary_says_of_cores_that_differ_what_the_report_says(skew, said):
    assert summary.format_summary({**full(), "skew": {"pairs": 6, "warps": 0, **skew}}, None).splitlines()[-1] == said


def test_the_summary_says_why_promises_are_not_judged():
    unjudged = "2 not checked (2 need bare metal)"
    assert f"Specified behaviour: 2 passed, 2 failed; {unjudged}." in summary.format_summary({**full(), "unjudged": unjudged}, None).splitlines()


def test_the_summary_has_verdict_clocks_findings_recommendation_and_skew(run, fake, tmp_path):
    file = tmp_path / "summary.md"
    file.write_text("what an earlier step said\n")
    run(*fake(spoken(full()), "sys.exit(35)"), "--summary", file)
    assert file.read_text().splitlines() == [
        "what an earlier step said",
        "## baretick: **fail**", "",
        "61.0 % of the observed time was stolen: latency tails are unreliable.", "",
        "Machine: rack 7, Example Inc., Server 9, serial number SN-1, Some CPU, tcg, EDK II, 4 cores", "",
        "Options: profile=quick clocks=tsc,hpet", "",
        "| clock | rate | resolution | a read | median latency | 99 % | loop | verdict |",
        "|---|--:|--:|--:|--:|--:|--:|---|",
        "| tsc | 2.445424 GHz | 0.409 ns | 20.25 ns | 30 ns | 50 ns | 27.81 ns | pass |",
        "| hpet | - | - | - | - | - | - | fail |",
        "| pit | - | - | - | - | - | - | absent: not there |",
        "| rtc | - | - | - | - | - | - | warn |",
        "| acpi_pm | - | - | - | - | - | - | not determined (1 rule) |", "",
        "Specified behaviour: 2 passed, 2 failed, 1 not determined, 2 not checked.", "",
        "- fail, hpet-torn: hpet is torn.",
        "- warn, rtc-battery: rtc has no battery.",
        "- warn, core-missing: Core 3 did not start.", "",
        "Best clock: **tsc**, 30 ns a read.", "",
        "Linux before 6.12 and Linux 6.12 to 7.0 take **acpi_pm**, rating 200.", "",
        "To avoid: **hpet**, hpet-torn: see the finding.", "",
        "No two cores' TSCs differ by more than 42 ns (6 pairs of cores, no warps)."]


def test_the_summary_of_a_run_that_was_not_done_says_why(run, fake, tmp_path):
    file = tmp_path / "summary.md"
    run(*fake(b"", "sys.exit(1)"), "--summary", file)
    assert file.read_text() == "## baretick: **incomplete**\n\nReason: QEMU ended with status 1\n"


def test_nothing_that_the_machine_says_is_markup_in_the_summary():
    lines = summary.format_summary(hostile(full()), None).splitlines()
    ours = summary.format_summary(full(), None).splitlines()
    assert len(lines) == len(ours)
    for line, plain in zip(lines, ours):
        assert line.isprintable() and line.isascii()
        assert not set("<>[]\\@`") & set(line) and "www." not in line, line
        assert line.count("|") == plain.count("|")
    assert html.unescape("\n".join(lines)).count("<img src=x onerror=alert(1)>") > 10


def test_the_summary_stays_within_what_github_shows():
    document = full()
    long = "x" * 100_000
    document["findings"] = [finding("rate-off", "warn", "tsc", long)] * 5000
    document["clocks"] = document["clocks"] * 5000
    document["advice"] = [{"clock": long, "avoid": True, "reason": long}] * 5000
    assert len(summary.format_summary(document, None)) < 1 << 20


# Tests of a report's page.

def test_the_page_holds_the_report_and_no_string_ends_its_script():
    document = hostile(full())
    document["clocks"][0]["latency"]["exact"] = [{"ns": 1, "count": 1}] * 1000
    document["findings"][0]["text"] += '"exact": [{"ns": 1}]\n  "exact": [], '
    body = json.dumps(document, indent=2).encode()
    made = page.insert_report(b"<script>" + page.MARK + b"</script>", body)
    assert made.count(b"<") == 2
    held = json.loads(made[len("<script>"):-len("</script>")])
    document["clocks"][0]["latency"]["exact"] = None
    assert held == document and len(made) < 10_000


def test_the_page_of_a_report_of_any_depth_holds_it():
    document = {**report(), "news": "<"}
    body = json.dumps(document).encode().replace(b'"<"', b"[" * 900 + b'"<"' + b"]" * 900)
    made = page.insert_report(page.MARK, body)
    assert b"<" not in made and made.count(b"[") > 900


@pytest.mark.parametrize("shown, matrices", [("first", [1, None, None]), ("last", [None, None, 3]), (None, [1, None, None])])
def test_the_page_holds_the_pairs_of_the_tournament_that_is_shown(shown, matrices):
    document = {**report(), "skew": {"shown": shown, "matrix": 1, "later": [{"matrix": 2}, {"matrix": 3}]}}
    skew = json.loads(page.insert_report(page.MARK, json.dumps(document).encode()))["skew"]
    assert [each["matrix"] for each in (skew, *skew["later"])] == matrices


def test_a_page_without_a_template_shows_the_text():
    made = page.make_minimal_page(b"<b> & \xff\n").decode()
    assert "&lt;b&gt; &amp; \ufffd" in made and "<b>" not in made


# Tests of valid and invalid reports.

def with_news(value):
    """Return VALUE as a later release might write it: each object has one key more."""
    if isinstance(value, dict):
        return {**{key: with_news(each) for key, each in value.items()}, "news": [{"of": 1}]}
    return [with_news(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", ["clean", "sick"])
def test_keys_that_are_not_known_are_passed_over(name):
    document = json.loads((ROOT / "tests" / "goldens" / f"{name}.json").read_text())
    later = reports.parse_report(json.dumps(with_news(document)).encode())
    assert cases.make_cases(later, None) == cases.make_cases(document, None)
    assert baseline.Comparison(document, later, 1).regression_sentences == []


@pytest.mark.parametrize("body, sentence", [
    (b"{,}", "is not JSON in ASCII: "),
    (b"[" * 200_000, "is not JSON in ASCII: "),
    (b'{"schema": "baretick.report/1", "verdict": NaN}', "is not JSON in ASCII: NaN is no number"),
    (b"\xff", "is not JSON in ASCII: "),
    (b"[]", "is not of schema baretick.report/1"),
    (b'{"schema": "baretick.report/3"}', 'is not of schema baretick.report/1, but of "baretick.report/3"'),
    (b'{"schema": "baretick.report/1", "clocks": []}', "it has no verdict"),
    (b'{"schema": "baretick.report/1", "verdict": "pass"}', "it has no clocks"),
    (b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": {}}', "clocks is no list"),
    (b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [{"verdict": "pass"}]}', "clocks[0] has no id"),
    (b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [{"id": "a", "verdict": 1}]}',
     "clocks[0].verdict is 1"),
    (b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [{"id": "a", "verdict": "pass", '
     b'"latency": {"p50_ns": "1"}}]}', 'clocks[0].latency.p50_ns is "1"'),
])
def test_what_is_no_report_is_refused_with_the_place(body, sentence):
    with pytest.raises(ValueError) as error:
        reports.parse_report(body)
    assert sentence in str(error.value)


@pytest.mark.parametrize("body", [
    b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [], "news": %s}',
    b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [{"id": %s}]}',
    b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": %s}',
], ids=["unknown", "id", "clocks"])
@pytest.mark.parametrize("depth", [100, 900, 950, 980, 5000])
def test_a_report_of_any_depth_is_read_or_refused(body, depth):
    nested = body % (b"[" * depth + b"]" * depth)
    try:
        found = cases.make_cases(reports.parse_report(nested), None)
    except ValueError as error:
        assert str(error).startswith("is not ")
    else:
        assert found[-1] == ("run", "run", "pass", "")


@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 400, "9" * 5000, "Infinity"])
def test_a_number_that_is_none_is_refused(number):
    with pytest.raises(ValueError, match="is not JSON in ASCII"):
        reports.parse_report(b'{"schema": "baretick.report/1", "verdict": "pass", "clocks": [], "news": %s}' % number.encode())


def places(value, path=()):
    """Yield the path of each value in VALUE. Only the first item of each list is included, because the items have the
    same form."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list) and value:
        del value[1:]
        yield from places(value[0], (*path, 0))


def put(value, path, other):
    """Return VALUE with OTHER at PATH. If OTHER is GONE, the value at PATH is removed."""
    if not path:
        return other
    changed = dict(value) if isinstance(value, dict) else list(value)
    if len(path) == 1 and other is GONE:
        del changed[path[0]]
    else:
        changed[path[0]] = put(value[path[0]], path[1:], other)
    return changed


GONE = object()
SHAPES = [GONE, None, True, HOSTILE, [None], {"a": [1]}]
NUMBERS = [0, -1, 10 ** 300, 5e-324]
NEEDED = {("schema",), ("verdict",), ("options", "clocks"), ("clocks",), ("clocks", 0, "id"), ("clocks", 0, "verdict"),
          ("behaviours", 0, "rule"), ("findings", 0, "rule"), ("phases", 0, "id")}


def read_by_all(report, other):
    comparison = baseline.Comparison(report, other, 2)
    found = cases.make_cases(report, None, comparison)
    assert junit.format_junit(found, 1) and tap.format_tap(found) and summary.format_summary(report, None, comparison)


def test_whatever_stands_at_any_place_is_read_or_refused_and_what_is_missing_was_not_measured():
    whole = json.loads((ROOT / "tests" / "goldens" / "sick.json").read_text())
    every = [path for path in places(whole) if path]
    assert len(every) > 150 and NEEDED < set(every)
    before, refused = reports.parse_report(json.dumps(whole).encode()), set()
    for path, odd in itertools.product(every, SHAPES + NUMBERS):
        try:
            report = reports.parse_report(json.dumps(put(whole, path, odd)).encode())
        except ValueError as error:
            assert str(error).startswith("is not ")
            if odd in (None, GONE) and path[-1] != 0:
                refused.add(path)
            continue
        read_by_all(report, before)
        read_by_all(before, report)
    assert refused == NEEDED


def test_stolen_time_is_said_beside_a_baseline():
    notes = baseline.Comparison(report(), full(), 2).notes
    assert "this run: 61.0 % of the observed time was stolen: latency tails are unreliable." in notes
    notes = baseline.Comparison(full(), report(), 2).notes
    assert "the baseline: 61.0 % of the observed time was stolen: latency tails are unreliable." in notes
    reliable = {**full(), "quality": {"reliable_tails": True, "text": "No stolen time was observed."}}
    assert not [note for note in baseline.Comparison(reliable, reliable, 2).notes if "stolen" in note]


@pytest.mark.parametrize("was, now", [(40.25, 3), (3, 40.25), (10.1, None)])
def test_a_comparison_of_runs_with_much_stolen_time_is_worth_little(was, now):
    before, after = ({**report(), "quality": {"stolen_percent": percent}} for percent in (was, now))
    found = baseline.Comparison(before, after, 2)
    assert found.notes[0] == found.doubt == (
        f"the comparison is worth little: {was:.3g} % of the observed time was stolen in the baseline, {now or 0:.3g} % in this run; "
        "--max-stolen gives such a run exit status 2")
    words = summary.format_summary(after, None, found)
    assert "Nothing was seen to be worse, but much time was stolen." in words and "Note: the comparison is worth little: " in words


@pytest.mark.parametrize("was, now", [(10, 10), (0, 2.5), (None, None), ("40", True)])
def test_a_comparison_of_quiet_runs_has_no_doubt(was, now):
    before, after = ({**report(), "quality": {"stolen_percent": percent}} for percent in (was, now))
    found = baseline.Comparison(before, after, 2)
    assert found.doubt is None and found.notes == []
    assert "\nNothing is worse.\n" in summary.format_summary(after, None, found)


@pytest.mark.parametrize("severity", ["x\nok 99", "pass", "skip", 5])
def test_an_unknown_severity_is_an_error_and_never_a_pass(severity):
    found = {**finding("irq-late", severity, "hpet0", "It is late."), "clock": "hpet0"}
    document = {**report(), "findings": [found], "behaviours": [behaviour("irq-late", "hpet0", severity, "failed", "")],
                "intervals": [{"source": "hpet0", "mode": "one-shot", "state": "present"}]}
    with pytest.raises(ValueError, match=r"\.severity is"):
        reports.parse_report(json.dumps(document).encode())
    made = cases.make_cases(document, None)
    assert [case.outcome for case in made if case.group in ("timers", "rules")] == ["error", "error"]
    lines = tap.format_tap(made)
    assert all(line.startswith(("TAP", "1..", "ok ", "not ok ", "# ")) and "\n" not in line for line in lines)
    assert sum(line.startswith("not ok") for line in lines) == 2


@pytest.mark.parametrize("change", [{"verdict": "good"}, {"clocks": [{"id": "tsc", "verdict": "PASS"}]}, {"behaviours": [{"rule": "rate", "outcome": "passed\n"}]}])
def test_an_unknown_word_that_decides_is_refused(change):
    with pytest.raises(ValueError, match='is "'):
        reports.parse_report(json.dumps({**report(), **change}).encode())
