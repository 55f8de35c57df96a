"""Compares a run with an earlier run. If something became worse, both figures must be printed. A change within the
error must not be reported."""
import json

import pytest

import compare_cases
from harness import report, spoken
from results import baseline, cases
from results.baseline import Comparison


def clock(name="hpet", verdict="pass", p50=400, least=380, loop=430.0, hit=0, step=10, hz=(1e8, 10), claimed=1e8):
    """Return a clock with these latencies, resolution and rate. HZ has the rate, and its distance to both ends of its
    interval."""
    value, error = hz
    ppm = error / value * 1e6
    off = claimed and (value / claimed - 1) * 1e6
    return {"id": name, "verdict": verdict, "reason": None, "claimed_hz": claimed, "resolution_ns": step,
            "step_ticks": 1, "measured_hz": {"value": value, "low": value - error, "high": value + error},
            "error_ppm": claimed and {"value": off, "low": off - ppm, "high": off + ppm},
            "latency": {"min_ns": least, "p50_ns": p50, "p99_ns": 2 * p50, "loop_ns": loop, "clean": {"hit": hit}}}


def document(*clocks, verdict="pass", findings=(), asked=(), **machine):
    return {"schema": "baretick.report/1", "verdict": verdict, "clocks": list(clocks),
            "options": {"clocks": list(asked)}, "findings": [{"rule": rule, "severity": "warn", "clock": name, "text": ""} for rule, name in findings],
            "machine": {"cpu": "Some CPU", "hypervisor": None, "accelerator": None, "cores_started": 4,
                        "tsc_hz": 1e9, **machine}}


def compare(before, now, factor=baseline.TOLERANCE):
    return Comparison(before, now, factor)


def worse(before, now, factor=baseline.TOLERANCE):
    return compare(document(before), document(now), factor).regression_sentences


@pytest.mark.parametrize("before, now, worse", [pytest.param(*pair, id=name) for name, *pair in compare_cases.make_pairs()])
def test_the_cases_that_the_page_shares(before, now, worse):
    """tests/page/test_page.py has the same cases."""
    found = {("the run" if each.name == baseline.THE_RUN else each.name, each.what) for each in compare(before, now).regressions}
    assert found == worse


def test_a_run_is_not_worse_than_itself():
    one = document(clock(), clock("tsc", claimed=None), verdict="warn", findings=[("rtc-battery", "hpet")])
    assert compare(one, one).regression_sentences == [] and compare(one, one).notes == []


# Tests of verdicts and clocks.

def test_a_verdict_that_became_worse_is_named_and_all_rules_that_are_broken_now():
    findings = [("hpet-torn", "hpet"), ("rate-off", "hpet"), ("hpet-torn", "hpet"), ("core-missing", None)]
    now = compare(document(clock()), document(clock(verdict="warn"), verdict="warn", findings=findings))
    assert now.by_name == {"hpet": ["hpet is warn, it was pass", "hpet breaks hpet-torn, rate-off, and did not before"],
                           "machine": ["the verdict is warn, it was pass", "the machine breaks core-missing, and did not before"]}


def test_each_tested_source_of_interrupts_has_a_list():
    before, now = document(clock()), document(clock(), findings=[("irq-late", "pit0")])
    assert compare(before, now).by_name.get("pit0") is None
    before["intervals"], now["intervals"] = [timer("pit0"), timer()], [timer("pit0"), timer()]
    assert compare(before, now).by_name["pit0"] == ["pit0 breaks irq-late, and did not before"]
    assert compare(before, now).by_name["hpet0"] == [] and compare(now, now).regression_sentences == []


# Tests of stated rates.

def claiming(outcome, ppm=1740.0, source="CPUID 15h", on="tsc"):
    return {"source": source, "clock": on, "outcome": outcome, "error_ppm": ppm and {"value": ppm, "low": ppm - 1, "high": ppm + 1}}


def claimed(*rows):
    return document(clock()) | {"claims": list(rows)}


def test_a_claim_that_was_right_and_is_wrong_is_named_with_its_error():
    right, wrong = claimed(claiming("passed", 1.0)), claimed(claiming("failed"))
    assert compare(right, wrong).regression_sentences == ["the claim of CPUID 15h on tsc is wrong by 1740 ppm, and was not before"]
    assert compare(right, wrong).by_name["machine"] == compare(right, wrong).regression_sentences
    assert compare(wrong, right).regression_sentences == [] and compare(wrong, wrong).regression_sentences == []


def test_a_report_without_claims_is_compared_as_before():
    assert compare(document(clock()), claimed(claiming("failed"))).regression_sentences == []
    assert compare(claimed(claiming("passed", 1.0)), document(clock())).regression_sentences == []


# Tests of sources of timer interrupts.

def timer(source="hpet0", least=800, p50=1000, error=50, state="present", core=None, mode="one-shot", reason=None):
    return {"source": source, "mode": mode, "core": core, "state": state, "reason": reason, "asked": {"period_ns": 100000, "count": 200},
            "lateness_ns": {"min": least, "p50": p50, "error": error} if state == "present" else None}


def timed(*rows, accelerator="kvm", **options):
    made = document(clock(), accelerator=accelerator)
    made["options"].update({"profile": "quick", "irq": "auto", **options})
    return made | {"intervals": [timer("self_ipi", 300, 300), *rows], "cores": [{"apic_id": 0}]}


def test_a_source_that_no_longer_sends_interrupts_is_named_with_the_reason():
    before, gone = timed(timer()), timed(timer(state="disabled", reason="In use by the firmware: not tested."))
    assert compare(before, gone).regression_sentences == ["hpet0 sends no interrupts any more, it is disabled: In use by the firmware: not tested."]
    assert compare(before, timed()).regression_sentences == ["hpet0 sends no interrupts any more, it is not there"]
    assert compare(gone, gone).regression_sentences == compare(gone, before).regression_sentences == []


@pytest.mark.parametrize("options", [{"irq": "off"}, {"profile": "standard"}])
def test_a_source_that_was_not_asked_for_is_no_loss_but_a_note(options):
    now = compare(timed(timer()), timed(**options))
    assert now.regression_sentences == [] and "not asked for: hpet0's interrupts" in now.notes


def test_later_interrupts_are_named_with_both_medians():
    assert compare(timed(timer(p50=1000, error=50)), timed(timer(least=2451, p50=9000, error=50))).regression_sentences == [
        "hpet0 of 100000 ns, one-shot, is late by 9000 ns (median), it was by 1000 ns: more than 2 times that"]


def test_how_late_an_emulators_interrupts_come_is_not_compared_but_said():
    now = compare(timed(timer(), accelerator="tcg"), timed(timer(least=900000, p50=900000), accelerator="tcg"))
    assert now.regression_sentences == [] and "how late interrupts come is not compared: in an emulator it depends on the host" in now.notes


def test_a_clock_that_went_is_named_with_the_reason():
    gone = {"id": "hpet", "verdict": "absent", "reason": "no HPET table"}
    assert worse(clock(), gone) == ["hpet is gone (no HPET table); its verdict in the baseline was pass"]
    assert compare(document(clock()), document()).regression_sentences == ["hpet is gone; its verdict in the baseline was pass"]
    assert worse(gone, clock()) == []


def test_a_clock_that_the_baseline_lacks_does_not_pass_in_silence():
    absent = {"id": "pit", "verdict": "absent", "reason": "gone"}
    found = compare(document(clock(), absent), document(clock(), clock("tsc"), clock("pit")))
    assert found.regression_sentences == [] and found.notes == ["not in the baseline, so not compared: tsc, pit"]
    assert compare(document(clock(), clock("tsc")), document(clock())).notes == []


def test_all_clocks_that_were_not_asked_for_are_one_note():
    found = compare(document(clock(), clock("tsc"), clock("pit")), document(clock("tsc"), asked=["tsc"]))
    assert found.regression_sentences == [] and found.notes == ["not asked for: hpet, pit"]


def test_two_sentences_on_one_clock_are_told_apart_in_its_case():
    now = document(clock(p50=1200, least=1100, step=80))
    case, = (case for case in cases.make_cases(now, None, compare(document(clock()), now))
             if case.group == "baseline" and case.text)
    assert case.text.startswith("hpet has a median latency of 1200 ns") and ": more than 2 times that; hpet has a resolution" in case.text


# Tests of latencies.

def test_reads_beyond_the_factor_are_named_with_both_figures():
    assert worse(clock(), clock(p50=1200, least=1100)) == [
        "hpet has a median latency of 1200 ns, it was 400 ns: more than 2 times that"]
    assert worse(clock(p50=1200, least=1100), clock()) == []


@pytest.mark.parametrize("factor, accused", [(1, True), (1.4, True), (1.5, False), (3, False)])
def test_the_tolerance_is_the_factor(factor, accused):
    assert bool(worse(clock(), clock(p50=580, least=570), factor)) == accused


def test_a_slower_loop_is_named_with_both_figures():
    assert worse(clock(), clock(loop=900.0)) == ["hpet has a loop time of 900 ns, it was 430 ns: more than 2 times that"]


def test_a_costlier_read_is_a_note_for_it_depends_on_the_load():
    before, now = (clock() | {"cost": {"read_ns": {"value": cost, "low": cost - 10, "high": cost + 10}}} for cost in (300, 900))
    found = compare(document(before), document(now))
    assert found.regression_sentences == [] and found.notes == ["hpet has a read cost of 900 ns, it was 300 ns: more than 2 times that"]


def test_latencies_of_another_accelerator_or_hypervisor_are_not_compared_and_a_note_says_so():
    slow = clock(p50=4000, least=3900)
    found = compare(document(clock(), accelerator="kvm"), document(slow, accelerator="tcg"))
    assert found.regression_sentences == [] and found.notes == [
        "another machine: accelerator tcg, it was kvm",
        "latencies are not compared: they depend on the machine, which differs"]
    assert compare(document(clock()), document(slow, hypervisor="KVMKVMKVM")).regression_sentences == []


def test_another_cpu_is_a_note_and_is_compared():
    found = compare(document(clock()), document(clock(p50=4000, least=3900), cpu="Other CPU", cores_started=2))
    assert len(found.regression_sentences) == 1
    assert found.notes == ["another machine: cpu Other CPU, it was Some CPU; cores_started 2, it was 4"]


def test_ticks_are_no_nanoseconds():
    found = compare(document(clock(), tsc_hz=None), document(clock(p50=4000, least=3900)))
    assert found.regression_sentences == [] and "in ticks only" in found.notes[0]


@pytest.mark.parametrize("name", ["{}", "{0.__class__}", "{", "%s"])
def test_a_name_from_the_report_is_no_format(name):
    """A guest may send any name. A figure that it left out is shown as a question mark."""
    before, now = document(clock(name)), document(clock(name, least=1100))
    now["clocks"][0]["latency"]["p50_ns"] = None
    assert compare(before, now).regression_sentences == [f"{name} has a median latency of ? ns, it was 400 ns: more than 2 times that"]
    late = timed(timer(name, least=9000, p50=9000, mode=name))
    assert compare(timed(timer(name, mode=name)), late).regression_sentences == [
        f"{name} of 100000 ns, {name}, is late by 9000 ns (median), it was by 1000 ns: more than 2 times that"]


# Tests of steps and rates of clocks.

def test_a_coarser_step_is_named():
    assert worse(clock(), clock(step=80)) == ["hpet has a resolution of 80 ns, it was 10 ns: more than 2 times that"]


def test_a_step_is_compared_in_ticks_where_its_time_is_not_known():
    before, now = clock(step=None), clock(step=None)
    now["step_ticks"] = 608
    assert worse(before, now) == ["hpet has a resolution of 608 ticks, it was 1 ticks: more than 2 times that"]


def test_a_rate_proven_to_have_moved_is_named_with_both_intervals():
    assert worse(clock(), clock(hz=(100_060_000, 1000))) == [
        "hpet runs at 100059000 to 100061000 Hz, it ran at 99999990 to 100000010 Hz: more than 500 ppm faster"]


def test_a_rate_without_a_claim_is_compared_on_the_same_machine_and_else_a_note():
    before, now = (clock("tsc", claimed=None, hz=(hz, 100)) for hz in (2.4e9, 2.8e9))
    assert len(worse(before, now)) == 1
    for machine in {"cpu": "Other CPU"}, {"accelerator": "tcg"}:
        found = compare(document(before, **{**machine, "cpu": "Some CPU"}), document(now, **machine))
        assert found.regression_sentences == []
        assert found.notes[-1].startswith("tsc runs at 2799999900 to 2800000100 Hz, it ran at 2399999900 to ")


# Tests of invalid baselines, and of the runner's handling of baselines.

@pytest.mark.parametrize("body, sentence", [
    (b"", "is not JSON in ASCII"),
    (b"{}", "is not of schema baretick.report/1"),
    (json.dumps(report("incomplete", ())).encode(),
     "is a report of a run that is incomplete: there is nothing to compare with"),
    (json.dumps({**report(), "clocks": [7]}).encode(), "clocks[0] is no object"),
])
def test_an_invalid_baseline_is_named_before_anything_starts(run, fake, tmp_path, body, sentence):
    path = tmp_path / "before.json"
    path.write_bytes(body)
    done = run(*fake(spoken()), "--baseline", path)
    assert done.status == 2
    assert done.stderr.startswith(f"qemu/run: --baseline: {path} ") and done.stderr.count("\n") == 1
    assert sentence in done.stderr and not (tmp_path / "argv").exists()


def test_the_runner_names_what_is_worse_everywhere_and_ends_with_1(run, fake, tmp_path):
    before, file, words = tmp_path / "before.json", tmp_path / "junit.xml", tmp_path / "summary.md"
    before.write_text(json.dumps(document(clock(), clock("tsc"))))
    now = document(clock(p50=1200, least=1100), clock("tsc"), cpu="Other CPU")
    arguments = ["--baseline", before, "--junit", file, "--summary", words]
    sentence = "hpet has a median latency of 1200 ns, it was 400 ns: more than 2 times that"
    done = run(*fake(spoken(now)), *arguments)
    assert done.status == 1
    assert done.stderr == ("qemu/run: about the comparison: another machine: cpu Other CPU, it was Some CPU\n"
                           f"qemu/run: worse than the baseline: {sentence}\n")
    assert f'classname="baretick.baseline" name="hpet"><failure message="{sentence}"' in file.read_text()
    assert 'classname="baretick.baseline" name="tsc" />' in file.read_text()
    assert "### Comparison with the baseline\n\n- hpet has a median latency of 1200 ns" in words.read_text()
    done_again = run(*fake(spoken(now)), *arguments, "--tolerance", "3")
    assert done_again.status == 0 and done_again.stderr.endswith("\nqemu/run: nothing is worse than the baseline\n")
    # the comparison does not change the verdict of the run itself
    assert json.loads(done.file("report.json"))["verdict"] == "pass"


def test_a_run_with_much_stolen_time_is_only_seen_to_be_no_worse(run, fake, tmp_path):
    before = tmp_path / "before.json"
    now = {**document(clock()), "quality": {"stolen_percent": 40.25}}
    before.write_text(json.dumps(now))
    done = run(*fake(spoken(now)), "--baseline", before)
    assert done.status == 0
    assert done.stderr.splitlines()[-1] == "qemu/run: nothing was seen to be worse than the baseline, but much time was stolen"


def test_a_run_that_was_not_done_is_not_compared(run, fake, tmp_path):
    before = tmp_path / "before.json"
    before.write_text(json.dumps(document(clock())))
    done = run(*fake(b"", "sys.exit(1)"), "--baseline", before)
    assert done.status == 2 and "worse" not in done.stderr


def test_the_last_run_in_the_same_folder_is_a_baseline(run, fake, tmp_path):
    out = tmp_path / "again"
    beside = ["--out", out, "--baseline", out / "report.json"]
    assert run(*fake(spoken(document(clock()))), "--out", out).status == 0
    assert run(*fake(spoken(document(clock()))), *beside).status == 0
    done = run(*fake(spoken(document(clock(p50=1200, least=1100)))), *beside)
    assert done.status == 1 and "has a median latency of 1200 ns, it was 400 ns" in done.stderr
