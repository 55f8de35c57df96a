/*
 * A report is untrusted. What the schema knows of it has the type that the schema gives it, or the report is refused with
 * the place named; what the schema doesn't know is left alone, because additions are free. Any key may be null or missing.
 * REPORT, the types of report.schema.json, comes from build.
 */

function refuse(place, what) {
	throw new Error(`${place} is not ${what}`);
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
		for (const name of "*" in shape ? Object.keys(value) : Object.keys(shape))
			checkShape(value[name], shape["*"] || shape[name], joined([place, name], "."));
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

	if (schema === OLDER_SCHEMA)
		fromOlder(report);
	else if (typeof schema !== "string" || !schema.startsWith("baretick.report/"))
		throw new Error(`it is not a report of baretick: its schema is not ${SCHEMA}`);
	else if (schema !== SCHEMA)
		throw new Error(`its schema is ${schema.slice(0, 40)}, and this page reads ${SCHEMA}`);
	checkShape(report, REPORT, "");
	for (const [name, shape] of Object.entries(REPORT))
		if (Array.isArray(shape))
			report[name] = report[name] || [];
	for (const name of ["tool", "options", "machine"])
		report[name] = report[name] || {};
	for (const clock of report.clocks)
		if (clock.latency &&
			!(clock.latency.count > 0 && (clock.latency.histogram || []).length))
			clock.latency = null;
	return report;
}
