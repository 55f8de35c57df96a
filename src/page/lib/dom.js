/*
 * Makes elements from untrusted text. All text becomes text nodes, so it is never parsed as HTML. Units in it are
 * written as everywhere on the page: see keepUnits().
 */

const QUANTITY = /(\d (?:ps|ns|us|ms|s|min|h|Hz|kHz|MHz|GHz|ppm|ppb|KiB|MiB|%)(?![A-Za-z]))/;

/*
 * Returns the parts of CHILD, a sentence of the report. No line break parts a unit from its number, and microseconds
 * have the micro sign, as withUnit() in format.js writes them. Words of a user, such as duration=10us, have no space,
 * so they stay unchanged.
 */
function keepUnits(child) {
	if (typeof child !== "string" || !QUANTITY.test(child))
		return [child];
	return child.split(QUANTITY).map((part, i) => {
		const whole = document.createElement("span");

		if (i % 2 === 0)
			return part;
		whole.className = "whole";
		whole.append(part.replace("us", "µs"));
		return whole;
	});
}

function el(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children.flat(Infinity).filter(Boolean).flatMap(keepUnits));
	return element;
}

const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attributes, ...children) {
	const element = document.createElementNS(SVG, tag);

	for (const [name, value] of Object.entries(attributes))
		element.setAttribute(name, value);
	element.append(...children);
	return element;
}

/*
 * Maximum number of rows of a table that becomes cards in a narrow window. A card shows one row, with its columns below
 * each other.
 */
const CARDS_MAX = 63;

/*
 * Makes a table. COLUMNS is a list of [title, text(row), kind]. The kind is "name" for a row's heading, "left" for
 * words, and missing for figures.
 */
function table(columns, rows, caption) {
	const align = (kind) => (kind ? "left" : null);
	const heading = ([title, , kind]) => el("th", {scope: "col", class: align(kind)}, title);
	const cell = (row, [title, text, kind]) => (kind === "name" ?
		el("th", {scope: "row", class: "left", "data-title": title}, text(row)) :
		el("td", {class: align(kind), "data-title": title}, text(row)));
	const line = (row) => el("tr", null, columns.map((column) => cell(row, column)));

	return el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
		el("table", {class: rows.length <= CARDS_MAX ? "cards" : null},
			el("caption", {class: "hidden"}, caption),
			el("thead", null, el("tr", null, columns.map(heading))),
			el("tbody", null, rows.map(line))));
}

/* Shows the name of a clock, a rule or a core as code. */
const code = (text) => el("code", null, text || "?");

/*
 * Makes an element that the user can open. MAKE() makes its content when it is opened for the first time, because the
 * content is long on a machine with 255 cores.
 */
function details(summary, make) {
	const element = el("details", null, el("summary", null, summary));

	element.addEventListener("toggle", () => {
		if (element.open && element.children.length === 1)
			element.append(make());
	});
	return element;
}

function section(id, title, ...children) {
	return el("section", {id, "aria-labelledby": `${id}-title`},
		el("h2", {id: `${id}-title`}, title), children);
}

const SIGNS = {
	pass: "✓",
	warn: "!",
	fail: "✗",
	incomplete: "…",
	absent: "–",
	open: "?"
};

/* Returns true if no fault of the clock was found, but some rules are not determined. */
const isNotDetermined = (clock) => clock.verdict === "pass" && clock.not_determined > 0;

/* Shows a verdict as a word with a symbol and a colour. WORD is shown instead of the verdict's own word. */
function badge(verdict, word) {
	const kind = Object.hasOwn(SIGNS, verdict || "") ? verdict : "absent";

	return el("span", {class: `badge ${kind}`}, el("span", {"aria-hidden": "true"}, SIGNS[kind]),
		` ${word || verdict || "not read"}`);
}

/*
 * Shows a percentile of the latency, or a dash if there were too few reads. With too few reads the percentile is just
 * the slowest read.
 */
const formatPercentile = (latency, name) =>
	(latency[name.replace("_ns", "_within_ns")] === null ?
		el("span", {class: "quiet", title: "too few reads"}, NONE) : ns(latency[name]));

/* Makes one of two parts that are side by side in a wide window. */
const side = (heading, drawn) => el("div", null, el("h3", null, heading), drawn);

const note = (...text) => el("p", {class: "note"}, text);
