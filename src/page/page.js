/* Shows the page of one report. The report is the text in the page's own <script id="report">. */

function showReport(report, main) {
	const place = el("div");
	const file = document.getElementById("compare-file");

	document.title =
		`baretick: ${joined([report.verdict || "no verdict", report.machine.cpu], ", ")}`;
	const parts = [
		warnings(report), headline(report), place, findings(report), advice(report), discontinuitiesSection(report), clocksTable(report), costs(report),
		seriesSection(report), latencySection(report), ratesSection(report), claimsSection(report),
		coresSection(report), skewSection(report),
		interferenceSection(report), timersSection(report), sleepSection(report), behaviours(report), calibrations(report), firmwareSection(report), notes(report),
		section("machine", "Machine and run", machineFacts(report)),
	];

	main.replaceChildren(...parts.filter(Boolean));
	file.addEventListener("change", () => {
		if (file.files.length)
			compareFiles(report, [...file.files], place);
		file.value = "";
	});
}

async function start() {
	const main = document.getElementById("main");
	const text = document.getElementById("report").textContent;
	const footer = document.getElementById("footer");

	startTheme(redrawCharts);
	footer.append(
		"Made by baretick, with no operating system. This page needs no network and can use none. ",
		"Charts: Chart.js, MIT licence.");
	try {
		showReport(readReport(text), main);
		await startCharts(main);
	} catch (error) {
		document.getElementById("compare-label").hidden = true;
		main.replaceChildren(el("p", {class: "problem", role: "alert"},
			`There is no report in this page that can be shown: ${error.message}.`));
	}
	document.documentElement.dataset.ready = "yes";
}

start();
