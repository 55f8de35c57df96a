/* Elements out of untrusted text: all of it becomes text nodes, nothing is ever parsed as HTML. */

function el(tag, attributes, ...children) {
	const element = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes || {}))
		if (value !== null && value !== undefined && value !== false)
			element.setAttribute(name, value === true ? "" : value);
	element.append(...children.flat(Infinity).filter(Boolean));
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

/* A table of at most so many rows is one of cards in a narrow window: a row below the other, with no column cut. */
const CARDS_MAX = 63;

/* COLUMNS: [title, text(row), kind]; kind is "name" for the row's heading, "left" for words, else figures. */
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

/* The name of a clock, a rule, a core. */
const code = (text) => el("code", null, text || "?");

/* Filled when it is opened first: of 255 cores it is long. */
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

/* No fault of it was seen, and not all could be told. A report of an earlier release does not say so. */
const isOpen = (clock) => clock.verdict === "pass" && clock.not_determined > 0;

/* A verdict in a word, with a sign and a colour; WORD is said in place of the verdict's own. */
function badge(verdict, word) {
	const kind = Object.hasOwn(SIGNS, verdict || "") ? verdict : "absent";

	return el("span", {class: `badge ${kind}`}, el("span", {"aria-hidden": "true"}, SIGNS[kind]),
		` ${word || verdict || "not read"}`);
}

/* A percentile of too few reads would be the slowest of them; a report of an earlier release does not say of how many. */
const readsOf = (latency, name) =>
	(latency[name.replace("_ns", "_within_ns")] === null ?
		el("span", {class: "quiet", title: "too few reads"}, NONE) : ns(latency[name]));

/* One of two things side by side, where the window is wide enough. */
const side = (heading, drawn) => el("div", null, el("h3", null, heading), drawn);

const note = (...text) => el("p", {class: "note"}, text);
