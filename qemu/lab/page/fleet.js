/* Shows the page of a fleet. A click on a column sorts its table. A table shows a limited number of rows at a time. */

const ROWS_AT_ONCE = 32;

const isFigure = (kind) => !kind;

function shown(value) {
	if (value === null || value === undefined || value === "")
		return NONE;
	if (typeof value !== "number")
		return String(value);
	return value.toLocaleString("en-US", {maximumSignificantDigits: Math.abs(value) >= 1000 ? 21 : 4, maximumFractionDigits: 0,
		roundingPriority: "morePrecision"});
}

function nameCell(cell) {
	const text = cell.link ? el("a", {href: cell.link}, cell.text) : cell.text;

	return cell.new ? [badge("warn", "new"), " ", text] : [text];
}

function contents(value, kind) {
	if (kind === "name" || kind === "link")
		return nameCell(value);
	if (kind === "badge")
		return badge(value);
	return kind === "code" && value ? code(value) : shown(value);
}

const key = (value) => (value !== null && typeof value === "object" ? value.text : value);

/* Compares two cells. Unknown values come last in both directions. */
function compare(a, b, way) {
	if (a === null || b === null)
		return (a === null) - (b === null);
	return way * (typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), "en", {numeric: true}));
}

/* Makes one table. It keeps the column and direction of sorting, and the number of rows that it shows. */
function sortable(about) {
	const rows = [...about.rows];
	const body = el("tbody");
	const more = el("button", {class: "button more", type: "button"});
	const headings = [];
	let count = ROWS_AT_ONCE;
	let by = -1;
	let way = 1;
	let wanted = [];

	const has = (row, word) => row.some((value) => String(key(value) ?? "").toLowerCase().includes(word));
	const cell = (value, [title, kind]) => el(kind === "name" ? "th" : "td",
		{scope: kind === "name" ? "row" : null, class: isFigure(kind) ? null : "left", "data-title": title}, contents(value, kind));

	function draw() {
		const found = wanted.length ? rows.filter((row) => wanted.every((word) => has(row, word))) : rows;

		body.replaceChildren(...found.slice(0, count).map((row) => el("tr", null, row.map((value, i) => cell(value, about.columns[i])))));
		more.hidden = found.length <= count;
		more.textContent = `${Math.min(count, found.length)} of ${found.length.toLocaleString("en-US")} rows: show more`;
		headings.forEach((heading, i) => heading.setAttribute("aria-sort", i === by ? (way > 0 ? "ascending" : "descending") : "none"));
	}

	function sortBy(column) {
		way = by === column ? -way : isFigure(about.columns[column][1]) ? -1 : 1;
		by = column;
		rows.sort((a, b) => compare(key(a[by]), key(b[by]), way));
		draw();
	}

	about.columns.forEach(([title, kind], i) => {
		const button = el("button", {class: "sort", type: "button"}, title);

		button.addEventListener("click", () => sortBy(i));
		headings.push(el("th", {scope: "col", class: isFigure(kind) ? null : "left"}, button));
	});
	more.addEventListener("click", () => {
		count *= 4;
		draw();
	});
	const choice = el("select", {"aria-label": `Order of ${about.title}`}, el("option", {value: "-1"}, "as found"),
		about.columns.map(([title], i) => el("option", {value: i}, title)));

	choice.addEventListener("change", () => {
		if (Number(choice.value) >= 0)
			sortBy(Number(choice.value));
	});
	const filter = el("input", {type: "search", class: "filter", placeholder: "Filter: words that a row has", "aria-label": `Filter of ${about.title}`});

	filter.addEventListener("input", () => {
		wanted = filter.value.toLowerCase().split(" ").filter(Boolean);
		draw();
	});
	draw();
	return [about.filter ? filter : [], el("p", {class: "orders"}, "Order: ", choice),
		el("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": about.title},
			el("table", {class: "cards"}, el("caption", {class: "hidden"}, about.title),
				el("thead", null, el("tr", null, headings)), body)), more];
}

function start() {
	const fleet = JSON.parse(document.getElementById("fleet").textContent);

	startTheme(() => {});
	document.getElementById("main").replaceChildren(
		el("h1", null, fleet.verdict ? badge(fleet.verdict) : [], fleet.headline),
		el("p", {class: "lead"}, fleet.facts.join(", ")),
		...fleet.tables.filter((about) => about.rows.length).map((about) =>
			section(about.id, about.title, about.note ? note(about.note) : [], sortable(about))));
	document.getElementById("footer").append("Made by qemu/fleet of baretick. This page needs no network and can use none. ",
		"A machine's name leads to the page of its newest report, where that lies beside the report.");
	document.documentElement.dataset.ready = "yes";
}

start();
