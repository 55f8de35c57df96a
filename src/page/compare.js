/* "Compare with...": a second report beside this one, and what is not the same in it. */

const FILE_SIZE_MAX = 64 << 20;
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

/* {clock, what, here, there, kind} for all that differs; kinds: better, worse, changed. */
function clockChanges(here, there) {
	const changes = [];
	const add = (what, a, b, kind) => changes.push({clock: here.id, what, here: a, there: b, kind});
	const verdict = verdictChange(stateOf(here), stateOf(there), here.verdict, there.verdict);

	if (verdict)
		add("verdict", stateOf(here), stateOf(there), verdict);
	for (const [name, title_] of [["p50_ns", "median read"], ["p99_ns", "99 % of the reads"]]) {
		const [a, b] = [here, there].map((clock) => clock.latency && clock.latency[name]);

		if (a > 0 && b > 0 && Math.max(a / b, b / a) >= NOTEWORTHY)
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

function allChanges(here, there) {
	const [ours, theirs] = [byClock(here), byClock(there)];
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
		changes.push(...(theirs.has(clock.id) ? clockChanges(clock, theirs.get(clock.id)) : [{
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
	return ["worse", "changed", "better"].flatMap(
		(kind) => changes.filter((change) => change.kind === kind));
}

function both(here, there) {
	const theirs = byClock(there);

	return here.clocks.filter((clock) => theirs.has(clock.id))
		.map((clock) => ({here: clock, there: theirs.get(clock.id)}));
}

/* The medians of both reports, and a bar between them. */
function mediansConfig(here, rows) {
	const point = {
		type: "line",
		showLine: false,
		borderColor: colour("text"),
		pointBorderWidth: 1.5
	};
	const medianOf = (which) => rows.map((row) => Math.max(row[which].latency.p50_ns, 1));
	const [a, b] = [medianOf("here"), medianOf("there")];

	return {
		type: "bar",
		data: {
			labels: rows.map((row) => row.here.id),
			datasets: [
				{
					...point,
					label: "this report",
					data: a,
					pointStyle: "circle",
					pointRadius: 4,
					backgroundColor: colour("text")
				},
				{
					...point,
					label: "the other",
					data: b,
					pointStyle: "rectRot",
					pointRadius: 8,
					backgroundColor: colour("paper")
				},
				{
					label: "between",
					data: rows.map(
						(_, i) => [Math.min(a[i], b[i]), Math.max(a[i], b[i])]),
					barThickness: 6,
					borderSkipped: false,
					backgroundColor:
						rows.map((row) => `${look(here, row.here).colour}99`)
				},
			]
		},
		options: {
			indexAxis: "y",
			interaction: {mode: "index", axis: "y", intersect: false},
			scales: {
				x: nsAxis("median read", [...a, ...b]),
				y: {offset: true, grid: {display: false}, ticks: {autoSkip: false}}
			},
			plugins: {
				tooltip: {
					filter: (item) => item.datasetIndex < 2,
					callbacks: {
						label: (item) =>
							`${item.dataset.label}: ${ns(item.raw)}`
					}
				}
			},
		},
	};
}

function compareCurves(here, rows, index) {
	const row = rows[index];
	const line = lineLook(here, row.here);

	return percentileConfig([
		{
			...line,
			label: "this report",
			borderDash: [],
			borderWidth: 2.5,
			data: percentilePoints(row.here.latency)
		},
		{
			...line,
			label: "the other",
			borderDash: [5, 4],
			borderWidth: 2,
			borderColor: colour("text"),
			data: percentilePoints(row.there.latency)
		},
	]);
}

function compareCharts(here, there) {
	const rows = both(here, there).filter((row) => row.here.latency && row.there.latency);

	if (!rows.length)
		return [note("No clock was read in both.")];
	const choice = el("select", {id: "compare-clock"},
		rows.map((row, i) => el("option", {value: i}, row.here.id)));
	const ratio = ({here: a, there: b}) =>
		Math.abs(Math.log((a.latency.p50_ns || 1) / (b.latency.p50_ns || 1)));

	choice.value = String(
		rows.map(ratio).reduce((best, value, i, all) => (value > all[best] ? i : best), 0));

	choice.addEventListener("change",
		() => drawChart(charts.find((each) => each.canvas.id === "chart-compare-percentiles")));
	return [el("div", {class: "pair"},
		el("div", null, el("h3", null, "Median reads"),
			key(["", "this report", "dot"], ["", "the other", "hollow"]),
			chart("chart-compare-medians",
				"Median read latency of each clock in both reports",
				() => mediansConfig(here, rows), rows.length)),
		el("div", null, el("h3", null, "By percentile"),
			el("p", {class: "choice"}, el("label", {"for": "compare-clock"}, "Clock "),
				choice, " solid: this report; dashed: the other"),
			chart("chart-compare-percentiles", "Read latency by percentile in both reports",
				() => compareCurves(here, rows, Number(choice.value)))))];
}

function changesTable(changes) {
	const words = {
		worse: ["fail", "worse"],
		better: ["pass", "better"],
		changed: ["absent", "changed"]
	};

	if (!changes.length)
		return note(
			"Nothing: verdicts, findings and steps are the same, rates within their errors, ",
			`latencies within ${NOTEWORTHY_PERCENT} %.`);
	const count = (kind) => changes.filter((change) => change.kind === kind).length;

	return [
		note(`Here ${count("worse")} got worse, ${count("better")} better, `,
			`${count("changed")} otherwise changed. Latencies that differ by less than `,
			`${NOTEWORTHY_PERCENT} % and intervals that overlap count as the same.`),
		table(
			[
				{
					title: "Of",
					name: true,
					text: (row) => el("code", null, row.clock || "?")
				},
				{title: "What", left: true, text: (row) => row.what},
				{title: "This report", left: true, text: (row) => row.here},
				{title: "The other", left: true, text: (row) => row.there},
				{
					title: "Here it is",
					left: true,
					text: (row) =>
						el("span", {class: `badge ${words[row.kind][0]}`},
							words[row.kind][1])
				},
			],
			changes, "What is not the same in both reports")
	];
}

function bothTable(here, there) {
	const latency = (clock, name) => (clock.latency ? ns(clock.latency[name]) : NONE);
	const two = (heading, text) => ({
		title: heading,
		text: (row) => [text(row.here), el("span", {class: "quiet block"}, text(row.there))]
	});

	return table(
		[
			{
				title: "Clock",
				name: true,
				text: (row) => el("code", null, row.here.id || "?")
			},
			{...two("Verdict", (clock) => clock.verdict || "not read"), left: true},
			two("Off by, ppm",
				(clock) =>
					(known(clock.error_ppm) ? ppm(clock.error_ppm.value) : NONE)),
			two("Step",
				(clock) =>
					(isNumber(clock.step_ticks) ?
						plural(clock.step_ticks, "tick") :
						NONE)),
			two("Fastest", (clock) => latency(clock, "min_ns")),
			two("Median", (clock) => latency(clock, "p50_ns")),
			two("99 %", (clock) => latency(clock, "p99_ns")),
			two("Slowest", (clock) => latency(clock, "max_ns")),
		],
		both(here, there), "Both reports: this one above, the other below");
}

function describe(report) {
	return joined(
		[report.machine.cpu || "unknown CPU", startedAt(report), report.tool.commit], ", ");
}

function compareSection(here, there, name) {
	return section("compare", "Compared",
		el("dl", {class: "facts"},
			el("div", null, el("dt", null, "This report"),
				el("dd", null, badge(here.verdict), ` ${describe(here)}`)),
			el("div", null, el("dt", null, `The other: ${name}`),
				el("dd", null, badge(there.verdict), ` ${describe(there)}`))),
		el("h3", null, "What is not the same"), changesTable(allChanges(here, there)),
		compareCharts(here, there),
		details("All clocks of both as a table", () => bothTable(here, there)));
}

/* Puts what came of the chosen FILE into PLACE. */
async function compareWith(here, file, place) {
	let shown;

	for (let i = charts.length - 1; i >= 0; i--)
		if (charts[i].canvas.id.startsWith("chart-compare"))
			charts.splice(i, 1);
	try {
		if (file.size > FILE_SIZE_MAX)
			throw new Error("it is larger than 64 MiB");
		shown = compareSection(here, readReport(await file.text()), file.name);
	} catch (error) {
		shown = el("p", {class: "problem", id: "compare-problem", role: "alert"},
			`${file.name} can't be compared with: ${error.message}.`);
	}
	place.replaceChildren(shown);
	charts.filter((each) => each.canvas.id.startsWith("chart-compare")).forEach(drawChart);
	place.scrollIntoView();
}
