/* Shows the firmware's own time: its delays, timer events, time of day and counters. */

const FIRMWARE_TICKS = {hpet: "the HPET", lapic: "the boot core's local APIC timer", pit: "the PIT"};

const NO_BOUND_PPM = 1e12; /* FIRMWARE_PPB_MAX of clock/firmware_time.h */

/* Returns the length of a second of the firmware, or a dash if it was not measured. Both bounds are rounded outwards. */
function firmwareSecond({second_ppm: ppm}) {
	const seconds = (value, round) => (round((1e6 + value) / 10) / 1e5).toFixed(5);

	if (!known(ppm))
		return NONE;
	return ppm.high < NO_BOUND_PPM ? `${seconds(ppm.low, Math.floor)} to ${seconds(ppm.high, Math.ceil)} s` :
		`at least ${seconds(ppm.low, Math.floor)} s`;
}

/* Returns the section, or null if the report has no rows on the firmware's time. */
function firmwareSection(report) {
	const rows = report.firmware_times || [];
	const tick = rows.find((row) => row.tick);
	const time = (row, key) => (row[key] === null ? NONE : ns(row[key]));

	if (!rows.length)
		return null;
	return section("firmware", "The firmware's own time",
		note("Times that the firmware's services take and tell, measured by the TSC. These rows have no vote on the rates of clocks. ",
			tick ? `The firmware's tick comes from ${FIRMWARE_TICKS[tick.tick]}.` : "The device of the firmware's tick is not known."),
		table(
			[
				["Source", (row) => row.source, "left"],
				["Service", (row) => code(row.call), "name"],
				["Requested", (row) => time(row, "asked_ns")],
				["Times", (row) => whole(row.count)],
				["Missing", (row) => whole(row.missing)],
				["Back", (row) => whole(row.back)],
				["Shortest", (row) => time(row, "least_ns")],
				["Longest", (row) => time(row, "most_ns")],
				["Its second", firmwareSecond],
			],
			rows, "Time services of the firmware"));
}
