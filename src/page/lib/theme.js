/*
 * Switches between the light and the dark theme. The browser's setting is used until the user chooses a theme. Print is
 * always light.
 */

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const THEMES = ["auto", "light", "dark"];
let chosen = 0;
let printing = false;
let onTheme = () => {};
const colours = new Map();

function applyTheme() {
	const wish = THEMES[chosen] === "auto" ? (dark.matches ? "dark" : "light") : THEMES[chosen];

	document.documentElement.dataset.theme = printing ? "light" : wish;
	document.getElementById("theme").textContent = `Colours: ${THEMES[chosen]}`;
	colours.clear();
	onTheme();
}

function startTheme(redraw) {
	dark.addEventListener("change", applyTheme);
	document.getElementById("theme").addEventListener("click", () => {
		chosen = (chosen + 1) % THEMES.length;
		applyTheme();
	});
	for (const [event, value] of [["beforeprint", true], ["afterprint", false]]) {
		window.addEventListener(event, () => {
			printing = value;
			applyTheme();
		});
	}
	applyTheme();
	onTheme = redraw;
}

/*
 * Returns the colour with this name in page.css. The colour is stored until the theme changes, because reading it from
 * the style is slow.
 */
function colour(name) {
	if (!colours.has(name)) {
		const style = getComputedStyle(document.documentElement);

		colours.set(name, style.getPropertyValue(`--${name}`).trim());
	}
	return colours.get(name);
}
