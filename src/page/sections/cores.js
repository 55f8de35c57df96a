/* Shows the read latency of each core, alone and while all cores read at once. */

function getLatencyOnCore(core, clock, how) {
	return core[how] && Object.hasOwn(core[how], clock.id) ? core[how][clock.id] : null;
}

function clocksOnCores(report) {
	return report.clocks.filter(
		(clock) => report.cores.some((core) => getLatencyOnCore(core, clock, "latency")));
}

const coreName = (core) => whole(core.apic_id);

function coreAxis(report) {
	return {
		type: "category",
		labels: report.cores.map(coreName),
		...plainAxis("core, by its APIC id"),
		offset: true,
	};
}

function coreOptions(report, axis, label) {
	return {
		interaction: {mode: "index", intersect: false},
		scales: {x: coreAxis(report), y: axis},
		...tooltip({title: ([item]) => `core ${item.label}`, label}),
	};
}

/* Configures a chart of all clocks: each line shows the median latency of one clock on each core. */
function allClocksConfig(report) {
	const clocks = clocksOnCores(report).filter((clock) => clock.main === clock.id);
	const sets = clocks.map((clock) => ({
		...getLineStyle(report, clock),
		label: clock.id,
		clock,
		pointRadius: report.cores.length > 64 ? 0 : 3,
		data: report.cores.map((core) => {
			const figures = getLatencyOnCore(core, clock, "latency");

			return figures && isNumber(figures.p50_ns) ? Math.max(figures.p50_ns, 1) : null;
		}),
	}));

	return {
		type: "line",
		data: {datasets: sets},
		options: coreOptions(report, nsAxis("median latency", sets.flatMap((set) => set.data)),
			(item) => `${item.dataset.label}: ${ns(item.raw)}`),
	};
}

/*
 * Configures a chart of one clock. Bars show the range from the fastest read to the 99th percentile, and points show
 * the median, alone and while all cores read.
 */
function oneClockConfig(report, clock) {
	const of = (how) => report.cores.map((core) => getLatencyOnCore(core, clock, how));
	const alone = of("latency"), together = of("latency_contended");
	const at = (name) => (figures) =>
		(figures && isNumber(figures[name]) ? Math.max(figures[name], 1) : null);
	const ends = (figures) => [at("min_ns")(figures), at("p99_ns")(figures)];
	const {colour: tint} = look(report, clock);
	const point = {
		type: "line",
		showLine: false,
		pointRadius: report.cores.length > 64 ? 2 : 4,
		borderColor: colour("text")
	};
	const sets = [
		{
			...point,
			label: "median, all cores at once",
			data: together.map(at("p50_ns")),
			pointStyle: "rectRot",
			backgroundColor: colour("paper")
		},
		{
			...point,
			label: "median, this core alone",
			data: alone.map(at("p50_ns")),
			pointStyle: "circle",
			backgroundColor: colour("text")
		},
		{
			type: "bar",
			label: "fastest to 99 %",
			backgroundColor: `${tint}88`,
			borderColor: tint,
			maxBarThickness: 28,
			borderWidth: report.cores.length > 64 ? 0 : 1,
			borderSkipped: false,
			minBarLength: 2,
			data: alone.map((figures) => (at("min_ns")(figures) && at("p99_ns")(figures) &&
						ends(figures))),
		},
	];

	return {
		type: "bar",
		data: {datasets: sets},
		options: coreOptions(report,
			nsAxis("one read", sets.flatMap((set) => set.data).flat().filter(isNumber)),
			(item) => `${item.dataset.label}: ${[item.raw].flat().map(ns).join(" to ")}`),
	};
}

/*
 * Makes a table with a row for each core. Each item of COLUMNS is [title, clock, kind of latency, name of the figure].
 * The kind of latency is "latency" or "latency_contended".
 */
function figuresTable(report, columns, caption) {
	const figure = ([heading, clock, how, name]) => [heading, (core) => {
		const figures = getLatencyOnCore(core, clock, how);

		return figures ? ns(figures[name]) : NONE;
	}];

	return table([["Core", coreName, "name"], ...columns.map(figure)], report.cores, caption);
}

function coresTable(report, clock) {
	return figuresTable(report,
		[
			["Fastest", clock, "latency", "min_ns"],
			["Median", clock, "latency", "p50_ns"],
			["99 %", clock, "latency", "p99_ns"],
			["Median, all cores at once", clock, "latency_contended", "p50_ns"],
			["99 %, all cores at once", clock, "latency_contended", "p99_ns"],
		],
		`${clock.id}: latency on each core, with the bracket`);
}

function mediansTable(report, clocks) {
	return figuresTable(report, clocks.map((clock) => [clock.id, clock, "latency", "p50_ns"]),
		"Median latency of each clock on each core");
}

function oneClockLegend() {
	return makeLegend(["", "median, this core alone", "dot"], ["", "median, all cores at once", "hollow"],
		["quiet-bar", "fastest read to the 99 % one"]);
}

function allClocksLegend(report, clocks) {
	return el("ul", {class: "key"},
		clocks.filter((clock) => clock.main === clock.id)
			.map((clock) => el("li", null, drawLineSample(report, clock), clock.id)));
}

function coreLatency(report) {
	const clocks = clocksOnCores(report);
	const choice =
		el("select", {id: "core-clock"}, el("option", {value: ""}, "all clocks, medians"),
			clocks.map((clock, i) => el("option", {value: i}, clock.id)));
	const keys = el("div");
	const tables = el("div");
	const chosenClock = () => clocks[choice.value === "" ? -1 : Number(choice.value)];
	const canvas = chart("chart-cores", "Latency on each core, logarithmic",
		() => (chosenClock() ?
			oneClockConfig(report, chosenClock()) :
			allClocksConfig(report)));
	const show = () => {
		const clock = chosenClock();

		keys.replaceChildren(clock ? oneClockLegend() : allClocksLegend(report, clocks));
		tables.replaceChildren(details("The figures as a table",
			() => (clock ? coresTable(report, clock) : mediansTable(report, clocks))));
	};

	choice.addEventListener("change", () => {
		show();
		drawChart(charts.find((each) => each.canvas.id === "chart-cores"));
	});
	show();
	return [
		el("p", {class: "choice"}, el("label", {"for": "core-clock"}, "Clock "), choice), keys,
		canvas, tables
	];
}

/*
 * Returns a row for each clock: the median latency while all cores read this clock, divided by the median latency on
 * one core alone.
 */
function contentionRows(report) {
	return clocksOnCores(report)
		.map((clock) => {
			const medianOn = (core, how) =>
				(getLatencyOnCore(core, clock, how) || {p50_ns: 0}).p50_ns;
			const both = report.cores.map((core) => ({
				alone: medianOn(core, "latency"),
				together: medianOn(core, "latency_contended"),
			})).filter((core) => core.alone > 0 && core.together > 0);

			return {
				clock,
				cores: both.length,
				alone: median(both.map((core) => core.alone)),
				together: median(both.map((core) => core.together)),
				factor: median(both.map((core) => core.together / core.alone))
			};
		})
		.filter((row) => row.cores > 1);
}

/*
 * Returns a note if the application found too much stolen time. Cores that wait for their host do not read at the same
 * time as the others, so the latencies under contention may be too small.
 */
function unreliableNote({quality, interference}) {
	const {total_ns: stolen, observed_ns: observed, gaps} = interference || {};

	return quality && quality.reliable_tails === false && gaps > 0 &&
		note(`Medians and ratios are not reliable: ${(100 * stolen / observed).toFixed(1)} % of the observed time was stolen, `,
			"and cores that wait for their host's time do not read together.");
}

function contention(report) {
	const rows = contentionRows(report);
	const configure = () => ({
		type: "bar",
		data: {
			labels: rows.map((row) => row.clock.id),
			datasets: [{
				data: rows.map(
					(row) => [Math.min(row.factor, 1), Math.max(row.factor, 1)]),
				minBarLength: 3,
				barThickness: 14,
				backgroundColor:
					rows.map((row) => `${look(report, row.clock).colour}99`),
				borderWidth: 1,
				borderSkipped: false,
				borderColor: rows.map((row) => look(report, row.clock).colour),
			}]
		},
		options: {
			indexAxis: "y",
			scales: {
				x: {
					...logAxis("times as long as alone",
						(value) => `×${Number(value.toPrecision(2))}`,
						[1, ...rows.map((row) => row.factor)]),
					grid: {color: ({tick}) => colour(tick && tick.value === 1 ? "quiet" : "line")},
				},
				y: {grid: {display: false}, ticks: {autoSkip: false}},
			},
			...tooltip({label: (item) => times(rows[item.dataIndex].factor)}),
		},
	});

	if (!rows.length)
		return [];
	return [
		el("h3", null, "All cores at once"),
		note("Median latency while all cores read the same clock, divided by the median latency ",
			"while only one core reads it."),
		unreliableNote(report),
		chart("chart-contention", "Factor by which contention slows each clock", configure,
			rows.length),
		details("The figures as a table",
			() => table(
				[
					["Clock", (row) => code(row.clock.id), "name"],
					["One core", (row) => ns(row.alone)],
					["All at once", (row) => ns(row.together)],
					["Factor", (row) => times(row.factor)],
					["Cores", (row) => whole(row.cores)],
				],
				rows, "Median latency alone and with all cores reading"))
	];
}

function missingCores(report) {
	const missing = report.cores.filter((core) => core.started === false || core.reason);

	const row = (core) => el("li", null, code(`core ${coreName(core)}`),
		`: ${core.reason || "did not start"}`);

	return missing.length ? el("ul", {class: "reasons"}, missing.map(row)) : null;
}

function coresSection(report) {
	if (!clocksOnCores(report).length)
		return section("cores", "Core by core", note("Not measured."), missingCores(report));
	return section(
		"cores", "Core by core", missingCores(report), coreLatency(report), contention(report));
}
