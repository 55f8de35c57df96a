/*
 * Finds statements of a report that cannot all be true, because a report may have been edited. Returns a sentence for
 * each contradiction.
 */

const SEVERITIES = ["warn", "fail"];

const findWorst = (list) =>
	list.reduce((worst, {severity}) => Math.max(worst, SEVERITIES.indexOf(severity)), -1);

function verdictContradictions(report) {
	const worst = ["pass", "warn", "fail"][findWorst(report.findings) + 1];
	const said = [];

	if (["pass", "warn", "fail"].includes(report.verdict) && report.verdict !== worst)
		said.push(`the verdict is ${report.verdict}, and ` +
			(worst === "pass" ? "there is no finding" : `the worst finding is of severity ${worst}`));
	for (const clock of report.clocks) {
		const named = findWorst(report.findings.filter((finding) => finding.clock === clock.id));

		if (named > ["pass", "warn"].indexOf(clock.verdict) - 1 && ["pass", "warn"].includes(clock.verdict))
			said.push(`${clock.id}: its verdict is ${clock.verdict}, and a finding of severity ${SEVERITIES[named]} names it`);
	}
	return said;
}

/*
 * Finds figures that are smaller than the preceding figure. FIGURES is a list of [name, value], whose values must not
 * decrease.
 */
function orderContradictions(of, figures) {
	const there = figures.filter(([, value]) => isNumber(value));

	return there.slice(1).flatMap(([name, value], i) => {
		const [before, less] = there[i];

		return less > value ? [`${of}: ${before} is ${ns(less)}, and ${name} is ${ns(value)}`] : [];
	});
}

const total = (buckets) => buckets.reduce((sum, bucket) => sum + (bucket.count || 0), 0);

/* Checks that the latencies of a clock are in order, and that its histogram counts all of its reads. */
function latencyContradictions({id, latency}) {
	if (!latency)
		return [];
	const buckets = latency.histogram;
	const said = orderContradictions(id, [
		["the fastest read", latency.min_ns], ["the median", latency.p50_ns], ["90 %", latency.p90_ns], ["99 %", latency.p99_ns],
		["99.9 %", latency.p999_ns], ["the slowest read", latency.max_ns]
	]);

	said.push(...orderContradictions(id, [["the fastest read", latency.min_ns], ["the mean", latency.mean_ns],
		["the slowest read", latency.max_ns]]));
	if (total(buckets) !== latency.count)
		said.push(`${id}: ${plural(latency.count, "read")} in all, and ${whole(total(buckets))} in their distribution`);
	if (buckets.some((bucket, i) => i && isNumber(bucket.le_ns) && bucket.le_ns <= buckets[i - 1].le_ns))
		said.push(`${id}: the distribution's buckets are in no order`);
	return said;
}

/*
 * Checks for each {value, low, high} in the report that the value lies between the bounds. PLACE is the path of VALUE
 * in the report.
 */
function intervalContradictions(value, place) {
	if (Array.isArray(value))
		return value.flatMap((item, i) => intervalContradictions(item, `${place}[${i}]`));
	if (!isObject(value))
		return [];
	const ends = [value.low, value.value, value.high].filter(isNumber);

	if (ends.length > 1 && !ends.every((end, i) => !i || ends[i - 1] <= end))
		return [`${place}: ${joined([isNumber(value.value) && exact(value.value), `from ${exact(value.low)} to ${exact(value.high)}`], ", ")}`];
	return Object.entries(value).flatMap(([key, each]) => intervalContradictions(each, joined([place, key], ".")));
}

function countContradictions({machine, cores, interference}) {
	const said = [];
	const started = cores.filter((core) => core.started).length;
	const more = (a, what, b, than) => {
		if (isNumber(a) && isNumber(b) && a > b)
			said.push(`${what}, and ${than}`);
	};

	more(machine.cores_started, `${whole(machine.cores_started)} cores started`, machine.cores_listed,
		`${whole(machine.cores_listed)} are listed`);
	more(started, `${plural(started, "core")} of the list started`, machine.cores_started, `${whole(machine.cores_started)} in all`);
	if (!interference)
		return said;
	const {gaps, histogram, events, total_ns: stolen, observed_ns: observed, worst_ns: worst} = interference;

	more((events || []).length, `${plural((events || []).length, "gap")} one by one`, gaps, `${whole(gaps)} in all`);
	more(stolen, `${ns(stolen)} were stolen`, observed, `${ns(observed)} observed`);
	more(worst, `the longest gap is ${ns(worst)}`, stolen, `all gaps are ${ns(stolen)}`);
	if (isNumber(gaps) && histogram && total(histogram) !== gaps)
		said.push(`${plural(gaps, "gap")} in all, and ${whole(total(histogram))} in their distribution`);
	return said;
}

function contradictions(report) {
	return [
		...verdictContradictions(report), ...report.clocks.flatMap(latencyContradictions), ...countContradictions(report),
		...intervalContradictions({clocks: report.clocks, rates: report.rates, cores: report.cores}, "")
	];
}

const CONTRADICTIONS_SHOWN = 5;

/*
 * Returns a sentence for the top of the page on statements in the report that cannot all be true, or null if there are
 * none.
 */
function contradictionSentence(report) {
	const found = contradictions(report);
	const more = found.length - CONTRADICTIONS_SHOWN;

	if (!found.length)
		return null;
	return `This report contradicts itself, so none of its figures can be relied on: ${found.slice(0, CONTRADICTIONS_SHOWN).join("; ")}` +
		`${more > 0 ? `; and ${whole(more)} more` : ""}.`;
}
