/*
 * How steady clocks ran over a soak, from the rates of its rows: the overlapping Allan deviation (NIST SP 1065, 5.2.4) and
 * the maximum time interval error (ITU-T G.810, with the clock's mean rate taken out) over TAU, a power of two of rows.
 */

const STABILITY_TERMS = 3; /* of fewer second differences no deviation is shown */
const MS_PPM = 1;          /* a ms at 1 ppm is a ns: phases are in ns */
const PPB_A_PPM = 1e3;
const NOTHING = 1e-6; /* ppb, or ns: it is of the arithmetic */

/* The longest stretch of rows, each of which begins where the one before ends, with a rate of the clock ID in each. */
function longestStretch(rows, id) {
	let longest = [], stretch = [];

	for (const row of rows) {
		const rate = known((row.clocks[id] || {}).ppm);

		if (!rate || (stretch.length && stretch[stretch.length - 1].row.to_ms !== row.from_ms))
			stretch = [];
		if (rate)
			stretch.push({row, rate});
		if (stretch.length > longest.length)
			longest = stretch;
	}
	return longest;
}

const lengthOf = ({row}) => row.to_ms - row.from_ms;

/*
 * The clock's phase against the other's, in ns, at moments TAU0 ms apart: its rows are not of one length, so it is taken
 * from the line between their ends. Without its mean rate, which is in no deviation.
 */
function phases(stretch, tau0) {
	const all = stretch.reduce((sum, one) => sum + lengthOf(one), 0);
	const mean = stretch.reduce((sum, one) => sum + one.rate.value * lengthOf(one), 0) / all;
	const found = [0];
	let phase = 0, from = 0;

	for (const one of stretch) {
		const rate = (one.rate.value - mean) * MS_PPM;

		for (; found.length * tau0 <= from + lengthOf(one); )
			found.push(phase + rate * (found.length * tau0 - from));
		phase += rate * lengthOf(one);
		from += lengthOf(one);
	}
	return found;
}

/* In ppb, over M of the steps of TAU0 ms between the phases X. */
function allanDeviation(x, m, tau0) {
	const count = x.length - 2 * m;
	let sum = 0;

	for (let i = 0; i < count; i++)
		sum += (x[i + 2 * m] - 2 * x[i + m] + x[i]) ** 2;
	return Math.sqrt(sum / (2 * count)) / (m * tau0) * PPB_A_PPM;
}

/* In ns: the most by which the phases differ within any M steps. */
function timeIntervalError(x, m) {
	let worst = 0;

	for (let i = 0; i + m < x.length; i++) {
		const window = x.slice(i, i + m + 1);

		worst = Math.max(worst, highest(window) - lowest(window));
	}
	return worst;
}

/*
 * Of one clock: {tau (ms), adev and floor (ppb), mtie (ns)} for each tau. The floor is what readings alone could make: each end
 * of a row is known within half of what its rate is known by, and a second difference has four of them.
 */
function stabilityOf(rows, id) {
	const stretch = longestStretch(rows, id), tau0 = median(stretch.map(lengthOf));
	const within = median(stretch.map(({rate}) => (rate.high - rate.low) / 2)); /* ppm over a row, by two ends */
	const found = [];

	if (!(tau0 > 0))
		return found;
	const x = phases(stretch, tau0);

	for (let m = 1; x.length - 2 * m >= STABILITY_TERMS; m *= 2)
		found.push({tau: m * tau0, adev: allanDeviation(x, m, tau0), floor: Math.SQRT2 * within * PPB_A_PPM / m,
			mtie: timeIntervalError(x, m)});
	return found;
}

/* Clocks that are made of the one that sets the scale show nothing of their own. */
function isSameSource(report, {id, relative_to: by}) {
	return report.rates.some(({a, b, same_source: same}) => same && ((a === id && b === by) || (a === by && b === id)));
}

function stabilityConfig(sets, y, said) {
	const taus = sets.flatMap(({data}) => data.map(({x}) => x));

	return {
		type: "line",
		data: {datasets: sets},
		options: {
			interaction: {mode: "nearest", axis: "xy", intersect: false},
			scales: {x: logAxis("over a time of", duration, taus), y},
			...tooltip({title: ([{dataset, raw}]) => `${dataset.label}, over ${duration(raw.x)}`, label: ({raw}) => said(raw.y)}),
		},
	};
}

const ppb = (value) => `${precise(value, 3)} ppb`;

function stabilityTable(found) {
	return table(
		[
			["Clock", ({clock}) => code(clock.id), "name"],
			["Over", ({tau}) => duration(tau)],
			["Allan deviation", ({adev}) => ppb(adev)],
			["Floor", ({floor}) => ppb(floor)],
			["MTIE", ({mtie}) => ns(mtie)],
		],
		found.flatMap(({clock, steps}) => steps.map((step) => ({clock, ...step}))), "How steady the clocks ran, as a table");
}

function stabilityLines(report, found, label, style, of) {
	return found.map(({clock, steps}) => ({
		...lineLook(report, clock), ...style, label: `${clock.id}${label}`,
		data: steps.map((step) => ({x: step.tau, y: of(step)})).filter(({y}) => y > NOTHING)}));
}

/* Of CLOCKS, those of which the series has rates; empty where nothing can be told. */
function stabilityOverTime(report, clocks) {
	const same = clocks.filter((clock) => isSameSource(report, clock)), others = clocks.filter((clock) => !same.includes(clock));
	const found = others.map((clock) => ({clock, steps: stabilityOf(report.series, clock.id)})).filter(({steps}) => steps.length);
	const key = el("ul", {class: "key"}, found.map(({clock}) => el("li", null, swatch(report, clock), clock.id)));
	const deviations = () => [...stabilityLines(report, found, "", {}, ({adev}) => adev),
		...stabilityLines(report, found, ", floor", {borderDash: [2, 3], borderWidth: 1.5, pointRadius: 0}, ({floor}) => floor)];
	const errors = () => stabilityLines(report, found, "", {}, ({mtie}) => mtie);
	const some = (all) => (all.length ? all : [1]);
	const values = (sets) => some(sets.flatMap(({data}) => data.map(({y}) => y)));

	if (!found.length)
		return [];
	return [el("h3", null, "Allan deviation"),
		note("Overlapping, against the clock that sets the scale: how much the rate over a time differs from that over the next. Below its ",
			"floor, which is dotted, it may be of the readings alone. A line that falls is the readings' noise, or white; one that rises, a walk.",
			same.length ? ` Not of ${joined(same.map(({id}) => id), ", ")}: of its source.` : ""),
		key,
		chart("chart-series-adev", "Overlapping Allan deviation of the clocks, logarithmic", () => stabilityConfig(deviations(),
			logAxis("Allan deviation, ppb", (value) => exact(Number(value.toPrecision(2))), values(deviations())), ppb)),
		el("h3", null, "Maximum time interval error"),
		note("The most that a clock gained or lost within any such time, once its mean rate is taken out."),
		chart("chart-series-mtie", "Maximum time interval error of the clocks, logarithmic", () => stabilityConfig(errors(),
			nsAxis("MTIE", values(errors())), (value) => ns(value))),
		details("These figures as a table", () => stabilityTable(found))];
}
