/* The sections without charts: verdict, findings, recommendation, table of clocks, and machine. */

const VERDICTS = {
	pass: "No clock failed",
	warn: "Usable, with warnings",
	fail: "A clock can't be trusted",
	incomplete: "The run is incomplete",
};

const ALL_PASSED = "Every clock passed";

function startedAt(report) {
	return report.started_at && report.started_at.replace("T", " ");
}

/* Shows a warning at the top of the page if parts of the report are not shown. */
function warnings(report) {
	const left = leftOut.get(report) || [];

	return left.length && el("p", {class: "problem", id: "left-out"}, `Not all of this report is shown. ${left.join("; ")}.`);
}

/* Shows a badge if the application found that the slowest reads are unreliable because of stolen time. */
function doubtBadge({quality: judged}) {
	return judged && judged.reliable_tails === false && [" ", badge("warn", "tails unreliable")];
}

/* Shows the application's sentence on stolen time. */
function quality(report) {
	return report.quality && report.quality.text &&
		el("p", {class: "lead quality"}, report.quality.text, doubtBadge(report));
}

/* Shows the application's sentence on the agreement of the cores' TSCs. */
function synchrony({skew}) {
	return skew && skew.text && el("p", {class: "lead", id: "synchrony"}, `TSCs of the cores: ${skew.text}.`);
}

function headline(report) {
	const fails = report.findings.filter((finding) => finding.severity === "fail").length;
	const warns = report.findings.length - fails;
	const found =
		joined([fails && plural(fails, "failure"), warns && plural(warns, "warning")], ", ");
	const open = report.behaviours.filter((row) => row.outcome === "not_determined").length;
	const unseen = report.behaviours.filter((row) => row.outcome === "not_checked").length;
	const undecided = joined([open && `${open} not determined`, unseen && `${unseen} not checked`], ", ");
	const words = report.verdict === "pass" && !undecided ? ALL_PASSED :
		Object.hasOwn(VERDICTS, report.verdict || "") ? VERDICTS[report.verdict] : "No verdict";
	const where = joined([report.options.label, describeSystem(report), report.machine.cpu || "Unknown CPU"], ", ");
	const began = startedAt(report);

	return el("div", {class: "headline"}, el("h1", null, badge(report.verdict), " ", words),
		report.answer && el("p", {class: "lead", id: "answer"}, el("strong", null, report.answer.text)),
		el("p", {class: "lead"},
			`${found || "No findings"}${undecided && `; of the checks ${report.unjudged || undecided}`}`,
			isNumber(report.ended_early_ms) && `; ended early, ${duration(report.ended_early_ms)} after it began`, `. ${where}`,
			began && [", ", el("span", {class: "whole"}, began)], "."),
		synchrony(report),
		quality(report),
		report.reason &&
			el("p", {class: "problem"}, `The run gave no report: ${report.reason}`));
}

function describeHost({machine}) {
	const guest =
		joined([machine.accelerator, machine.hypervisor && `“${machine.hypervisor}”`], " ");

	return machine.accelerator === "none" ? "bare metal" : guest;
}

/* Returns the machine's identity, or an empty object if the report has none. */
const getIdentity = ({machine}) => machine.identity || {};

function describeSystem(report) {
	const {vendor, product} = getIdentity(report);

	return joined([vendor, product], " ");
}

/* Returns a description of the CPU, with the revision of its microcode in the format that its vendor uses. */
function describeCpu(report) {
	const {family, model, stepping, microcode} = getIdentity(report);

	return joined([report.machine.cpu, isNumber(family) && `family ${family}, model ${model}, stepping ${stepping}`,
		isNumber(microcode) && `microcode ${microcode.toString(16)}h`], ", ");
}

/* Describes the timekeeping features of a hypervisor's interface. */
function describeInterface({interface: name, version, base, offers, tsc_hz: rate, tsc_within_hz: within, tsc_by: by, stable}) {
	return joined([`${joined([name, version], " ")} at CPUID ${base.toString(16)}h`, offers,
		isNumber(rate) && `the TSC at ${hz(rate)} within ${exact(within)} Hz, by ${by}`,
		typeof stable === "boolean" && `its clock is ${stable ? "" : "not "}marked as stable`], "; ");
}

const getVersion = ({tool}) => joined([tool.version, tool.commit], ", ");

/*
 * Returns the error of the TSC's rate as text. The TSC was compared with another clock, and the error is only right if
 * that clock runs at its nominal rate.
 */
function describeTscError({clocks}) {
	const rate = known((clocks.find(({id}) => id === "tsc") || {}).measured_hz);
	const off = rate && Math.max(rate.value - rate.low, rate.high - rate.value) / rate.value * 1e6;

	return rate ? ` ± ${off.toPrecision(3)} ppm` : "";
}

function machineFacts(report) {
	const {machine, options} = report;
	const identity = getIdentity(report);
	const invariant = machine.tsc_is_invariant ? "invariant" : "not invariant";
	const tsc = joined([hz(machine.tsc_hz) + describeTscError(report), invariant, machine.tsc_source], ", ");
	const cores = `${whole(machine.cores_started)} of ${whole(machine.cores_listed)} started`;
	const facts = [
		["Label", options.label],
		["System", describeSystem(report)],
		["Serial number", identity.serial],
		["Board", identity.board],
		["CPU", describeCpu(report)],
		["BIOS", joined([identity.bios, identity.bios_date], ", ")],
		["Firmware", joined([machine.firmware, identity.oem && `ACPI ${identity.oem}`], ", ")],
		["Runs on", joined([describeHost(report), identity.host], ", ")],
		...(machine.paravirtual || []).map((each) => ["Offered to guests", describeInterface(each)]),
		["Cores", isNumber(machine.cores_listed) && cores],
		["TSC", isNumber(machine.tsc_hz) && tsc],
		["Samples bracketed by", machine.fence],
		["Run", isNumber(report.elapsed_ms) && `${duration(report.elapsed_ms)} in all`],
		["Phases", (report.phases || []).filter((phase) => isNumber(phase.duration_ms))
			.map((phase) => `${phase.id} ${duration(phase.duration_ms)}`).join(", ")],
		["Profile", options.profile],
		["Options", options.given === null ? "all defaults" : options.given],
		["baretick", getVersion(report)],
	];

	const given = facts.filter((fact) => fact[1]);

	return el("dl", {class: "facts"},
		given.map((fact) => el("div", null, el("dt", null, fact[0]), el("dd", null, fact[1]))));
}

function subject(finding) {
	const cores = isNumber(finding.core) ? [finding.core] : finding.cores ?? [];

	return joined([finding.clock, cores.length > 0 && `core${cores.length > 1 ? "s" : ""} ${cores.join(", ")}`], ", ");
}

function findingFigures(finding) {
	const interval = known({value: finding.measured, low: finding.low, high: finding.high});
	const unit = finding.unit && finding.unit !== "ns" ? ` ${finding.unit}` : "";
	const figure = finding.unit === "ns" ? ns : exact;

	if (!isNumber(finding.measured))
		return null;
	const between = interval && figure(interval.low) !== figure(interval.high) && span(interval, figure);
	const atEnd = between && (finding.measured === finding.low || finding.measured === finding.high);
	const measured = atEnd ? between : `${figure(finding.measured)}${between ? ` (${between})` : ""}`;
	const limit = finding.limit ? `; the limit is ${figure(finding.limit)}${unit}` : "";

	return el("p", {class: "figures"}, `Measured ${measured}${unit}${limit}.`);
}

function findingCard(finding) {
	const more = [
		["Known causes", finding.cause], ["What to do", finding.advice],
		["Known from", finding.source]
	];

	return el("article", {class: `finding ${finding.severity === "fail" ? "fail" : "warn"}`},
		el("p", {class: "finding-head"}, badge(finding.severity),
			code(finding.rule),
			el("span", {class: "quiet"}, subject(finding))),
		el("h3", null, finding.text || "This finding has no text."),
		findingFigures(finding),
		el("dl", null,
			more.filter(([, text]) => text)
				.map(([name, text]) => [el("dt", null, name), el("dd", null, text)])
				.flat()));
}

function findings(report) {
	const failed = (finding) => finding.severity === "fail";
	const order =
		[...report.findings.filter(failed), ...report.findings.filter((each) => !failed(each))];
	const none = report.verdict === "incomplete" ?
		"None, but the run is incomplete." :
		"None: no measured figure breaks a rule.";

	return section("findings", "Findings", order.length ? order.map(findingCard) : note(none));
}

function adviceRow(row) {
	return el("li", {class: row.avoid ? "avoid" : null}, code(row.clock), ": ",
		row.avoid && [el("strong", null, "avoid"), ". "], row.reason || "");
}

function advice(report) {
	if (!report.advice.length)
		return null;
	return section("advice", "Clocks by preference",
		note("Sorted by Linux's class of rating (each hundred, such as 200 to 299), then by the cost of a read. Clocks to avoid come last."),
		el("ol", {class: "advice"}, report.advice.map(adviceRow)),
		systemsTable(report),
		!(report.taken || []).length && ((report.options || {}).clocks || []).length > 0 &&
			note("Which clock a system takes is predicted only without the option clocks=, because each may take a clock that the option excludes."),
		report.tick && el("p", null, "For its tick: ", report.tick.source && [code(report.tick.source), ", "], report.tick.reason));
}

function backward(clock) {
	const steps = clock.monotonic;

	if (!steps)
		return NONE;
	const said = [
		steps.backward && plural(steps.backward, "step back", "steps back"),
		steps.stalls && plural(steps.stalls, "stall"),
	];

	return joined(said, ", ") || "never";
}

/*
 * Explains what a stall is, if a clock had one. The limits in the text are STALL_PERIODS and STALL_NS_MIN of
 * src/measure/clocks/survey_latency.c.
 */
function stallNote(clocks) {
	const seen = clocks.some((clock) => clock.monotonic && clock.monotonic.stalls);

	return seen && note("A stall: the clock showed one value for longer than four of its periods and longer ",
		"than 2 µs, and then went on. Short stalls are not judged: an emulator's edges come late.");
}

/*
 * Returns false if the clock's reason is already shown. The clock is then another read method of its main clock, and
 * fails for the same reason.
 */
function hasOwnReason(clock, _, clocks) {
	const main = clocks.find((each) => each !== clock && each.id === clock.main);

	return clock.reason && !(main && main.reason === clock.reason && main.state === clock.state);
}

function clockReason(clock) {
	const state = clock.state && clock.state !== "present" ? ` ${clock.state}` : "";

	return el("li", null, code(clock.id), `${state}: ${clock.reason}`);
}

function describeRateError(clock) {
	const error = known(clock.error_ppm);

	return error ? [ppm(error.value), el("span", {class: "quiet block"}, span(error, ppm))] : NONE;
}

/*
 * Returns true if the rate's interval contains the nominal rate and is wider than a thousandth of it. The nominal rate is
 * then shown, as report_clock_rate_millihz() in src/report/report.c does for the text report.
 */
function isRateTooCoarse({low, high}, claimed) {
	return low <= claimed && claimed <= high && high - low > claimed / 1000;
}

/* Returns the measured rate of the clock, or of the main clock in CLOCKS if it reads the same counter, as in the text report. */
function findMeasuredRate(clock, clocks) {
	const main = clocks.find(({id}) => id === clock.main);
	const isSameCounter = main && clock.state === "present" && main.claimed_hz === clock.claimed_hz;

	return known(clock.measured_hz) || (isSameCounter ? known(main.measured_hz) : null);
}

/* Shows the measured rate, or the nominal rate with a mark if there is no measured rate or only a coarse one. */
function formatRate(clock, clocks) {
	const measured = findMeasuredRate(clock, clocks);

	if (!isNumber(clock.claimed_hz) || (measured && !isRateTooCoarse(measured, clock.claimed_hz)))
		return measured ? hz(measured.value) : NONE;
	return [hz(clock.claimed_hz), el("span", {class: "quiet block"}, "as claimed")];
}

const clockName = (clock) =>
	[code(clock.id), el("span", {class: "quiet block"}, clock.title || "")];

/* Shows the cost of one read in a program, as the application calculated it, and its range if it differs between cores. */
function readCost({cost}) {
	const value = ns(((cost && known(cost.read_ns)) || {}).value);

	if (!cost || !cost.differs)
		return value;
	return [value, el("span", {class: "quiet block"}, `${ns(cost.least_ns)} to ${ns(cost.most_ns)} by core`)];
}

function clocksTable(report) {
	const latency = (heading, name) =>
		[heading, (clock) => (clock.latency ? formatPercentile(clock.latency, name) : NONE)];

	return section("clocks", "Clocks",
		table(
			[
				["Clock", clockName, "name"],
				["Verdict", (clock) => (isNotDetermined(clock) ? badge("open", "not determined") : badge(clock.verdict)), "left"],
				["Rate", (clock) => formatRate(clock, report.clocks)],
				["Off by, ppm", describeRateError],
				["Resolution", (clock) => ns(clock.resolution_ns)],
				["A read", readCost],
				latency("Fastest", "min_ns"),
				latency("Median", "p50_ns"),
				latency("99.9 %", "p999_ns"),
				latency("Slowest", "max_ns"),
				["Backward, stalls", backward],
			],
			report.clocks, "All clocks: verdict, rate, resolution, what a read costs, and latency"),
		note("A read is the typical latency without the bracket (the clock ", code("null"), "), as the median of the cores. ",
			"The latencies are the boot core's, with the bracket."),
		stallNote(report.clocks),
		el("ul", {class: "reasons"}, report.clocks.filter(hasOwnReason).map(clockReason)));
}

/*
 * Shows the cost of EXPLAIN ANALYZE in a database, which reads the clock twice for each row. The application calculated
 * this cost.
 */
function costs(report) {
	const rows = report.clocks.filter((clock) => clock.cost && clock.cost.read_in && known(clock.cost.rows_ms));
	const emulated = report.machine.accelerator === "tcg";

	if (!rows.length)
		return null;
	return section("costs", "What EXPLAIN ANALYZE costs",
		note("A database that times its rows reads the clock twice for each row of each node of the plan. The cost of a read is the typical latency (the median of the means of 16 successive reads) minus that of null on the same core. " +
			"A program runs on any core, so the figure is the median of the cores (with an even number the mean of the middle two, or the lower of them if the cores really differ). " +
			(emulated ? "No time of a query is given: in an emulator, other parts of it are longer than the clock's." :
				"At least: the clock's part of a query's extra time, for 100,000 rows of one plan node, on the core with the cheapest reads. " +
				"The model: extra time = rows × plan nodes × (2 × (a read + the system's part) + PostgreSQL's own work).")),
		table(
			[
				["Clock", (clock) => code(clock.id), "name"],
				...(emulated ? [] : [["100,000 rows, at least", (clock) => duration(known(clock.cost.rows_ms).low)]]),
				["Read in", (clock) => clock.cost.read_in],
				["A read", readCost],
				["Bracket", (clock) => ns(clock.cost.null_ns)],
				["Loop", (clock) => ns(clock.cost.loop_ns)],
			],
			rows, "What reading each clock costs a database"),
		note("A read in the kernel is a system call, because user space cannot read this clock. The loop is the boot core's mean loop time, with the reads that stolen time hit, less null. Under the same load pg_test_timing " +
			"prints more, because its own loop and the system call add to it. Linux reads the TSC as tsc_lfence or tsc_rdtscp does."));
}

function behaviours(report) {
	const outcome = (row) =>
		badge({passed: "pass", failed: row.severity || "fail", not_determined: "open"}[row.outcome],
			(row.outcome || "?").replace("_", " "));

	if (!report.behaviours.length)
		return null;
	return section("behaviours", "Specified behaviour",
		table(
			[
				["Rule", (row) => code(row.rule), "name"],
				["Clock", (row) => row.clock || NONE, "left"],
				["Outcome", outcome, "left"],
				["Observed", (row) => row.text || NONE, "left"],
			],
			report.behaviours, "Specified behaviour and the outcome of its tests"));
}

const formatCalibrationError = (row, name) => (row[name] ? `${row[name].value.toFixed(1)} ppm` : NONE);
const refusalSentence = (row) => joined([row.reason, ...row.refusals.map(({reason, count}) => `${whole(count)}: ${reason}`)], "; ");
const explainCalibration = (row) => joined([refusalSentence(row), row.remark], "; ");

function calibrations(report) {
	const rows = report.calibrations || [];

	if (!rows.length)
		return null;
	return section("calibrations", "Calibration loops",
		note("The error of each system's calibration loop on this machine, against the measured rate."),
		report.calibrated ? el("p", null, report.calibrated) : null,
		table(
			[
				["Loop", (row) => code(row.loop), "name"],
				["Source", (row) => row.source, "left"],
				["Clock", (row) => row.clock, "left"],
				["Runs", (row) => whole(row.runs)],
				["Refused", (row) => whole(row.refused)],
				["Median", (row) => formatCalibrationError(row, "median_ppm")],
				["Worst", (row) => formatCalibrationError(row, "worst_ppm")],
				["Why", explainCalibration, "left"],
			],
			rows, "Calibration loops and their errors"));
}

const sleepChange = (figure) => (!figure ? NONE : figure.low > 0 || figure.high < 0 ? ns(figure.value) :
	`< ${ns(Math.max(-figure.low, figure.high))}`);
const wakeUp = (wakes) => (wakes.count ? `${ns(wakes.p50_ns)}, at most ${ns(wakes.max_ns)}` : NONE);

function sleepSection({sleep}) {
	return sleep && section("sleep", "Sleep states",
		note("What the clocks of a core gained or lost while it slept, and how long half of its wake-ups took. A dash: not measured, or not supported."),
		note("Reached is the state in which the CPU counted the longest time. If the core's other thread (SMT) is awake, it is at most C1."),
		table(
			[
				["State", (row) => code(row.state), "name"],
				["Core", (row) => whole(row.core)],
				["TSC", (row) => sleepChange(row.tsc_gained_ns)],
				["Reached", (row) => row.reached],
				["TSC_ADJUST", (row) => sleepChange(row.tsc_adjusted_ns)],
				["Timer lost", (row) => sleepChange(row.lapic_lost_ns)],
				["By IPI", (row) => wakeUp(row.by_ipi)],
				["By timer", (row) => wakeUp(row.by_timer)],
			],
			sleep.cores, "Clocks and wake-ups of sleeping cores"));
}

function notes(report) {
	if (!report.notes.length)
		return null;
	return section("notes", "Notes",
		el("ul", null, report.notes.map((text) => el("li", null, text))));
}
