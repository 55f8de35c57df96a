/* What is not the same in two reports, as rows: of the machine, of the run, of each clock, of what was found. */

/* A latency that differs by less is called the same. */
const NOTEWORTHY = 1.25;
const NOTEWORTHY_PERCENT = Math.round(100 * (NOTEWORTHY - 1));

function byClock(report) {
	return new Map(report.clocks.map((clock) => [clock.id, clock]));
}

/* Of two intervals: the same unless they lie apart. */
function liesApart(a, b) {
	return Boolean(known(a) && known(b) && (a.low > b.high || b.low > a.high));
}

/* A clock that is gone is of as little use as one that fails. */
const RANK = new Map([["pass", 0], ["warn", 1], ["fail", 2], ["absent", 2]]);

/* What became of a verdict, by the words shown for it and by its rank; null where they are the same. */
function verdictChange(here, there, verdictHere = here, verdictThere = there) {
	const [a, b] = [RANK.get(verdictHere), RANK.get(verdictThere)];

	if (here === there)
		return null;
	return a === undefined || b === undefined || a === b ? "changed" : a > b ? "worse" : "better";
}

/* "fail, stuck" */
function stateOf(clock) {
	const state = ["present", clock.verdict].includes(clock.state) ? null : clock.state;

	return joined([clock.verdict || "not read", state], ", ");
}

/* What reading nothing costs: it is in every latency, and where time-stamps are coarse it is a step of theirs. */
function bracketOf(here, there) {
	const medians = [here, there].map((report) => {
		const empty = byClock(report).get("null");

		return (empty && empty.latency && empty.latency.p50_ns) || 0;
	});

	return Math.max(...medians);
}

/* {clock, what, here, there, kind} for all that differs; kinds: better, worse, changed. */
function clockChanges(here, there, bracketNs) {
	const changes = [];
	const add = (what, a, b, kind) => changes.push({clock: here.id, what, here: a, there: b, kind});
	const verdict = verdictChange(stateOf(here), stateOf(there), here.verdict, there.verdict);

	if (verdict)
		add("verdict", stateOf(here), stateOf(there), verdict);
	for (const [name, title_] of [["p50_ns", "median read"], ["p99_ns", "99 % of the reads"]]) {
		const [a, b] = [here, there].map((clock) => clock.latency && clock.latency[name]);

		if (a > 0 && b > 0 && Math.max(a / b, b / a) >= NOTEWORTHY &&
			Math.abs(a - b) > bracketNs)
			add(title_, ns(a), `${ns(b)}; here ${times(a / b)}`,
				a > b ? "worse" : "better");
	}
	if (liesApart(here.error_ppm, there.error_ppm))
		add("rate, ppm off its claim", span(here.error_ppm, ppm), span(there.error_ppm, ppm),
			"changed");
	else if (liesApart(here.measured_hz, there.measured_hz))
		add("rate", hz(here.measured_hz.value), hz(there.measured_hz.value), "changed");
	if (here.main === here.id && here.step_ticks > 0 && there.step_ticks > 0 &&
		here.step_ticks !== there.step_ticks)
		add("step", plural(here.step_ticks, "tick"), plural(there.step_ticks, "tick"),
			here.step_ticks > there.step_ticks ? "worse" : "better");
	if (here.monotonic && there.monotonic && here.monotonic.backward !== there.monotonic.backward)
		add("steps back", whole(here.monotonic.backward), whole(there.monotonic.backward),
			here.monotonic.backward > there.monotonic.backward ? "worse" : "better");
	return changes;
}

const findingName = (finding) => joined([finding.rule, subject(finding)], ", ");

function findingChanges(here, there) {
	const only = (a, b) => {
		const others = new Set(b.findings.map(findingName));

		return a.findings.filter((finding) => !others.has(findingName(finding)));
	};

	return [
		...only(here, there).map((finding) => ({
			clock: findingName(finding),
			what: "finding",
			here: finding.text || "",
			there: "none",
			kind: "worse"
		})),
		...only(there, here).map((finding) => ({
			clock: findingName(finding),
			what: "finding",
			here: "none",
			there: finding.text || "",
			kind: "better"
		})),
	];
}

/* Where and how the two ran, in so far as that isn't the same: what differs below may come from it. */
function contextChanges(here, there) {
	const facts = [
		["the machine", "CPU", ({machine}) => machine.cpu],
		["the machine", "runs on", hostOf],
		["the machine", "firmware", ({machine}) => machine.firmware],
		["the machine", "cores started", ({machine}) => whole(machine.cores_started)],
		["the machine", "bracket", ({machine}) => machine.fence],
		["the run", "profile", ({options}) => options.profile],
		["the run", "time per measurement", ({options}) => duration(options.duration_ms)],
		["the run", "option cores", ({options}) => options.cores],
		["the run", "option gap", ({options}) => isNumber(options.gap_us) && ns(1e3 * options.gap_us)],
		["the run", "baretick", versionOf],
	];

	return facts.map(([clock, what, of]) => ({
		clock,
		what,
		here: of(here) || NONE,
		there: of(there) || NONE,
		kind: "changed"
	})).filter((row) => row.here !== row.there);
}

function allChanges(here, there) {
	const [ours, theirs] = [byClock(here), byClock(there)];
	const bracketNs = bracketOf(here, there);
	const changes = [];
	const verdict = verdictChange(here.verdict, there.verdict);

	if (verdict)
		changes.push({
			clock: "the run",
			what: "verdict",
			here: here.verdict || NONE,
			there: there.verdict || NONE,
			kind: verdict
		});
	for (const clock of here.clocks)
		changes.push(...(theirs.has(clock.id) ? clockChanges(clock, theirs.get(clock.id), bracketNs) : [{
			clock: clock.id,
			what: "clock",
			here: clock.state || "listed",
			there: "not listed",
			kind: "changed"
		}]));
	for (const clock of there.clocks)
		if (!ours.has(clock.id))
			changes.push({
				clock: clock.id,
				what: "clock",
				here: "not listed",
				there: clock.state || "listed",
				kind: "changed"
			});
	changes.push(...findingChanges(here, there));
	return [...contextChanges(here, there), ...["worse", "changed", "better"].flatMap(
		(kind) => changes.filter((change) => change.kind === kind))];
}
