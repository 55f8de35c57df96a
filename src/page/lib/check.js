/*
 * Checks an untrusted report. Each value that the schema knows must have the schema's type, or be null or missing.
 * Otherwise the report is refused, and the error names the place. Keys that the schema does not know are ignored,
 * because later releases may add some. The build inserts the object REPORT, which has the types of report.schema.json.
 */

function refuse(place, what) {
	throw new Error(`${place} is not ${what}`);
}

function checkList(value, [shape, orNull], place) {
	if (!Array.isArray(value))
		refuse(place, "a list");
	value.forEach((item, i) => {
		if (item !== null || !orNull)
			checkShape(item, shape, `${place}[${i}]`);
	});
}

function checkObject(value, shape, place) {
	if (!isObject(value))
		refuse(place, "an object");
	for (const name of Object.keys("*" in shape ? value : shape))
		if (value[name] !== null && value[name] !== undefined)
			checkShape(value[name], shape["*"] || shape[name], joined([place, name], "."));
}

function checkShape(value, shape, place) {
	if (Array.isArray(shape))
		checkList(value, shape, place);
	else if (isObject(shape))
		checkObject(value, shape, place);
	else if (typeof value !== shape || (shape === "number" && !Number.isFinite(value)))
		refuse(place, `a ${shape}`);
}

/* Maps each report to the sentences of lib/bound.js about the parts of the report that are not shown. */
const leftOut = new WeakMap();

/*
 * Parses and checks TEXT, and returns the report. Missing lists and objects become empty ones. If TEXT is no valid
 * report, throws an Error with a message for users.
 */
function readReport(text) {
	let report;

	try {
		report = JSON.parse(text);
	} catch (error) {
		throw new Error("it is not JSON");
	}
	const schema = isObject(report) ? report.schema : null;
	const left = isObject(report) ? limitReport(report) : [];

	if (typeof schema !== "string" || !schema.startsWith("baretick.report/"))
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
	leftOut.set(report, left);
	return report;
}
