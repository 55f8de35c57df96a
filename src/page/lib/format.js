/* Formats figures for users. A value that was not measured is shown as a dash. */

const NONE = "–";

function isNumber(value) {
	return typeof value === "number" && Number.isFinite(value);
}

function isObject(value) {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/* Replaces a hyphen by a minus sign, which is as wide as a plus sign. */
function signed(text) {
	return text.replace("-", "−");
}

function grouped(value, digits) {
	return signed(value.toLocaleString("en-US", {maximumFractionDigits: digits}));
}

function whole(value) {
	return isNumber(value) ? grouped(value, 0) : NONE;
}

/*
 * Formats VALUE with SIGNIFICANT digits. The whole part always has all its digits. There are at most BEHINDMAX digits
 * after the decimal point.
 */
function precise(value, significant, behindMax = 12) {
	const rounded = Math.abs(Number(value.toPrecision(significant)));
	const before = rounded === 0 ? 1 : Math.floor(Math.log10(rounded)) + 1;
	const behind = Math.min(Math.max(significant - before, 0), behindMax);

	return signed(value.toLocaleString(
		"en-US", {minimumFractionDigits: behind, maximumFractionDigits: behind}));
}

/*
 * Formats VALUE in the largest unit of UNITS in which the rounded figure is at least 1. The space before a unit is a
 * no-break space. Whole numbers of the smallest unit have all digits. Other numbers have SIGNIFICANT digits.
 */
function withUnit(value, units, significant) {
	if (!isNumber(value))
		return NONE;
	let [size, name] = units[0];

	for (const unit of units)
		if (Math.abs(value) >= 0.9995 * unit[0])
			[size, name] = unit;
	if (size === units[0][0] && Number.isInteger(value))
		return `${whole(value)}\u00a0${name}`;
	return `${precise(value / size, significant)}\u00a0${name}`;
}

const UNITS_NS = [[1, "ns"], [1e3, "µs"], [1e6, "ms"], [1e9, "s"]];
const UNITS_HZ = [[1, "Hz"], [1e3, "kHz"], [1e6, "MHz"], [1e9, "GHz"]];

const ns = (value) => withUnit(value, UNITS_NS, 3);
/* Formats an upper bound in ns: with all digits below 100 us, otherwise with three digits and rounded up. */
function nsUpperBound(value) {
	const step = 10 ** (Math.floor(Math.log10(value)) - 2);

	return value < 1e5 ? `${whole(value)}\u00a0ns` : ns(Math.ceil(value / step) * step);
}

const hz = (value) => withUnit(value, UNITS_HZ, 7);

/* Formats VALUE with its sign, which shows if a clock is fast or slow. */
function delta(value, format) {
	return isNumber(value) && value > 0 ? `+${format(value)}` : format(value);
}

/* Formats the label of an axis without zeros after the decimal point: 10 us, not 10.0 us. */
const formatNsTick = (value) => ns(value).replace(/\.0+(?=\s)/, "");

/* Formats a value in ppm. Reports have at most three digits after the decimal point. */
const formatUnsignedPpm = (value) => (isNumber(value) ? precise(value, 3, 3) : NONE);
const ppm = (value) => delta(value, formatUnsignedPpm);
const formatSignedNs = (value) => delta(value, ns);

function share(value) {
	if (!isNumber(value))
		return NONE;
	return `${Number(value.toPrecision(value < 0.1 ? 2 : 4))}\u00a0%`;
}

function times(value) {
	return isNumber(value) ? `×${precise(value, value < 10 ? 3 : 2)}` : NONE;
}

/* Formats a figure of a finding with all digits, because the last digit may decide the verdict. */
function exact(value) {
	return isNumber(value) ? grouped(value, 3) : NONE;
}

/* Returns INTERVAL if its value, low and high are all known, otherwise null. */
function known(interval) {
	if (!interval || ![interval.value, interval.low, interval.high].every(isNumber))
		return null;
	return interval;
}

function span(interval, format) {
	return known(interval) ? `${format(interval.low)} to ${format(interval.high)}` : NONE;
}

function duration(ms) {
	return isNumber(ms) ? withUnit(ms * 1e6, UNITS_NS, 3) : NONE;
}

/* Joins WORDS with BETWEEN. Omits null, false and "". */
function joined(words, between) {
	return words.filter(Boolean).join(between);
}

/* Returns CLAUSE with a capital first letter. */
const sentence = (clause) => clause.charAt(0).toUpperCase() + clause.slice(1);

const yesOrNo = (fact) => (fact ? "yes" : "no");

function plural(count, one, more) {
	return `${whole(count)} ${count === 1 ? one : more || `${one}s`}`;
}

function median(numbers) {
	const sorted = numbers.slice().sort((a, b) => a - b);
	const half = sorted.length >> 1;

	if (!sorted.length)
		return null;
	return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
