/* Core by core: read latency alone and all at once, and how far the TSCs stand apart. */

const MATRIX_CORES_MAX = 256;
const MATRIX_FIGURES = 12; /* up to so many cores a cell has room for its figure, */
const MATRIX_SIGNS = 64;   /* and up to so many for a sign */

function measuredOn(core, clock, how) {
	return core[how] && Object.hasOwn(core[how], clock.id) ? core[how][clock.id] : null;
}

function clocksOnCores(report) {
	return report.clocks.filter((clock) => report.cores.some((core) => measuredOn(core, clock, "latency")));
}

const coreName = (core) => whole(core.apic_id);

function coreAxis(report) {
	return { type: "category", labels: report.cores.map(coreName), title: title("core, by its APIC id"), offset: true,
		grid: { display: false }, ticks: { maxRotation: 0, autoSkipPadding: 12 } };
}

function coreOptions(report, axis, label) {
	return {
		interaction: { mode: "index", intersect: false },
		scales: { x: coreAxis(report), y: axis },
		plugins: { tooltip: { callbacks: { title: ([item]) => `core ${item.label}`, label } } },
	};
}

/* One line for each device: its median on each core. */
function allClocksConfig(report) {
	const clocks = clocksOnCores(report).filter((clock) => clock.main === clock.id);
	const sets = clocks.map((clock) => ({
		...lineLook(report, clock), label: clock.id, clock, pointRadius: report.cores.length > 64 ? 0 : 3,
		data: report.cores.map((core) => {
			const figures = measuredOn(core, clock, "latency");

			return figures && isNumber(figures.p50_ns) ? Math.max(figures.p50_ns, 1) : null;
		}),
	}));

	return {
		type: "line", data: { datasets: sets },
		options: coreOptions(report, nsAxis("median read", sets.flatMap((set) => set.data)),
			(item) => `${item.dataset.label}: ${ns(item.raw)}`),
	};
}

/* One clock: bars from the fastest read to the 99 % one, and the medians, alone and with all cores reading. */
function oneClockConfig(report, clock) {
	const of = (how) => report.cores.map((core) => measuredOn(core, clock, how));
	const alone = of("latency"), together = of("latency_contended");
	const at = (name) => (figures) => (figures && isNumber(figures[name]) ? Math.max(figures[name], 1) : null);
	const { colour: tint } = look(report, clock);
	const point = { type: "line", showLine: false, pointRadius: report.cores.length > 64 ? 2 : 4, borderColor: colour("text") };
	const sets = [
		{ ...point, label: "median, all cores at once", data: together.map(at("p50_ns")), pointStyle: "rectRot",
			backgroundColor: colour("paper") },
		{ ...point, label: "median, this core alone", data: alone.map(at("p50_ns")), pointStyle: "circle",
			backgroundColor: colour("text") },
		{
			type: "bar", label: "fastest to 99 %", backgroundColor: `${tint}88`, borderColor: tint, maxBarThickness: 28,
			borderWidth: report.cores.length > 64 ? 0 : 1, borderSkipped: false, minBarLength: 2,
			data: alone.map((figures) => (figures && isNumber(figures.min_ns) && isNumber(figures.p99_ns) ?
				[Math.max(figures.min_ns, 1), Math.max(figures.p99_ns, 1)] : null)),
		},
	];

	return {
		type: "bar", data: { datasets: sets },
		options: coreOptions(report, nsAxis("one read", sets.flatMap((set) => set.data).flat().filter(isNumber)),
			(item) => `${item.dataset.label}: ${[item.raw].flat().map(ns).join(" to ")}`),
	};
}

function coresTable(report, clock) {
	const column = (heading, how, name) => ({ title: heading, text: (core) => {
		const figures = measuredOn(core, clock, how);

		return figures ? ns(figures[name]) : NONE;
	} });

	return table([
		{ title: "Core", name: true, text: coreName },
		column("Fastest", "latency", "min_ns"), column("Median", "latency", "p50_ns"), column("99 %", "latency", "p99_ns"),
		column("Median, all at once", "latency_contended", "p50_ns"), column("99 %, all at once", "latency_contended", "p99_ns"),
	], report.cores, `${clock.id}: read latency on each core`);
}

function mediansTable(report, clocks) {
	return table([
		{ title: "Core", name: true, text: coreName },
		...clocks.map((clock) => ({ title: clock.id, text: (core) => {
			const figures = measuredOn(core, clock, "latency");

			return figures ? ns(figures.p50_ns) : NONE;
		} })),
	], report.cores, "Median read latency of each clock on each core");
}

function coreLatency(report) {
	const clocks = clocksOnCores(report);
	const choice = el("select", { id: "core-clock" }, el("option", { value: "" }, "all clocks, medians"),
		clocks.map((clock, i) => el("option", { value: i }, clock.id)));
	const keys = el("div");
	const tables = el("div");
	const chosenClock = () => clocks[choice.value === "" ? -1 : Number(choice.value)];
	const canvas = chart("chart-cores", "Read latency on each core, logarithmic", () => (chosenClock() ?
		oneClockConfig(report, chosenClock()) : allClocksConfig(report)));
	const show = () => {
		const clock = chosenClock();

		keys.replaceChildren(clock ?
			key(["", "median, this core alone", "dot"], ["", "median, all cores at once", "hollow"], ["quiet-bar", "fastest read to the 99 % one"]) :
			el("ul", { class: "key" }, clocks.filter((each) => each.main === each.id).map((each) => el("li", null, swatch(report, each), each.id))));
		tables.replaceChildren(details("The figures as a table", () => (clock ? coresTable(report, clock) : mediansTable(report, clocks))));
	};

	choice.addEventListener("change", () => {
		show();
		drawChart(charts.find((each) => each.canvas.id === "chart-cores"));
	});
	show();
	return [el("p", { class: "choice" }, el("label", { for: "core-clock" }, "Clock "), choice), keys, canvas, tables];
}

/* How many times longer the median read takes while all cores read the same clock. */
function contentionRows(report) {
	return clocksOnCores(report).map((clock) => {
		const both = report.cores.map((core) => [measuredOn(core, clock, "latency"), measuredOn(core, clock, "latency_contended")])
			.filter(([alone, together]) => alone && together && alone.p50_ns > 0 && together.p50_ns > 0);

		return { clock, cores: both.length, alone: median(both.map(([alone]) => alone.p50_ns)),
			together: median(both.map(([, together]) => together.p50_ns)),
			factor: median(both.map(([alone, together]) => together.p50_ns / alone.p50_ns)) };
	}).filter((row) => row.cores > 1);
}

function contention(report) {
	const rows = contentionRows(report);
	const configure = () => ({
		type: "bar",
		data: { labels: rows.map((row) => row.clock.id), datasets: [{
			data: rows.map((row) => [Math.min(row.factor, 1), Math.max(row.factor, 1)]), minBarLength: 3, barThickness: 14,
			backgroundColor: rows.map((row) => `${look(report, row.clock).colour}99`), borderWidth: 1, borderSkipped: false,
			borderColor: rows.map((row) => look(report, row.clock).colour),
		}] },
		options: {
			indexAxis: "y",
			scales: {
				x: logAxis("times as long as alone", (value) => `×${Number(value.toPrecision(2))}`, [1, ...rows.map((row) => row.factor)]),
				y: { grid: { display: false }, ticks: { autoSkip: false } },
			},
			plugins: { tooltip: { callbacks: { label: (item) => times(rows[item.dataIndex].factor) } } },
		},
	});

	if (!rows.length)
		return [];
	return [el("h3", null, "All cores at once"),
		note("How much longer a median read takes while all cores read the same clock."),
		chart("chart-contention", "Factor by which contention slows each clock", configure, rows.length),
		details("The figures as a table", () => table([
			{ title: "Clock", name: true, text: (row) => el("code", null, row.clock.id) },
			{ title: "Alone", text: (row) => ns(row.alone) }, { title: "All at once", text: (row) => ns(row.together) },
			{ title: "Factor", text: (row) => times(row.factor) }, { title: "Cores", text: (row) => whole(row.cores) },
		], rows, "Median read alone and with all cores reading"))];
}

function missingCores(report) {
	const missing = report.cores.filter((core) => core.started === false || core.reason);

	return missing.length ? el("ul", { class: "reasons" }, missing.map((core) =>
		el("li", null, el("code", null, `core ${coreName(core)}`), ` ${core.reason || "did not start"}`))) : null;
}

function coresSection(report) {
	if (!clocksOnCores(report).length)
		return section("cores", "Core by core", note("Not measured."), missingCores(report));
	return section("cores", "Core by core", missingCores(report), coreLatency(report), contention(report));
}

/* 1 to 4: below 100 ns, 1 us, 100 us, and above. */
function magnitude(value_ns) {
	return 1 + [100, 1000, 100000].filter((limit) => Math.abs(value_ns) >= limit).length;
}

function cellKind(interval) {
	if (!interval || interval.length !== 2)
		return "unknown";
	const [low, high] = interval;

	if (low > 0)
		return `ahead${magnitude(low)}`;
	return high < 0 ? `behind${magnitude(high)}` : `within${magnitude((high - low) / 2)}`;
}

function cellText(interval, cores) {
	const kind = cellKind(interval);

	if (kind === "unknown" || cores > MATRIX_SIGNS)
		return "";
	if (cores > MATRIX_FIGURES)
		return kind.startsWith("ahead") ? "+" : kind.startsWith("behind") ? "−" : "";
	return kind.startsWith("within") ? `±${ns(Math.ceil((interval[1] - interval[0]) / 2))}` : nsDelta((interval[0] + interval[1]) / 2);
}

function pairSentence(report, row, column, interval) {
	const [a, b] = [coreName(report.cores[row]), coreName(report.cores[column])];

	if (row === column)
		return `Core ${a}.`;
	if (cellKind(interval) === "unknown")
		return `Core ${b} against core ${a}: not measured.`;
	const said = { a: "is ahead", b: "is behind", w: "is not proven to be apart" }[cellKind(interval)[0]];

	return `Core ${b} against core ${a}: ${nsDelta(interval[0])} to ${nsDelta(interval[1])}; it ${said}.`;
}

function matrixTable(report, matrix) {
	const count = report.cores.length;
	const size = count <= MATRIX_FIGURES ? "large" : count <= 32 ? "medium" : count <= MATRIX_SIGNS ? "small" : "tiny";
	const body = el("tbody");
	const head = (text, scope) => el("th", { scope }, count <= 32 ? text : "");

	matrix.forEach((row, i) => {
		const line = el("tr", null, head(coreName(report.cores[i]), "row"));

		row.forEach((interval, j) => {
			const cell = document.createElement("td");

			cell.className = i === j ? "self" : cellKind(interval);
			cell.textContent = i === j ? "" : cellText(interval, count);
			line.append(cell);
		});
		body.append(line);
	});
	return el("table", { class: `matrix ${size}`, id: "matrix" },
		el("caption", { class: "hidden" }, "Offset of the column's core against the row's"),
		el("thead", null, el("tr", null, el("th"), report.cores.map((core) => head(coreName(core), "col")))), body);
}

function matrixView(report) {
	const { matrix } = report.skew;
	const drawn = matrixTable(report, matrix);
	const rest = "Point at a field, or touch it, for its figures.";
	const said = el("p", { class: "readout", "aria-live": "polite" }, rest);
	const tell = (event) => {
		const cell = event.target.closest("td");
		const [row, column] = cell ? [cell.parentNode.sectionRowIndex, cell.cellIndex - 1] : [];

		said.textContent = cell ? pairSentence(report, row, column, matrix[row][column]) : rest;
	};

	drawn.addEventListener("pointerover", tell);
	drawn.addEventListener("click", tell);
	return [key(["behind3", "behind, proven"], ["within2", "not proven apart; fainter: less is known"], ["ahead3", "ahead, proven"],
		["unknown", "not measured"]), said,
	el("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Matrix of offsets" }, drawn)];
}

function offsetsChart(report) {
	const cores = report.cores.filter((core) => known(core.offset_ns));

	return chart("chart-offsets", "Offset of each core's TSC against the boot core's", () => {
		const at = (name) => cores.map((core) => core.offset_ns[name]);
		const values = [...at("low"), ...at("high")];

		return {
			type: "bar",
			data: { labels: cores.map(coreName), datasets: [{
				data: cores.map((core) => [core.offset_ns.low, core.offset_ns.high]), minBarLength: 2, maxBarThickness: 20,
				backgroundColor: cores.map((core) => colour(core.apart ? "fail" : "clock-tsc")),
			}] },
			options: {
				scales: { x: { title: title("core, by its APIC id"), grid: { display: false }, ticks: { maxRotation: 0, autoSkipPadding: 12 } },
					y: { title: title("against the boot core"), suggestedMin: Math.min(...values), suggestedMax: Math.max(...values),
						ticks: { callback: nsDelta } } },
				plugins: { tooltip: { callbacks: { title: ([item]) => `core ${item.label}`,
					label: (item) => span(cores[item.dataIndex].offset_ns, nsDelta) } } },
			},
		};
	});
}

function skewWords(report) {
	const { skew } = report;
	const said = [];

	if (skew.schedule)
		said.push(`${plural(skew.pairs, "pair")} of cores met` +
			`${isNumber(skew.best_trip_ns) ? `; the best round trip took ${ns(skew.best_trip_ns)}, the median one ${ns(skew.median_trip_ns)}` : ""}.`);
	if (skew.schedule_reason)
		said.push(skew.schedule_reason);
	if (isNumber(skew.within_ns))
		said.push(`No two TSCs are further apart than ${ns(skew.within_ns)}.`);
	if (skew.worst_pair && isNumber(skew.worst_offset_ns))
		said.push(`Furthest apart for all that is known are cores ${skew.worst_pair.map(whole).join(" and ")}: ` +
			`${nsDelta(skew.worst_offset_ns)} ±\u00a0${ns(skew.error_ns)}.`);
	said.push(isNumber(skew.warps) ? `Warps seen: ${whole(skew.warps)}.` : "");
	if ([skew.contended, skew.lock_free].some((check) => check && check.starved))
		said.push("Some core got too few turns in the contended check: no warp there proves nothing.");
	return note(said.join(" "));
}

function offsetsTable(report) {
	return table([
		{ title: "Core", name: true, text: coreName },
		{ title: "Offset", text: (core) => nsDelta(core.offset_ns && core.offset_ns.value) },
		{ title: "low", text: (core) => nsDelta(core.offset_ns && core.offset_ns.low) },
		{ title: "high", text: (core) => nsDelta(core.offset_ns && core.offset_ns.high) },
		{ title: "Drift, ppm", text: (core) => ppm(core.drift_ppm && core.drift_ppm.value) },
		{ title: "low", text: (core) => ppm(core.drift_ppm && core.drift_ppm.low) },
		{ title: "high", text: (core) => ppm(core.drift_ppm && core.drift_ppm.high) },
		{ title: "TSC_ADJUST", text: (core) => whole(core.tsc_adjust) },
		{ title: "Apart", left: true, text: (core) => (core.apart ? "yes" : known(core.offset_ns) ? "no" : NONE) },
	], report.cores, "Offset and drift of each core's TSC against the boot core's");
}

function skewSection(report) {
	const count = report.cores.length;

	if (!report.skew)
		return section("skew", "TSC against TSC", note(count > 1 ? "Not measured." : "One core ran: there is nothing to compare it with."));
	const { matrix } = report.skew;
	const square = matrix && count <= MATRIX_CORES_MAX && matrix.length === count && matrix.every((row) => row && row.length === count);
	const any = report.cores.some((core) => known(core.offset_ns));

	return section("skew", "TSC against TSC", skewWords(report),
		square ? matrixView(report) : any ? offsetsChart(report) : note("No offsets were measured."),
		any ? details("Offset and drift of each core as a table", () => offsetsTable(report)) : null);
}
