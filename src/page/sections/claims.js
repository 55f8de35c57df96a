/* Who states a clock's rate, how far that is off, and who takes it without measuring. */

const CLAIM_OUTCOMES = {passed: "pass", failed: "fail", not_checked: "absent", not_determined: "open"};
const claimOutcome = (row) => badge(CLAIM_OUTCOMES[row.outcome], String(row.outcome || "?").replace("_", " "));

function claimError({error_ppm: error}) {
	return known(error) ? `${ppm(error.value)} (${ppm(error.low)} to ${ppm(error.high)})` : NONE;
}

/* Reports of earlier releases have none. */
function claimsSection(report) {
	const rows = report.claims || [];

	if (!rows.length)
		return null;
	return section("claims", "Who believes what",
		note("What leaves, registers and pages state about rates, and the systems that take it without measuring. The error is how ",
			"much faster the clock runs than stated, and so the clock of a system that takes the statement."),
		table(
			[
				["Source", (row) => row.source, "name"],
				["Clock", (row) => code(row.clock), "left"],
				["Claimed", (row) => (known(row.value_hz) ? hz(row.value_hz.value) : row.reason || NONE)],
				["Measured", (row) => (known(row.measured_hz) ? hz(row.measured_hz.value) : NONE)],
				["Error in ppm", claimError],
				["Outcome", claimOutcome, "left"],
				["Taken by", (row) => joined(row.users || [], ", ") || NONE, "left"],
			],
			rows, "Claims about rates, with their errors and users"));
}
