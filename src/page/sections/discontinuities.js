/* Shows the times at which the clocks diverged, with the advance of each clock, and late systems afterwards. */

/* A report from elsewhere may have other words than these maps. Such a word is shown as it is, or left out. */
const DIVERGED = new Map([["parted", "groups of clocks diverged"], ["stopped", "the machine was stopped"],
	["jumped", "one clock jumped"], ["tsc-moved", "the TSC moved, or all other clocks were stopped"]]);
const ANNOUNCED = new Map([["no", " The hypervisor did not announce it."],
	["perhaps", " The hypervisor announced it, or another disruption in this run."], ["yes", " The hypervisor announced it."]]);

const durationWithSpan = (interval) => (known(interval) ?
	[duration(interval.value), el("span", {class: "quiet block"}, span(interval, duration))] : NONE);

/* Shows how late a time is, or a dash if it may be right. */
function lateness({late_ms}) {
	if (!known(late_ms))
		return "not known";
	return late_ms.low <= 0 && late_ms.high >= 0 ? NONE : durationWithSpan(late_ms);
}

/* Returns a sentence on the timers whose result is WORD, or null if there are none. */
function timersThat(row, word, end) {
	const found = row.timers.filter(({interrupts}) => interrupts === word).map(({source}) => source);

	return found.length ? el("li", null, `${end}: ${joined(found, ", ")}`) : null;
}

function discontinuity(row) {
	const when = `Between ${duration(row.from_ms)} and ${duration(row.at_ms)}`;

	return [
		el("h3", null, `${when}: ${DIVERGED.get(row.class) || row.class}`),
		note((ANNOUNCED.get(row.announced) || "").trim(), row.clocks.every(({late_ms}) => !known(late_ms)) &&
			" Nothing shows which of the clocks was right."),
		table([["Clock", ({clock}) => code(clock), "name"], ["Advanced by", ({elapsed_ms: elapsed}) => durationWithSpan(elapsed)],
			["Then late by", lateness]], row.clocks, `${when}: what each clock did`),
		row.systems.length > 0 && table([["System", ({system}) => system, "name"], ["Takes", ({clock}) => code(clock), "left"],
			["Time then late by", lateness]], row.systems, `${when}: the time of systems afterwards`),
		row.timers.length > 0 && el("ul", null, timersThat(row, "yes", "Timers that interrupt afterwards"),
			timersThat(row, "no", "Timers that do not interrupt afterwards"),
			timersThat(row, null, "Timers that were not tested afterwards")),
	];
}

function discontinuitiesSection({discontinuities: rows}) {
	return rows.length > 0 && section("discontinuities", "When the clocks diverged",
		note("Late is what a time that only this clock counts lacks afterwards, until something sets it. A negative time is early. A dash: ",
			"nothing is proven to be wrong."),
		rows.map(discontinuity));
}
