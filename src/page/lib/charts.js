/* Code for all charts: creation, redrawing, axes and legends. The library Chart.js draws them. */

const AXIS_PX = 80;
const BAR_PX = 28;
const POINT_PX = 8;
/* Space in pixels for a tick's label on a horizontal axis, and on a vertical axis. */
const TICK_X_PX = 75;
const TICK_Y_PX = 40;

const charts = []; /* {canvas, configure} of each chart, to draw the chart again after a change of theme */

/*
 * Starts Chart.js. The page contains it as gzip in base64, which saves two thirds of its size. The page's content
 * security policy only allows a script with the hash of Chart.js, so a changed script does not run.
 */
async function loadChartJs() {
	const packed = Uint8Array.from(atob(document.getElementById("charts").textContent), (letter) => letter.charCodeAt(0));
	const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
	const source = await new Response(unpacked).text();
	const policy = window.trustedTypes?.createPolicy("charts", {createScript: (text) => text});
	const script = document.createElement("script");

	script.textContent = policy ? policy.createScript(source) : source;
	document.head.append(script);
	script.remove();
	if (!window.Chart)
		throw new Error("its Chart.js was changed");
}

/* Draws a chart if Chart.js is loaded. Otherwise startCharts() draws it later. */
function drawChart({canvas, configure}) {
	if (!window.Chart)
		return;
	const old = Chart.getChart(canvas);

	if (old)
		old.destroy();
	new Chart(canvas, configure());
}

function redrawCharts() {
	if (!window.Chart)
		return;
	Chart.defaults.color = colour("quiet");
	Chart.defaults.borderColor = colour("line");
	charts.forEach(drawChart);
}

/*
 * Makes a chart. LABEL describes it for readers who cannot see it. CONFIGURE returns Chart.js's configuration in the
 * current colours. BARS is the number of a chart's horizontal bars, which sets its height.
 */
function chart(id, label, configure, bars) {
	const canvas = el("canvas", {id, role: "img", "aria-label": label});
	const place = el("div", {class: "chart"}, canvas);

	if (bars)
		place.style.height = `${AXIS_PX + bars * BAR_PX}px`;
	charts.push({canvas, configure});
	return place;
}

/* Starts Chart.js and draws all charts. If the browser cannot unpack Chart.js, shows a sentence in MAIN instead. */
async function startCharts(main) {
	try {
		await loadChartJs();
	} catch (error) {
		main.prepend(el("p", {class: "problem", role: "alert"},
			`This browser cannot draw the charts: ${error.message}. The tables and sentences are complete.`));
		return;
	}
	Object.assign(Chart.defaults, {animation: false, responsive: true, maintainAspectRatio: false});
	Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
	Chart.defaults.font.size = 12;
	Chart.defaults.plugins.legend.display = false;
	/* Leaves space around the charts, because points at the edge would be cut. */
	Chart.defaults.layout.padding = POINT_PX;
	for (const kind of ["line", "scatter"])
		Chart.defaults.datasets[kind].clip = POINT_PX;
	Object.assign(
		Chart.defaults.plugins.tooltip, {boxPadding: 4, padding: 10, usePointStyle: true});
	redrawCharts();
}

function axisTitle(text) {
	return {display: true, text, padding: 8};
}

/* Returns options for the text that appears when the pointer is on a point. */
const tooltip = (callbacks, more) => ({plugins: {tooltip: {callbacks, ...more}}});

/* Returns an axis without grid lines, with horizontal labels. */
const plainAxis = (text) => ({
	title: axisTitle(text),
	grid: {display: false},
	ticks: {maxRotation: 0, autoSkipPadding: 12}
});

/* Minimum and maximum of a list. Math.min(...values) would fail for a very long list. */
const lowest = (values) => values.reduce((low, value) => Math.min(low, value), Infinity);
const highest = (values) => values.reduce((high, value) => Math.max(high, value), -Infinity);

/* Returns VALUE rounded down to 1, 2 or 5 times a power of ten. An axis that ends there has a tick at its end. */
function roundDown(value) {
	const power = 10 ** Math.floor(Math.log10(value));

	return [5, 2, 1].find((step) => step * power <= value * 1.0001) * power;
}

function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(value));

	return [1, 2, 5, 10].find((step) => step * power >= value * 0.9999) * power;
}

/* Returns the ticks of a logarithmic axis: the powers of ten, and some values between them if there is space. */
function logTicks(axis) {
	const [low, high] = [Math.log10(axis.min), Math.log10(axis.max)];
	const lies = axis.isHorizontal();
	const length = (lies ? axis.chart.width : axis.chart.height) - AXIS_PX;
	const fit = Math.max(Math.floor(length / (lies ? TICK_X_PX : TICK_Y_PX)), 2);
	let steps = [1];

	if (high - low <= 0.5)
		steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
	else if (high - low <= fit / 3)
		steps = [1, 2, 5];
	const stride = Math.max(Math.ceil((high - low) / fit), 1);
	const ticks = [];

	for (let power = Math.floor(low); power <= Math.ceil(high); power++)
		for (const step of power % stride ? [] : steps)
			ticks.push({value: step * 10 ** power});
	axis.ticks = ticks.filter(
		(tick) => tick.value >= axis.min * 0.9999 && tick.value <= axis.max * 1.0001);
}

function logAxis(text, format, values) {
	const above = values.filter((value) => value > 0);
	const min = roundDown(lowest(above));

	return {
		type: "logarithmic",
		min,
		max: Math.max(roundUp(highest(above)), 2 * min),
		title: axisTitle(text),
		afterBuildTicks: logTicks,
		ticks: {callback: format, autoSkip: false, maxRotation: 0},
	};
}

const nsAxis = (text, values) => logAxis(text, formatNsTick, values);

/*
 * An axis for figures as different as 0.05 ppm and 20,000 ppm, with either sign. It is linear up to LINEAR_PPM on
 * both sides of 0, and logarithmic beyond. Chart.js has no such axis. So figureToPosition() converts figures to
 * positions, and positionToFigure() converts positions back to figures for the labels of ticks.
 */
const LINEAR_PPM = 0.1;
/* smallest distance of a tick from 0 in pixels, so that its label does not touch the label of 0 */
const SIGNED_TICK_PX = 26;

const figureToPosition = (value) => Math.sign(value) * Math.log10(1 + Math.abs(value) / LINEAR_PPM);
const positionToFigure = (value) => Math.sign(value) * LINEAR_PPM * (10 ** Math.abs(value) - 1);

/* Formats a figure for an axis: 20,000 as 20k, because there is little space between ticks. */
function formatPpmTick(value) {
	const round = Number(value.toPrecision(2));

	return delta(round, () => (Math.abs(round) < 1e4 ? exact(round) : `${exact(round / 1e3)}k`));
}

function signedLogAxis(text, values) {
	const far = highest([1, ...values.map(Math.abs)]);
	const powers = Math.ceil(Math.log10(far) - 1e-9);
	const end = figureToPosition(10 ** powers);

	return {
		type: "linear",
		min: -end * 1.02,
		max: end * 1.02,
		title: axisTitle(text),
		afterBuildTicks: (axis) => {
			const stride = Math.ceil((2 * powers + 3) / Math.max(axis.chart.width / 60, 3));

			const fromZero = (value) => (axis.chart.width - 2 * AXIS_PX) * value / (2 * end);

			axis.ticks = [{value: 0}];
			for (let power = powers; power >= (powers > 1 ? 0 : -1); power -= stride)
				if (fromZero(figureToPosition(10 ** power)) >= SIGNED_TICK_PX)
					axis.ticks.push({value: figureToPosition(10 ** power)}, {value: -figureToPosition(10 ** power)});
			axis.ticks.sort((a, b) => a.value - b.value);
		},
		ticks: {callback: (value) => formatPpmTick(positionToFigure(value)), autoSkip: false, maxRotation: 0},
		grid: {
			color: (context) =>
				colour(context.tick && context.tick.value === 0 ? "quiet" : "line")
		},
	};
}

/*
 * Colours, points and dashes of the lines for clocks. All clocks of one hardware device (`series`) have the same colour
 * and point. They differ in their dashes, one pattern for each read method. So no two clocks differ by colour only. The
 * null clock is always grey.
 */
const SERIES_COLOURS = 7; /* number of the colours in page.css for hardware devices */
const POINTS = ["circle", "triangle", "rect", "rectRot", "star", "crossRot"];
const DASHES = [[], [7, 3], [2, 2], [8, 3, 2, 3]];

function look(report, clock) {
	const {series} = clock;
	const way = report.clocks.filter((other) => other.series === series).indexOf(clock);
	const coloured = series >= 0 && clock.id !== "null";
	const name = coloured ? `series-${Math.floor(series) % SERIES_COLOURS}` : "other";

	return {
		colour: colour(name),
		variable: `var(--${name})`,
		point: POINTS[series >= 0 ? Math.floor(series) % POINTS.length : 0],
		dash: DASHES[way % DASHES.length],
		width: way ? 1.25 : 2,
	};
}

function getLineStyle(report, clock) {
	const {colour: line, point, dash, width} = look(report, clock);

	return {
		borderColor: line,
		backgroundColor: line,
		borderWidth: width,
		borderDash: dash,
		pointStyle: point,
		pointRadius: 2,
		pointHoverRadius: 4,
		pointBorderWidth: 1,
	};
}

/* Draws a sample of a clock's line for a legend, with the same colour, point and dashes as in the chart. */
function drawLineSample(report, clock) {
	const {variable, dash, width} = look(report, clock);
	const line = svg("line", {
		x1: 0,
		y1: 5,
		x2: 26,
		y2: 5,
		"stroke-width": width + 0.5,
		"stroke-dasharray": dash.join(" ")
	});

	line.style.stroke = variable;
	return svg("svg", {width: 26, height: 10, "aria-hidden": "true"}, line);
}

/*
 * Clocks that the user has hidden. Each clock has a button in clockLegend(), which shows or hides the clock's datasets
 * in the charts of all CANVASES. The property `clock` of a dataset is its clock.
 */
const hiddenClocks = new Set();

function clockLegend(report, clocks, canvases) {
	return el("div", {class: "legend", role: "group", "aria-label": "Clocks shown in the charts"},
		clocks.map((clock) => {
			const button = el("button",
				{type: "button", "aria-pressed": "true", title: clock.title},
				drawLineSample(report, clock), clock.id);

			button.addEventListener("click", () => {
				const hide = !hiddenClocks.has(clock);

				hiddenClocks[hide ? "add" : "delete"](clock);
				button.setAttribute("aria-pressed", String(!hide));
				for (const id of canvases) {
					const drawn = Chart.getChart(id);

					drawn.data.datasets.forEach((dataset, i) => {
						if (dataset.clock === clock)
							drawn.setDatasetVisibility(i, !hide);
					});
					drawn.update();
				}
			});
			return button;
		}));
}

/* Makes a legend without buttons. Each entry is [name of the colour, text, shape]. */
function makeLegend(...entries) {
	const mark = (name, shape) => el("span", {class: `mark ${shape} ${name}`, "aria-hidden": "true"});

	return el("ul", {class: "key"},
		entries.map(([name, text, shape]) => el("li", null, mark(name, shape || "bar"), text)));
}

/*
 * Configures a chart of intervals as horizontal bars, with a mark at each value. ROWS is a list of {label, interval,
 * colour}. PLACE converts a figure to its position on the axis.
 */
function intervalBars(rows, axis, place, format) {
	const said = ({dataIndex}) => {
		const {interval} = rows[dataIndex];

		return `${format(interval.value)} (${span(interval, format)})`;
	};

	return {
		type: "bar",
		data: {
			labels: rows.map((row) => row.label),
			datasets: [
				{
					type: "line",
					data: rows.map((row) => place(row.interval.value)),
					showLine: false,
					pointStyle: "rectRot",
					pointRadius: 5,
					pointHoverRadius: 6,
					borderColor: colour("text"),
					pointBorderColor: colour("paper"),
					backgroundColor: colour("text"),
				},
				{
					data: rows.map(({interval}) =>
						[place(interval.low), place(interval.high)]),
					backgroundColor: rows.map((row) => `${row.colour}99`),
					borderColor: rows.map((row) => row.colour),
					borderWidth: 1,
					borderSkipped: false,
					minBarLength: 3,
					barThickness: 12,
				},
			],
		},
		options: {
			indexAxis: "y",
			interaction: {mode: "index", axis: "y", intersect: false},
			scales: {
				x: axis,
				y: {offset: true, grid: {display: false}, ticks: {autoSkip: false}}
			},
			...tooltip({label: said}, {filter: (item) => item.datasetIndex === 1}),
		},
	};
}
