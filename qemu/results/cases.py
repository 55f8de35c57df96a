"""Converts a report to test cases in the formats JUnit and TAP, for CI services and other programs that count tests."""
from typing import NamedTuple

from results.reports import ORDER


class Case(NamedTuple):
    group: str    # one of: clocks, timers, rules, baseline, event, run
    name: str
    outcome: str  # one of: pass, warn, fail, skip, error
    text: str


SEVERITIES = ("warn", "fail", "error")  # in ascending order


def _get_severity(row):
    """Return the severity of ROW, a finding or a failed rule. An unknown word is an error, because it could hide a failure."""
    word = row.get("severity") or "warn"
    return word if word in SEVERITIES else "error"


def make_cases(report, problem, comparison=None, events=(), fail_on="fail"):
    """Return the test cases: one for each clock, for each source of interrupts and mode, for each rule that was checked or
    failed, and for the run.

    PROBLEM is the reason if the run was not done. COMPARISON is the comparison with a baseline, or None. EVENTS are the
    requested events, each with its text, its problem, and its result as a string. FAIL_ON is the lowest verdict that fails a
    case.
    """
    texts, undetermined = {}, {}  # indexed by clock, because searching the lists for each clock would be slow
    for finding in report.get("findings") or []:
        texts.setdefault(finding.get("clock"), []).append(finding.get("text") or finding["rule"])
    for row in report.get("behaviours") or []:
        if row.get("outcome") == "not_determined":
            undetermined.setdefault(row.get("clock"), []).append(row["rule"])
    found = [_make_clock_case(clock, *(each.get(clock["id"]) or each.get(clock.get("main") or clock["id"], []) for each in (texts, undetermined)))
             for clock in report["clocks"]]
    found += _make_timer_cases(report, undetermined)
    found += _make_rule_cases(report)
    if comparison:
        found += [Case("baseline", name, "fail" if sentences else "pass", "; ".join(sentences))
                  for name, sentences in comparison.by_name.items()]
    found += [Case("event", event.text, "fail" if event.problem else "pass", str(event)) for event in events]
    if fail_on == "warn":
        found = [case._replace(outcome="fail") if case.outcome == "warn" else case for case in found]
    return found + [_make_run_case(report, problem, comparison, fail_on)]


def collect_properties(report):
    """Return the properties of the run as a dictionary: the machine, the options of the user, the stolen time."""
    quality = report.get("quality") or {}
    machine, options = report.get("machine") or {}, report.get("options") or {}
    identity = machine.get("identity") or {}
    known = {"label": options.get("label"), "vendor": identity.get("vendor"), "product": identity.get("product"),
             "serial": identity.get("serial"), "cpu": machine.get("cpu"),
             "options": options.get("given"), "quality": quality.get("text"),
             "stolen_percent": quality.get("stolen_percent"), "reliable_tails": quality.get("reliable_tails")}
    return {name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in known.items() if value is not None}


def make_case_of_unfinished_run(problem):
    return Case("run", "run", "error", problem)


def _make_run_case(report, problem, comparison, fail_on):
    """Return the test case for the whole run. It passes if the run's exit status is 0."""
    if problem:
        return make_case_of_unfinished_run(problem)
    wrong = [f"The verdict is {report['verdict']}."] if report["verdict"] in ("fail", fail_on) else []
    if comparison and comparison.regression_sentences:
        wrong.append("It is worse than the baseline.")
    return Case("run", "run", "fail" if wrong else "pass", " ".join(wrong))


def _make_clock_case(clock, texts, undetermined):
    verdict = clock.get("verdict")
    if verdict == "absent":
        return Case("clocks", clock["id"], "skip", clock.get("reason") or "absent")
    if verdict not in ORDER:
        return Case("clocks", clock["id"], "error", f"its verdict is {verdict}")
    if verdict == "pass" and clock.get("not_determined"):
        return Case("clocks", clock["id"], "skip", "not determined: " + ", ".join(dict.fromkeys(undetermined)))
    return Case("clocks", clock["id"], verdict, " ".join(texts))


SHOTS, PERIODS = "one-shot", "periodic"
MODES = {"irq-missing": SHOTS, "irq-early": SHOTS, "irq-late": SHOTS, "irq-lost": PERIODS, "irq-rate": PERIODS}


def _make_timer_cases(report, undetermined):
    """Yield a test case for each source of interrupts and mode. A case is about all tested cores and periods."""
    rows, found = {}, {}
    for row in report.get("intervals") or []:
        rows.setdefault((row.get("source"), row.get("mode")), []).append(row)
    for finding in report.get("findings") or []:
        if finding["rule"].startswith("irq-") or _is_only_about_timer(finding, report):
            found.setdefault(finding.get("clock"), []).append(finding)
    for (source, mode), tested in rows.items():
        of_mode = [each for each in found.get(source, []) if MODES.get(each["rule"], mode) == mode]
        left = [rule for rule in undetermined.get(source, []) if rule.startswith("irq-") and MODES.get(rule, mode) == mode]
        yield Case("timers", f"{source} {mode}", *_get_timer_outcome(tested, of_mode, left))


def _is_only_about_timer(finding, report):
    """Return True if FINDING is on a source of interrupts that broke, and not on a clock. Only the cases of the source have it."""
    return finding["rule"] == "clock-broken" and finding.get("clock") not in [None, *(clock["id"] for clock in report["clocks"])]


def _get_timer_outcome(tested, found, undetermined):
    """Return (outcome, text) of a timer's test case. TESTED are its rows of `intervals`, FOUND are its findings, and UNDETERMINED
    are the names of its rules whose outcome is not determined.
    """
    present = [row for row in tested if row.get("state") == "present" and not row.get("reason")]
    if found:
        return (max(map(_get_severity, found), key=SEVERITIES.index),
                " ".join(finding.get("text") or finding["rule"] for finding in found))
    if not present:
        state = "not asked" if tested[0].get("state") == "present" else tested[0].get("state")
        return "skip", f"{state}: {tested[0].get('reason') or 'not asked'}"
    counts = _format_interrupt_counts(present)
    if 0 < _sum_counts(present, "expected") <= _sum_counts(present, "excused"):
        return "skip", f"no deadline counts: {counts}"
    return ("skip", f"not determined: {', '.join(dict.fromkeys(undetermined))}; {counts}") if undetermined else ("pass", counts)


def _sum_counts(rows, key):
    return sum(row.get(key) or 0 for row in rows)


def _format_interrupt_counts(rows):
    """Return a sentence with the sums of the rows' counts, and the largest of their median latenesses."""
    came = [row["lateness_ns"] for row in rows if row.get("lateness_ns")]
    late = max((each for each in came if each.get("p50") is not None), key=lambda each: each["p50"], default=None)
    sums = {key: _sum_counts(rows, key) for key in ("expected", "delivered", "empty", "early", "doubled", "excused")}
    counts = ("{expected} deadlines, {delivered} interrupts: {empty} missed, {early} early, {doubled} doubled, {excused} excused"
              .format_map(sums))
    if not late:
        return f"{counts}."
    error = late.get("error")
    if error is None:
        return f"{counts}; late by {late['p50']} ns in the median, with an unknown error."
    if late["p50"] + error < 0:
        return f"{counts}; early in the median."
    if late["p50"] <= error:
        return f"{counts}; late by at most {late['p50'] + error} ns in the median."
    return f"{counts}; late by {late['p50']} ns in the median, +-{error}."


# In ascending order of severity. If a rule was checked several times, the outcome that is last in this list counts.
OUTCOMES = ("not checked", "pass", "not determined", *SEVERITIES)


def _get_outcome(behaviour):
    """Return an item of OUTCOMES for BEHAVIOUR, the check of a rule. If the rule failed, the item is the rule's severity."""
    if behaviour.get("outcome") == "failed":
        return _get_severity(behaviour)
    return {"passed": "pass", "not_determined": "not determined", "not_checked": "not checked", None: "not checked"}.get(
        behaviour.get("outcome"), "error")


def _make_rule_cases(report):
    """Yield a case for each rule and its clock. Findings come before passed rules. A finding on another read method of a clock
    belongs to the case of the clock, which also exists without this finding.
    """
    rows = {}
    mains = {clock["id"]: clock.get("main") or clock["id"] for clock in report["clocks"]}
    listed = {(row["rule"], row.get("clock")) for key in ("behaviours", "other_rules") for row in report.get(key) or []}
    for finding in report.get("findings") or []:
        if _is_only_about_timer(finding, report):
            continue
        key = finding["rule"], finding.get("clock")
        key = key if key in listed else (key[0], mains.get(key[1], key[1]))
        rows.setdefault(key, []).append((_get_severity(finding), finding.get("text") or ""))
    for behaviour in report.get("behaviours") or []:
        key = behaviour["rule"], behaviour.get("clock")
        # A failed rule is left out here if its finding was already added above.
        if behaviour.get("outcome") != "failed" or key not in rows:
            rows.setdefault(key, []).append((_get_outcome(behaviour), behaviour.get("text") or ""))
    for other in report.get("other_rules") or []:
        outcome = "not checked" if other.get("obstacle") else "pass"
        rows.setdefault((other["rule"], other.get("clock")), []).append((outcome, other.get("obstacle") or ""))
    for (rule, clock), seen in rows.items():
        worst = max((outcome for outcome, _ in seen), key=OUTCOMES.index)
        text = " ".join(text for outcome, text in seen if outcome == worst and text)
        name = f"{rule} ({clock})" if clock else rule
        if worst.startswith("not "):
            yield Case("rules", name, "skip", f"{worst}: {text}" if text else worst)
        else:
            yield Case("rules", name, worst, text)
