"""fleet.html in a headless Chromium. Its tables must be drawn, be sortable, have links, and fit. It must make no
requests, and hostile text must have no effect."""
import re

import pytest

from lab import page

pytestmark = pytest.mark.xdist_group("browser")  # the worker that also runs test_page.py
HOSTILE = "</script><img src=x onerror=\"window.pwned=1\">${1}"
WIDER = """[...document.querySelectorAll("main *")].filter((each) => !each.closest(".hidden") && each.offsetParent &&
    each.getBoundingClientRect().right > window.innerWidth + 1).map((each) => each.outerHTML.slice(0, 90))"""


class Answers:
    """Answers of the queries (see lab/questions.py) for a fleet with three outliers."""
    runs, not_done, known, unknown, failed, warned, misdated = 231, 1, 99, 1, 1, 0, 1
    cut, shown_max = ["changes"], 20000

    def __init__(self, beside):
        name = ["Example Inc. / Server 1 / SN-000001", HOSTILE, "Example Inc. / Server 3 / SN-000003"]
        self.names = {f"r{n}": (name[n % 3] if n < 3 else f"Example Inc. / Server / SN-{n:06}", "all.json",
                                str(beside) if n == 0 else "/gone/report.html", "2026-03-01 10:00:00") for n in range(100)}
        kind = "Example Inc. / Server 1 / Example BIOS 2.1.0 / Example CPU 1 @ 2.00GHz"
        at = {"kind": kind, "machines": 75}
        self.outliers = [
            {**at, "run": f"r{n}", "who": f"w{n}", "measure": measure, "subject": subject, "unit": unit, "value": value, "low": value - 4,
             "high": value + 4, "middle": middle, "score": score} for n, measure, subject, unit, value, middle, score in (
                 (0, "median read", "hpet", "ns", 5031, 559, 19.2), (1, "rate error", "acpi_pm", "ppm", 400.25, -1.2, 31.0625),
                 (2, "SMIs", "machine", "a second", 99.7, .08, 480))]
        self.unlike = [{**at, "run": "r2", "who": "w2", "measure": "state", "subject": "hpet", "value": "absent", "usual": "present",
                        "machines_so": 74, "score": 74}]
        self.groups = [{**at, "subject": "rtc", "measure": "median read", "beyond": 20}]
        self.kernels = [{"run": "r1", "who": "w1", "kernel": HOSTILE, "kernel_clock": "tsc", "believed_hz": 3.0e9, "ppm": 205.0,
                         "ppm_low": 204.5, "ppm_high": 205.5}]
        self.failures = [{"run": "r1", "who": "w1", "kind": kind, "rule": "clock-stuck", "subject": "pit", "text": HOSTILE, "times": 1}]
        self.warnings = [{"run": "r2", "who": "w2", "kind": kind, "rule": "clock-slow", "subject": "hpet", "text": "It is slow.", "times": 1}]
        self.undone = [{"run": "r3", "reason": "baretick printed nothing"}]
        self.changes = [{"span": span, "who": "w0", "run": "r0", "what": "median read", "subject": "hpet", "before": "559.0",
                         "now": "5031.0"} for span in ("the run before", "last week")]
        self.versions = [{"what": "BIOS", "product": "Example Inc. / Server 1", "before": "2.1.0", "now": "3.0.0",
                          "measure": "median read", "subject": "hpet", "unit": "ns", "machines": 6, "up": 6, "down": 0,
                          "middle_before": 559.0, "middle_now": 1680.0}]
        self.kinds = [{"kind": kind, "machines": 75, "not_known": 0, "runs": 150, "failed": 1, "warned": 0},
                      {"kind": "-", "machines": 0, "not_known": 3, "runs": 3, "failed": 0, "warned": 0}]
        self.machines = [{"run": run, "who": f"w{n}", "machine": name[0], "known_by": "serial number", "kind": kind,
                          "verdict": "fail" if n == 1 else "pass", "runs_of_it": 2, "profile": "standard", "tool_version": "0.1.0"}
                         for n, (run, name) in enumerate(self.names.items())]
        self.read_clocks = ["null", "tsc", "tsc_lfence", "tsc_rdtscp", "tsc_cpuid", "acpi_pm", "hpet_32", "pit", "rtc_pf", "pit_rdback",
                            "rtc", "hpet"]
        self.reads = [{"run": run, "who": f"w{n}", **{f"ns_{one}": None if one == "hpet" and n % 2 else 31.5 + n
                                                      for one in self.read_clocks}} for n, run in enumerate(self.names)]

    def get_machine_name(self, run):
        return self.names[run][0]


@pytest.fixture
def show(browser, tmp_path):
    opened = []
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "report.html").write_text("<!DOCTYPE html><title>its report</title>")

    def call(**keywords):
        answers = Answers(tmp_path / "a b" / "report.html")
        path = tmp_path / "fleet.html"
        path.write_bytes(page.render_page(answers, {("figure", "w0", "median read", "hpet")}, str(tmp_path)))
        opened.append(browser.open(path, **keywords))
        return opened[-1]
    yield call
    for each in opened:
        each.close()


def column(opened, table, number):
    return opened.evaluate(f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => row.children[{number}].textContent)")


def test_the_fleet_is_drawn_and_asks_for_nothing(show):
    opened = show()
    assert opened.problems == [] and opened.requests == []
    assert opened.evaluate("document.querySelector('h1').textContent").endswith("1 machine failed; 3 machines unlike their kind")
    assert opened.evaluate("[...document.querySelectorAll('section')].map((each) => each.id)") == [
        "figures", "traits", "failures", "warnings", "undone", "kernels", "before", "week", "versions", "groups", "kinds", "machines", "reads"]
    assert column(opened, "warnings", 2) == ["clock-slow"]
    assert column(opened, "undone", 0) == ["Example Inc. / Server / SN-000003"] and column(opened, "undone", 1) == ["baretick printed nothing"]
    assert column(opened, "figures", 3) == ["5,031", "400.3", "99.7"]
    assert len(column(opened, "machines", 0)) == 32
    opened.evaluate("document.querySelector('#machines .more').click()")
    assert len(column(opened, "machines", 0)) == 100
    assert opened.evaluate("document.querySelectorAll('#figures tbody .badge.warn').length") == 1


def test_what_a_machine_says_stays_text(show):
    opened = show()
    assert opened.evaluate("window.pwned") is None and opened.evaluate("document.images.length") == 0
    for table in ("failures", "kernels"):
        assert HOSTILE in opened.evaluate(f"document.getElementById('{table}').textContent")


def test_tables_sort_by_the_column_that_is_clicked(show):
    opened = show()
    click = "document.querySelectorAll('#figures thead button')[8].click()"
    opened.evaluate(click)
    assert column(opened, "figures", 8) == ["480", "31.06", "19.2"]
    opened.evaluate(click)
    assert column(opened, "figures", 8) == ["19.2", "31.06", "480"]
    assert opened.evaluate("document.querySelectorAll('#figures th')[8].getAttribute('aria-sort')") == "ascending"


def test_a_name_leads_to_the_page_beside_the_report_where_there_is_one(show):
    opened = show()
    links = opened.evaluate("[...document.querySelectorAll('#figures a')].map((each) => each.getAttribute('href'))")
    assert links == ["a%20b/report.html"]


@pytest.mark.parametrize("width", [400, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_no_column_is_cut(show, width, dark):
    opened = show(width=width, dark=dark)
    assert opened.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    if width == 400:
        assert opened.evaluate(WIDER) == []


def test_the_policy_names_what_is_in_the_page():
    made = page.render_page(Answers("/gone"), set(), "/")
    assert re.search(rb"script-src 'sha256-[^']+'; style-src 'sha256-[^']+'", made) and len(made) < 100_000
    assert made.count(b"<script>") == 1 and b"http://" not in made.replace(b"http://www.w3.org", b"")
