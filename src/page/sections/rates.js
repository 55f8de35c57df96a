/* Shows rates as intervals: each clock compared with its nominal rate, and each pair of clocks. */

function rateRows(report) {
	const byId = new Map(report.clocks.map((clock) => [clock.id, clock]));
	const tint = (id) => (byId.has(id) ? look(report, byId.get(id)).colour : colour("other"));

	return {
		claims: report.clocks.filter((clock) => known(clock.error_ppm)).map((clock) => ({
			label: clock.id,
			interval: clock.error_ppm,
			colour: tint(clock.id)
		})),
		pairs: report.rates.filter((rate) => known(rate.ppm)).map((rate) => ({
			label: `${rate.a} − ${rate.b}`,
			interval: rate.ppm,
			colour: tint(rate.a),
			same: rate.same_source
		})),
	};
}

function rateChart(report, id, label, which) {
	const count = rateRows(report)[which].length;

	return chart(id, label, () => {
		const rows = rateRows(report)[which];
		const ends = rows.flatMap((row) => [row.interval.low, row.interval.high]);

		return intervalBars(rows, signedLogAxis("ppm", ends), figureToPosition, (value) => `${ppm(value)} ppm`);
	}, count);
}

function ratesTable(report) {
	const {claims, pairs} = rateRows(report);

	return table(
		[
			["Rate", (row) => row.label, "name"],
			["ppm", (row) => ppm(row.interval.value)],
			["low", (row) => ppm(row.interval.low)],
			["high", (row) => ppm(row.interval.high)],
			["Independent", (row) => (row.same === undefined ? "" : yesOrNo(!row.same)), "left"],
		],
		[...claims.map((row) => ({...row, label: `${row.label} against its claim`})), ...pairs],
		"Rates in ppm with their errors");
}

const BUDGET = [
	["Bracket", "bracket_ppb"],
	["Resolution", "resolution_ppb"],
	["TSC's resolution", "tsc_step_ppb"],
	["TSC's rate", "tsc_rate_ppb"],
	["Claim", "claim_ppb"],
	["Conversion", "conversion_ppb"],
];

function budgetTable(report) {
	return table(
		[
			["Clock", (clock) => clock.id, "name"],
			...BUDGET.map(([label, key]) => [label, (clock) => clock.budget[key].toFixed(1)]),
			["Readings", (clock) => clock.rate_fit ?? "", "left"],
			["Over", (clock) => clock.rate_over ?? "", "left"],
		],
		report.clocks.filter((clock) => clock.budget),
		"What the error of each rate consists of, in ppb either way");
}

function ratesSection(report) {
	const {claims, pairs} = rateRows(report);

	if (!claims.length && !pairs.length)
		return section("rates", "Rates", note("Not measured: that takes two running clocks."));
	const halves = [];

	if (claims.length)
		halves.push(side("Against the claimed rate",
			rateChart(report, "chart-claims",
				"How far each clock's rate is off its claim, in ppm", "claims")));
	if (pairs.length)
		halves.push(side("Pair by pair",
			rateChart(report, "chart-pairs",
				"How much faster one clock runs than another, in ppm", "pairs")));
	return section("rates", "Rates",
		note("The true rate lies within the bar; a bar that includes 0 shows no deviation. A − B: how ",
			"much faster A runs than B. The axis is linear near 0 and logarithmic beyond."),
		makeLegend(["", "measured", "diamond"], ["quiet-bar", "low to high"]),
		el("div", {class: "pair"}, halves),
		details("The figures as a table", () => ratesTable(report)),
		report.clocks.some((clock) => clock.budget) &&
			details("What the errors consist of", () => budgetTable(report)));
}
