/*
 * Lists the differences between two reports as rows. A row is "worse" by the rules and limits of `qemu/run --baseline`
 * (src/report/compare.json), with the other report as the baseline. It is "better" if the opposite change would be
 * worse. All other differences are "changed".
 */

const VERDICT_RANK = new Map([["pass", 0], ["warn", 1], ["fail", 2]]);
const GONE_RANK = 3;

const isJudged = (clock) => Boolean(clock) && VERDICT_RANK.has(clock.verdict);
const getVerdictRank = (clock) => (isJudged(clock) ? VERDICT_RANK.get(clock.verdict) : GONE_RANK);
const getLatency = (clock) => clock.latency || {};

/*
 * Returns the upper bound of the median latency, or the median itself if the report has no interval for it. Two medians
 * count as equal if their intervals overlap.
 */
const getMedianUpperBound = (clock) => (getLatency(clock).p50_within_ns || [0, getLatency(clock).p50_ns])[1];

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

function areMachinesEqual(a, b, ...names) {
	return names.every((name) => (a.machine[name] || null) === (b.machine[name] || null));
}

/* Returns the reason why the latencies of the two reports cannot be compared, or null if they can be compared. */
function explainLatencyDoubt(a, b) {
	if (!areMachinesEqual(a, b, "accelerator", "hypervisor"))
		return "the reports are of different machines";
	if (a.machine.tsc_hz === null || b.machine.tsc_hz === null)
		return "one report has them in ticks only";
	return null;
}

function isBeyondTolerance(wasAtMost, isAtLeast, error) {
	return isNumber(wasAtMost) && isNumber(isAtLeast) &&
		isAtLeast > COMPARE.slower_factor * wasAtMost + error;
}

/*
 * Returns true if a read is slower than before. WASATMOST is an upper bound of the old duration, and ISATLEAST is a
 * lower bound of the new duration, in ns. The true duration of a read lies between the fastest read and the median,
 * because a busy host only makes reads slower.
 */
function isReadSlower(wasAtMost, isAtLeast, {was, now}) {
	return !explainLatencyDoubt(was, now) && isBeyondTolerance(wasAtMost, isAtLeast, getNullClockMedian(was));
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
	return isNumber(clock.claimed_hz) || (now.machine.accelerator !== "tcg" &&
		areMachinesEqual(was, now, "accelerator", "hypervisor", "cpu"));
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
 * worse(was, now, {was, now}), differs(one, other)}.
 */
const ASPECTS = [
	{
		what: "median latency",
		text: (clock) => ns(getLatency(clock).p50_ns),
		differs: never,
		worse: (was, now, runs) => isReadSlower(getMedianUpperBound(was), getLatency(now).min_ns, runs),
	},
	{
		what: "loop time",
		text: (clock) => ns(getLatency(clock).loop_ns),
		differs: never,
		worse: (was, now, runs) => {
			const {clean, loop_ns, min_ns} = getLatency(now);

			return isReadSlower(getLatency(was).loop_ns,
				clean && clean.hit === 0 ? loop_ns : min_ns, runs);
		},
	},
	{
		what: "resolution",
		text: (clock) => `${ns(clock.resolution_ns)}, ${formatResolutionStep(clock)}`,
		worse: (was, now) => (isNumber(was.resolution_ns) && isNumber(now.resolution_ns) ?
			isBeyondTolerance(was.resolution_ns, now.resolution_ns, 0) :
			isBeyondTolerance(was.step_ticks, now.step_ticks, 0)),
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
function compareAspect({what, text, worse, differs}, clock, a, b, here, there) {
	let kind = differs(a, b) && "changed";

	if (worse(b, a, {was: there, now: here}))
		kind = "worse";
	else if (worse(a, b, {was: here, now: there}))
		kind = "better";
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
	const quiet = !now.quality || now.quality.reliable_tails !== false;

	if (!rows.length)
		return ["profile", "irq"].every((name) => was.options[name] === now.options[name]);
	return rows.some(({state}) => ["absent", "disabled", "broken"].includes(state) || (quiet && state === "stuck"));
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
	return !explainLatencyDoubt(was, now) && ![was, now].some(({machine}) => machine.accelerator === "tcg");
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

/* Returns rows of the rules that a clock broke in only one of the two reports. */
function listFindingChanges(here, there) {
	const nameOf = (finding) => joined([finding.rule, finding.clock], ", ");
	const only = (a, b, row) => {
		const others = new Set(b.findings.map(nameOf));

		return a.findings.filter((finding) => !others.has(nameOf(finding)))
			.map((finding) => (
				{clock: nameOf(finding), what: "finding", ...row(finding.text || "")}));
	};

	return [
		...only(here, there, (text) => ({here: text, there: "none", kind: "worse"})),
		...only(there, here, (text) => ({here: "none", there: text, kind: "better"})),
	];
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
		...listClockChanges(here, there), ...listTimerChanges(here, there), ...listFindingChanges(here, there)
	];

	return [...listContextChanges(here, there), ...["worse", "changed", "better"].flatMap(
		(kind) => changes.filter((change) => change.kind === kind))];
}
