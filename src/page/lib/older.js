/* Converts an untrusted report from schema 1 to schema 2. All other files only know schema 2. */

const OLDER_SCHEMA = "baretick.report/1";
const OLDER_KEYS = {
	cores: {meetings: "pingpongs", apart: "off_majority", watched_ns: "observed_ns"},
	skew: {players: "cores", width: "concurrency", meetings: "pingpongs"},
	interference: {watched_ns: "observed_ns"},
};
const OLDER_OUTCOMES = new Map([["kept", "passed"], ["broken", "failed"], ["not seen", "not_checked"]]);

function convertOlderReport(report) {
	const objects = (key) => [report[key]].flat().filter(isObject);

	for (const [key, names] of Object.entries(OLDER_KEYS))
		for (const object of objects(key))
			for (const [old, name] of Object.entries(names)) {
				object[name] = object[old];
				delete object[old];
			}
	for (const row of objects("behaviours"))
		row.outcome = OLDER_OUTCOMES.get(row.outcome) || row.outcome;
	/*
	 * Numbers the hardware devices (`series`) in the order of the listed clocks. The index of a device's driver is
	 * not known, because a report of schema 1 does not say which drivers were left out.
	 */
	const mains = [...new Set(objects("clocks").map((clock) => clock.main))];

	for (const clock of objects("clocks"))
		clock.series = mains.indexOf(clock.main);
}
