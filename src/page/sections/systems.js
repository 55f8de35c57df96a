/* Shows which clock each system takes, what a read costs it, and what it does about the faults that were found. */

/* A report from elsewhere may have other words than these maps. Such a word is shown as it is, or left out. */
const SAFE_BADGES = new Map([["yes", ["pass", "safe"]], ["no", ["fail", "not safe"]], ["not proven", ["open", "not proven"]]]);
const BLAMES = new Map([["right", ", the faulty clock"], ["wrong", ", which is right"]]);
const EVIDENCE = new Map([["boots", "booted on such machines"], ["source", "read in its source"],
	["documentation", "from its documentation"]]);

/* Returns what the system notices of the faults, and which clock it then stops using. */
function noticed(row) {
	const blamed = row.blamed && ["; stops using ", code(row.blamed), BLAMES.get(row.blames)];

	return row.notices ? [row.notices, blamed, row.repairs && "; repairs it"] : NONE;
}

function timeError({time_error_ppm: error}) {
	return known(error) ? [ppm(error.value), el("span", {class: "quiet block"}, span(error, ppm))] : NONE;
}

/* Returns the table, or false if no system's clock is known. */
function systemsTable(report) {
	const rows = report.taken;
	const why = (row) => row.safe && [badge(...(SAFE_BADGES.get(row.safe) || ["absent", row.safe])), " "];

	return rows.length > 0 && [
		el("h3", null, "What systems take"),
		note("A read costs a system what its own read method costs: Linux reads hpet by one access of 32 bits. ",
			"The last columns are about the faults that this run found."),
		table(
			[
				["System", (row) => row.system, "name"],
				["Takes", (row) => code(row.clock), "left"],
				["A read", (row) => [ns(row.read_ns), el("span", {class: "quiet block"}, row.read_by)]],
				["Notices faults", noticed, "left"],
				["Time fast by, ppm", timeError],
				["Why", (row) => [why(row), row.reason], "left"],
				["Known from", (row) => EVIDENCE.get(row.evidence) || row.evidence, "left"],
			],
			rows, "Clocks that systems take, and what they do about faults")];
}
