/* Shows the read latency of all clocks on the boot core: the distribution, and the slowest reads by percentile. */

/*
 * Number of bins for each factor of two in latency. With fewer bins, fast and slow reads of a clock would share a bin.
 * With more bins, rare reads would be scattered over many bins.
 */
const BINS_PER_OCTAVE = 2;

/*
 * Returns the points of a latency histogram: a list of {x, y: percent of the reads, count}. Each bin has one point in
 * its middle. An empty bin is added at both ends.
 */
function histogramPoints(latency) {
	const counts = new Map();

	for (const {le_ns, count} of latency.histogram) {
		const at = Math.max(Math.min(le_ns, latency.max_ns) || 1, 1);
		const bin = Math.floor(BINS_PER_OCTAVE * Math.log2(at));

		counts.set(bin, (counts.get(bin) || 0) + count);
	}
	const points = [];

	for (let bin = lowest([...counts.keys()]) - 1; bin <= highest([...counts.keys()]) + 1; bin++) {
		const count = counts.get(bin) || 0;

		points.push({x: 2 ** ((bin + 0.5) / BINS_PER_OCTAVE), y: 100 * count / latency.count, count});
	}
	return points;
}

/*
 * Returns points of the quantile function: Y is the latency that the share p of the reads does not exceed, and X is
 * 1 / (1 - p). Each bucket of the histogram becomes a horizontal line. The last line ends at the slowest read.
 */
function percentilePoints(latency) {
	const points = [];
	let below = 0;

	for (const bucket of latency.histogram) {
		const y = Math.max(Math.min(bucket.le_ns, latency.max_ns), 1);

		points.push({x: latency.count / Math.max(latency.count - below, 1), y});
		below += bucket.count;
		points.push({x: latency.count / Math.max(latency.count - below, 1), y});
	}
	return points;
}

/*
 * Formats a value of the percentile axis as a percentage. The value is 1 / (1 - p) for the percentile p, as in
 * HdrHistogram: 1 means 0 %, which is the fastest read, and 100 means 99 %.
 */
function percentileLabel(value) {
	const percent = 100 - 100 / value;

	const digits = Math.max(Math.round(Math.log10(value)) - 2, 0);

	return value < 2 ? "0 %" : `${percent.toFixed(digits)} %`;
}

function binSentence(bin) {
	return `${ns(Math.round(bin.x))}: ${share(bin.y)}, ${plural(bin.count, "read")}`;
}

/*
 * Configures the chart of distributions. A logarithmic axis has no 0, so empty bins are drawn at half of the smallest
 * share of any other bin.
 */
function histogramConfig(report, clocks) {
	const sets = clocks.map((clock) => ({
		...getLineStyle(report, clock),
		label: clock.id,
		clock,
		hidden: hiddenClocks.has(clock),
		pointRadius: 0,
		data: histogramPoints(clock.latency),
	}));
	const points = sets.flatMap((set) => set.data);
	const floor = lowest(points.map((point) => point.y || 100)) / 2;

	points.forEach((point) => {
		point.y = Math.max(point.y, floor);
	});
	return {
		type: "line",
		data: {datasets: sets},
		options: {
			interaction: {mode: "nearest", axis: "xy", intersect: false},
			scales: {
				x: nsAxis("one read", points.map((point) => point.x)),
				y: {...logAxis("of all reads", share, [floor]), min: floor, max: 100},
			},
			...tooltip(
				{title: ([item]) => item.dataset.label, label: ({raw}) => binSentence(raw)},
				{filter: ({raw}) => raw.count > 0}),
		},
	};
}

function percentileConfig(sets) {
	const all = sets.flatMap((set) => set.data);

	return {
		type: "line",
		data: {datasets: sets.map((set) => ({...set, pointRadius: 0}))},
		options: {
			interaction: {mode: "nearest", axis: "xy", intersect: false},
			scales: {
				x: {
					...logAxis("of the reads", percentileLabel, all.map((point) => point.x)),
					min: 1
				},
				y: nsAxis("one read, at most", all.map((point) => point.y)),
			},
			...tooltip({
				title: ([item]) => item.dataset.label,
				label: ({raw}) => `${share(100 - 100 / raw.x)} within ${ns(raw.y)}`,
			}),
		},
	};
}

function latencyTable(clocks) {
	const column = (heading, name, format = ns) => [heading, (clock) => format(clock.latency[name])];

	return table(
		[
			["Clock", (clock) => code(clock.id), "name"],
			column("Reads", "count", whole),
			column("Fastest", "min_ns"),
			["50 %", (clock) => formatPercentile(clock.latency, "p50_ns")],
			["90 %", (clock) => formatPercentile(clock.latency, "p90_ns")],
			["99 %", (clock) => formatPercentile(clock.latency, "p99_ns")],
			["99.9 %", (clock) => formatPercentile(clock.latency, "p999_ns")],
			column("Slowest", "max_ns"),
			column("Mean", "mean_ns"),
			column("Loop time", "loop_ns"),
			["Interrupted reads", (clock) => whole(clock.latency.clean && clock.latency.clean.hit)],
		],
		clocks, "Latency of each clock, with the bracket");
}

function latencySection(report) {
	const clocks = report.clocks.filter((clock) => clock.latency);

	if (!clocks.length)
		return section("latency", "Latency with the bracket", note(report.clocks.length ?
			"Not measured: no clock could be read." : "Not measured."));
	const percentiles = () => percentileConfig(clocks.map((clock) => ({
		...getLineStyle(report, clock),
		label: clock.id,
		clock,
		hidden: hiddenClocks.has(clock),
		data: percentilePoints(clock.latency),
	})));

	return section("latency", "Latency with the bracket",
		note("One read on the boot core (BSP), between two bracketing TSC reads. Every figure includes ",
			"the bracket's own cost, which the clock ", code("null"), " shows. ",
			el("span", {class: "screen"}, "Click a name to hide or show that clock.")),
		clockLegend(report, clocks, ["chart-histogram", "chart-percentiles"]),
		el("h3", null, "Distribution"),
		chart("chart-histogram", "Histogram of the latency of each clock, logarithmic",
			() => histogramConfig(report, clocks)),
		el("h3", null, "Percentiles"),
		chart("chart-percentiles", "Latency of each clock by percentile, logarithmic",
			percentiles),
		details("The figures as a table", () => latencyTable(clocks)));
}
