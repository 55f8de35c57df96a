"""Compares a run with an earlier run, the baseline. For each value that became worse, it makes a sentence with both figures.

A value is an interval. It is worse only if the distance between the old and the new interval is larger than the tolerance.

A busy host makes reads slower and never faster. So the true cost of a read lies between the fastest read and the median. A clock
counts as slower if its fastest read now takes longer than the old median times a factor, plus the cost of the bracket (the two
TSC reads around each read). Every latency includes the bracket's cost, which the clock `null` shows. In an emulator with a coarse
TSC this cost changes by one or two steps of the TSC.

A clock's loop time is the duration of many reads, divided by their number. If no read of this run was interrupted, the loop time
is compared with the baseline. Otherwise the fastest read is compared, because the undisturbed loop time lies between the fastest
read and the loop time.
"""
from results import files
from results.reports import ORDER, SIZE_MAX, parse_report, read_report_definition, get_stolen_percent

_LIMITS = read_report_definition("compare.json")  # the report's page uses the same limits
# A read counts as slower if it takes more than TOLERANCE times as long as in the baseline. A smaller increase may have other
# causes: another program on the same core, another CPU model, or a clock's coarse resolution.
TOLERANCE = _LIMITS["slower_factor"]
# NTP may change the rate of a host's clock, and so of its guests' clocks, by at most this: MAXFREQ in Linux' include/linux/timex.h.
RATE_PPM = _LIMITS["rate_ppm"]
# If one of the runs has more stolen time than this, its medians and loop times depend as much on the host as on the clock.
STOLEN_PERCENT = _LIMITS["stolen_percent"]


class Comparison:
    """The result of a comparison: notes, and sentences on everything that became worse. The sentences are grouped by clock or machine."""

    def __init__(self, baseline, report, factor):
        self.by_name = {}
        self.notes = []
        self._factor = factor
        self._not_asked_for = []
        self._before, self._now = baseline, report
        self._compare_machines()
        self.doubt = self._explain_unreliable_comparison()
        self._note_unreliable_latency_tails()
        self._clocks_now = {clock["id"]: clock for clock in reversed(report["clocks"])}
        known = {clock["id"] for clock in baseline["clocks"] if clock.get("verdict") in ORDER}
        for before in baseline["clocks"]:
            if before.get("verdict") in ORDER:
                self._compare_clock(before)
        new = [clock["id"] for clock in report["clocks"] if clock.get("verdict") in ORDER and clock["id"] not in known]
        if new:
            self.notes.append(f"not in the baseline, so not compared: {', '.join(new)}")
        self._compare_timers()
        if self._not_asked_for:
            self.notes.append(f"not asked for: {', '.join(self._not_asked_for)}")
        self._compare_run_verdicts()

    @property
    def regression_sentences(self):
        return [sentence for sentences in self.by_name.values() for sentence in sentences]

    @property
    def sentence_without_regressions(self):
        """A sentence that says that nothing became worse, as far as this was seen. None if something became worse."""
        if self.regression_sentences:
            return None
        if self.doubt:
            return "nothing was seen to be worse than the baseline, but much time was stolen"
        return "nothing is worse than the baseline"

    def _compare_machines(self):
        """Add a note on the differences between the two machines, because they may explain other differences."""
        def describe_machine_differences(*keys):
            figures = [(key, (self._before.get("machine") or {}).get(key),
                        (self._now.get("machine") or {}).get(key)) for key in keys]
            return [f"{key} {now or 'none'}, it was {before or 'none'}"
                    for key, before, now in figures if before != now]
        elsewhere = describe_machine_differences("accelerator", "hypervisor")
        others = describe_machine_differences("cpu", "cores_started")
        timed = all((report.get("machine") or {"tsc_hz": 1}).get("tsc_hz", 1) for report in (self._before, self._now))
        empty = next((clock for clock in self._before["clocks"] if clock["id"] == "null"), {})
        self._bracket_ns = (empty.get("latency") or {}).get("p50_ns") or 0
        self._same_place = not elsewhere
        self._same_machine = not elsewhere + describe_machine_differences("cpu")
        self._timed = self._same_place and timed
        options = [report.get("options") or {} for report in (self._before, self._now)]
        self._timers_alike = all(options[0].get(key) == options[1].get(key) for key in ("profile", "irq"))
        emulated = "tcg" in [(report.get("machine") or {}).get("accelerator") for report in (self._before, self._now)]
        # In an emulator lateness is not compared, because its timers are threads of the host, which may have to wait for a core.
        self._judges_lateness = self._timed and not emulated
        itself = next(iter(_group_intervals_by_source(self._before).get("self_ipi", [])), {})
        # Time from an interrupt to the start of its handler. Every lateness includes it.
        self._entry_ns = (itself.get("lateness_ns") or {}).get("p50") or 0
        if elsewhere or others:
            self.notes.append("another machine: " + "; ".join(elsewhere + others))
        if elsewhere:
            self.notes.append("latencies are not compared: they depend on the machine, which differs")
        elif not timed:
            self.notes.append("latencies are not compared: one of the two runs has them in ticks only")

    def _explain_unreliable_comparison(self):
        """Return the reason why the comparison is unreliable: in one run the host took too much time. Return None otherwise."""
        before, now = (get_stolen_percent(report) or 0 for report in (self._before, self._now))
        if max(before, now) <= STOLEN_PERCENT:
            return None
        return (f"the comparison is worth little: {before:.3g} % of the observed time was stolen in the baseline, {now:.3g} % in "
                "this run; --max-stolen gives such a run exit status 2")

    def _note_unreliable_latency_tails(self):
        """Add a note on each of the two reports whose latency tails are unreliable according to its key `quality`."""
        if self.doubt:
            self.notes.insert(0, self.doubt)
        for name, report in ("the baseline", self._before), ("this run", self._now):
            quality = report.get("quality") or {}
            if quality.get("reliable_tails") is False and quality.get("text"):
                self.notes.append(f"{name}: {quality['text']}")

    def _compare_clock(self, before):
        name = before["id"]
        now = self._clocks_now.get(name)
        asked = (self._now.get("options") or {}).get("clocks")
        if now is None and asked and name not in asked:
            self._not_asked_for.append(name)
            return
        verdict = now.get("verdict") if now else None
        if verdict not in ORDER:
            reason = now.get("reason") if now else None
            self.by_name[name] = [f"{name} is gone{f' ({reason})' if reason else ''}; its verdict in the baseline was {before['verdict']}"]
            return
        found = [self._compare_verdicts(name, before, now), self._compare_median_latencies(before, now),
                 self._compare_read_loop_times(before, now),
                 self._compare_resolutions(before, now), self._compare_rates(before, now)]
        self.by_name[name] = [f"{name} {sentence}" for sentence in found if sentence]

    def _list_newly_broken_rules(self, name):
        """Return the rules that the clock NAME breaks now and did not break before. If NAME is None, return such rules without
        a clock.
        """
        def list_broken_rules(report):
            return [finding["rule"] for finding in report.get("findings") or [] if finding.get("clock") == name]
        known = set(list_broken_rules(self._before))
        return ", ".join(dict.fromkeys(rule for rule in list_broken_rules(self._now) if rule not in known))

    def _compare_verdicts(self, name, before, now):
        rules = self._list_newly_broken_rules(name)
        if ORDER[now["verdict"]] > ORDER[before["verdict"]]:
            return f"is {now['verdict']}, it was {before['verdict']}" + (f": {rules}" if rules else "")
        return f"breaks {rules}, and did not before" if rules else None

    def _compare_median_latencies(self, before, now):
        was, is_now = before.get("latency") or {}, now.get("latency") or {}
        within = was.get("p50_within_ns") or []
        at_most = within[1] if len(within) == 2 else was.get("p50_ns")
        if self._is_slower(at_most, is_now.get("min_ns")):
            return self._format_change_sentence("has a median latency of {} ns, it was {} ns", is_now.get("p50_ns"), was["p50_ns"])
        return None

    def _compare_read_loop_times(self, before, now):
        was, is_now = before.get("latency") or {}, now.get("latency") or {}
        undisturbed = (is_now.get("clean") or {}).get("hit") == 0
        if self._is_slower(was.get("loop_ns"), is_now.get("loop_ns" if undisturbed else "min_ns")):
            return self._format_change_sentence("has a loop time of {} ns, it was {} ns", is_now.get("loop_ns"), was["loop_ns"])
        return None

    def _is_slower(self, was_at_most, is_at_least):
        return self._timed and self._exceeds_factor(was_at_most, is_at_least, self._bracket_ns)

    def _exceeds_factor(self, was_at_most, is_at_least, error=0):
        return None not in (was_at_most, is_at_least) and is_at_least > self._factor * was_at_most + error

    def _compare_resolutions(self, before, now):
        for key, unit in ("resolution_ns", "ns"), ("step_ticks", "ticks"):
            if self._exceeds_factor(before.get(key), now.get(key)):
                return self._format_change_sentence("has a resolution of {} " + unit + ", it was {} " + unit, now[key], before[key])
            if None not in (before.get(key), now.get(key)):
                return None  # times are clearer than ticks, so ticks are compared only if a time is missing
        return None

    def _format_change_sentence(self, words, now, before):
        return words.format(format_number(now), format_number(before)) + f": more than {format_number(self._factor)} times that"

    def _compare_rates(self, before, now):
        """Compare the clock's rate with the rate in the baseline. A change towards the nominal rate is no deterioration."""
        was, is_now = before.get("measured_hz") or {}, now.get("measured_hz") or {}
        bounds = [was.get("low"), was.get("high"), is_now.get("low"), is_now.get("high")]
        if None in bounds or min(bounds) <= 0:
            return None
        low, high = (is_now["low"] / was["high"] - 1) * 1e6, (is_now["high"] / was["low"] - 1) * 1e6
        if -RATE_PPM <= high and low <= RATE_PPM or self._has_rate_moved_towards_claim(before, now):
            return None
        sentence = (f"runs at {format_interval(is_now)} Hz, it ran at {format_interval(was)} Hz: "
                    f"more than {RATE_PPM} ppm {'faster' if low > 0 else 'slower'}")
        if now.get("claimed_hz") is None and not self._is_tsc_of_same_machine():
            self.notes.append(f"{now['id']} {sentence}; it claims no rate, and the TSCs of two hosts differ")
            return None
        return sentence

    def _is_tsc_of_same_machine(self):
        """Return True if both runs used the TSC of the same machine. Return False for an emulator: its TSC depends on the host,
        and no report names the host.
        """
        return self._same_machine and (self._now.get("machine") or {}).get("accelerator") != "tcg"

    @staticmethod
    def _has_rate_moved_towards_claim(before, now):
        """Return True if the rate is proven to be nearer to the claimed rate than before."""
        was, is_now = before.get("error_ppm") or {}, now.get("error_ppm") or {}
        bounds = [was.get("low"), was.get("high"), is_now.get("low"), is_now.get("high")]
        if None in bounds or before.get("claimed_hz") != now.get("claimed_hz"):
            return False
        least = 0 if was["low"] <= 0 <= was["high"] else min(abs(was["low"]), abs(was["high"]))
        return max(abs(is_now["low"]), abs(is_now["high"])) < least

    def _compare_timers(self):
        """Compare the sources of interrupts that the baseline tested: sources that no longer work, later interrupts, and newly
        broken rules.
        """
        now = _group_intervals_by_source(self._now)
        for name, before in _group_intervals_by_source(self._before).items():
            gone = self._describe_lost_interrupts(name, before, now.get(name, []))
            # If the source is also a clock, the comparison of this clock includes the source's rules.
            rules = None if name in self._clocks_now else self._list_newly_broken_rules(name)
            found = gone or list(self._find_increased_lateness(before, now.get(name, [])))
            found += [f"breaks {rules}, and did not before"] if rules else []
            self.by_name.setdefault(name, []).extend(f"{name} {sentence}" for sentence in found)
        if self._timed and now and not self._judges_lateness:
            self.notes.append("how late interrupts come is not compared: in an emulator it depends on the host")

    def _describe_lost_interrupts(self, name, before, now):
        """Return a sentence, in a list, if the source NAME sent interrupts in the baseline and no longer does."""
        if any(row.get("state") != "present" for row in before):
            return []
        if not now and not self._timers_alike:
            self._not_asked_for.append(f"{name}'s interrupts")
            return []
        # A source whose interrupt did not come in time is "stuck". On a busy host this does not count, because the host may have
        # delayed the interrupt.
        quiet = (self._now.get("quality") or {}).get("reliable_tails") is not False
        states = ("absent", "disabled", "broken", "stuck" if quiet else None)
        lost = next((row for row in now if row.get("state") in states), {} if not now else None)
        if lost is None:
            return []
        return ["sends no interrupts any more, it is " + (f"{lost.get('state')}: {lost.get('reason')}" if lost else "not there")]

    def _find_increased_lateness(self, before, now):
        """Yield a sentence for each timer whose interrupts are later than in the baseline. The lower bound of the smallest
        lateness now is compared with the upper bound of the median in the baseline. The smallest lateness is used because a busy
        host changes it least.
        """
        known = {_get_mode_and_period(row): row.get("lateness_ns") or {} for row in before}
        for row in now:
            was, late = known.get(_get_mode_and_period(row), {}), row.get("lateness_ns") or {}
            ends = [late.get("min"), late.get("error"), was.get("p50"), was.get("error")]
            if not self._judges_lateness or None in ends:
                continue
            if self._exceeds_factor(max(was["p50"], 0) + was["error"], late["min"] - late["error"], self._entry_ns):
                yield self._format_change_sentence(f"of {row['asked']['period_ns']} ns, {row.get('mode')}, is late by {{}} ns (median), "
                                     "it was by {} ns", late.get("p50"), was["p50"])

    def _find_newly_wrong_claims(self):
        """Yield a sentence for each claim on a rate that is wrong now and was right before."""
        known = {(row.get("source"), row.get("clock")): row.get("outcome") for row in self._before.get("claims") or []}
        for row in self._now.get("claims") or []:
            before = known.get((row.get("source"), row.get("clock")))
            error = row.get("error_ppm") or {}
            if row.get("outcome") == "failed" and before == "passed" and "value" in error:
                yield f"the claim of {row['source']} on {row['clock']} is wrong by {format_number(error['value'])} ppm, and was not before"

    def _compare_run_verdicts(self):
        """Compare the run's verdict, unless a clock's verdict explains the difference. Also compare the rules that belong to no
        clock.
        """
        was, is_now, rules = self._before["verdict"], self._now["verdict"], self._list_newly_broken_rules(None)
        found = []
        if ORDER.get(is_now, 0) > ORDER.get(was, 0) and not any(
                f"is {is_now}," in sentence for sentence in self.regression_sentences):
            found.append(f"the verdict is {is_now}, it was {was}" + (f": {rules}" if rules else ""))
        elif rules:
            found.append(f"the machine breaks {rules}, and did not before")
        found.extend(self._find_newly_wrong_claims())
        self.by_name["machine"] = found


def _group_intervals_by_source(report):
    """Return the boot core's rows of the list `intervals`, indexed by source."""
    boot = next((core.get("apic_id") for core in report.get("cores") or []), None)
    sources = {}
    for row in report.get("intervals") or []:
        if row.get("source") and row.get("core") in (boot, None):
            sources.setdefault(row["source"], []).append(row)
    return sources


def _get_mode_and_period(row):
    return row.get("mode"), (row.get("asked") or {}).get("period_ns")


def format_number(value):
    return f"{value:.4g}" if isinstance(value, float) and abs(value) < 1e4 else f"{value:.0f}"


def format_interval(interval):
    """Return both ends of INTERVAL as text, with enough digits to distinguish them."""
    digits = 3 if interval["high"] < 1e5 else 0
    return f"{interval['low']:.{digits}f} to {interval['high']:.{digits}f}"


def load_report(path):
    """Return the report in the file PATH. If it cannot be compared, raise ValueError with a sentence."""
    try:
        report = parse_report(files.read_file(path, SIZE_MAX))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"{path} {error}") from error
    if report["verdict"] not in ORDER:
        raise ValueError(f"{path} is a report of a run that is {report['verdict']}: there is nothing to compare with")
    return report
