/* Shows the offsets between the cores' TSCs, for each pair of cores and against the boot core. */

/*
 * The matrix has a cell for each pair of cores, so its cells are smaller if there are more cores. Up to 12 cores, each
 * cell shows an offset. Up to 64, it shows only the offset's sign, and above 64 only a colour. Up to 32 cores, the rows
 * and columns have the cores' names.
 */
const MATRIX_FIGURES = 12;
const MATRIX_HEADINGS = 32;
const MATRIX_SIGNS = 64;
const MATRIX_SIZES = [
	[MATRIX_FIGURES, "large"], [MATRIX_HEADINGS, "medium"], [MATRIX_SIGNS, "small"],
	[MATRIX_CORES_MAX, "tiny"]
];

/* Returns the class of an offset, from 1 to 4: less than 100 ns, less than 1 us, less than 100 us, and larger. */
function offsetClass(value_ns) {
	return 1 + [100, 1000, 100000].filter((limit) => Math.abs(value_ns) >= limit).length;
}

function cellKind(interval) {
	if (!interval || interval.length !== 2)
		return "unknown";
	const [low, high] = interval;

	if (low > 0)
		return `ahead${offsetClass(low)}`;
	return high < 0 ? `behind${offsetClass(high)}` : `within${offsetClass((high - low) / 2)}`;
}

function cellText(interval, cores) {
	const kind = cellKind(interval);

	if (kind === "unknown" || cores > MATRIX_SIGNS)
		return "";
	if (cores > MATRIX_FIGURES)
		return {a: "+", b: "−", w: ""}[kind[0]];
	const [low, high] = interval;

	if (kind.startsWith("within"))
		return `±${ns(Math.ceil((high - low) / 2))}`;
	return formatSignedNs((low + high) / 2);
}

function pairSentence(report, row, column, interval) {
	const [a, b] = [coreName(report.cores[row]), coreName(report.cores[column])];

	if (row === column)
		return `Core ${a}.`;
	if (cellKind(interval) === "unknown")
		return `Core ${b} against core ${a}: not measured.`;
	const words = {a: "it is ahead", b: "it is behind", w: "no offset is proven"};
	const ends = interval.map(formatSignedNs).join(" to ");

	return `Core ${b} against core ${a}: ${ends}; ${words[cellKind(interval)[0]]}.`;
}

function matrixTable(report, matrix) {
	const count = report.cores.length;
	const [, size] = MATRIX_SIZES.find(([cores]) => count <= cores);
	const body = el("tbody");
	const head = (text, scope) => el("th", {scope}, count <= MATRIX_HEADINGS ? text : "");

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
	return el("table", {class: `matrix ${size}`, id: "matrix"},
		el("caption", {class: "hidden"}, "Offset of the column's core against the row's"),
		el("thead", null,
			el("tr", null, el("th"),
				report.cores.map((core) => head(coreName(core), "col")))),
		body);
}

function matrixView(report, matrix) {
	const drawn = matrixTable(report, matrix);
	const rest = "Each cell: the TSC of the column's core minus the TSC of the row's core. " +
		"Point at a cell, or touch it, for its figures.";
	const said = el("p", {class: "readout", "aria-live": "polite"}, rest);
	const show = (event) => {
		const cell = event.target.closest("td");
		const [row, column] = cell ? [cell.parentNode.sectionRowIndex, cell.cellIndex - 1] : [];

		said.textContent = cell ? pairSentence(report, row, column, matrix[row][column]) : rest;
	};

	drawn.addEventListener("pointerover", show);
	drawn.addEventListener("click", show);
	return [
		makeLegend(["behind3", "behind, proven"],
			["within2", "no offset proven; fainter: wider interval"],
			["ahead3", "ahead, proven"], ["unknown", "not measured"]),
		said,
		el("div", {
			class: "scroll",
			tabindex: 0,
			role: "region",
			"aria-label": "Matrix of offsets"
		},
			drawn)
	];
}

function offsetsChart(report) {
	const offset = shownOffset(report);
	const cores = report.cores.filter((core) => known(core[offset]));

	return chart("chart-offsets", "Offset of each core's TSC against the boot core's", () => {
		const at = (name) => cores.map((core) => core[offset][name]);
		const values = [...at("low"), ...at("high")];

		return {
			type: "bar",
			data: {
				labels: cores.map(coreName),
				datasets: [{
					data: cores.map(
						(core) => [core[offset].low, core[offset].high]),
					minBarLength: 2,
					maxBarThickness: 20,
					backgroundColor: cores.map(
						(core) => colour(core.off_majority ? "fail" : "link")),
				}]
			},
			options: {
				scales: {
					x: plainAxis("core, by its APIC id"),
					y: {
						title: axisTitle("against the boot core"),
						suggestedMin: lowest(values),
						suggestedMax: highest(values),
						ticks: {callback: formatSignedNs}
					}
				},
				...tooltip({
					title: ([item]) => `core ${item.label}`,
					label: (item) => span(cores[item.dataIndex][offset], formatSignedNs)
				}),
			},
		};
	});
}

/*
 * Returns true if the page shows the offsets of the last measurement pass instead of the first. The application
 * chooses the last pass if only this pass found a fault.
 */
const lastIsShown = ({skew}) => Boolean(skew && skew.shown === "last" && skew.later && skew.later.length);
const shownOffset = (report) => (lastIsShown(report) ? "last_offset_ns" : "offset_ns");
const shownMatrix = ({skew}) => (lastIsShown({skew}) ? skew.later[skew.later.length - 1].matrix : skew.matrix);

function skewSentences(report) {
	const {skew} = report;
	const said = [];

	if (skew.text)
		said.push(`${sentence(skew.text)}.`);
	if (skew.schedule)
		said.push(`${plural(skew.pairs, "pair")} of cores exchanged ping-pongs.`);
	if (isNumber(skew.best_trip_ns))
		said.push(`Round trip: ${ns(skew.best_trip_ns)} at best,`,
			`${ns(skew.median_trip_ns)} in the median.`);
	if (skew.schedule_reason)
		said.push(skew.schedule_reason);
	const moments = [skew.first_ms, skew.last_ms].filter(isNumber).map((at) => ns(at * 1e6)).join(" and ");

	if (!skew.text && isNumber(skew.within_ns))
		said.push(`All TSCs agree within ${ns(skew.within_ns)} at ${moments}.`);
	else if (!skew.text && isNumber(skew.at_best_ns))
		said.push(`Synchronisation not determined: only within ${ns(skew.at_best_ns)} at ${moments}.`);
	if (isNumber(skew.first_bound_ns) && isNumber(skew.last_bound_ns))
		said.push(`Each pass has its own bound: ${nsUpperBound(skew.first_bound_ns)} in the first,`,
			`${nsUpperBound(skew.last_bound_ns)} in the last. The larger counts.`);
	/* The time of the last pass is rounded down as in the text report, so that both reports show the same time. */
	if (lastIsShown(report))
		said.push(`Pairs and offsets are of the last pass, at ${ns(Math.floor(skew.last_ms / 100) * 1e8)}.`);
	if (skew.worst_pair && isNumber(skew.worst_offset_ns))
		said.push("Largest offset: core",
			`${whole(skew.worst_pair[1])} against core ${whole(skew.worst_pair[0])},`,
			`${formatSignedNs(skew.worst_offset_ns)} ±\u00a0${ns(skew.error_ns)}.`);
	if (isNumber(skew.warps))
		said.push(`Warps seen: ${whole(skew.warps)}.`);
	if ([skew.contended, skew.lock_free].some((check) => check && check.starved))
		said.push(
			"One core got too few iterations in the contended check, so the absence of warps there proves nothing.");
	return note(said.join(" "));
}

function offsetsTable(report) {
	const part = (heading, of, name, format) =>
		[heading, (core) => format(core[of] && core[of][name])];
	const offset = shownOffset(report);
	const judged = (heading, of, name) =>
		[heading, (core) => (known(core[of]) && core[name] !== undefined ? yesOrNo(core[name]) : NONE), "left"];

	return table(
		[
			["Core", coreName, "name"],
			part("Offset", offset, "value", formatSignedNs),
			part("low", offset, "low", formatSignedNs),
			part("high", offset, "high", formatSignedNs),
			judged("Off the majority", offset, "off_majority"),
			part("Drift, ppm", "drift_ppm", "value", ppm),
			part("low", "drift_ppm", "low", ppm),
			part("high", "drift_ppm", "high", ppm),
			judged("Drifts", "drift_ppm", "drifts"),
			["Steps back", (core) => (core.monotonic ? whole(core.monotonic.backward) : NONE)],
			["TSC_ADJUST", (core) => whole(core.tsc_adjust)],
		],
		report.cores, "Offset and drift of each core's TSC against the boot core's, and its own steps back");
}

function skewSection(report) {
	const count = report.cores.length;

	const alone = count === 1 && report.clocks.length > 0;

	if (!report.skew)
		return section("skew", "TSC against TSC", note(alone ? "One core ran: no other TSC to compare with." :
			"Not measured."));
	const matrix = shownMatrix(report);
	const square = matrix && count <= MATRIX_CORES_MAX && matrix.length === count &&
		matrix.every((row) => row && row.length === count);
	const any = report.cores.some((core) => known(core[shownOffset(report)]));
	let picture = note("No offsets were measured.");

	if (square)
		picture = matrixView(report, matrix);
	else if (any)
		picture = offsetsChart(report);
	return section("skew", "TSC against TSC", skewSentences(report), picture,
		any && details("Offset and drift of each core as a table", () => offsetsTable(report)));
}
