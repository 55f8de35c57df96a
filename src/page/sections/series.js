/* Shows the rows of a soak's series over time: rates, reads, offsets and gaps. */

const SERIES_CORES = SERIES_COLOURS;
const SERIES_POINTS = 120; /* a line with more points than this has no marks at its points */

function timeUnit(rows) {
	const end = rows[rows.length - 1].to_ms;

	return end >= 3 * 3600e3 ? [3600e3, "h"] : end >= 180e3 ? [60e3, "min"] : [1e3, "s"];
}

const getMiddleOfRow = (row, [ms]) => (row.from_ms + row.to_ms) / 2 / ms;
const rowSpan = (row) => `${duration(row.from_ms)} to ${duration(row.to_ms)}`;

/* Makes a line through the values OF(row) of all rows. The line is interrupted where OF(row) is null. */
function seriesLine(rows, unit, label, style, of) {
	return {
		...style,
		label,
		pointRadius: rows.length > SERIES_POINTS ? 0 : 2,
		data: rows.map((row) => ({x: getMiddleOfRow(row, unit), y: of(row), row})),
	};
}

/* Makes a line through the values of the intervals OF(row), and a band from their lower to their upper ends. */
function seriesBand(rows, unit, label, style, of) {
	const end = (name) => (row) => (known(of(row)) || {[name]: null})[name];
	const edge = (name, fill) => ({
		...seriesLine(rows, unit, label, style, end(name)),
		pointRadius: 0,
		pointHitRadius: 0,
		borderWidth: 0,
		backgroundColor: `${style.borderColor}22`,
		fill,
		edge: true,
	});
	const line = seriesLine(rows, unit, label, style, end("value"));

	line.data.forEach((point) => {
		point.interval = known(of(point.row));
	});
	return [line, edge("high", "+1"), edge("low", false)];
}

function seriesConfig(sets, unit, y, said) {
	return {
		type: "line",
		data: {datasets: sets},
		options: {
			interaction: {mode: "nearest", axis: "xy", intersect: false},
			scales: {x: {type: "linear", title: axisTitle(`into the run, ${unit[1]}`), ticks: {maxRotation: 0}}, y},
			...tooltip(
				{title: ([{dataset, raw}]) => `${dataset.label}, ${rowSpan(raw.row)}`, label: ({raw}) => said(raw)},
				{filter: ({dataset}) => !dataset.edge}),
		},
	};
}

const linearAxis = (text, format) => ({title: axisTitle(text), ticks: {callback: format}});
const describeInterval = (format) => ({interval}) => `${format(interval.value)} (${span(interval, format)})`;

/*
 * Returns the clocks that have rates in the series. The clock that the other clocks are compared with is left out: its
 * own rate error is 0 in all rows.
 */
function listClocksWithRates(report) {
	const moved = (interval) => Boolean(known(interval) && (interval.low !== 0 || interval.high !== 0));

	return report.clocks.filter(({id}) => report.series.some(({clocks}) => clocks[id] && moved(clocks[id].ppm)));
}

const listClocksWithReads = (report) => report.clocks.filter(({id}) => report.series.some(({clocks}) => clocks[id] && clocks[id].p99_ns > 0));

/* Returns the cores whose TSC offsets changed most, ordered by core number. */
function listCoresWithOffsets(report) {
	const values = (i) => report.series.map(({cores}) => known((cores[i] || {}).offset_ns)).filter(Boolean).map(({value}) => value);
	const cores = report.cores.map((core, i) => ({core, i, values: values(i)})).filter((one) => one.values.length);
	const most = [...cores].sort((a, b) => (highest(b.values) - lowest(b.values)) - (highest(a.values) - lowest(a.values)));

	return {count: cores.length, drawn: most.slice(0, SERIES_CORES).sort((a, b) => a.i - b.i)};
}

function coreLine(place) {
	const line = colour(`series-${place}`);

	return {borderColor: line, backgroundColor: line, borderWidth: 2, pointStyle: POINTS[place % POINTS.length]};
}

const clocksLegend = (report, clocks) => el("ul", {class: "key"}, clocks.map((clock) => el("li", null, drawLineSample(report, clock), clock.id)));

function ratesOverTime(report, unit) {
	const clocks = listClocksWithRates(report);
	const sets = () => clocks.flatMap((clock) => seriesBand(report.series, unit, clock.id, getLineStyle(report, clock),
		({clocks: all}) => (all[clock.id] || {}).ppm));

	return clocks.length ? [el("h3", null, "Rates"),
		note("How much faster each clock ran than the clock that sets the scale, by their nominal rates; the band is the interval."),
		clocksLegend(report, clocks),
		chart("chart-series-rates", "Rates of the clocks over the run",
			() => seriesConfig(sets(), unit, linearAxis("faster, ppm", formatPpmTick), describeInterval((value) => `${ppm(value)} ppm`)))] : [];
}

function readsOverTime(report, unit) {
	const clocks = listClocksWithReads(report);
	const figure = ({id}) => ({clocks: all}) => (all[id] && all[id].p99_ns > 0 ? all[id].p99_ns : null);
	const sets = () => clocks.map((clock) => seriesLine(report.series, unit, clock.id, getLineStyle(report, clock), figure(clock)));
	const config = (lines) => seriesConfig(lines, unit,
		nsAxis("99 % of the reads, at most", lines.flatMap(({data}) => data.map(({y}) => y || 0))), ({y}) => ns(y));

	return clocks.length ? [el("h3", null, "Reads, 99 %"), clocksLegend(report, clocks),
		chart("chart-series-reads", "The 99th percentile of each clock's reads over the run", () => config(sets()))] : [];
}

/* Returns true if the offset in at least one row can be larger than the bound of the offsets for the whole run. */
function doesRowExceedBound({series, skew}) {
	const bound = skew ? skew.at_best_ns : null;

	return isNumber(bound) && series.some(({cores}) => cores.map((core) => known((core || {}).offset_ns)).filter(Boolean)
		.some(({low, high}) => Math.max(-low, high) > bound));
}

function offsetsOverTime(report, unit) {
	const {count, drawn} = listCoresWithOffsets(report);
	const sets = () => drawn.flatMap(({core, i}, place) => seriesBand(report.series, unit, `core ${whole(core.apic_id)}`, coreLine(place),
		({cores}) => (cores[i] || {}).offset_ns));

	return drawn.length ? [el("h3", null, "Offsets of the cores' TSCs"),
		note("Each offset is against the boot core's TSC, by the shortest round trip in each row.",
			count > drawn.length ? ` The ${drawn.length} of ${whole(count)} cores that moved the most.` : "",
			doesRowExceedBound(report) ? " These offsets come from separate and mostly shorter measurements, so they can be " +
				"larger than the bound under “TSC against TSC”. The offset may also really have been larger then." : ""),
		makeLegend(...drawn.map(({core}, place) => [`series-${place}`, `core ${whole(core.apic_id)}`, "dot"])),
		chart("chart-series-offsets", "Offsets of the cores' TSCs over the run",
			() => seriesConfig(sets(), unit, linearAxis("ahead of the boot core", (value) => formatSignedNs(value)), describeInterval(formatSignedNs)))] : [];
}

/* Makes the chart of gaps over the time of the run. It shows gaps per second, because rows have different durations. */
function gapsInTime(report, unit) {
	const rate = (row) => (row.observed_ns > 0 && isNumber(row.gaps) ? row.gaps / (row.observed_ns / 1e9) : null);
	const style = () => (
		{borderColor: colour("gap"), backgroundColor: `${colour("gap")}44`, borderWidth: 1.5, stepped: "middle", fill: "origin"});

	if (!report.series.some((row) => rate(row) > 0))
		return [];
	return [el("h3", null, "Gaps"), chart("chart-series-gaps", "Gaps in the cores' time over the run", () => seriesConfig(
		[seriesLine(report.series, unit, "gaps", style(), rate)], unit,
		{...linearAxis("gaps a second"), beginAtZero: true},
		({row, y}) => `${precise(y, 3)} a second; the longest ${ns(row.worst_gap_ns)}`))];
}

function seriesTable(report) {
	const figures = (id, name) => ({clocks}) => ns((clocks[id] || {})[name]);

	return table(
		[
			["From", (row) => duration(row.from_ms), "name"],
			["To", (row) => duration(row.to_ms)],
			["Gaps", (row) => whole(row.gaps)],
			["Longest", (row) => ns(row.worst_gap_ns)],
			...listClocksWithReads(report).flatMap(({id}) => [[`${id}, 50 %`, figures(id, "p50_ns")], ["99 %", figures(id, "p99_ns")]]),
		],
		report.series, "The rows of the series");
}

function seriesSection(report) {
	const rows = report.series || [];

	if (rows.length < 2)
		return null;
	const unit = timeUnit(rows);

	return section("series", "Over time",
		note(`${plural(rows.length, "row")} of ${duration(median(rows.map((row) => row.to_ms - row.from_ms)))} each (median), `,
			"starting when the rates had been measured."),
		...ratesOverTime(report, unit), ...stabilityOverTime(report, listClocksWithRates(report)),
		...readsOverTime(report, unit), ...offsetsOverTime(report, unit), ...gapsInTime(report, unit),
		details("The figures as a table", () => seriesTable(report)));
}
