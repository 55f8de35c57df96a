"""report.html in a headless Chromium. It must be drawn and make no requests, and a hostile report must have no
effect.

Takes about 18 processor-seconds in the browser, which all tests share. They are counted for the last test."""
import base64
import copy
import gzip
import json
import math
import pathlib
import re
import socket
import subprocess
import sys
import threading

import jsonschema
import pytest

import compare_cases
from harness import load_program

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "qemu"))

from results import page as runner_page  # noqa: E402
from results.reports import make_incomplete_report  # noqa: E402

pytestmark = pytest.mark.xdist_group("browser")  # one worker runs all of these tests, so that they share a browser
GOLDENS = ROOT / "tests" / "goldens"
HOSTILE = "</script><img src=x onerror=\"window.pwned=1\"><!--'\u2028${1}"
ALWAYS = {"chart-histogram", "chart-percentiles", "chart-claims", "chart-pairs", "chart-cores", "chart-contention"}
GAPS = {"chart-gaps", "chart-gap-lengths"}
TIMERS = {"chart-timers"}
SERIES = {"chart-series-rates", "chart-series-reads", "chart-series-offsets", "chart-series-gaps"}
STEADY = {"chart-series-adev", "chart-series-mtie"}
COMPARED = {"chart-compare-medians", "chart-compare-percentiles"}
# For each chart: whether it has visible figures, and whether its pixels are not empty.
DRAWN = """Object.fromEntries([...document.querySelectorAll("canvas")].map((canvas) => {
    const chart = Chart.getChart(canvas);
    const sets = chart.data.datasets.filter((_, i) => chart.isDatasetVisible(i));
    const there = (point) => [point].flat().every((each) => each !== null && Number.isFinite(each.y ?? each));
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", {willReadFrequently: true});
    copy.drawImage(canvas, 0, 0);
    const pixels = copy.getImageData(0, 0, canvas.width, canvas.height).data;
    return [canvas.id, [sets.flatMap((set) => set.data).filter(there).length,
                        pixels.filter((alpha, i) => i % 4 === 3 && alpha > 0).length]];
}))"""


def build_page(path):
    charts = subprocess.run([ROOT / "qemu" / "find", "chart.js"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([ROOT / "src" / "page" / "build", path, charts], check=True)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    build_page(path)
    return path.read_bytes()


@pytest.fixture
def show(browser, template, tmp_path):
    """Return a function that opens the page of a report. It has the same keyword arguments as Browser.open."""
    opened = []

    def call(report, **keywords):
        path = tmp_path / f"report{len(opened)}.html"
        path.write_bytes(page_of(template, report))
        opened.append(browser.open(path, **keywords))
        return opened[-1]
    yield call
    for page in opened:
        page.close()


def page_of(template, report):
    return runner_page.insert_report(template, json.dumps(report).encode())


def golden(name):
    return json.loads((GOLDENS / f"{name}.json").read_text())


def test_units_of_sentences_look_like_the_pages_own(show):
    report = golden("sick")
    report["findings"][0]["text"] = "A read took 35.4 us, 3 ms and 12 %; duration=10us was given in 4 use cases."
    page = show(report)
    assert "A read took 35.4 µs, 3 ms and 12 %; duration=10us was given in 4 use cases." in page.evaluate("document.body.innerText")
    assert {"4 µs", "3 ms", "2 %"} <= set(page.evaluate("[...document.querySelectorAll('.finding .whole')].map((each) => each.textContent)"))
    # no line of a paragraph starts with a unit
    parted = page.evaluate("""[...document.querySelectorAll("p, li, td")].flatMap((each) => {
        const walker = document.createTreeWalker(each, NodeFilter.SHOW_TEXT), parted = [];
        while (walker.nextNode()) {
            const text = walker.currentNode.data;
            for (const match of text.matchAll(/\\d (?=(ns|us|µs|ms|s|ppm|%)\\b)/g)) {
                const range = document.createRange();
                range.setStart(walker.currentNode, match.index);
                range.setEnd(walker.currentNode, match.index + 3);
                if (range.getClientRects().length > 1)
                    parted.push(text);
            }
        }
        return parted;
    })""")
    assert parted == []


def of_cores(count):
    """Return the clean machine's report with COUNT cores. The last quarter of the cores lags, and the third core cannot
    be compared."""
    report = golden("clean")
    one = report["cores"][0]
    behind = [0 if core < count - count // 4 else 52_000 for core in range(count)]
    report["cores"] = [{**copy.deepcopy(one), "apic_id": core, "boot": core == 0, "off_majority": behind[core] != 0,
                        "offset_ns": {"value": -behind[core], "low": -behind[core] - 30, "high": -behind[core] + 30}}
                       for core in range(count)]
    report["machine"].update(cores_listed=count, cores_started=count)
    matrix = [[[behind[row] - behind[column] - 40, behind[row] - behind[column] + 40] for column in range(count)]
              for row in range(count)]
    for core in range(count):
        matrix[2][core] = matrix[core][2] = None
        matrix[core][core] = [0, 0]
    report["skew"].update(matrix=matrix, pairs=count * (count - 1) // 2, drift_ppm=[core["drift_ppm"] for core in report["cores"]])
    return report


@pytest.mark.parametrize("cores", [4, 64])
def test_the_machines_made_here_meet_the_schema(cores):
    schema = json.loads((ROOT / "src" / "report" / "report.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(of_cores(cores))


def by_name(value, key):
    """Return true if the keys of the object VALUE are names instead of fields of the schema: ids of clocks (in cores[])
    or rules (in options). KEY is the key of the object itself."""
    return key == "limits" or key in ("latency", "latency_contended") and "min_ns" not in value and "count" not in value


def hostile(value, key=None):
    """Return VALUE with hostile text at the start of every string, except for the schema's name. Equal strings stay
    equal."""
    if isinstance(value, str):
        return value if key == "schema" else HOSTILE + value
    if isinstance(value, list):
        return [hostile(item) for item in value]
    if isinstance(value, dict):
        return {hostile(name) if by_name(value, key) else name: hostile(item, name) for name, item in value.items()}
    return value


def assert_quiet(page):
    assert page.problems == []
    assert page.requests == []
    assert page.evaluate("document.querySelectorAll('.problem').length") == 0


def open_details(page):
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.settle()


def text_of(page, element):
    """Return the text of the element with the id ELEMENT, with each no-break space as a blank."""
    return page.evaluate(f"document.getElementById('{element}').textContent").replace("\u00a0", " ")


def assert_drawn(page, charts):
    page.settle()
    drawn = page.evaluate(DRAWN)
    assert set(drawn) == charts
    assert {name: figures for name, figures in drawn.items() if figures[0] < 1 or figures[1] < 500} == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_clean_machine_is_drawn_without_an_error_or_a_request(show, dark):
    page = show(golden("clean"), dark=dark)
    assert_quiet(page)
    assert_drawn(page, ALWAYS)
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    assert page.evaluate("document.title") == "baretick: pass, Example CPU 9000 @ 2.00GHz"
    assert page.evaluate("Chart.getChart('chart-histogram').data.datasets.length") == 12
    assert page.evaluate("document.querySelectorAll('#clocks tbody tr').length") == 12
    assert page.evaluate("document.querySelectorAll('#matrix td').length") == 16


def test_a_run_with_the_option_clocks_says_why_it_does_not_predict_linuxs_clock(show):
    report, why = golden("clean"), "predicted only without the option clocks="
    text = "document.querySelector('#advice').textContent"
    assert "Linux before 6.12" in show(report).evaluate(text) and why not in show(report).evaluate(text)
    report |= {"taken": [], "options": {**report["options"], "clocks": ["tsc", "hpet"]}}
    assert why in show(report).evaluate(text)


def test_the_table_of_systems_shows_cost_faults_and_safety(show):
    report = golden("sick")
    first = report["taken"][0]
    first.update(notices="yes", blames="wrong", blamed="tsc", repairs=False, time_error_ppm={"value": 20000, "low": 19990, "high": 20010})
    page = show(report)
    rows = page.evaluate("[...document.querySelectorAll('#advice tbody tr')].map((row) => row.textContent)")
    assert len(rows) == len(report["taken"]) == 8
    assert "yes; stops using tsc, which is right" in rows[0] and "20,000" in rows[0] and first["read_by"] in rows[0]
    assert "not safe" in rows[7] and "read in its source" in rows[7] and "from its documentation" in rows[4]
    assert_quiet(page)


def soaked(rows, minutes=1):
    """Return the clean machine's report after a soak. The last core drifts, and one in ten rows has gaps."""
    report = golden("clean")

    def reads(clock, i):
        value = None if clock == "null" else {"value": i / 10, "low": i / 10 - 1, "high": i / 10 + 1}
        return {"count": 1000, "min_ns": 20, "p50_ns": 25, "p99_ns": 40 + i % 7, "max_ns": 900, "ppm": value}

    def offset(core, i):
        return None if core == 0 else {"value": core * i, "low": core * i - 9, "high": core * i + 9}
    report["options"]["profile"] = "soak"
    report["series"] = [{
        "from_ms": 20_000 + 60_000 * minutes * i, "to_ms": 20_000 + 60_000 * minutes * (i + 1),
        "clocks": {clock: reads(clock, i) for clock in ("tsc", "acpi_pm", "null")},
        "cores": [{"offset_ns": offset(core, i) if i else None} for core in range(len(report["cores"]))],
        "gaps": 9 if i % 10 == 0 else 0, "worst_gap_ns": 40_000 if i % 10 == 0 else None, "observed_ns": 30_000_000_000 if i else 0,
    } for i in range(rows)]
    return report


@pytest.mark.parametrize("rows, unit, words", [(30, "min", "30 rows of 60.0 s each"), (1440, "h", "1,440 rows of 60.0 s each")])
def test_a_soak_is_drawn_over_time(show, rows, unit, words):
    page = show(soaked(rows))
    assert_quiet(page)
    assert_drawn(page, ALWAYS | SERIES | STEADY)
    text = text_of(page, "series")
    assert words in text and "of which" not in page.evaluate("document.getElementById('main').textContent")
    for chart in SERIES:
        assert page.evaluate(f"Chart.getChart('{chart}').options.scales.x.title.text") == f"into the run, {unit}"
    drawn = page.evaluate("Chart.getChart('chart-series-offsets').data.datasets.filter((set) => !set.edge).map((set) => "
                          "[set.label, set.data.length, set.data[0].y, set.data.at(-1).y])")
    cores = soaked(1)["cores"]
    assert drawn == [[f"core {core['apic_id']}", rows, None, i * (rows - 1)] for i, core in enumerate(cores) if i]
    page.evaluate("document.querySelector('#series > details:last-of-type').open = true")
    page.wait("document.querySelector('#series > details:last-of-type table')")
    assert page.evaluate("document.querySelectorAll('#series > details:last-of-type tbody tr').length") == rows


def test_a_soak_with_a_larger_offset_than_the_bound_says_why(show):
    report = soaked(30)
    largest = max(abs(core["offset_ns"][end]) for row in report["series"] for core in row["cores"] if core["offset_ns"]
                  for end in ("low", "high"))
    for bound in largest, largest - 1, None:
        report["skew"]["at_best_ns"] = bound
        text = text_of(show(report), "series")
        assert ("so they can be larger than the bound under" in text) == (bound == largest - 1)


def steps_of(page):
    """Return {time span in ms: (deviation in ppb, its lower limit in ppb, error in ns)} from the charts for the clock
    tsc."""
    drawn = page.evaluate("['adev', 'mtie'].map((name) => Object.fromEntries((Chart.getChart(`chart-series-${name}`)?.data.datasets ?? [])"
                          ".map((set) => [set.label, set.data.map(({x, y}) => [x, y])])))")
    deviations, floors, errors = (dict(each) for each in (drawn[0].get("tsc", []), drawn[0].get("tsc, floor", []), drawn[1].get("tsc", [])))
    return {tau: (deviations.get(tau), floors[tau], errors.get(tau)) for tau in floors}


def with_rates(rates, within=1.0):
    report = soaked(len(rates))
    for row, rate in zip(report["series"], rates):
        row["clocks"]["tsc"]["ppm"] = rate if rate is None else {"value": rate, "low": rate - within, "high": rate + within}
    return report


def steady(show, rates, within=1.0):
    """Return steps_of() for a clock with RATES in ppm. Each rate belongs to a row of one minute. A row has no rate if
    its item is None."""
    return steps_of(show(with_rates(rates, within)))


# Time spans (tau) in ms: 1 to 32 rows of a minute. A second difference needs 2 tau, and there are only 100 rows.
MINUTES = [60_000 * 2 ** n for n in range(6)]


def test_of_a_rate_that_drifts_the_deviation_is_known_exactly(show):
    """The rate changes by D in each unit of time. Over the time TAU the deviation must then be D * TAU / sqrt(2)."""
    steps = steady(show, [0.1 * i for i in range(100)], within=0.002)
    assert list(steps) == MINUTES
    for n, (deviation, floor, _) in enumerate(steps.values()):
        assert deviation == pytest.approx(100 * 2 ** n / math.sqrt(2), rel=1e-6)
        assert floor == pytest.approx(2 / 2 ** n * math.sqrt(2), rel=1e-6)
    # the first and the last rate differ by 4.95 ppm from the mean rate
    assert steps[60_000][2] == pytest.approx(4.95 * 60_000, rel=1e-6)


def deviation_of(phases, m):
    terms = [phases[i + 2 * m] - 2 * phases[i + m] + phases[i] for i in range(len(phases) - 2 * m)]
    return math.sqrt(sum(term ** 2 for term in terms) / (2 * len(terms))) / m


def test_deviations_are_those_that_were_published_of_the_same_data(show):
    """The page must show the deviations that NIST SP 1065, 12.4, publishes for its data: 1,000 frequencies from a
    Lehmer generator."""
    seed, rates, phases = 1234567890, [], [0.0]
    for _ in range(1000):
        rates.append(seed / 2147483647)
        phases.append(phases[-1] + rates[-1])
        seed = 16807 * seed % 2147483647
    for m, published in ((1, 2.922319e-1), (10, 9.159953e-2), (100, 3.241343e-2)):
        assert deviation_of(phases, m) == pytest.approx(published, rel=2e-7)
    steps = steady(show, rates)
    assert len(steps) == 9
    for tau, (deviation, _, _) in steps.items():
        assert deviation == pytest.approx(1000 * deviation_of(phases, tau // 60_000), rel=1e-9)


def test_a_rate_that_stays_deviates_by_nothing_whatever_it_is(show):
    page = show(with_rates([123.4] * 50))
    assert_quiet(page)
    steps = steps_of(page)
    assert len(steps) == 5 and all(deviation is None and error is None for deviation, _, error in steps.values())


def test_a_step_of_the_phase_is_the_error_over_any_time_that_holds_it(show):
    steps = steady(show, [10.0 if i == 50 else 0.0 for i in range(100)])
    assert steps[60_000][2] == pytest.approx(9.9 * 60_000)
    # the phase falls before and after its step, so the step alone is the largest change, even over 8 rows
    assert steps[480_000][2] == pytest.approx(9.9 * 60_000)


def test_over_rows_without_a_rate_nothing_is_told(show):
    drift = [0.1 * i for i in range(121)]
    steps = steady(show, [*drift[:20], None, *drift[21:]])
    assert list(steps) == MINUTES and steps[60_000][0] == pytest.approx(100 / math.sqrt(2), rel=1e-6)
    assert steady(show, [0.1, None] * 40) == {}


def test_rows_of_other_lengths_are_brought_to_one(show):
    report = soaked(60)
    at = 0
    for i, row in enumerate(report["series"]):
        row["from_ms"], at = at, at + 60_000 + (500 if i % 3 else -700)
        row["to_ms"] = at
        rate = (row["from_ms"] + row["to_ms"]) / 2 / 600_000  # the rate grows by 1/600 ppm per second
        row["clocks"]["tsc"]["ppm"] = {"value": rate, "low": rate - 1, "high": rate + 1}
    steps = steps_of(show(report))
    assert len(steps) == 5
    for tau, (deviation, _, _) in steps.items():
        assert deviation == pytest.approx(tau / 600 / math.sqrt(2), rel=0.01)


def test_a_clock_of_the_same_source_has_no_deviation_of_its_own(show):
    report = soaked(40)
    clock_of(report, "acpi_pm")["relative_to"] = "hpet"
    report["rates"] = [{"a": "hpet", "b": "acpi_pm", "same_source": True, "ppm": {"value": 0, "low": -1, "high": 1}}]
    page = show(report)
    assert page.evaluate("Chart.getChart('chart-series-mtie').data.datasets.map((set) => set.label)") == ["tsc"]
    assert "Not shown, because of the same source: acpi_pm." in page.evaluate("document.getElementById('series').textContent")


@pytest.mark.parametrize("packed, reason", [
    # the hash of this script is not in the page's Content-Security-Policy
    (base64.b64encode(gzip.compress(b"window.Chart = {};")).decode(), "its Chart.js was changed"),
    ("@@@", None), ("AAAA", None),
], ids=["other-script", "no-base64", "no-gzip"])
def test_without_its_chart_js_the_page_has_its_tables_and_says_so(browser, show, template, tmp_path, packed, reason):
    path = tmp_path / "report.html"
    text = page_of(template, golden("clean")).decode()
    path.write_text(re.sub('(id="charts">)[^<]*', lambda found: found[1] + packed, text, count=1))
    page = browser.open(path)
    said = page.evaluate("[...document.querySelectorAll('.problem')].map((each) => each.textContent)")
    assert len(said) == 1 and said[0].startswith("This browser cannot draw the charts: ")
    assert reason is None or reason in said[0]
    tables = "document.querySelectorAll('table').length"
    assert page.evaluate(tables) == show(golden("clean")).evaluate(tables) > 3
    page.close()


@pytest.mark.parametrize("series", [None, [], soaked(1)["series"]])
def test_without_rows_to_set_side_by_side_nothing_is_drawn_over_time(show, series):
    page = show({**golden("clean"), "series": series})
    assert_quiet(page)
    assert_drawn(page, ALWAYS)


def test_sick_machine_without_three_devices_is_drawn_with_its_findings_first(show):
    report = golden("sick")
    page = show(report)
    assert_quiet(page)
    assert_drawn(page, ALWAYS | GAPS | TIMERS)
    texts = page.evaluate("[...document.querySelectorAll('.finding')].map((each) => each.textContent.replaceAll('µs', 'us'))")
    assert len(texts) == len(report["findings"]) > 5
    severities = page.evaluate("[...document.querySelectorAll('.finding')].map((each) => each.className)")
    assert severities == sorted(severities), "failures stand before warnings"
    for finding in report["findings"]:
        assert any(all(finding[key] in text for key in ("rule", "text", "cause", "advice", "source")) for text in texts)
    assert [text for text in texts if "tsc, cores 0, 2" in text and "tsc-warp" in text], "the pair of a warp"
    assert page.evaluate("document.querySelector('#main section').id") == "findings"
    shown = page.evaluate("document.querySelector('#clocks').textContent")
    assert all(clock["reason"] in shown for clock in report["clocks"] if clock["reason"])
    assert page.evaluate("document.querySelectorAll('#matrix td[class^=ahead], #matrix td[class^=behind]').length") == 8


def test_the_top_says_whether_the_cores_are_in_step_as_the_text_does(show):
    said = "document.getElementById('synchrony')?.textContent"
    for name in "clean", "sick":
        report = golden(name)
        assert show(report).evaluate(said) == f"TSCs of the cores: {report['skew']['text']}."
    assert report["skew"]["text"].startswith("not synchronised at ")
    report["skew"]["text"] = None  # not measured
    page = show(report)
    assert_quiet(page)
    assert page.evaluate(said) is None


def test_the_tournament_that_is_shown_is_drawn(show):
    report = golden("clean")
    page = show(report)
    assert page.evaluate("document.querySelectorAll('#matrix td[class^=ahead], #matrix td[class^=behind]').length") == 0
    assert "last pass" not in page.evaluate("document.getElementById('skew').textContent")
    report["skew"].update(shown="last", text="not synchronised at 21.1 s, 1 of 4 cores differs from the majority")
    *_, last = report["skew"]["later"]
    for core in range(3):
        last["matrix"][core][3], last["matrix"][3][core] = [900, 1000], [-1000, -900]
    report["cores"][3]["last_offset_ns"] = {"value": 950, "low": 900, "high": 1000}
    page = show(report)
    assert_quiet(page)
    assert page.evaluate("document.querySelectorAll('#matrix td[class^=ahead]').length") == 3
    text = page.evaluate("document.getElementById('skew').textContent")
    assert text.count("Not synchronised at 21.1 s") == 1 and "are of the last pass, at 21.1\u00a0s." in text
    page.evaluate("document.querySelector('#skew details').open = true")
    page.settle()
    assert "+950\u00a0ns" in page.evaluate("document.querySelector('#skew details').textContent")


def test_each_pass_has_its_own_bound(show):
    report = golden("clean")
    said = "document.getElementById('skew').textContent.replaceAll('\u00a0', ' ')"
    report["skew"].update(first_bound_ns=99_999, last_bound_ns=1_601_000)
    assert "Each pass has its own bound: 99,999 ns in the first, 1.61 ms in the last." in show(report).evaluate(said)
    for name in "first_bound_ns", "last_bound_ns":
        page = show({**report, "skew": {**report["skew"], name: None}})
        assert "Each pass" not in page.evaluate(said)


def test_machine_of_which_nothing_was_measured_is_said_to_be_so(show):
    page = show(golden("empty"))
    assert_quiet(page)
    assert page.evaluate("document.querySelectorAll('canvas').length") == 0
    for name in ("latency", "rates", "cores", "interference"):
        assert "Not measured" in page.evaluate(f"document.getElementById('{name}').textContent")
    assert "One core ran" in page.evaluate("document.getElementById('skew').textContent")


def test_run_that_gave_no_report_says_why(show):
    page = show(make_incomplete_report("the guest hung", "tcg", 5000))
    assert page.problems == [] and page.requests == []
    assert page.evaluate("document.querySelector('.problem').textContent") == "The run gave no report: the guest hung"
    for name in ("latency", "skew"):
        said = page.evaluate(f"document.getElementById('{name}').textContent")
        assert said.endswith("Not measured."), said


def test_255_cores_are_drawn_with_their_whole_matrix(show):
    page = show(of_cores(255))
    assert_quiet(page)
    assert_drawn(page, ALWAYS)
    assert page.evaluate("document.querySelectorAll('#matrix td').length") == 255 * 255
    # Each of the last 63 cores lags behind 191 other cores, which are ahead of it. Core 2 had no ping-pong.
    assert page.evaluate("document.querySelectorAll('#matrix td[class^=behind]').length") == 63 * 191
    assert page.evaluate("document.querySelectorAll('#matrix td[class^=ahead]').length") == 63 * 191
    assert page.evaluate("document.querySelectorAll('#matrix td.unknown').length") == 2 * 254
    page.evaluate("document.querySelector('#matrix tbody tr').cells[255].click()")
    assert page.evaluate("document.querySelector('.readout').textContent") == \
        "Core 254 against core 0: −52.0\u00a0µs to −52.0\u00a0µs; it is behind."


def test_more_cores_than_a_matrix_has_get_a_chart_of_their_offsets(show):
    report = of_cores(300)
    report["skew"]["matrix"] = None
    page = show(report)
    assert_quiet(page)
    assert_drawn(page, ALWAYS | {"chart-offsets"})
    assert page.evaluate("Chart.getChart('chart-offsets').data.datasets[0].data.length") == 300


@pytest.mark.parametrize("low, high, shown", [(-215.1, 215.1, "0.99978 to 1.00022 s"), (-2000.0, 1e12, "at least 0.99800 s")])
def test_the_firmwares_second_is_rounded_outwards(show, low, high, shown):
    report = golden("clean")
    report["firmware_times"] = [{"source": "firmware", "id": "efi_time", "call": "GetTime()", "tick": None, "asked_ns": None, "count": 12,
                                 "missing": 0, "back": 0, "least_ns": None, "most_ns": None, "stated": 50000000,
                                 "second_ppm": {"value": 0.0, "low": low, "high": high}, "start_ns": None, "tsc_ns": None}]
    page = show(report)
    assert_quiet(page)
    assert page.evaluate("document.querySelector('#firmware tbody tr').lastElementChild.textContent").replace("\u00a0", " ") == shown


def test_4096_cores_take_no_more_elements_than_300(show):
    """The tables of cores are cut, so a page of a very large machine opens in the time of a smaller one."""
    counts = []
    for cores in (300, 4096):
        report = of_cores(4)
        report["cores"] = [{**report["cores"][0], "apic_id": core, "boot": core == 0} for core in range(cores)]
        report["machine"].update(cores_listed=cores, cores_started=cores)
        report["skew"].update(matrix=None, pairs=cores * (cores - 1) // 2, drift_ppm=[None] * cores)
        page = show(report)
        assert page.problems == []
        said = page.evaluate("[...document.querySelectorAll('.problem')].map((each) => each.textContent).join()")
        assert said.startswith("Not all of this report is shown.") == (cores == 4096), said
        counts.append(page.evaluate("document.querySelectorAll('*').length"))
    assert counts[1] < 1.1 * counts[0]


@pytest.mark.parametrize("name", ["clean", "sick"])
def test_hostile_text_in_every_field_does_nothing(show, tmp_path, name):
    report = hostile(golden(name))
    page = show(report)
    assert_quiet(page)
    assert_drawn(page, ALWAYS | (GAPS | TIMERS if name == "sick" else set()))
    open_details(page)
    compare(page, hostile(golden("sick" if name == "clean" else "clean")), tmp_path / "<img src=x onerror=window.pwned=1>.json")
    open_details(page)
    assert_quiet(page)
    assert page.evaluate("window.pwned === undefined")
    assert page.evaluate("document.querySelectorAll('img, iframe, object, embed, link:not([rel=icon])').length") == 0
    assert page.evaluate("document.querySelectorAll('script').length") == 3
    assert report["machine"]["cpu"] in page.evaluate("document.body.textContent")


@pytest.mark.parametrize("stalls", [0, 61])
def test_what_a_stall_is_stands_below_the_clocks_where_there_are_some(show, stalls):
    report = golden("clean")
    clock_of(report, "rtc_pf")["monotonic"].update(stalls=stalls)
    text = text_of(show(report), "clocks")
    assert ("61 stalls" in text) == ("A stall: the clock showed one value" in text) == bool(stalls)


def costs_of(page):
    """Return the cells of the table of costs, by clock and heading."""
    rows = page.evaluate("[...document.querySelectorAll('#costs tr')].map((row) => "
                         "[...row.cells].map((cell) => cell.textContent.replaceAll('\\u00a0', ' ')))")
    return {row[0]: dict(zip(rows[0], row)) for row in rows[1:]}


def test_only_clocks_as_kernels_read_them_have_a_cost_for_a_database(show):
    said = costs_of(show(golden("clean")))
    assert list(said) == ["tsc", "tsc_lfence", "tsc_rdtscp", "hpet_32", "acpi_pm"]
    assert [row["Read in"] for row in said.values()] == ["user space"] * 3 + ["kernel"] * 2
    assert said["tsc_lfence"]["100,000 rows, at least"] == "2.18 ms"


def test_an_emulator_has_no_time_of_a_query(show):
    report = golden("clean")
    report["machine"]["accelerator"] = "tcg"
    page = show(report)
    assert set(costs_of(page)["tsc"]) == {"Clock", "Read in", "A read", "Bracket", "Loop"}
    assert "No time of a query is given" in page.evaluate("document.getElementById('costs').textContent")


@pytest.mark.parametrize("second, said", [("It was off.", ["hpet: It was off."]),
                                          ("It is torn.", ["hpet: It was off.", "hpet_32: It is torn."])])
def test_a_note_of_both_ways_of_reading_a_clock_stands_there_once(show, second, said):
    report = golden("clean")
    reasons = {"hpet": "It was off.", "hpet_32": second}
    for clock in report["clocks"]:
        clock["reason"] = reasons.get(clock["id"])
    page = show(report)
    assert page.evaluate("[...document.querySelectorAll('.reasons li')].map((each) => each.textContent)") == said


def compare(page, there, path):
    """Write the report THERE to the file PATH, and choose this file for the comparison. Return the rows of the table of
    differences, and the text of the comparison's section."""
    path.write_text(json.dumps(there))
    page.choose_file("#compare-file", path)
    page.wait(f"document.getElementById('compare')?.textContent.includes({json.dumps(path.name)})")
    rows = page.evaluate("[...document.querySelector('#compare [aria-label^=Differences] table')?.tBodies[0].rows ?? []].map("
                         "(row) => [...row.cells].map((cell) => cell.textContent.replaceAll('\\u00a0', ' ')))")
    return rows, page.evaluate("document.getElementById('compare').textContent").replace("\u00a0", " ")


def clock_of(report, name):
    return next(clock for clock in report["clocks"] if clock["id"] == name)


def test_comparison_shows_both_and_what_is_not_the_same(show, tmp_path):
    here, there = golden("clean"), golden("clean")
    clock_of(there, "hpet")["latency"].update(p50_ns=1518, min_ns=1300, loop_ns=1550)
    clock_of(there, "hpet").update(verdict="warn", resolution_ns=150, step_ticks=2, error_ppm={"value": 50, "low": 49, "high": 51})
    clock_of(there, "tsc")["monotonic"]["backward"] = 3
    there["clocks"] = [clock for clock in there["clocks"] if clock["id"] != "rtc_pf"]
    there["findings"] = [{"rule": "rate-off", "severity": "warn", "clock": "hpet", "text": "hpet is off."}]
    there["verdict"] = "warn"
    page = show(here)
    rows, said = compare(page, there, tmp_path / "before.json")
    assert_quiet(page)
    assert "more than 2 times the other report's median plus one bracket (8 ns, the clock null)" in said
    assert_drawn(page, ALWAYS | COMPARED)
    assert rows == [
        ["tsc", "steps back", "0", "3", "changed"],
        ["hpet", "rate", "−0.098 to +0.102 ppm", "+49.0 to +51.0 ppm", "changed"],
        ["the run", "verdict", "pass", "warn", "better"],
        ["hpet", "verdict", "pass", "warn", "better"],
        ["hpet", "median latency", "559 ns", "1.52 µs", "better"],
        ["hpet", "loop time", "584 ns", "1.55 µs", "better"],
        ["hpet", "resolution", "69.8 ns, 1 tick", "150 ns, 2 ticks", "better"],
        ["rtc_pf", "verdict", "pass", "not listed", "better"],
        ["rate-off, hpet", "finding", "none", "hpet is off.", "better"],
    ]
    assert page.evaluate("document.getElementById('compare-clock').selectedOptions[0].textContent") == "hpet"


def asked_for(source, late_ns, mode="one-shot", period_ns=100_000, **more):
    late = {"min": late_ns - 20, "p50": late_ns, "p99": late_ns + 90, "p999": None, "max": late_ns + 900, "error": 30}
    return {"source": source, "mode": mode, "core": golden("clean")["cores"][0]["apic_id"], "route": {"kind": "lapic", "pin": None, "vector": 224},
            "asked": {"period_ns": period_ns, "count": 100}, "expected": 100, "delivered": 100, "empty": 0, "doubled": 0, "early": 0,
            "excused": 0, "lateness_ns": late, "rate_ppm": None, "held": None, "policy": None, "state": "present", "reason": None, **more}


@pytest.mark.parametrize("value, low, high, shown", [
    (1.01, 0.99, 1.03, "1\u00a0Hzas claimed"), (1.0002, 0.9998, 1.0004, "1.000200\u00a0Hz"), (1.01, 1.0001, 1.03, "1.010000\u00a0Hz")])
def test_a_coarse_rate_is_the_nominal_one_as_in_the_text(show, value, low, high, shown):
    report = golden("clean")
    next(clock for clock in report["clocks"] if clock["id"] == "rtc")["measured_hz"] = {"value": value, "low": low, "high": high}
    row = """[...document.querySelectorAll("#clocks tbody tr")].find(row => row.cells[0].textContent.startsWith("rtc"))"""
    assert show(report).evaluate(f"{row}.cells[2].textContent") == shown


def test_another_read_method_of_a_counter_has_its_measured_rate_as_in_the_text(show):
    """The report has the rate of a counter at its main read method. The periodic flag of the RTC is another counter."""
    report = golden("clean")
    for clock in report["clocks"]:
        if clock["id"] != clock["main"]:
            clock["measured_hz"] = None
    rates = """Object.fromEntries([...document.querySelectorAll("#clocks tbody tr")].map(row =>
        [row.querySelector("code").textContent, row.cells[2].textContent]))"""
    found = show(report).evaluate(rates)
    assert {clock: found[clock] for clock in ("tsc_lfence", "hpet_32", "pit_rdback")} == {
        "tsc_lfence": found["tsc"], "hpet_32": found["hpet"], "pit_rdback": found["pit"]}
    assert found["tsc"] == "2.000000\u00a0GHz" and found["pit"] == "1.193180\u00a0MHz"
    assert found["rtc_pf"] == "8.192000\u00a0kHzas claimed"


def test_a_timer_without_interrupts_has_its_reason_on_every_core_and_is_not_called_stuck(show):
    report = golden("clean")
    boot, other = (core["apic_id"] for core in report["cores"][:2])
    silent = {"state": "stuck", "reason": "no interrupt came", "lateness_ns": None}
    refused = asked_for("hpet0", 0, state="stuck", reason="The counter stopped.", lateness_ns=None)
    refused["asked"]["count"] = 0
    report["intervals"] = [asked_for("lapic", 900), asked_for("lapic_deadline", 0, **silent), refused,
                           asked_for("lapic", 900, core=other), asked_for("lapic_deadline", 0, core=other, **silent)]
    page = show(report)
    page.evaluate("document.querySelector('#timers details').open = true")
    tables = """[...document.querySelectorAll("#timers table")].filter(table => table.textContent.includes("No figures of"))"""
    page.wait(f"{tables}.length === 2")
    found = page.evaluate(f"{tables}.map(table => [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent)))")
    assert [[[row[0], *row[2:]] for row in rows] for rows in found] == [
        [["lapic_deadline", "–", "no interrupt came"], ["hpet0", "stuck", "The counter stopped."]], [["lapic_deadline", "–", "no interrupt came"]]]


def test_timers_have_the_deadlines_of_longer_tests(show):
    """If the host pauses a test of 80 periods, the test has more deadlines. More of them than 80 may be excused."""
    report = golden("clean")
    paused = asked_for("hpet1", 900, "periodic", 1_000_000, expected=94, excused=86)
    paused["asked"]["count"] = 80
    report["intervals"] = [paused]
    cells = """[...document.querySelectorAll("table")].find(table => table.textContent.includes("Excused")).querySelectorAll("tr")"""
    heading, row = show(report).evaluate(f"[...{cells}].map(row => [...row.cells].map(cell => cell.textContent))")
    shown = dict(zip(heading, row, strict=True))
    assert (shown["Source"], shown["Deadlines"], shown["Excused"]) == ("hpet1", "94", "86"), shown


@pytest.mark.parametrize("accelerator", ["kvm", "tcg"])
def test_comparison_has_timers(show, tmp_path, accelerator):
    def machine(lapic_ns, hpet_ns, *rows):
        report = golden("clean")
        report["machine"]["accelerator"] = accelerator
        report["intervals"] = [asked_for("self_ipi", 400, period_ns=0), asked_for("lapic", lapic_ns),
                               asked_for("hpet0", hpet_ns, "periodic", 1_000_000), *rows]
        return report
    gone = {"state": "broken", "reason": "The timer's interrupts did not stop.", "lateness_ns": None}
    # the smallest lateness now (2000 - 20 - 30 ns) exceeds twice the earlier median (700 + 30 ns) plus the time to enter
    # the handler (400 ns)
    here = machine(2000, 900, asked_for("pit0", 0, **gone))
    there = machine(700, 900, asked_for("pit0", 500), asked_for("rtc", 500))
    rows, said = compare(show(here), there, tmp_path / "before.json")
    assert ("in an emulator it depends on the host" in said, "A timer's interrupts are compared" in said) == (accelerator == "tcg", accelerator == "kvm")
    late = [["lapic", "median lateness, 100 µs", "+2.00 µs", "+700 ns", "worse"]] if accelerator == "kvm" else []
    assert rows == [*late, ["pit0", "interrupts", "broken", "present", "worse"], ["rtc", "interrupts", "not asked for", "present", "worse"]]


def test_comparison_says_first_how_the_machines_and_the_options_differ(show, tmp_path):
    here, there = golden("clean"), golden("clean")
    there["machine"]["identity"] = None
    there["machine"].update(cpu="Other CPU", hypervisor="TCGTCGTCGTCG", accelerator="tcg", firmware="Other 1", cores_started=2)
    there["options"].update(profile="quick", duration_ms=100, cores="mp", gap_us=20, given="profile=quick cores=mp gap=20us")
    there["tool"]["version"] = "0.2.0"
    clock_of(there, "hpet")["verdict"] = "fail"
    rows, said = compare(show(here), there, tmp_path / "before.json")
    assert [row[:4] for row in rows[:11]] == [
        ["the machine", "system", "Example Inc. Server 9000", "–"],
        ["the machine", "CPU", here["machine"]["cpu"], "Other CPU"],
        ["the machine", "runs on", "kvm “KVMKVMKVM”", "tcg “TCGTCGTCGTCG”"],
        ["the machine", "firmware", here["machine"]["firmware"], "Other 1"],
        ["the machine", "cores started", str(here["machine"]["cores_started"]), "2"],
        ["the run", "options", "all defaults", "profile=quick cores=mp gap=20us"],
        ["the run", "profile", "standard", "quick"],
        ["the run", "time per measurement", "1.00 s", "100 ms"],
        ["the run", "option cores", "sipi", "mp"],
        ["the run", "option gap", "10.0 µs", "20.0 µs"],
        ["the run", "baretick", "0.1.0, 0123456789ab", "0.2.0, 0123456789ab"]]
    assert len(rows) == 12
    assert "Latencies are not compared: the reports are of different machines." in said


def list_changes(browser_page, pairs):
    """Return for each pair (baseline, report) of PAIRS the rows [of, what, kind] of its differences, by the page's scripts."""
    build = load_program(ROOT / "src" / "page" / "build")
    scripts = build.make_constants() + build.read_sources(*build.SCRIPTS[:build.SCRIPTS.index("compare/changes.js") + 1])
    return browser_page.evaluate(f"""(() => {{ {scripts}
        return {json.dumps(pairs)}.map(([there, here]) => listAllChanges(here, there).map(({{clock, what, kind}}) => [clock, what, kind]));
    }})()""")


def find_rows(rows, kind):
    """Return (name, what) of the ROWS of this KIND, in the words of compare_cases.json."""
    named = {"claim": lambda of: "the run", "finding": lambda of: of.partition(", ")[2] or "the run"}
    parts = [(of, what.partition(",")[0]) for of, what, is_kind in rows if is_kind == kind]
    return {(named.get(what, str)(of), what) for of, what in parts}


def test_worse_and_better_are_those_of_the_cases_that_the_runner_shares(show):
    """tests/qemu/test_baseline.py has the same cases. The exchange of the two reports turns worse into better."""
    cases = list(compare_cases.make_pairs())
    page = show(golden("clean"))
    forward = list_changes(page, [(before, now) for _, before, now, _ in cases])
    backward = list_changes(page, [(now, before) for _, before, now, _ in cases])
    assert [(name, find_rows(rows, "worse")) for (name, *_), rows in zip(cases, forward)] == [(name, worse) for name, _, _, worse in cases]
    for (name, *_, worse), rows in zip(cases, backward):
        assert worse - find_rows(rows, "worse") <= find_rows(rows, "better"), name
    load = dict(zip((name for name, *_ in cases), forward))["a costlier read, which depends on the load"]
    assert load == [["hpet", "a read", "changed"]]
    assert_quiet(page)


def test_report_compared_with_itself_is_the_same(show, tmp_path):
    page = show(golden("sick"))
    rows, said = compare(page, golden("sick"), tmp_path / "same.json")
    assert_quiet(page)
    assert rows == [] and "No difference: same machine, options, verdicts and findings." in said


def test_keys_that_a_later_release_may_have_are_passed_over(show):
    def with_news(value, key=None):
        if isinstance(value, dict):
            more = {} if by_name(value, key) else {"news": [{"of": 1}]}
            return {**{name: with_news(each, name) for name, each in value.items()}, **more}
        return [with_news(each) for each in value] if isinstance(value, list) else value
    page = show(with_news(golden("sick")))
    assert_quiet(page)
    assert_drawn(page, ALWAYS | GAPS | TIMERS)


NO_REPORTS = [
    ("not JSON", "it is not JSON"),
    ("[]", "it is not a report of baretick: its schema is not baretick.report/1"),
    ('{"schema": "baretick.report/3"}', "its schema is baretick.report/3, and this page reads baretick.report/1"),
    ('{"schema": ["baretick.report/3"]}', "it is not a report of baretick: its schema is not baretick.report/1"),
    ('{"schema": "baretick.report/1", "clocks": {}}', "clocks is not a list"),
    ('{"schema": "baretick.report/1", "clocks": [null]}', "clocks[0] is not an object"),
    ('{"schema": "baretick.report/1", "clocks": [{"latency": {"p50_ns": "9"}}]}', "clocks[0].latency.p50_ns is not a number"),
    ('{"schema": "baretick.report/1", "elapsed_ms": 1e999}', "elapsed_ms is not a number"),
    ('{"schema": "baretick.report/1", "machine": {"cpu": ["x"]}}', "machine.cpu is not a string"),
    ('{"schema": "baretick.report/1", "skew": {"matrix": [[["0"]]]}}', "skew.matrix[0][0][0] is not a number"),
    ('{"schema": "baretick.report/1", "cores": [{"latency": {"hpet": 9}}]}', "cores[0].latency.hpet is not an object"),
]


def test_what_is_no_report_is_refused_with_the_reason(show, tmp_path):
    page = show(golden("clean"))
    for number, (text, reason) in enumerate(NO_REPORTS):
        path = tmp_path / f"{number}.json"
        path.write_text(text)
        page.choose_file("#compare-file", path)
        page.wait(f"document.getElementById('compare-problem')?.textContent.startsWith('{path.name}')")
        assert text_of(page, "compare-problem") == f"{path.name} can't be compared with: {reason}."
        assert page.problems == [] and page.requests == []
    assert_drawn(page, ALWAYS)


def unchecked(value, shape, place=""):
    """Return the paths of values that lib/check.js does not check, or would refuse. Null needs no check, except in a
    list."""
    if isinstance(value, list):
        return [found for i, item in enumerate(value) if not (item is None and shape[1:])
                for found in unchecked(item, shape[0], f"{place}[{i}]")] if isinstance(shape, list) else [place]
    if isinstance(value, dict):
        return [found for key, each in value.items() if each is not None
                for found in unchecked(each, shape.get("*") or shape.get(key), f"{place}.{key}")] if isinstance(shape, dict) else [place]
    kinds = {str: "string", bool: "boolean", int: "number", float: "number"}
    return [] if shape == kinds.get(type(value)) else [place]


def test_types_of_the_whole_schema_are_in_the_page(template):
    shape = json.loads(re.search(rb"^const REPORT = (.*);$", template, re.MULTILINE)[1])
    for report in *map(golden, ("clean", "sick", "empty")), make_incomplete_report("the guest hung", "tcg", 5000), of_cores(4):
        assert unchecked(report, shape) == []
    assert unchecked({"clocks": [{"id": 1, "news": 1}]}, shape) == [".clocks[0].id", ".clocks[0].news"]


def test_page_without_a_report_says_so(browser, template, tmp_path):
    path = tmp_path / "page.html"
    path.write_bytes(template)
    page = browser.open(path)
    assert page.evaluate("document.querySelector('.problem').textContent") == \
        "There is no report in this page that can be shown: it is not JSON."
    assert page.problems == [] and page.requests == []
    page.close()


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("cores", [4, 64])
def test_page_is_no_wider_than_its_window(show, tmp_path, width, cores):
    page = show(of_cores(cores), width=width)
    compare(page, golden("sick"), tmp_path / "other.json")
    open_details(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_each_clock_can_be_looked_at_core_by_core_and_taken_out_of_the_charts(show):
    page = show(golden("clean"))
    for choice in range(12):
        page.evaluate(f"{{ const choice = document.getElementById('core-clock'); choice.value = '{choice}';"
                      "choice.dispatchEvent(new Event('change')); }")
        assert_drawn(page, ALWAYS)
    shown = "Chart.getChart('{}').getVisibleDatasetCount()"
    page.evaluate("document.querySelectorAll('.legend button')[4].click()")
    assert [page.evaluate(shown.format(name)) for name in ("chart-histogram", "chart-percentiles")] == [11, 11]
    assert page.evaluate("document.querySelectorAll('.legend button')[4].getAttribute('aria-pressed')") == "false"
    page.evaluate("document.querySelectorAll('.legend button')[4].click()")
    assert page.evaluate(shown.format("chart-histogram")) == 12
    assert_quiet(page)


def test_colours_follow_the_switch_and_paper_is_light(show, tmp_path):
    page = show(golden("clean"), dark=True)
    theme = "document.documentElement.dataset.theme"
    line = "Chart.getChart('chart-histogram').data.datasets[0].borderColor"
    dark = page.evaluate(line)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(theme) == "light" and page.evaluate(line) != dark
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(theme) == "dark" and page.evaluate(line) == dark
    seen = []
    for _ in range(3):
        page.evaluate("document.getElementById('theme').click()")
        seen.append((page.evaluate("document.getElementById('theme').textContent"), page.evaluate(theme)))
    assert seen == [("Colours: light", "light"), ("Colours: dark", "dark"), ("Colours: auto", "dark")]


@pytest.mark.parametrize("cores", [4, 12, 32, 64, pytest.param(255, marks=pytest.mark.long)])
def test_all_of_the_page_fits_on_paper(show, tmp_path, cores):
    page = show(of_cores(cores))
    compare(page, golden("sick"), tmp_path / "other.json")
    page.call("Emulation.setEmulatedMedia", media="print")
    page.call("Emulation.setDeviceMetricsOverride", width=718, height=1000, deviceScaleFactor=1, mobile=False)  # A4
    page.settle()
    assert page.evaluate("document.documentElement.scrollWidth") == 718
    assert page.evaluate("document.getElementById('matrix').getBoundingClientRect().right") <= 718
    # controls are not printed, because they cannot be clicked on paper
    assert page.evaluate("getComputedStyle(document.querySelector('.screen')).display") == "none"
    alone = "[...document.querySelectorAll('.note:not(:last-child)')].filter((note) => getComputedStyle(note).breakAfter !== 'avoid').length"
    assert page.evaluate("document.querySelectorAll('.note:not(:last-child)').length") > 3 and page.evaluate(alone) == 0
    page.print(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert_drawn(page, ALWAYS | COMPARED)


def test_a_read_has_one_figure_among_the_clocks_and_the_costs(show):
    page = show(golden("clean"))
    column = """(id) => {
        const table = document.getElementById(id).querySelector("table");
        const at = [...table.querySelectorAll("thead th")].findIndex((cell) => cell.textContent === "A read");
        return [...table.querySelectorAll("tbody tr")].map(({cells}) => [cells[0].querySelector("code").textContent, cells[at].textContent]);
    }"""
    clocks, costs = (dict(page.evaluate(f"({column})('{name}')")) for name in ("clocks", "costs"))
    assert clocks["null"] == "\u2013" and costs.items() <= clocks.items() and len(costs) == 5


def test_the_tscs_rate_has_its_error(show):
    report = golden("clean")
    facts = "document.getElementById('machine').textContent"
    assert "2.000000\u00a0GHz ± 0.100 ppm" in show(report).evaluate(facts)
    next(clock for clock in report["clocks"] if clock["id"] == "tsc")["measured_hz"] = None
    assert "2.000000\u00a0GHz," in show(report).evaluate(facts)


class Listener:
    """A server that counts connections and closes them at once."""

    def __init__(self):
        self.over, self.calls, self.server = False, 0, socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self.server.getsockname()[1]}/"
        self.thread = threading.Thread(target=self._listen)
        self.thread.start()

    def _listen(self):
        while True:
            caller = self.server.accept()[0]
            if self.over:
                caller.close()
                return
            self.calls += 1  # counted before the browser can notice that the connection is closed
            caller.close()

    def close(self):
        self.over = True
        socket.create_connection(self.server.getsockname()).close()
        self.thread.join()
        self.server.close()


@pytest.fixture
def listener():
    one = Listener()
    yield one
    one.close()


KNOCK = """Promise.all([
    fetch("{address}fetch").then(() => "sent", (error) => error.name),
    new Promise((go) => document.body.append(Object.assign(new Image(), {{src: "{address}image", onerror: () => go("no image")}}))),
])"""


def test_policy_lets_nothing_out_and_no_text_become_markup(show, listener):
    page = show(golden("clean"))
    assert page.evaluate(KNOCK.format(address=listener.address)) == ["TypeError", "no image"]
    assert listener.calls == 0
    assert "Content Security Policy" in json.dumps(page.problems)
    for markup in ("document.body.innerHTML = '<b>'", "document.createElement('script').text = '1'"):
        assert page.evaluate(f"(() => {{ try {{ {markup}; }} catch (error) {{ return error.name; }} }})()") == "TypeError"


def test_the_watch_sees_an_error_and_a_request(browser, tmp_path, listener):
    """Errors and requests must be noticed. Otherwise the other tests would prove nothing."""
    path = tmp_path / "bad.html"
    path.write_text("<html data-ready=yes><body><img src='missing.png'><script>console.error('x'); throw 1;</script>")
    page = browser.open(path)
    page.settle()
    assert page.requests == [(tmp_path / "missing.png").as_uri()]
    assert len(page.problems) >= 2
    assert page.evaluate(KNOCK.format(address=listener.address)) == ["TypeError", "no image"]
    assert listener.calls >= 2
    page.close()


def test_page_is_small_even_for_64_cores_of_a_busy_host(template):
    """On a busy host, the reads of each clock are in about 400 buckets, up to milliseconds. The page must be small even
    then."""
    report = of_cores(64)
    for clock in report["clocks"]:
        clock["latency"]["histogram"] = [{"le_ns": round(20 * 1.035 ** k), "count": 1000} for k in range(400)]
    assert len(template) < 200_000
    # a third of these bytes is the template, and most of the rest are the matrix and the buckets
    assert 400_000 < len(page_of(template, report)) < 530_000


def test_build_is_the_same_each_time_and_keeps_the_licence_of_the_charts(template, tmp_path):
    build_page(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_bytes() == template
    assert b"Chart.js v3." in template and b"Released under the MIT License" in template
    assert template.count(runner_page.MARK) == 1


def test_policy_names_every_script_and_style_by_its_hash(template):
    policy = re.search(rb'http-equiv="Content-Security-Policy" content="([^"]*)"', template)[1].decode()
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    assert re.fullmatch(r"'sha256-[\w+/]{43}=' 'sha256-[\w+/]{43}='", rules["script-src"])
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", rules["style-src"])
    assert rules["img-src"] == "data:"


def test_no_source_of_the_page_parses_text_as_markup_or_code():
    sources = {path.name: path.read_text() for path in (ROOT / "src" / "page").rglob("*.js")}
    assert len(sources) > 5
    found = {name: re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|DOMParser|srcdoc", text)
             for name, text in sources.items()}
    assert not any(found.values()), found


# Tests of narrow windows and of very long reports.

CUT = """[...document.querySelectorAll('th, td, p, li, dd, canvas, .badge')].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width > 1 && !each.closest('.hidden') && !each.closest('.scroll table:not(.cards)') && (box.right > innerWidth || box.left < 0);
}).map((each) => each.textContent.slice(0, 60))"""


@pytest.mark.parametrize("name", ["clean", "sick"])
def test_nothing_is_cut_in_a_narrow_window_and_what_scrolls_shows_it(show, tmp_path, name):
    page = show(golden(name), width=400)
    assert page.evaluate("[...document.querySelectorAll('.cards td.left')].map((cell) => getComputedStyle(cell).textAlign)"
                         ".filter((align) => align !== 'left').length") == 0
    compare(page, golden("sick"), tmp_path / "other.json")
    open_details(page)
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.querySelectorAll('table.cards').length") > 8
    inner = page.evaluate("[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth > each.clientWidth).map((each) => "
                          "[each.getAttribute('aria-label'), getComputedStyle(each).backgroundAttachment])")
    assert all(attachment == "local, local, scroll, scroll" for _, attachment in inner)
    card = "document.querySelector('#clocks tbody tr')"
    assert page.evaluate(f"{card}.getBoundingClientRect().height") > 100
    assert page.evaluate(f"[...{card}.cells].map((cell) => getComputedStyle(cell, '::before').content)")[3] == '"Off by, ppm"'


def test_a_long_table_in_a_narrow_window_scrolls_and_shows_that_it_does(show):
    page = show(of_cores(64), width=400)
    page.evaluate("document.querySelectorAll('#skew details').forEach((each) => { each.open = true; })")
    page.settle()
    assert page.evaluate("""[...document.querySelectorAll('#skew .scroll')].map((each) =>
        [each.scrollWidth > each.clientWidth, getComputedStyle(each).backgroundAttachment])""") == 2 * [[True, "local, local, scroll, scroll"]]
    assert page.evaluate("document.documentElement.scrollWidth") == 400


@pytest.mark.parametrize("far", [0.05, 0.5, 5, 50, 20_000])
def test_labels_of_a_narrow_axis_do_not_touch(show, far):
    report = golden("clean")
    for clock in filter(lambda clock: clock["error_ppm"], report["clocks"]):
        clock["error_ppm"] = {"value": far, "low": -far, "high": far}
    page = show(report, width=400)
    ticks = page.evaluate("""(({x}) => x.ticks.map((tick) => [x.getPixelForValue(tick.value), tick.label.length]))(Chart.getChart('chart-claims').scales)""")
    digit_px = 7
    gaps = [there - here - digit_px * (a + b) / 2 for (here, a), (there, b) in zip(ticks, ticks[1:])]
    assert len(ticks) >= 3 and min(gaps) >= 3, ticks


@pytest.mark.parametrize("factor, low, high", [(0.25, 0.25, 1), (0.97, 0.97, 1), (1, 1, 1), (1.05, 1, 1.05), (8, 1, 8)])
def test_a_ratio_is_a_bar_from_1_to_where_it_is(show, factor, low, high):
    report = golden("clean")
    for core in report["cores"]:
        core["latency_contended"]["tsc"]["p50_ns"] = core["latency"]["tsc"]["p50_ns"] * factor
    page = show(report)
    left, width, marks = page.evaluate("""(() => {
        const chart = Chart.getChart('chart-contention');
        const bar = chart.getDatasetMeta(0).data[0];
        return [Math.min(bar.x, bar.base), Math.abs(bar.x - bar.base), [%f, %f].map((value) => chart.scales.x.getPixelForValue(value))];
    })()""" % (low, high))
    assert abs(left - marks[0]) <= 1 if factor != 1 else abs(left - marks[0]) <= 3
    assert abs(width - (marks[1] - marks[0])) <= 1 or width <= 3.5 and marks[1] - marks[0] < 3.5
    axis = page.evaluate("(({min, max}) => [min, max])(Chart.getChart('chart-contention').scales.x)")
    assert axis[0] <= low and high <= axis[1]


@pytest.mark.parametrize("gaps, drawn, said", [(3, 3, "All 3 gaps are drawn."), (12_345, 3, "3 of 12,345 gaps are drawn"), (3, 1, "1 of 3 gaps are drawn")])
def test_the_chart_of_gaps_says_what_it_leaves_out(show, gaps, drawn, said):
    report = golden("sick")
    found = report["interference"]
    found["histogram"][0]["count"] += gaps - found["gaps"]
    found.update(gaps=gaps, events=found["events"][:drawn])
    page = show(report)
    text = text_of(page, "interference")
    assert said in text and "Gaps of up to 10.0 µs are not counted." in text and "own counter reports 0.0041 % as stolen." in text
    assert ("The other 12,342 are only in" in text) == (gaps > 3)
    assert page.evaluate("Chart.getChart('chart-gaps').data.datasets[0].data.length") == drawn


PARSES = 4  # limit; usually the page needs 2.2 times the processor time for parsing its report, and 5.2 times if it draws all buckets
PARSE = "Boolean(JSON.parse(document.getElementById('report').textContent))"


def endless():
    """Return a valid report in which all lists and texts are longer than in any real report."""
    report = golden("clean")
    for clock in report["clocks"]:
        if clock["latency"]:
            clock["latency"].update(count=100_000, histogram=[{"le_ns": 400 + i, "count": 1} for i in range(100_000)])
            for key in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "mean_ns", "max_ns"):
                clock["latency"][key] = 100_400 if key == "max_ns" else 50_000
    report["notes"] = ["x" * 1_000_000] * 3 + ["note"] * 100_000
    report["machine"]["cpu"] = "Long CPU " * 100_000
    report["rates"] = report["rates"] * 20_000
    report["behaviours"] = report["behaviours"] * 20_000
    return report


def test_a_report_of_a_million_buckets_is_drawn_in_a_moment_and_says_what_it_leaves_out(show):
    report = endless()
    assert sum(len(clock["latency"]["histogram"]) for clock in report["clocks"]) == 1_200_000
    page = show(report)
    assert page.problems == []
    assert_drawn(page, ALWAYS)
    drawing_s, before_s = page.processor_s("Script", "Layout", "RecalcStyle"), page.processor_s("Task")
    assert page.evaluate(PARSE)
    assert drawing_s < PARSES * (page.processor_s("Task") - before_s)
    left = page.evaluate("document.getElementById('left-out').textContent")
    for said in ("clocks[].latency.histogram: 100,000 buckets, drawn as 1,021, and 11 more like it", "machine.cpu: 900,000 characters, of which 2,000 are shown",
                 "notes: 100,003 entries, of which the first 200 are shown;", "notes[]: 1,000,000 characters, of which 2,000 are shown, and 2 more like it", "behaviours: ", "rates: "):
        assert said in left
    assert page.evaluate("document.querySelectorAll('#notes li').length") == 200
    assert page.evaluate("document.getElementById('main').textContent.length") < 1_000_000
    assert page.evaluate("document.documentElement.scrollWidth") == 1280
    counts = page.evaluate("Chart.getChart('chart-percentiles').data.datasets.map((set) => set.data.length)")
    assert len(counts) == 12 and max(counts) <= 2 * 1024


@pytest.mark.parametrize("text", ['{"schema": "baretick.report/1", "clocks": [{"latency": {"histogram": [%s]}}]}' % ",".join(["null"] * 5000),
                                  '{"schema": "baretick.report/1", "notes": {"a": [[[["%s"]]]]}}' % ("x" * 5000),
                                  '{"schema": "baretick.report/1", "news": [%s]}' % ",".join(['{"a": [1, 2]}'] * 5000)], ids=["null", "deep", "news"])
def test_what_is_too_long_and_no_report_either_is_refused_or_passed_over(show, tmp_path, text):
    path = tmp_path / "other.json"
    path.write_text(text)
    page = show(golden("clean"))
    choose(page, path)
    assert page.problems == [] and page.evaluate("Boolean(document.getElementById('compare'))") == ("news" in text)


# Tests with more than one other report.

def choose(page, *paths):
    page.choose_file("#compare-file", *paths)
    page.wait("document.getElementById('compare') || document.getElementById('compare-problem')")
    return page.evaluate("document.getElementById('compare')?.textContent ?? ''").replace("\u00a0", " ")


def test_several_reports_and_pages_are_compared_with_their_machines_first(show, template, tmp_path):
    here, sick, third = golden("clean"), hostile(golden("sick")), golden("clean")
    third["machine"].update(cpu="Third CPU", firmware="Third firmware 3", hypervisor="Third", accelerator="kvm")
    third["machine"]["identity"].update(vendor="Other Inc.", product="Server 1")
    third["options"]["label"] = "third of the rack"
    third["interference"].update(gaps=2, total_ns=third["interference"]["observed_ns"] * 61 // 100, worst_ns=10 ** 9,
                                 histogram=[{"le_ns": 2 ** 30 - 1, "count": 2}])
    clock_of(third, "hpet")["latency"].update(p50_ns=1518, p50_within_ns=[1518, 1518], p90_ns=1519, p99_ns=1520, p999_ns=1521)
    (tmp_path / "a.html").write_bytes(page_of(template, sick))
    (tmp_path / "b.json").write_text(json.dumps(third))
    page = show(here)
    text = choose(page, tmp_path / "a.html", tmp_path / "b.json")
    assert page.problems == [] and page.requests == []
    assert_drawn(page, ALWAYS | COMPARED)
    assert text.index("Third CPU") < text.index("Differences")
    rows = page.evaluate("[...document.querySelector('#compare table').tBodies[0].rows].map((row) => [...row.cells].map((cell) => "
                         "cell.textContent.replaceAll('\\u00a0', ' ')))")
    head = page.evaluate("[...document.querySelector('#compare table').tHead.rows[0].cells].map((cell) => cell.textContent)")
    assert head[:8] == ["Report", "Verdict", "Stolen time", "System", "CPU", "Firmware", "Runs on", "Label"]
    assert [row[0] for row in rows] == ["this report", "a.html", "b.json"]
    assert rows[1][4] == sick["machine"]["cpu"] and "Stolen" not in rows[1][2]
    assert rows[2][1:8] == ["✓ pass", "61 %", "Other Inc. Server 1", "Third CPU", "Third firmware 3", "kvm “Third”", "third of the rack"]
    sums = page.evaluate("[...document.querySelectorAll('#compare details summary')].map((each) => each.textContent)")
    assert sums[0].startswith("From a.html: this report has ") and sums[1].startswith("From b.json: this report has 0 worse, ") and len(sums) == 3
    open_details(page)
    assert page.evaluate("document.querySelectorAll('#compare [aria-label^=Differences]').length") == 2
    assert page.evaluate("Chart.getChart('chart-compare-medians').data.datasets.map((set) => set.label)") == ["this report", "a.html", "b.json", "between"]
    medians = page.evaluate("Chart.getChart('chart-compare-medians').data.datasets.map((set) => set.data[4])")
    assert medians == [559, None, 1518, [559, 1518]]
    assert page.evaluate("Chart.getChart('chart-compare-percentiles').data.datasets.length") == 3
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_files_of_one_name_are_told_apart_by_number_and_label(show, tmp_path):
    """Two chosen files are both called report.json, and are in different folders. Each must have its own name in the
    table."""
    paths = [tmp_path / str(i) / "report.json" for i in range(2)] + [tmp_path / "other.json"]
    for path, label in zip(paths, (None, "row 7", None)):
        report = golden("clean")
        report["options"]["label"] = label
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(report))
    page = show(golden("clean"))
    choose(page, *paths)
    assert page.evaluate("[...document.querySelector('#compare table').tBodies[0].rows].map((row) => row.cells[0].textContent)") == [
        "this report", "report.json (1)", "report.json (2), row 7", "other.json"]


def test_one_of_several_files_that_is_none_is_named_and_the_others_are_shown(show, tmp_path):
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "b.html").write_text("<!DOCTYPE html><p>Nothing.")
    (tmp_path / "c.json").write_text(json.dumps(golden("sick")))
    page = show(golden("clean"))
    assert "c.json" in choose(page, *(tmp_path / name for name in ("a.json", "b.html", "c.json")))
    said = page.evaluate("document.getElementById('compare-problem').textContent")
    assert said.startswith("a.json can't be compared with: it is not a report of baretick") and \
        "b.html can't be compared with: it is a page without a report of baretick." in said
    names = [tmp_path / f"{i}.json" for i in range(9)]
    for path in names:
        path.write_text(json.dumps(golden("clean")))
    page.evaluate("document.querySelectorAll('#compare, #compare-problem').forEach((each) => each.remove())")
    choose(page, *names)
    assert page.evaluate("document.getElementById('compare-problem').textContent") == "Only the first 8 of 9 files are compared with."
    assert page.evaluate("document.querySelector('#compare table').tBodies[0].rows.length") == 9
