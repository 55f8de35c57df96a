/*
 * Calculates how steady clocks ran during a soak, from the rates in the rows of its series. TAU is the averaging time:
 * the duration of 1, 2, 4, ... rows. For each TAU there are two figures: the overlapping Allan deviation (NIST SP 1065,
 * 5.2.4), and the maximum time interval error (ITU-T G.810, without the clock's mean rate).
 */

const STABILITY_TERMS = 3; /* an Allan deviation is calculated from at least this number of second differences of phases */
const MS_PPM = 1;          /* phase in ns after 1 ms at a rate error of 1 ppm */
const PPB_A_PPM = 1e3;
const NOTHING = 1e-6; /* limit in ppb or ns below which a figure is only a rounding error */

/* Returns the longest sequence of adjacent rows in which the clock ID always has a rate. */
function longestSequence(rows, id) {
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
 * Returns the clock's phases in ns, at times that are TAU0 ms apart. A phase is the clock's time minus the time of the
 * clock that it is compared with. Rows have different lengths, so phases are interpolated between the ends of rows. The
 * mean rate is subtracted, because neither the Allan deviation nor the time interval error includes it.
 */
function splitIntoPhases(stretch, tau0) {
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

/*
 * Returns the overlapping Allan deviation in ppb for an averaging time of M * TAU0. X is the list of phases, which are
 * TAU0 ms apart.
 */
function allanDeviation(x, m, tau0) {
	const count = x.length - 2 * m;
	let sum = 0;

	for (let i = 0; i < count; i++)
		sum += (x[i + 2 * m] - 2 * x[i + m] + x[i]) ** 2;
	return Math.sqrt(sum / (2 * count)) / (m * tau0) * PPB_A_PPM;
}

/*
 * Returns the maximum time interval error in ns: the largest difference of two phases in X that are at most M steps
 * apart.
 */
function timeIntervalError(x, m) {
	let worst = 0;

	for (let i = 0; i + m < x.length; i++) {
		const window = x.slice(i, i + m + 1);

		worst = Math.max(worst, highest(window) - lowest(window));
	}
	return worst;
}

/*
 * Returns {tau in ms, adev in ppb, floor in ppb, mtie in ns} of one clock for each averaging time. The floor is the
 * deviation that the errors of the readings alone can cause. The error of a phase is half of a row's rate error times
 * the row's length. A second difference of phases has four such errors, because the middle phase counts twice.
 */
function calculateStability(rows, id) {
	const stretch = longestSequence(rows, id), tau0 = median(stretch.map(lengthOf));
	/* Rate error of a row in ppm. The errors of the readings at both ends of the row cause it. */
	const within = median(stretch.map(({rate}) => (rate.high - rate.low) / 2));
	const found = [];

	if (!(tau0 > 0))
		return found;
	const x = splitIntoPhases(stretch, tau0);

	for (let m = 1; x.length - 2 * m >= STABILITY_TERMS; m *= 2)
		found.push({tau: m * tau0, adev: allanDeviation(x, m, tau0), floor: Math.SQRT2 * within * PPB_A_PPM / m,
			mtie: timeIntervalError(x, m)});
	return found;
}

/*
 * Returns true if the clock has the same oscillator as the clock that it is compared with. The deviation then does not
 * show how steady the clock is.
 */
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
		found.flatMap(({clock, steps}) => steps.map((step) => ({clock, ...step}))), "The stability of the clocks as a table");
}

function stabilityLines(report, found, label, style, of) {
	return found.map(({clock, steps}) => ({
		...getLineStyle(report, clock), ...style, label: `${clock.id}${label}`,
		data: steps.map((step) => ({x: step.tau, y: of(step)})).filter(({y}) => y > NOTHING)}));
}

/* Shows the stability of all CLOCKS that have rates in the series. Returns an empty list if there are none. */
function stabilityOverTime(report, clocks) {
	const same = clocks.filter((clock) => isSameSource(report, clock)), others = clocks.filter((clock) => !same.includes(clock));
	const found = others.map((clock) => ({clock, steps: calculateStability(report.series, clock.id)})).filter(({steps}) => steps.length);
	const key = el("ul", {class: "key"}, found.map(({clock}) => el("li", null, drawLineSample(report, clock), clock.id)));
	const deviations = () => [...stabilityLines(report, found, "", {}, ({adev}) => adev),
		...stabilityLines(report, found, ", floor", {borderDash: [2, 3], borderWidth: 1.5, pointRadius: 0}, ({floor}) => floor)];
	const errors = () => stabilityLines(report, found, "", {}, ({mtie}) => mtie);
	const some = (all) => (all.length ? all : [1]);
	const values = (sets) => some(sets.flatMap(({data}) => data.map(({y}) => y)));

	if (!found.length)
		return [];
	return [el("h3", null, "Allan deviation"),
		note("How much the mean rate over one interval differs from the mean rate over the next, against the clock that sets the scale. Below the ",
			"dotted floor it may come from reading errors alone. A falling line means reading noise or white noise, a rising line a random walk.",
			same.length ? ` Not shown, because of the same source: ${joined(same.map(({id}) => id), ", ")}.` : ""),
		key,
		chart("chart-series-adev", "Overlapping Allan deviation of the clocks, logarithmic", () => stabilityConfig(deviations(),
			logAxis("Allan deviation, ppb", (value) => exact(Number(value.toPrecision(2))), values(deviations())), ppb)),
		el("h3", null, "Maximum time interval error"),
		note("The most that a clock gained or lost within any such time, after its mean rate is subtracted."),
		chart("chart-series-mtie", "Maximum time interval error of the clocks, logarithmic", () => stabilityConfig(errors(),
			nsAxis("MTIE", values(errors())), (value) => ns(value))),
		details("These figures as a table", () => stabilityTable(found))];
}
