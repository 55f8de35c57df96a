/*
 * Draws this report and other reports in two charts. OTHERS is a list of {name, report}. The place of a report in this
 * list decides the shape of its points, its dashes and its colour.
 */

/*
 * Returns {here, there} for each clock of this report that at least one other report also has. HERE is the clock in
 * this report. THERE lists the same clock in the other reports, in the order of OTHERS, and has null for a report
 * without it.
 */
function findSharedClocks(here, others) {
	const theirs = others.map(({report}) => mapClocksById(report));

	return here.clocks.map((clock) => ({here: clock, there: theirs.map((clocks) => clocks.get(clock.id) || null)}))
		.filter((row) => row.there.some(Boolean));
}

/* Points and dashes of the other reports. Their points are hollow, and the points of this report are filled. */
const OTHER_POINTS = ["rectRot", "triangle", "rect", "circle"];
const OTHER_DASHES = [[5, 4], [2, 3], [9, 4], [9, 3, 2, 3]];

const otherColour = (i, count) => (count === 1 ? colour("text") : colour(`series-${i % SERIES_COLOURS}`));

const medianFor = (clock) => (clock && clock.latency && isNumber(clock.latency.p50_ns) ? Math.max(clock.latency.p50_ns, 1) : null);

/*
 * Configures the chart of the median latencies in all reports. Each clock has a bar from the smallest to the largest
 * median.
 */
function mediansConfig(here, others, rows) {
	const point = {type: "line", showLine: false, pointBorderWidth: 1.5};
	const medians = rows.map((row) => [row.here, ...row.there].map(medianFor));
	const ends = medians.map((each) => each.filter(isNumber));

	return {
		type: "bar",
		data: {
			labels: rows.map((row) => row.here.id),
			datasets: [
				{
					...point,
					label: "this report",
					data: medians.map(([first]) => first),
					pointStyle: "circle",
					pointRadius: 4,
					borderColor: colour("text"),
					backgroundColor: colour("text")
				},
				...others.map(({name}, i) => ({
					...point,
					label: others.length === 1 ? "the other" : name,
					data: medians.map((each) => each[i + 1]),
					pointStyle: OTHER_POINTS[i % OTHER_POINTS.length],
					pointRadius: 8,
					borderColor: otherColour(i, others.length),
					backgroundColor: colour("paper")
				})),
				{
					label: "between",
					data: ends.map((each) => [lowest(each), highest(each)]),
					barThickness: 6,
					borderSkipped: false,
					backgroundColor: rows.map((row) => `${look(here, row.here).colour}99`)
				},
			]
		},
		options: {
			indexAxis: "y",
			interaction: {mode: "index", axis: "y", intersect: false},
			scales: {
				x: nsAxis("median latency", ends.flat()),
				y: {offset: true, grid: {display: false}, ticks: {autoSkip: false}}
			},
			...tooltip({label: (item) => `${item.dataset.label}: ${ns(item.raw)}`},
				{filter: (item) => item.datasetIndex <= others.length}),
		},
	};
}

function compareCurves(here, others, row) {
	const line = getLineStyle(here, row.here);

	return percentileConfig([
		{
			...line,
			label: "this report",
			borderDash: [],
			borderWidth: 2.5,
			data: percentilePoints(row.here.latency)
		},
		...others.map(({name}, i) => ({
			...line,
			label: others.length === 1 ? "the other" : name,
			borderDash: OTHER_DASHES[i % OTHER_DASHES.length],
			borderWidth: 2,
			borderColor: otherColour(i, others.length),
			data: row.there[i] && row.there[i].latency ? percentilePoints(row.there[i].latency) : []
		})),
	]);
}

/* Makes the legend of reports, which both charts share. */
function reportsLegend(others) {
	if (others.length === 1)
		return makeLegend(["", "this report", "dot"], ["", "the other", "hollow"]);
	const line = (i) => {
		const drawn = svg("line", {x1: 0, y1: 5, x2: 26, y2: 5, "stroke-width": 2.5,
			"stroke-dasharray": OTHER_DASHES[i % OTHER_DASHES.length].join(" ")});

		drawn.style.stroke = `var(--series-${i % SERIES_COLOURS})`;
		return svg("svg", {width: 26, height: 10, "aria-hidden": "true"}, drawn);
	};

	return el("ul", {class: "key"}, el("li", null, el("span", {class: "mark dot", "aria-hidden": "true"}), "this report"),
		others.map(({name}, i) => el("li", null, line(i), name)));
}

/* Returns the largest divided by the smallest median of a clock in all reports. */
function getMedianRatio(row) {
	const medians = [row.here, ...row.there].map(medianFor).filter(isNumber);

	return highest(medians) / lowest(medians);
}

function compareCharts(here, others) {
	const rows = findSharedClocks(here, others).filter((row) => row.here.latency && row.there.some((clock) => clock && clock.latency));

	if (!rows.length)
		return [note("No clock was read in this report and in another.")];
	const choice = el("select", {id: "compare-clock"},
		rows.map((row, i) => el("option", {value: i}, row.here.id)));

	choice.value = String(
		rows.map(getMedianRatio).reduce((best, value, i, all) => (value > all[best] ? i : best), 0));

	choice.addEventListener("change",
		() => drawChart(charts.find((each) => each.canvas.id === "chart-compare-percentiles")));
	return [el("div", {class: "pair"},
		el("div", null, el("h3", null, "Median latency"), reportsLegend(others),
			chart("chart-compare-medians", "Median latency of each clock in all reports",
				() => mediansConfig(here, others, rows), rows.length)),
		el("div", null, el("h3", null, "By percentile"),
			el("p", {class: "choice"}, el("label", {"for": "compare-clock"}, "Clock "),
				choice, ` solid: this report; dashed: the other${others.length === 1 ? "" : "s"}`),
			chart("chart-compare-percentiles", "Latency by percentile in all reports",
				() => compareCurves(here, others, rows[Number(choice.value)]))))];
}
