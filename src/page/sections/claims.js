/*
 * Shows the rates that the machine states for its clocks, their errors, and the operating systems that use the stated
 * rates without measuring.
 */

const CLAIM_OUTCOMES = {passed: "pass", failed: "fail", not_checked: "absent", not_determined: "open"};
const claimOutcome = (row) => badge(CLAIM_OUTCOMES[row.outcome], String(row.outcome || "?").replace("_", " "));

function claimError({error_ppm: error}) {
	return known(error) ? `${ppm(error.value)} (${ppm(error.low)} to ${ppm(error.high)})` : NONE;
}

/* Returns the section, or null if the report has no claims. */
function claimsSection(report) {
	const rows = report.claims || [];

	if (!rows.length)
		return null;
	return section("claims", "Claimed rates",
		note("Rates that CPUID leaves, registers and pages state, and the systems that use them without measuring. The error is how ",
			"much faster the clock runs than stated. A system that uses the stated rate runs fast by as much."),
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
