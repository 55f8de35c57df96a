/* Shows stolen time: each gap over the time of the run, and the lengths of the gaps. */

function gapSentence(gap) {
	return `core ${whole(gap.core)}: ${ns(gap.y)} at ${precise(gap.x, 4)} s`;
}

const gapEvents = (found) => (found.events || []).filter((event) => isNumber(event.at_ms) && event.ns > 0);

/* Returns a sentence with the number of gaps that are drawn in the chart over time, and the number that are not. */
function drawnGapsSentence(found) {
	const drawn = gapEvents(found).length;

	if (!isNumber(found.gaps) || found.gaps <= drawn)
		return note(`All ${plural(found.gaps, "gap")} are drawn.`);
	return note(`${whole(drawn)} of ${plural(found.gaps, "gap")} are drawn: the report has the first gaps of each core, while there is `,
		`space. The other ${whole(found.gaps - drawn)} are only in the chart “How long”.`);
}

/* Returns a sentence with the length up to which gaps are not counted. */
const gapThresholdSentence = (found) =>
	note(`Gaps of up to ${ns(found.threshold_ns)} are not counted.`);

function gapsOverTime(report) {
	const events = gapEvents(report.interference);

	return {
		type: "scatter",
		data: {
			datasets: [{
				data: events.map((event) => ({
					x: event.at_ms / 1000,
					y: event.ns,
					core: event.core
				})),
				backgroundColor: `${colour("gap")}88`,
				borderColor: colour("gap"),
				pointRadius: 4
			}]
		},
		options: {
			scales: {
				x: {
					type: "linear",
					title: axisTitle("into the run, s"),
					ticks: {maxRotation: 0},
					grace: "5%"
				},
				y: nsAxis("gap", events.map((event) => event.ns)),
			},
			...tooltip({label: ({raw}) => gapSentence(raw)}),
		},
	};
}

/* Returns a bar for each power of two between the shortest and the longest gap. Empty bars are included. */
function gapOctaves(histogram) {
	const exponents = histogram.map((bucket) => Math.ceil(Math.log2(bucket.le_ns + 1)));
	const counts = new Map(histogram.map((bucket, i) => [exponents[i], bucket.count]));
	const rows = [];

	for (let exponent = lowest(exponents); exponent <= highest(exponents); exponent++)
		rows.push({le_ns: 2 ** exponent, count: counts.get(exponent) || 0});
	return rows;
}

function gapLengths(report) {
	const rows = gapOctaves(report.interference.histogram);

	return {
		type: "bar",
		data: {
			labels: rows.map((row) => formatNsTick(row.le_ns)),
			datasets: [{
				data: rows.map((row) => row.count),
				backgroundColor: `${colour("gap")}bb`
			}]
		},
		options: {
			scales: {
				x: plainAxis("gap up to"),
				y: {beginAtZero: true, title: axisTitle("gaps"), ticks: {precision: 0}}
			},
			...tooltip({label: (item) => plural(item.raw, "gap")}),
		},
	};
}

function stolenTimeSentences(found) {
	const said = [];

	if (isNumber(found.gaps))
		said.push(`${plural(found.gaps, "gap")} of more than ${ns(found.threshold_ns)}`,
			`in ${ns(found.observed_ns)} observed.`);
	if (found.gaps > 0)
		said.push(`Stolen time: ${ns(found.total_ns)},`,
			`${share(100 * found.total_ns / found.observed_ns)} of that; longest gap:`,
			`${ns(found.worst_ns)}, on core ${whole(found.worst_core)}. A busy host or system`,
			"management interrupts (SMIs) cause gaps; they make no clock fail, but may leave a test undecided.");
	if (found.reported && found.reported.observed_ns > 0)
		said.push(`The hypervisor's own counter reports ${share(100 * found.reported.reported_ns / found.reported.observed_ns)} as stolen.`);
	if (isNumber(found.smi_count))
		said.push(`SMIs on the boot core in the whole run: ${whole(found.smi_count)}.`);
	else
		said.push("The CPU does not count SMIs.");
	return note(said.join(" "));
}

function gapTables(report) {
	const {events, histogram} = report.interference;

	return el("div", null,
		table(
			[["Gap up to", (row) => ns(row.le_ns), "name"], ["Count", (row) => whole(row.count)]],
			histogram, "Gaps by length"),
		table(
			[
				["Time since the start of the run", (row) => duration(row.at_ms), "name"],
				["Core", (row) => whole(row.core)],
				["Gap", (row) => ns(row.ns)],
			],
			events || [], "The gaps that are drawn over time"));
}

function interferenceSection(report) {
	const found = report.interference;

	if (!found)
		return section("interference", "Interference", note("Not measured."));
	const any = found.gaps > 0 && (found.histogram || []).length;

	if (!any)
		return section("interference", "Interference", stolenTimeSentences(found));
	const halves = [side("How long",
		[chart("chart-gap-lengths", "How many gaps of which length", () => gapLengths(report)), gapThresholdSentence(found)])];

	if (gapEvents(found).length)
		halves.unshift(side("When",
			[chart("chart-gaps", "Gaps over the time of the run", () => gapsOverTime(report)), drawnGapsSentence(found)]));
	return section("interference", "Interference", stolenTimeSentences(found),
		el("div", {class: "pair"}, halves),
		details("The figures as tables", () => gapTables(report)));
}
