/*
 * The part "Compare with..." of the page: shows other reports next to this one in tables. changes.js finds the
 * differences, and pictures.js draws the charts.
 */

const FILE_SIZE_MAX = 64 << 20;
const COMPARED_MAX = 8;

/* Returns a paragraph for the user with the rules of the comparison (see changes.js). */
function explainComparison(here, there) {
	const doubt = explainLatencyDoubt(here, there);
	const [a, b] = [here, there].map((report) => ns(getNullClockMedian(report)));
	const bracket = a === b ? a : `${b} there, ${a} here`;
	const timers = ![here, there].every((report) => timerRows(report).length) || doubt ? "" :
		!canCompareLateness({was: there, now: here}) ? " How late interrupts come is not compared: in an emulator it depends on the host." :
			" A timer's interrupts are compared by the same rule: its earliest interrupt, and the time to enter the handler as the bracket.";
	const latencies = doubt ? `Latencies are not compared: ${doubt}.` :
		`A clock is slower when even its fastest read takes more than ${COMPARE.slower_factor} ` +
		`times the other report's median plus one bracket (${bracket}, the clock null).`;

	return note(latencies, timers, ` A rate is worse when it moved by more than ${COMPARE.rate_ppm} ppm and `,
		"not towards its nominal rate. Intervals that overlap count as the same.");
}

function kindBadge({kind}) {
	const colours = {worse: "fail", better: "pass", changed: "absent"};

	return el("span", {class: `badge ${colours[kind]}`}, kind);
}

function changesTable(here, there, name) {
	const changes = listAllChanges(here, there);
	const how = explainComparison(here, there);

	if (!changes.length)
		return [note("No difference: same machine, options, verdicts and findings."), how];
	return [
		note(`In this report ${countKinds(changes)}.`),
		how,
		table(
			[
				["Of", (row) => code(row.clock), "name"],
				["What", (row) => row.what, "left"],
				["This report", (row) => row.here, "left"],
				["The other", (row) => row.there, "left"],
				["In this report it is", kindBadge, "left"],
			],
			changes, `Differences between this report and ${name}`)
	];
}

function countKinds(changes) {
	const count = (kind) => changes.filter((change) => change.kind === kind).length;

	return `${count("worse")} worse, ${count("better")} better, ${count("changed")} changed`;
}

/*
 * Shows the differences to the other reports. With one other report its differences are visible at once. With several
 * reports, each report has a line with the number of differences, and a click on the line shows its differences.
 */
function differences(here, others) {
	if (others.length === 1)
		return [el("h3", null, "Differences"), changesTable(here, others[0].report, others[0].name)];
	return [el("h3", null, "Differences"), others.map(({report, name}) => details(
		`From ${name}: this report has ${countKinds(listAllChanges(here, report))}`,
		() => el("div", null, changesTable(here, report, name))))];
}

function allClocksTable(here, others) {
	const all = (heading, text, kind) => [heading, (row) => [text(row.here),
		row.there.map((clock) => el("span", {class: "quiet block"}, clock ? text(clock) : NONE))], kind];
	const latency = (heading, name) => all(heading, (clock) => ns(getLatency(clock)[name]));

	return table(
		[
			["Clock", (row) => code(row.here.id), "name"],
			all("Verdict", (clock) => clock.verdict || "not read", "left"),
			all("Off by, ppm", (clock) => ppm((known(clock.error_ppm) || {}).value)),
			all("Resolution", formatResolutionStep),
			latency("Fastest", "min_ns"),
			latency("Median", "p50_ns"),
			latency("99 %", "p99_ns"),
			latency("Slowest", "max_ns"),
		],
		findSharedClocks(here, others), "All reports: this report first, then the other reports in the order of the list");
}

const plainText = (value) => (typeof value === "string" && value ? value : NONE);

/* Shows the machine and the stolen time of each report, because they explain the figures below. */
function machinesTable(here, others) {
	const column = (heading, of) => [heading, ({report}) => of(report), "left"];

	return table(
		[
			["Report", ({name}) => name, "name"],
			column("Verdict", (report) => badge(report.verdict)),
			column("Stolen time", (report) => [stolenTime(report), doubtBadge(report)]),
			column("System", (report) => describeSystem(report) || NONE),
			column("CPU", ({machine}) => plainText(machine.cpu)),
			column("Firmware", ({machine}) => plainText(machine.firmware)),
			column("Runs on", (report) => describeHost(report) || NONE),
			column("Label", ({options}) => plainText(options.label)),
			column("Started", (report) => startedAt(report) || NONE),
			column("baretick", getVersion),
		],
		[{report: here, name: "this report"}, ...others], "The machines of the reports");
}

/*
 * Returns the stolen time as a share of the observed time. The table shows it because stolen time makes the slowest
 * reads slower, although it affects no verdict.
 */
function stolenTime({interference: found}) {
	return found && isNumber(found.total_ns) && found.observed_ns > 0 ? share(100 * found.total_ns / found.observed_ns) : NONE;
}

function compareSection(here, others) {
	return section("compare", "Compared",
		machinesTable(here, others), differences(here, others),
		compareCharts(here, others),
		details("All clocks of all reports as a table", () => allClocksTable(here, others)));
}

/*
 * Returns the JSON text in TEXT, the contents of a report.html. The first <script id="report"> is used, because the
 * page's own scripts come after it. Returns TEXT unchanged if it is no report.html.
 */
function extractReportJson(text) {
	const begin = '<script type="application/json" id="report">';
	const from = text.indexOf(begin);

	if (!/^\s*<!doctype html/i.test(text.slice(0, 1000)))
		return text;
	if (from < 0)
		throw new Error("it is a page without a report of baretick");
	return text.slice(from + begin.length, text.indexOf("<\/script", from));
}

async function readFile(file) {
	if (file.size > FILE_SIZE_MAX)
		throw new Error("it is larger than 64 MiB");
	return readReport(extractReportJson(await file.text()));
}

/*
 * Makes the names of reports unique. If files from several folders have the same name, each gets a number. If such a
 * report has a label, the label is added to its name.
 */
function makeNamesUnique(others) {
	return others.map(({name, report}) => {
		const same = others.filter((other) => other.name === name);
		const label = report.options.label;

		return {
			name: same.length === 1 ? name : joined([`${name} (${same.findIndex((other) => other.report === report) + 1})`,
				typeof label === "string" && label], ", "),
			report
		};
	});
}

/* Reads the files that the user chose. Shows the comparison, or the errors, in PLACE. */
async function compareFiles(here, files, place) {
	const others = [];
	const problems = [];

	for (let i = charts.length - 1; i >= 0; i--)
		if (charts[i].canvas.id.startsWith("chart-compare"))
			charts.splice(i, 1);
	for (const file of files.slice(0, COMPARED_MAX))
		try {
			others.push({name: file.name.slice(0, TEXT_MAX), report: await readFile(file)});
		} catch (error) {
			problems.push(`${file.name} can't be compared with: ${error.message}.`);
		}
	if (files.length > COMPARED_MAX)
		problems.push(`Only the first ${COMPARED_MAX} of ${files.length} files are compared with.`);
	let shown = null;

	try {
		shown = others.length && compareSection(here, makeNamesUnique(others));
	} catch (error) {
		problems.push(`These reports can't be compared: ${error.message}.`);
	}
	place.replaceChildren(...[
		problems.length && el("p", {class: "problem", id: "compare-problem", role: "alert"}, problems.join(" ")), shown
	].filter(Boolean));
	charts.filter((each) => each.canvas.id.startsWith("chart-compare")).forEach(drawChart);
	place.scrollIntoView();
}
