/* Read latency of all clocks on the boot core: how the reads are spread, how slow the slow ones are. */

const BINS_PER_OCTAVE = 5;

/* Edges of bins about 15 % wide, each with a whole nanosecond in it: the first bin is 0 and 1 ns. */
function binEdges(highest) {
	const edges = [0, 2];

	for (let k = BINS_PER_OCTAVE; edges[edges.length - 1] <= highest; k++) {
		const edge = Math.ceil(2 ** (k / BINS_PER_OCTAVE));

		if (edge > edges[edges.length - 1])
			edges.push(edge);
	}
	return edges;
}

/* Where a bin is drawn: at its one nanosecond, or in its middle as the axis has it. */
function binCentre(edges, i) {
	return Math.sqrt(Math.max(edges[i], 1) * Math.max(edges[i + 1] - 1, 1));
}

/* Bins whose neighbours with reads are no further apart than this: a coarse clock hits every second one. */
const BRIDGE_RATIO = 2.5;

/* Marks the empty bins of POINTS between two that are near each other. */
function bridgeGaps(points) {
	let from = null;

	points.forEach((point, i) => {
		if (point.y === null)
			return;
		if (from !== null && point.x / points[from].x <= BRIDGE_RATIO)
			points.slice(from + 1, i).forEach((empty) => {
				empty.bridged = true;
			});
		from = i;
	});
	return points;
}

/* Where there are no reads the line only leads the eye from one bin to the next, or there is none. */
function bridgeColour(line) {
	return ({p0, p1, p0DataIndex, p1DataIndex, chart: drawn, datasetIndex}) => {
		if (!p0.skip && !p1.skip)
			return undefined;
		const {data} = drawn.data.datasets[datasetIndex];

		return data[p0.skip ? p0DataIndex : p1DataIndex].bridged ? `${line}60` : "transparent";
	};
}

/* Points of {x, y: percent of the reads} in every bin; null in an empty one: a logarithm knows no 0. */
function histogramPoints(latency, edges) {
	const counts = new Array(edges.length - 1).fill(0);
	let bin = 0;

	for (const bucket of latency.histogram) {
		const at = Math.min(bucket.le_ns, latency.max_ns);

		while (bin + 1 < counts.length && edges[bin + 1] <= at)
			bin++;
		counts[bin] += bucket.count;
	}
	return bridgeGaps(counts.map((count, i) => ({
		x: binCentre(edges, i),
		y: count > 0 ? 100 * count / latency.count : null,
		count
	})));
}

/* The quantile function over 1 / (1 - p): a bucket is a level stretch, the last ends at the slowest read. */
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

/* 1 is the fastest read, 100 is 99 %: the axis of HdrHistogram. */
function nines(value) {
	const percent = 100 - 100 / value;

	const digits = Math.max(Math.round(Math.log10(value)) - 2, 0);

	return value < 2 ? "0 %" : `${percent.toFixed(digits)} %`;
}

/* A bin between two empty ones has no line: it gets a point. */
function standsAlone(context) {
	const {data} = context.dataset;
	const at = (i) => data[i] && data[i].y !== null;

	return at(context.dataIndex - 1) || at(context.dataIndex + 1) ? 0 : 3;
}

function binSentence(bin) {
	return `${ns(Math.round(bin.x))}: ${share(bin.y)}, ${plural(bin.count, "read")}`;
}

function histogramConfig(report, clocks, edges) {
	const sets = clocks.map((clock) => ({
		...lineLook(report, clock),
		label: clock.id,
		clock,
		hidden: hiddenClocks.has(clock),
		pointRadius: standsAlone,
		spanGaps: true,
		segment: {borderColor: bridgeColour(look(report, clock).colour)},
		data: histogramPoints(clock.latency, edges),
	}));
	const all = sets.flatMap((set) => set.data).filter((point) => point.y !== null);

	return {
		type: "line",
		data: {datasets: sets},
		options: {
			interaction: {mode: "nearest", axis: "xy", intersect: false},
			scales: {
				x: nsAxis("one read took", all.map((point) => point.x)),
				y: {
					...logAxis("of all reads", share, all.map((point) => point.y)),
					max: 100
				},
			},
			plugins: {
				tooltip: {
					callbacks: {
						title: ([item]) => item.dataset.label,
						label: ({raw}) => binSentence(raw),
					}
				}
			},
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
					...logAxis("of the reads", nines, all.map((point) => point.x)),
					min: 1
				},
				y: nsAxis("took at most", all.map((point) => point.y)),
			},
			plugins: {
				tooltip: {
					callbacks: {
						title: ([item]) => item.dataset.label,
						label: ({raw}) =>
							`${share(100 - 100 / raw.x)} within ${ns(raw.y)}`,
					}
				}
			},
		},
	};
}

function latencyTable(clocks) {
	const column = (heading, name, format) =>
		({title: heading, text: (clock) => (format || ns)(clock.latency[name])});

	return table(
		[
			{title: "Clock", name: true, text: (clock) => el("code", null, clock.id)},
			column("Reads", "count", whole),
			column("Fastest", "min_ns"),
			column("50 %", "p50_ns"),
			column("90 %", "p90_ns"),
			column("99 %", "p99_ns"),
			column("99.9 %", "p999_ns"),
			column("Slowest", "max_ns"),
			column("Mean", "mean_ns"),
			column("One turn of the loop", "loop_ns"),
			{
				title: "Interrupted reads",
				text: (clock) => whole(clock.latency.clean && clock.latency.clean.hit)
			},
		],
		clocks, "Read latency of each clock");
}

function latencySection(report) {
	const clocks = report.clocks.filter((clock) => clock.latency);

	if (!clocks.length)
		return section(
			"latency", "Read latency", note("Not measured: no clock could be read."));
	const edges = binEdges(Math.max(...clocks.map((clock) => clock.latency.max_ns)));
	const percentiles = () => percentileConfig(clocks.map((clock) => ({
		...lineLook(report, clock),
		label: clock.id,
		clock,
		hidden: hiddenClocks.has(clock),
		data: percentilePoints(clock.latency),
	})));

	return section("latency", "Read latency",
		note("What one read of a clock takes, on the boot core. The bracket's own cost is in every ",
			"figure: the clock ", el("code", null, "null"),
			" shows it. Choose clocks by their names."),
		clockLegend(report, clocks, ["chart-histogram", "chart-percentiles"]),
		el("h3", null, "How the reads are spread"),
		chart("chart-histogram", "Histogram of read latency for each clock, logarithmic",
			() => histogramConfig(report, clocks, edges)),
		el("h3", null, "How slow the slow ones are"),
		chart("chart-percentiles", "Read latency of each clock by percentile, logarithmic",
			percentiles),
		details("The figures as a table", () => latencyTable(clocks)));
}
