/* "Compare with...": a second report beside this one, drawn; the differences come from changes.js. */

const FILE_SIZE_MAX = 64 << 20;

function inBoth(here, there) {
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
			...tooltip({label: (item) => `${item.dataset.label}: ${ns(item.raw)}`},
				{filter: (item) => item.datasetIndex < 2}),
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
	const rows = inBoth(here, there).filter((row) => row.here.latency && row.there.latency);

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
			legendKey(["", "this report", "dot"], ["", "the other", "hollow"]),
			chart("chart-compare-medians",
				"Median read latency of each clock in both reports",
				() => mediansConfig(here, rows), rows.length)),
		el("div", null, el("h3", null, "By percentile"),
			el("p", {class: "choice"}, el("label", {"for": "compare-clock"}, "Clock "),
				choice, " solid: this report; dashed: the other"),
			chart("chart-compare-percentiles", "Read latency by percentile in both reports",
				() => compareCurves(here, rows, Number(choice.value)))))];
}

/* The rules of changes.js in words. */
function comparedHow(here, there) {
	const doubt = latencyDoubt(here, there);
	const [a, b] = [here, there].map((report) => ns(bracketOf(report)));
	const bracket = a === b ? a : `${b} there, ${a} here`;
	const latencies = doubt ? `Latencies are not compared: ${doubt}.` :
		`A clock is slower when even its fastest read takes more than ${COMPARE.slower_factor} ` +
		`times the other report's median plus one bracket (${bracket}, the clock null).`;

	return note(latencies, ` A rate is worse when it moved by more than ${COMPARE.rate_ppm} ppm and `,
		"not towards its claim. Intervals that overlap are the same.");
}

function kindBadge({kind}) {
	const colours = {worse: "fail", better: "pass", changed: "absent"};

	return el("span", {class: `badge ${colours[kind]}`}, kind);
}

function changesTable(here, there) {
	const changes = allChanges(here, there);
	const how = comparedHow(here, there);

	if (!changes.length)
		return [note("No difference: same machine, options, verdicts and findings."), how];
	const count = (kind) => changes.filter((change) => change.kind === kind).length;

	return [
		note(`In this report ${count("worse")} worse, ${count("better")} better, `,
			`${count("changed")} changed.`),
		how,
		table(
			[
				["Of", (row) => code(row.clock), "name"],
				["What", (row) => row.what, "left"],
				["This report", (row) => row.here, "left"],
				["The other", (row) => row.there, "left"],
				["This report is", kindBadge, "left"],
			],
			changes, "Differences between the two reports")
	];
}

function bothTable(here, there) {
	const two = (heading, text, kind) => [heading,
		(row) => [text(row.here), el("span", {class: "quiet block"}, text(row.there))], kind];
	const latency = (heading, name) => two(heading, (clock) => ns(latencyOf(clock)[name]));

	return table(
		[
			["Clock", (row) => code(row.here.id), "name"],
			two("Verdict", (clock) => clock.verdict || "not read", "left"),
			two("Off by, ppm", (clock) => ppm((known(clock.error_ppm) || {}).value)),
			two("Resolution", stepOf),
			latency("Fastest", "min_ns"),
			latency("Median", "p50_ns"),
			latency("99 %", "p99_ns"),
			latency("Slowest", "max_ns"),
		],
		inBoth(here, there), "Both reports: this one above, the other below");
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
		el("h3", null, "Differences"), changesTable(here, there),
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
