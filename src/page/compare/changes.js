/*
 * Lists the differences between two reports as rows. A row is "worse" by the rules of `qemu/run --baseline`
 * (COMPARE is src/report/compare.json), with the other report as the baseline. It is "better" if the opposite change would be
 * worse. All other differences are "changed".
 */

const isJudged = (clock) => Boolean(clock) && COMPARE.verdicts.includes(clock.verdict);
const getVerdictRank = (clock) => (isJudged(clock) ? COMPARE.verdicts.indexOf(clock.verdict) : COMPARE.verdicts.length);
const getLatency = (clock) => clock.latency || {};

/* Returns the first of the figures at PATHS that CLOCK has. A path is keys and list indices with dots between them. */
const getFigure = (clock, ...paths) => paths.map(
	(path) => path.split(".").reduce((value, key) => (value || {})[key], clock)).find(isNumber);

function mapClocksById(report) {
	return new Map(report.clocks.map((clock) => [clock.id, clock]));
}

/*
 * Returns the median latency in ns of the null clock (a clock whose read does nothing). Each other latency includes it.
 * If the TSC is coarse, this latency is one or two steps of the TSC.
 */
function getNullClockMedian(report) {
	const empty = mapClocksById(report).get("null");

	return (empty && getLatency(empty).p50_ns) || 0;
}

function areMachinesEqual(a, b, names) {
	return names.every((name) => (a.machine[name] || null) === (b.machine[name] || null));
}

const isEmulated = ({machine}) => COMPARE.emulators.includes(machine.accelerator);

/* Returns the reason why the latencies of the two reports cannot be compared, or null if they can be compared. */
function explainLatencyDoubt(a, b) {
	if (!areMachinesEqual(a, b, COMPARE.same_place))
		return "the reports are of different machines";
	if (a.machine.tsc_hz === null || b.machine.tsc_hz === null)
		return "one report has them in ticks only";
	return null;
}

function isBeyondTolerance(wasAtMost, isAtLeast, error) {
	return isNumber(wasAtMost) && isNumber(isAtLeast) &&
		isAtLeast > COMPARE.slower_factor * wasAtMost + error;
}

/* Returns the figure of the clock NOW to compare by RULE, a row of COMPARE.figures. */
function getLowerBound(rule, now) {
	const isUnhit = getFigure(now, "latency.clean.hit") === 0; /* no read in the loop was interrupted */

	return getFigure(now, (isUnhit && rule.at_least_if_unhit) || rule.at_least);
}

/*
 * Returns true if the figure WHAT of a clock is worse than before by COMPARE.figures. The true duration of a read lies
 * between the fastest read and the median, because a busy host only makes reads slower. Times are clearer than ticks,
 * so ticks are compared only if a time is missing.
 */
function isFigureWorse(what, was, now, runs) {
	const rule = COMPARE.figures.find((each) => each.what === what &&
		isNumber(getFigure(was, ...each.at_most)) && isNumber(getLowerBound(each, now)));

	return Boolean(rule) && !(rule.needs_same_place && explainLatencyDoubt(runs.was, runs.now)) &&
		isBeyondTolerance(getFigure(was, ...rule.at_most), getLowerBound(rule, now),
			rule.needs_same_place ? getNullClockMedian(runs.was) : 0);
}

/* Returns true if two intervals do not overlap. */
function areIntervalsDisjoint(a, b) {
	return Boolean(known(a) && known(b) && (a.low > b.high || b.low > a.high));
}

/* Returns true if the rate is now certainly nearer to the clock's nominal rate than before. */
function isNearerToNominal(was, now) {
	const [a, b] = [known(was.error_ppm), known(now.error_ppm)];

	if (!a || !b || was.claimed_hz !== now.claimed_hz)
		return false;
	const least = a.low <= 0 && a.high >= 0 ? 0 : Math.min(Math.abs(a.low), Math.abs(a.high));

	return Math.max(Math.abs(b.low), Math.abs(b.high)) < least;
}

/*
 * Returns true if the rates of CLOCK in the two reports can be compared. This is always so for a clock with a nominal
 * rate. Without a nominal rate, the two machines must be the same, and the TSC must not be emulated, because the rate
 * of an emulated TSC depends on the host.
 */
function canCompareRates(clock, {was, now}) {
	return isNumber(clock.claimed_hz) || (!isEmulated(now) && areMachinesEqual(was, now, COMPARE.same_machine));
}

function hasRateChanged(was, now, runs) {
	const [a, b] = [known(was.measured_hz), known(now.measured_hz)];

	if (!a || !b || Math.min(a.low, b.low) <= 0)
		return false;
	const [low, high] = [(b.low / a.high - 1) * 1e6, (b.high / a.low - 1) * 1e6];

	return (low > COMPARE.rate_ppm || high < -COMPARE.rate_ppm) && !isNearerToNominal(was, now) &&
		canCompareRates(now, runs);
}

/* Returns the verdict on CLOCK, followed by the clock's state, such as "fail, stuck". */
function formatVerdictAndState(clock) {
	if (!clock)
		return "not listed";
	const state = ["present", clock.verdict].includes(clock.state) ? null : clock.state;

	return joined([clock.verdict || "not read", state], ", ");
}

const formatResolutionStep = ({step_ticks}) => (isNumber(step_ticks) ? plural(step_ticks, "tick") : NONE);

const never = () => false;

const VERDICT = {
	what: "verdict",
	text: formatVerdictAndState,
	differs: (a, b) => formatVerdictAndState(a) !== formatVerdictAndState(b),
	worse: (was, now, runs) => isJudged(was) && getVerdictRank(now) > getVerdictRank(was) &&
		(Boolean(now) || !(runs.now.options.clocks || []).length ||
			runs.now.options.clocks.includes(was.id)),
};

/*
 * Properties of a clock that are compared if both reports have a verdict on it. Each has {what, text(clock, other),
 * worse(was, now, {was, now}), differs(one, other)}. Without worse(), COMPARE.figures has the rule.
 * KINDS are the kinds of a row if this report, or the other one, is worse.
 */
const ASPECTS = [
	{
		what: "a read",
		text: (clock) => ns(getFigure(clock, "cost.read_ns.value")),
		differs: never,
		kinds: ["changed", "changed"],
	},
	{
		what: "median latency",
		text: (clock) => ns(getLatency(clock).p50_ns),
		differs: never,
	},
	{
		what: "loop time",
		text: (clock) => ns(getLatency(clock).loop_ns),
		differs: never,
	},
	{
		what: "resolution",
		text: (clock) => `${ns(clock.resolution_ns)}, ${formatResolutionStep(clock)}`,
		differs: (a, b) => a.main === a.id && isNumber(a.step_ticks) && isNumber(b.step_ticks) &&
			a.step_ticks !== b.step_ticks,
	},
	{
		what: "rate",
		text: (clock, other) => (areIntervalsDisjoint(clock.error_ppm, other.error_ppm) ?
			`${span(clock.error_ppm, ppm)} ppm` :
			hz(clock.measured_hz.value)),
		worse: hasRateChanged,
		differs: (a, b) => areIntervalsDisjoint(a.error_ppm, b.error_ppm) || areIntervalsDisjoint(a.measured_hz, b.measured_hz),
	},
	{
		what: "steps back",
		text: (clock) => whole(clock.monotonic.backward),
		worse: never,
		differs: (a, b) => Boolean(a.monotonic && b.monotonic) &&
			a.monotonic.backward !== b.monotonic.backward,
	},
];

/*
 * Compares two clocks by one item of ASPECTS. Returns a list with the row of the difference, or an empty list if the
 * reports agree.
 */
function compareAspect({what, text, differs, kinds = ["worse", "better"], worse = isFigureWorse.bind(null, what)}, clock, a, b, here, there) {
	let kind = differs(a, b) && "changed";

	if (worse(b, a, {was: there, now: here}))
		[kind] = kinds;
	else if (worse(a, b, {was: here, now: there}))
		[, kind] = kinds;
	return kind ? [{clock, what, here: text(a, b), there: text(b, a), kind}] : [];
}

function listClockChanges(here, there) {
	const [ours, theirs] = [mapClocksById(here), mapClocksById(there)];

	return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((id) => {
		const [a, b] = [ours.get(id), theirs.get(id)];
		const aspects = isJudged(a) && isJudged(b) ? [VERDICT, ...ASPECTS] : [VERDICT];

		return aspects.flatMap((aspect) => compareAspect(aspect, id, a, b, here, there));
	});
}

function mapTimerTestsBySource(report) {
	const rows = bootRows(report);

	return new Map(rows.map(({source}) => [source, rows.filter((row) => row.source === source)]));
}

/* Returns the first test of an interrupt source whose state is not "present", or undefined if there is none. */
const findFailedTest = (rows) => rows.find(({state}) => state !== "present");

/*
 * Returns true if a source no longer sends interrupts. If the host was busy, the state "stuck" does not count, because
 * a source may only seem to be stuck.
 */
function isTimerLost(rows, {was, now}) {
	const isBusy = now.quality && now.quality.reliable_tails === false;
	const states = isBusy ? COMPARE.lost_states_if_busy : COMPARE.lost_states;

	return rows.length ? rows.some(({state}) => states.includes(state)) :
		COMPARE.timer_options.every((name) => was.options[name] === now.options[name]);
}

const SENDS = {
	what: "interrupts",
	text: (rows) => (rows.length ? (findFailedTest(rows) || rows[0]).state : "not asked for"),
	differs: (a, b) => a.length > 0 && b.length > 0 && SENDS.text(a) !== SENDS.text(b),
	worse: (was, now, runs) => was.length > 0 && !findFailedTest(was) && isTimerLost(now, runs),
};

/*
 * Returns true if the lateness of interrupts is compared. It is not compared for an emulator: its timers are threads
 * that may have to wait for a core of the host.
 */
function canCompareLateness({was, now}) {
	return !explainLatencyDoubt(was, now) && ![was, now].some(isEmulated);
}

/*
 * Compares the smallest lateness of the new report, minus its error, with the median of the old report, plus its error.
 * The smallest lateness is used because a busy host changes it least.
 */
const LATENESS = {
	text: ({lateness_ns}) => formatSignedNs(lateness_ns.p50),
	differs: never,
	worse: ({lateness_ns: was}, {lateness_ns: now}, runs) => {
		const itself = bootRows(runs.was).find(({source}) => source === "self_ipi") || {};
		const entry = (itself.lateness_ns || {}).p50 || 0;

		return canCompareLateness(runs) && isBeyondTolerance(Math.max(was.p50, 0) + was.error, now.min - now.error, entry);
	},
};

function listTimerChanges(here, there) {
	const [ours, theirs] = [mapTimerTestsBySource(here), mapTimerTestsBySource(there)];

	return [...new Set([...ours.keys(), ...theirs.keys()])].flatMap((source) => {
		const [a, b] = [ours.get(source) || [], theirs.get(source) || []];
		const pairs = a.map((row) => [row, b.find((other) => formatRequestedPeriod(other) === formatRequestedPeriod(row))])
			.filter(([row, other]) => row.lateness_ns && other && other.lateness_ns);

		return [...compareAspect(SENDS, source, a, b, here, there), ...pairs.flatMap(([row, other]) =>
			compareAspect({...LATENESS, what: `median lateness, ${formatRequestedPeriod(row)}`}, source, row, other, here, there))];
	});
}

const RUN_VERDICT = {
	what: "verdict",
	text: ({verdict}) => verdict || NONE,
	differs: (a, b) => a.verdict !== b.verdict,
	worse: (was, now) => isJudged(was) && isJudged(now) && getVerdictRank(now) > getVerdictRank(was),
};

/* Returns true if REPORT has a verdict on the clock NAME, or tests of the interrupt source NAME. */
const isTested = (report, name) => isJudged(mapClocksById(report).get(name)) || mapTimerTestsBySource(report).has(name);

/*
 * Returns rows of the rules that a clock broke in only one of the two reports. If the other report did not test the
 * clock, nothing is known to be worse or better.
 */
function listFindingChanges(here, there) {
	const nameOf = (finding) => joined([finding.rule, finding.clock], ", ");
	const kindOf = (kind, {clock}, other) => (!clock || isTested(other, clock) ? kind : "changed");
	const only = (a, b, row) => {
		const others = new Set(b.findings.map(nameOf));

		return a.findings.filter((finding) => !others.has(nameOf(finding)))
			.map((finding) => ({clock: nameOf(finding), what: "finding", ...row(finding, finding.text || "")}));
	};

	return [
		...only(here, there, (finding, text) => ({here: text, there: "none", kind: kindOf("worse", finding, there)})),
		...only(there, here, (finding, text) => ({here: "none", there: text, kind: kindOf("better", finding, here)})),
	];
}

const CLAIM = {
	what: "claim",
	text: ({outcome, error_ppm}) => joined([outcome.replaceAll("_", " "), known(error_ppm) && `${span(error_ppm, ppm)} ppm`], ", "),
	differs: never,
	worse: (was, now) => was.outcome === "passed" && now.outcome === "failed" && Boolean(known(now.error_ppm)),
};

/* Returns rows of the claims on rates that are wrong in only one of the two reports. */
function listClaimChanges(here, there) {
	return (here.claims || []).flatMap((claim) => {
		const other = (there.claims || []).find(({source, clock}) => source === claim.source && clock === claim.clock);

		return other ? compareAspect(CLAIM, joined([claim.source, claim.clock], ", "), claim, other, here, there) : [];
	});
}

/* Returns rows of the differences in machine and options, which may explain the other differences. */
function listContextChanges(here, there) {
	const facts = [
		["the machine", "system", describeSystem],
		["the machine", "CPU", ({machine}) => machine.cpu],
		["the machine", "runs on", describeHost],
		["the machine", "firmware", ({machine}) => machine.firmware],
		["the machine", "cores started", ({machine}) => whole(machine.cores_started)],
		["the machine", "bracket", ({machine}) => machine.fence],
		["the run", "options", ({options}) => (options.given === null ? "all defaults" : options.given)],
		["the run", "profile", ({options}) => options.profile],
		["the run", "time per measurement", ({options}) => duration(options.duration_ms)],
		["the run", "option cores", ({options}) => options.cores],
		["the run", "option gap", ({options}) => isNumber(options.gap_us) && ns(1e3 * options.gap_us)],
		["the run", "baretick", getVersion],
	];

	return facts.map(([clock, what, of]) => ({
		clock,
		what,
		here: of(here) || NONE,
		there: of(there) || NONE,
		kind: "changed"
	})).filter((row) => row.here !== row.there);
}

function listAllChanges(here, there) {
	const changes = [
		...compareAspect(RUN_VERDICT, "the run", here, there, here, there),
		...listClockChanges(here, there), ...listTimerChanges(here, there), ...listFindingChanges(here, there),
		...listClaimChanges(here, there)
	];

	return [...listContextChanges(here, there), ...["worse", "changed", "better"].flatMap(
		(kind) => changes.filter((change) => change.kind === kind))];
}
