/* What stands before the charts: the verdict, the machine, the findings in words, what to use, the clocks at a glance. */

const VERDICTS = {
	pass: "Every clock kept its promises", warn: "Usable, with warnings", fail: "A clock can't be trusted",
	incomplete: "The run is incomplete",
};

function headline(report) {
	const fails = report.findings.filter((finding) => finding.severity === "fail").length;
	const warns = report.findings.length - fails;
	const found = report.findings.length ?
		[fails ? plural(fails, "failure") : null, warns ? plural(warns, "warning") : null].filter(Boolean).join(", ") :
		"no findings";

	return el("div", { class: "headline" },
		el("h1", null, badge(report.verdict), " ", (Object.hasOwn(VERDICTS, report.verdict) && VERDICTS[report.verdict]) || "No verdict"),
		el("p", { class: "lead" }, `${found[0].toUpperCase()}${found.slice(1)}. ${report.machine.cpu || "Unknown CPU"}` +
			`${report.started_at ? `, ${report.started_at.replace("T", " ")}` : ""}.`),
		report.reason ? el("p", { class: "problem" }, `The run gave no report: ${report.reason}`) : null);
}

function machineFacts(report) {
	const { machine, options, tool } = report;
	const facts = [
		["CPU", machine.cpu],
		["Firmware", machine.firmware],
		["Runs on", machine.accelerator === "none" ? "bare metal" :
			[machine.accelerator, machine.hypervisor && `“${machine.hypervisor}”`].filter(Boolean).join(" ")],
		["Cores", isNumber(machine.cores_listed) ? `${whole(machine.cores_started)} of ${whole(machine.cores_listed)} started` : null],
		["TSC", isNumber(machine.tsc_hz) ? `${hz(machine.tsc_hz)}, ${machine.tsc_is_invariant ? "" : "not "}invariant` +
			`${machine.tsc_source ? `; ${machine.tsc_source}` : ""}` : null],
		["Samples bracketed by", machine.fence],
		["Measured", isNumber(report.elapsed_ms) ? `${duration(report.elapsed_ms)} in all` +
			`${options.profile ? `, profile ${options.profile}` : ""}` : null],
		["baretick", tool.version ? `${tool.version} (${tool.commit || "unknown commit"})` : null],
	];

	return el("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) =>
		el("div", null, el("dt", null, name), el("dd", null, value))));
}

function subject(finding) {
	return [finding.clock, isNumber(finding.core) ? `core ${finding.core}` : null].filter(Boolean).join(", ");
}

function findingFigures(finding) {
	const interval = known({ value: finding.measured, low: finding.low, high: finding.high });
	const unit = finding.unit ? ` ${finding.unit}` : "";

	if (!isNumber(finding.measured))
		return null;
	return el("p", { class: "figures" }, `Measured ${exact(finding.measured)}${unit}` +
		(interval && interval.low !== interval.high ? ` (${span(interval, exact)})` : "") +
		(isNumber(finding.limit) ? `; the limit is ${exact(finding.limit)}${unit}.` : "."));
}

function findingCard(finding) {
	const more = [["Likely cause", finding.cause], ["What to do", finding.advice], ["Known from", finding.source]];

	return el("article", { class: `finding ${finding.severity === "fail" ? "fail" : "warn"}` },
		el("p", { class: "finding-head" }, badge(finding.severity), el("code", null, finding.rule || "?"),
			el("span", { class: "quiet" }, subject(finding))),
		el("h3", null, finding.text || "No words came with this finding."),
		findingFigures(finding),
		el("dl", null, more.filter(([, text]) => text).map(([name, text]) => [el("dt", null, name), el("dd", null, text)]).flat()));
}

function findings(report) {
	const order = ["fail", "warn"].map((severity) => report.findings.filter((finding) => (finding.severity === "fail") === (severity === "fail")));

	return section("findings", "Findings", report.findings.length ? order.flat().map(findingCard) :
		note(report.verdict === "incomplete" ? "None were made." : "None: nothing that was measured breaks a rule."));
}

function advice(report) {
	if (!report.advice.length)
		return null;
	return section("advice", "Recommendation",
		note("The clocks as a kernel would rank them, the best first."),
		el("ol", { class: "advice" }, report.advice.map((row) => el("li", { class: row.avoid ? "avoid" : null },
			el("code", null, row.clock || "?"), row.avoid ? el("strong", null, " avoid ") : " ", row.reason || ""))));
}

function backward(clock) {
	const steps = clock.monotonic;

	if (!steps)
		return NONE;
	const said = [steps.backward ? plural(steps.backward, "step back", "steps back") : null,
		steps.stalls ? plural(steps.stalls, "stall") : null].filter(Boolean);

	return said.length ? said.join(", ") : "never";
}

function clocksTable(report) {
	const latency = (name) => ({ title: name[0], text: (clock) => (clock.latency ? ns(clock.latency[name[1]]) : NONE) });

	return section("clocks", "Clocks",
		table([
			{ title: "Clock", name: true, text: (clock) => [el("code", null, clock.id || "?"),
				el("span", { class: "quiet block" }, clock.title || "")] },
			{ title: "Verdict", left: true, text: (clock) => badge(clock.verdict) },
			{ title: "Rate", text: (clock) => hz(clock.measured_hz ? clock.measured_hz.value : clock.claimed_hz) },
			{ title: "Off by, ppm", text: (clock) => (known(clock.error_ppm) ? [ppm(clock.error_ppm.value),
				el("span", { class: "quiet block" }, span(clock.error_ppm, ppm))] : NONE) },
			{ title: "Step", text: (clock) => ns(clock.resolution_ns) },
			...[["Fastest", "min_ns"], ["Median", "p50_ns"], ["99 %", "p99_ns"], ["99.9 %", "p999_ns"], ["Slowest", "max_ns"]].map(latency),
			{ title: "Backward", text: backward },
		], report.clocks, "All clocks: verdict, rate, step and read latency"),
		el("ul", { class: "reasons" }, report.clocks.filter((clock) => clock.reason).map((clock) =>
			el("li", null, el("code", null, clock.id || "?"), ` ${clock.state || ""}: ${clock.reason}`))));
}

function behaviours(report) {
	const kinds = new Map([["kept", "pass"], ["broken", "fail"]]);

	if (!report.behaviours.length)
		return null;
	return section("behaviours", "What the data sheets promise",
		table([
			{ title: "Rule", name: true, text: (row) => el("code", null, row.rule || "?") },
			{ title: "Clock", left: true, text: (row) => row.clock || NONE },
			{ title: "Outcome", left: true, text: (row) => badge(kinds.get(row.outcome), row.outcome || "?") },
			{ title: "What was seen", left: true, text: (row) => row.text || NONE },
		], report.behaviours, "Promises of the data sheets and what came of them"));
}

function notes(report) {
	return report.notes.length ? section("notes", "Notes", el("ul", null, report.notes.map((text) => el("li", null, text || "")))) : null;
}
