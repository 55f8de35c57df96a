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
import typing

from results import files
from results.reports import ORDER, SIZE_MAX, parse_report, read_report_definition, get_stolen_percent

_RULES = read_report_definition("compare.json")  # the report's page uses the same rules
# A read counts as slower if it takes more than TOLERANCE times as long as in the baseline. A smaller increase may have other
# causes: another program on the same core, another CPU model, or a clock's coarse resolution.
TOLERANCE = _RULES["slower_factor"]
# NTP may change the rate of a host's clock, and so of its guests' clocks, by at most this: MAXFREQ in Linux' include/linux/timex.h.
RATE_PPM = _RULES["rate_ppm"]
# If one of the runs has more stolen time than this, its medians and loop times depend as much on the host as on the clock.
STOLEN_PERCENT = _RULES["stolen_percent"]
THE_RUN = "machine"  # name of what belongs to no clock and no source of interrupts


class Regression(typing.NamedTuple):
    """Something that became worse. WHAT is the kind of the figure, in the words of the report's page."""
    name: str
    what: str
    sentence: str


class Comparison:
    """The result of a comparison: notes, and everything that became worse."""

    def __init__(self, baseline, report, factor):
        self.regressions = []
        self.notes = []
        self._names = []
        self._factor = factor
        self._not_asked_for = []
        self._before, self._now = baseline, report
        self._compare_machines()
        self.doubt = self._explain_unreliable_comparison()
        self._note_unreliable_latency_tails()
        self._compare_clocks()
        self._compare_timers()
        if self._not_asked_for:
            self.notes.append(f"not asked for: {', '.join(self._not_asked_for)}")
        self._names.append(THE_RUN)
        if ORDER.get(self._now["verdict"], 0) > ORDER.get(self._before["verdict"], 0):
            self._add(THE_RUN, "verdict", f"the verdict is {self._now['verdict']}, it was {self._before['verdict']}")
        self._compare_findings()
        self._compare_claims()

    @property
    def by_name(self):
        """The sentences of each clock, each source of interrupts and the run. A list is empty if nothing became worse."""
        found = {name: [] for name in self._names}
        for each in self.regressions:
            found[each.name].append(each.sentence)
        return found

    @property
    def regression_sentences(self):
        return [sentence for sentences in self.by_name.values() for sentence in sentences]

    def _add(self, name, what, sentence):
        self.regressions.append(Regression(name, what, sentence))

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
        elsewhere = describe_machine_differences(*_RULES["same_place"])
        others = describe_machine_differences("cpu", "cores_started")
        timed = all((report.get("machine") or {"tsc_hz": 1}).get("tsc_hz", 1) for report in (self._before, self._now))
        empty = next((clock for clock in self._before["clocks"] if clock["id"] == "null"), {})
        self._bracket_ns = (empty.get("latency") or {}).get("p50_ns") or 0
        self._same_place = not elsewhere
        self._same_machine = not describe_machine_differences(*_RULES["same_machine"])
        self._timed = self._same_place and timed
        options = [report.get("options") or {} for report in (self._before, self._now)]
        self._timers_alike = all(options[0].get(key) == options[1].get(key) for key in _RULES["timer_options"])
        emulated = any((report.get("machine") or {}).get("accelerator") in _RULES["emulators"] for report in (self._before, self._now))
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

    def _compare_clocks(self):
        now = {clock["id"]: clock for clock in reversed(self._now["clocks"])}
        asked = (self._now.get("options") or {}).get("clocks")
        judged = [clock for clock in self._before["clocks"] if clock.get("verdict") in ORDER]
        for before in judged:
            name = before["id"]
            if name not in now and asked and name not in asked:
                self._not_asked_for.append(name)
                continue
            self._names.append(name)
            self._compare_clock(before, now.get(name, {}))
        known = {clock["id"] for clock in judged}
        new = [clock["id"] for clock in self._now["clocks"] if clock.get("verdict") in ORDER and clock["id"] not in known]
        if new:
            self.notes.append(f"not in the baseline, so not compared: {', '.join(new)}")

    def _compare_clock(self, before, now):
        name, reason = before["id"], now.get("reason")
        if now.get("verdict") not in ORDER:
            self._add(name, "verdict", f"{name} is gone{f' ({reason})' if reason else ''}; its verdict in the baseline was {before['verdict']}")
            return
        if ORDER[now["verdict"]] > ORDER[before["verdict"]]:
            self._add(name, "verdict", f"{name} is {now['verdict']}, it was {before['verdict']}")
        compared = set()
        for rule in _RULES["figures"]:
            was, is_now = _get_figure(before, *rule["at_most"]), _get_figure(now, _choose_lower_bound(rule, now))
            if None in (was, is_now) or rule["what"] in compared or rule.get("needs_same_place") and not self._timed:
                continue
            compared.add(rule["what"])  # times are clearer than ticks, so ticks are compared only if a time is missing
            if self._exceeds_factor(was, is_now, self._bracket_ns if rule.get("needs_same_place") else 0):
                shown = [f"{format_number(_get_figure(clock, rule['shown']))} {rule['unit']}" for clock in (now, before)]
                sentence = f"{name} has {rule['words']} of {shown[0]}, it was {shown[1]}: {self._describe_factor()}"
                if rule.get("depends_on_load"):
                    self.notes.append(sentence)
                else:
                    self._add(name, rule["what"], sentence)
        self._compare_rates(before, now)

    def _exceeds_factor(self, was_at_most, is_at_least, error=0):
        return is_at_least > self._factor * was_at_most + error

    def _describe_factor(self):
        return f"more than {format_number(self._factor)} times that"

    def _compare_rates(self, before, now):
        """Compare the clock's rate with the rate in the baseline. A change towards the nominal rate is no deterioration."""
        was, is_now = before.get("measured_hz") or {}, now.get("measured_hz") or {}
        bounds = [was.get("low"), was.get("high"), is_now.get("low"), is_now.get("high")]
        if None in bounds or min(bounds) <= 0:
            return
        low, high = (is_now["low"] / was["high"] - 1) * 1e6, (is_now["high"] / was["low"] - 1) * 1e6
        if -RATE_PPM <= high and low <= RATE_PPM or self._has_rate_moved_towards_claim(before, now):
            return
        sentence = (f"{now['id']} runs at {format_interval(is_now)} Hz, it ran at {format_interval(was)} Hz: "
                    f"more than {RATE_PPM} ppm {'faster' if low > 0 else 'slower'}")
        if now.get("claimed_hz") is None and not self._is_tsc_of_same_machine():
            self.notes.append(f"{sentence}; it claims no rate, and the TSCs of two hosts differ")
        else:
            self._add(now["id"], "rate", sentence)

    def _is_tsc_of_same_machine(self):
        """Return True if both runs used the TSC of the same machine. Return False for an emulator: its TSC depends on the host,
        and no report names the host.
        """
        return self._same_machine and (self._now.get("machine") or {}).get("accelerator") not in _RULES["emulators"]

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
        """Compare the sources of interrupts that the baseline tested: sources that no longer work, and later interrupts."""
        now = _group_intervals_by_source(self._now)
        for name, before in _group_intervals_by_source(self._before).items():
            self._names.append(name)
            self._compare_states(name, before, now.get(name, []))
            self._compare_lateness(name, before, now.get(name, []))
        if self._timed and now and not self._judges_lateness:
            self.notes.append("how late interrupts come is not compared: in an emulator it depends on the host")

    def _compare_states(self, name, before, now):
        """Find out if the source NAME sent interrupts in the baseline and no longer does."""
        if any(row.get("state") != "present" for row in before):
            return
        if not now and not self._timers_alike:
            self._not_asked_for.append(f"{name}'s interrupts")
            return
        # A source whose interrupt did not come in time is "stuck". On a busy host this does not count, because the host may have
        # delayed the interrupt.
        quiet = (self._now.get("quality") or {}).get("reliable_tails") is not False
        states = _RULES["lost_states" if quiet else "lost_states_if_busy"]
        lost = next((row for row in now if row.get("state") in states), {} if not now else None)
        if lost is not None:
            state = f"{lost.get('state')}: {lost.get('reason')}" if lost else "not there"
            self._add(name, "interrupts", f"{name} sends no interrupts any more, it is {state}")

    def _compare_lateness(self, name, before, now):
        """Find timers whose interrupts are later than in the baseline. The lower bound of the smallest lateness now is compared with
        the upper bound of the median in the baseline. The smallest lateness is used because a busy host changes it least.
        """
        known = {_get_mode_and_period(row): row.get("lateness_ns") or {} for row in before}
        for row in now:
            was, late = known.get(_get_mode_and_period(row), {}), row.get("lateness_ns") or {}
            ends = [late.get("min"), late.get("error"), was.get("p50"), was.get("error")]
            if not self._judges_lateness or None in ends:
                continue
            if self._exceeds_factor(max(was["p50"], 0) + was["error"], late["min"] - late["error"], self._entry_ns):
                self._add(name, "median lateness", f"{name} of {row['asked']['period_ns']} ns, {row.get('mode')}, is late by "
                          f"{format_number(late.get('p50'))} ns (median), it was by {format_number(was['p50'])} ns: {self._describe_factor()}")

    def _compare_findings(self):
        """Find rules that are broken now and were not broken before. A rule of a clock or source that the baseline did not test is no
        regression.
        """
        known = {(each["rule"], each.get("clock")) for each in self._before.get("findings") or []}
        rules = {}
        for each in self._now.get("findings") or []:
            name = each.get("clock") or THE_RUN
            if (each["rule"], each.get("clock")) not in known and name in self._names and each["rule"] not in rules.setdefault(name, []):
                rules[name].append(each["rule"])
        for name, broken in rules.items():
            if broken:
                self._add(name, "finding", f"{'the machine' if name == THE_RUN else name} breaks {', '.join(broken)}, and did not before")

    def _compare_claims(self):
        """Find claims on rates that are wrong now and were right before."""
        known = {(row.get("source"), row.get("clock")): row.get("outcome") for row in self._before.get("claims") or []}
        for row in self._now.get("claims") or []:
            before = known.get((row.get("source"), row.get("clock")))
            error = row.get("error_ppm") or {}
            if row.get("outcome") == "failed" and before == "passed" and "value" in error:
                self._add(THE_RUN, "claim", f"the claim of {row['source']} on {row['clock']} is wrong by {format_number(error['value'])} ppm, "
                          "and was not before")


def _get_figure(clock, *paths):
    """Return the first of the figures at PATHS that CLOCK has, or None. A path is keys and list indices with dots between them."""
    for path in paths:
        value = clock
        for key in path.split("."):
            if isinstance(value, list):
                value = dict(enumerate(value)).get(int(key))
            else:
                value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def _choose_lower_bound(rule, now):
    """Return the path of the figure of the clock NOW to compare by RULE."""
    is_unhit = _get_figure(now, "latency.clean.hit") == 0  # no read in the loop was interrupted
    return rule.get("at_least_if_unhit", rule["at_least"]) if is_unhit else rule["at_least"]


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
    if value is None:
        return "?"
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
