/*
 * A report is untrusted. What the page uses of it has the types named here, or is refused with the place named;
 * what the page doesn't know is left alone, because additions are free. Any field may be null or missing.
 */

const SCHEMA = "baretick.report/2";
const INTERVAL = {
	value: "number",
	low: "number",
	high: "number"
};
const BUCKETS = [{le_ns: "number", count: "number"}];
const BY_CLOCK = {
	"*": {min_ns: "number", p50_ns: "number", p99_ns: "number"}
};
const CONTENDED = {
	cores: "number",
	iterations: "number",
	warps: "number",
	starved: "boolean"
};
const REPORT = {
	schema: "string",
	tool: {version: "string", commit: "string"},
	options: {duration_ms: "number", profile: "string", cores: "string", gap_us: "number"},
	started_at: "string",
	elapsed_ms: "number",
	verdict: "string",
	reason: "string",
	machine: {
		cpu: "string",
		hypervisor: "string",
		firmware: "string",
		accelerator: "string",
		cores_listed: "number",
		cores_started: "number",
		fence: "string",
		tsc_is_invariant: "boolean",
		tsc_hz: "number",
		tsc_source: "string",
	},
	clocks: [{
		id: "string",
		title: "string",
		main: "string",
		state: "string",
		reason: "string",
		found_by: "string",
		verdict: "string",
		width_bits: "number",
		claimed_hz: "number",
		measured_hz: INTERVAL,
		error_ppm: INTERVAL,
		change_ppm: INTERVAL,
		resolution_ns: "number",
		step_ticks: "number",
		latency: {
			count: "number",
			min_ns: "number",
			p50_ns: "number",
			p90_ns: "number",
			p99_ns: "number",
			p999_ns: "number",
			max_ns: "number",
			mean_ns: "number",
			loop_ns: "number",
			clean: {hit: "number"},
			histogram: BUCKETS,
		},
		monotonic: {
			reads: "number",
			backward: "number",
			worst_ticks: "number",
			stalls: "number",
		},
	}],
	rates: [{a: "string", b: "string", ppm: INTERVAL, same_source: "boolean"}],
	cores: [{
		apic_id: "number",
		boot: "boolean",
		started: "boolean",
		reason: "string",
		tsc_adjust: "number",
		offset_ns: INTERVAL,
		drift_ppm: INTERVAL,
		off_majority: "boolean",
		gaps: "number",
		worst_gap_ns: "number",
		latency: BY_CLOCK,
		latency_contended: BY_CLOCK,
	}],
	skew: {
		schedule: "string",
		schedule_reason: "string",
		pairs: "number",
		warps: "number",
		worst_offset_ns: "number",
		worst_pair: ["number"],
		error_ns: "number",
		within_ns: "number",
		best_trip_ns: "number",
		median_trip_ns: "number",
		matrix: [[["number"]]],
		contended: CONTENDED,
		lock_free: CONTENDED,
	},
	interference: {
		threshold_ns: "number",
		observed_ns: "number",
		gaps: "number",
		total_ns: "number",
		worst_ns: "number",
		worst_core: "number",
		smi_count: "number",
		histogram: BUCKETS,
		events: [{at_ms: "number", core: "number", ns: "number"}],
	},
	behaviours: [{
		rule: "string",
		clock: "string",
		outcome: "string",
		measured: "number",
		low: "number",
		high: "number",
		unit: "string",
		text: "string",
	}],
	findings: [{
		rule: "string",
		severity: "string",
		clock: "string",
		core: "number",
		measured: "number",
		low: "number",
		high: "number",
		limit: "number",
		unit: "string",
		text: "string",
		cause: "string",
		advice: "string",
		source: "string",
	}],
	advice: [{clock: "string", avoid: "boolean", reason: "string"}],
	notes: ["string"],
};
const LISTS = ["clocks", "rates", "cores", "behaviours", "findings", "advice", "notes"];

function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refuse(place, what) {
	throw new Error(`${place || "the report"} is not ${what}`);
}

function checkList(value, shape, place) {
	if (!Array.isArray(value))
		refuse(place, "a list");
	value.forEach((item, i) => {
		if (isObject(shape) && !isObject(item))
			refuse(`${place}[${i}]`, "an object");
		checkShape(item, shape, `${place}[${i}]`);
	});
}

function checkShape(value, shape, place) {
	if (value === null || value === undefined)
		return;
	if (typeof shape === "string") {
		if (typeof value !== shape || (shape === "number" && !Number.isFinite(value)))
			refuse(place, `a ${shape}`);
	} else if (Array.isArray(shape)) {
		checkList(value, shape[0], place);
	} else if (!isObject(value)) {
		refuse(place, "an object");
	} else {
		for (const key of "*" in shape ? Object.keys(value) : Object.keys(shape))
			checkShape(
				value[key], shape["*"] || shape[key], place ? `${place}.${key}` : key);
	}
}

/* A report out of TEXT, its lists and objects in place; throws an Error whose message is for people. */
function readReport(text) {
	let report;

	try {
		report = JSON.parse(text);
	} catch (error) {
		throw new Error("it is not JSON");
	}
	const schema = isObject(report) ? report.schema : null;

	if (schema !== SCHEMA && typeof schema === "string" && schema.startsWith("baretick.report/"))
		throw new Error(`its schema is ${schema.slice(0, 40)}, and this page reads ${SCHEMA}`);
	if (schema !== SCHEMA)
		throw new Error(`it is not a report of baretick: its schema is not ${SCHEMA}`);
	checkShape(report, REPORT, "");
	for (const key of LISTS)
		report[key] = report[key] || [];
	for (const key of ["tool", "options", "machine"])
		report[key] = report[key] || {};
	for (const clock of report.clocks)
		if (clock.latency &&
			!(clock.latency.count > 0 && (clock.latency.histogram || []).length))
			clock.latency = null;
	return report;
}
