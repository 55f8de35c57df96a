/* Shows timer interrupts: their lateness for each source, and the number of lost interrupts. */

const TIMER_MARKS = [["min", "earliest"], ["p50", "50 %"], ["p99", "99 %"], ["max", "latest"]];

const timerRows = (report) => report.intervals || [];
const bootRows = (report) => {
	const boot = report.cores.length ? report.cores[0].apic_id : 0;

	return timerRows(report).filter((row) => row.core === boot);
};
const formatRequestedPeriod = (row) => (row.asked.period_ns ? ns(row.asked.period_ns) : "at once") + (row.mode === "periodic" ? ", periodic" : "");
const timerName = (row) => `${row.source}, ${formatRequestedPeriod(row)}`;
const late = (row, name) => (row.lateness_ns && isNumber(row.lateness_ns[name]) ? row.lateness_ns[name] : null);

/*
 * Makes the chart of lateness. A logarithmic axis has no 0 and no negative values. So interrupts that were not late are
 * drawn at the start of the axis.
 */
function latenessChart(rows) {
	const above = rows.flatMap((row) => TIMER_MARKS.map(([name]) => late(row, name))).filter((value) => value > 0);
	const floor = roundDown(lowest(above));
	const place = (value) => (value === null ? null : Math.max(value, floor));

	return {
		type: "bar",
		data: {
			labels: rows.map(timerName),
			datasets: [
				...TIMER_MARKS.map(([name], i) => ({
					type: "line",
					data: rows.map((row) => place(late(row, name))),
					showLine: false,
					pointStyle: POINTS[i],
					pointRadius: 5,
					borderColor: colour(`series-${i}`),
					backgroundColor: colour(`series-${i}`),
				})),
				{
					data: rows.map((row) => [place(late(row, "min")), place(late(row, "max"))]),
					backgroundColor: `${colour("other")}55`,
					borderSkipped: false,
					minBarLength: 3,
					barThickness: 8,
				},
			],
		},
		options: {
			indexAxis: "y",
			interaction: {mode: "index", axis: "y", intersect: false},
			scales: {
				x: nsAxis("late", [floor, ...above]),
				y: {offset: true, grid: {display: false}, ticks: {autoSkip: false}}
			},
			...tooltip({
				label: ({dataIndex}) => TIMER_MARKS.filter(([name]) => late(rows[dataIndex], name) !== null)
					.map(([name, word]) => `${word}: ${formatSignedNs(late(rows[dataIndex], name))}`),
			}, {filter: (item) => item.datasetIndex === TIMER_MARKS.length}),
		},
	};
}

const isTimerTested = (row) => row.state === "present" && !row.reason;

/*
 * Shows a percentile of the lateness. With too few interrupts, the percentile would be the latest interrupt, and a dash
 * is shown instead.
 */
const formatLateness = (name) => (row) => (late(row, name) !== null ? formatSignedNs(late(row, name)) :
	row.lateness_ns ? el("span", {class: "quiet", title: "too few interrupts"}, NONE) : NONE);

function timersTable(rows, caption, withCore) {
	return table(
		[
			["Source", (row) => code(row.source), "name"],
			...(withCore ? [["Core", (row) => whole(row.core)]] : []),
			["Asked for", formatRequestedPeriod, "left"],
			["Deadlines", (row) => whole(row.expected)],
			["Missed", (row) => whole(row.empty)],
			["Early", (row) => whole(row.early)],
			["Doubled", (row) => whole(row.doubled)],
			["Excused", (row) => whole(row.excused)],
			...TIMER_MARKS.map(([name, word]) => [word[0].toUpperCase() + word.slice(1), formatLateness(name)]),
			["Error", (row) => (row.lateness_ns ? ns(row.lateness_ns.error) : NONE)],
		],
		rows, caption);
}

/* Returns true if no interrupt came. The source may work with other periods, so its state is not shown. */
const isSilent = (row) => row.state === "stuck" && row.asked.count > 0;

function refusedTimers(rows) {
	const refused = rows.filter((row) => !isTimerTested(row));

	if (!refused.length)
		return null;
	return table(
		[
			["No figures of", (row) => code(row.source), "name"],
			["Asked for", formatRequestedPeriod, "left"],
			["State", (row) => (isSilent(row) ? NONE : row.state), "left"],
			["Why", (row) => row.reason || "", "left"],
		],
		refused, "Sources of timer interrupts without figures");
}

const POLICIES = {
	"discard": "missed interrupts are dropped (discard)",
	"catch up": "missed interrupts are sent later (catch up)",
	"delay": "the first is late, and the next follows a period later (delay)",
};

const policyRow = (row) => el("li", null, code(row.source), `: ${POLICIES[row.policy] || row.policy}.`);

function timersSection(report) {
	const boot = bootRows(report);
	const others = timerRows(report).filter((row) => !boot.includes(row));
	const policies = boot.filter((row) => row.policy);
	const drawn = boot.filter((row) => row.lateness_ns && row.lateness_ns.max > 0);

	if (!timerRows(report).length)
		return null;
	return section("timers", "Timer interrupts",
		note("How late each source's interrupts came: the time of the handler's first reading minus the deadline. Each figure includes the time ",
			"to enter the handler, which ", code("self_ipi"), " shows. A deadline is excused if preemption or slow reads of the ",
			"TSC may have affected it. Each figure is wrong by at most the error."),
		drawn.length ? makeLegend(...TIMER_MARKS.map(([, word], i) => [`series-${i}`, word, POINTS[i]])) : null,
		drawn.length ? chart("chart-timers", "Lateness of each source's interrupts, logarithmic", () => latenessChart(drawn), drawn.length) : null,
		timersTable(boot.filter(isTimerTested), "Timer interrupts on the boot core", false),
		policies.length ? note("After periods in which interrupts were masked:") : null,
		policies.length ? el("ul", {class: "policies"}, policies.map(policyRow)) : null,
		refusedTimers(boot),
		others.length ? details("The other cores' own timers",
			() => el("div", null, timersTable(others.filter(isTimerTested), "Timer interrupts on the other cores", true),
				refusedTimers(others))) : null);
}
