"""Spark (`qemu/fleet --engine spark`) must give the same answers as DuckDB, from the same queries on the same data set.
Needs `make fleet-spark`."""
import contextlib
import json
import math
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import pytest

from harness import ROOT
from lab import dataset, engine, page, questions, spark
from made_fleet import ODD, Maker, clock, change_crystal_rate, slower

pytestmark = pytest.mark.spark
WAIT_S = 480  # longest wait: Java needs 5 s of processor time to start, and the machine may be busy
GOLDENS = ROOT / "tests" / "goldens"
# relative tolerance: the two engines may add in a different order, and their logarithms differ in the last digit
ALIKE = 1e-9
FINDING = {"rule": "clock-stuck", "severity": "fail", "clock": "pit", "core": None, "measured": None, "low": None, "high": None,
           "limit": None, "unit": None, "text": "pit is stuck.", "cause": None, "advice": None, "source": None}


def with_bios(report):
    """Change a report so that it has another BIOS version and a slower HPET."""
    report["machine"]["identity"]["bios"] = "Example BIOS 3.0.0"
    slower(clock(report, "hpet")["latency"], 3)


# Changes of a report. Each change is made in the second run of a different machine.
CHANGES = [
    lambda report: change_crystal_rate(report, ("rtc",), 1234.5678901),
    lambda report: slower(clock(report, "acpi_pm")["latency"], 1 / 7),
    lambda report: report["machine"]["identity"].update(microcode=77),
    lambda report: report["machine"].update(hypervisor="KVM", accelerator="kvm"),
    lambda report: report["machine"].update(cores_started=1),
    lambda report: clock(report, "hpet").update(state="absent"),
    lambda report: report.update(findings=[FINDING], verdict="fail"),
    lambda report: report.update(findings=[{**FINDING, "clock": None, "text": None}], verdict="warn"),
    lambda report: report.update(verdict="fail"),
    # a start time before 2024 is ignored; the time of reading replaces it, so this run counts as the newest
    lambda report: report.update(started_at="2000-01-01T00:00:07Z", verdict="warn"),
    lambda report: report.update(started_at=None),
    lambda report: report["machine"]["identity"].update(serial=None),
    lambda report: report["machine"].update(identity=dict.fromkeys(report["machine"]["identity"])),
    lambda report: report.update(reason="The image is another one.", clocks=[], cores=[]),
]
# Names that both engines must sort in the same order. In UTF-16 the last two would be sorted the other way round.
NAMES = ["rack 7", "Rack 7", "r'ack", "räck", "\ufb00", "\U0001f600"]


def reports(maker):
    """Yield the reports of a fleet of 300 machines with outliers. Some machines of one kind have a slower PM timer. Some
    machines have a second run, with a newer BIOS, with one of CHANGES or with one of NAMES."""
    for machine, report in enumerate(maker.fleet(300, ODD)):
        if machine % 4 == 3 and machine < 120:
            slower(clock(report, "acpi_pm")["latency"], 9)
        yield report
    for machine in range(0, 24, 4):
        report = maker.report(machine, 6)
        with_bios(report)
        yield report
    for machine, change in enumerate(CHANGES, 40):
        report = maker.report(machine, 10)
        change(report)
        yield report
    yield maker.report(46, 11)  # a later run of this machine, without its failure
    for machine, name in enumerate(NAMES, 60):
        report = maker.report(machine, 10)
        report["machine"]["identity"]["serial"], report["options"]["label"] = None, name
        yield report


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a data set with the fleet of reports(), and with three more runs: one from a CSV file, one in schema 1,
    and one with extreme values."""
    for module in (spark, engine):
        module.load()
    folder = tmp_path_factory.mktemp("fleet")
    maker = Maker(json.loads((GOLDENS / "clean.json").read_text()))
    strange = maker.report(200, 12)
    strange["elapsed_ms"], strange["interference"]["smi_count"] = 1, 2 ** 53
    strange["quality"]["stolen_percent"] = 1e299
    for each in strange["clocks"]:
        each["error_ppm"] = {"value": None, "low": -1e17, "high": 1e-17}
    (folder / "all.json").write_text("".join(maker.text(report) + "\n" for report in [*reports(maker), strange]))
    sources = [folder / "all.json", GOLDENS / "sick.csv", GOLDENS / "older" / "report-1.json"]
    with contextlib.closing(dataset.Dataset(folder / "out")) as data:
        taken, _ = data.add_reports([os.fspath(path) for path in sources], lambda path, sentence: pytest.fail(f"{path}: {sentence}"))
        assert taken > 320
    return folder


@pytest.fixture(scope="module")
def answers(made):
    """Return the answers of DuckDB and of Spark."""
    with contextlib.closing(dataset.Dataset(made / "out")) as data:
        return questions.Answers(data), questions.Answers(data, "spark")


def unlike(one, other, place=""):
    """Return the places in which two answers differ."""
    if isinstance(one, float) and isinstance(other, float):
        return [] if math.isclose(one, other, rel_tol=ALIKE) else [(place, one, other)]
    if type(one) is not type(other):
        return [(place, one, other)]
    if isinstance(one, dict) and list(one) == list(other):
        return [each for key in one for each in unlike(one[key], other[key], f"{place}.{key}")]
    if isinstance(one, (list, tuple)) and len(one) == len(other):
        return [each for n, pair in enumerate(zip(one, other)) for each in unlike(*pair, f"{place}[{n}]")]
    return [] if one == other else [(place, str(one)[:300], str(other)[:300])]


def test_different_answers_are_found():
    assert unlike([{"a": 1.0}], [{"a": 1.0 + 1e-12}]) == []
    for other in ([{"a": 1.0 + 1e-8}], [{"a": 1}], [{"b": 1.0}], [], [{"a": None}], [{"a": "1.0"}]):
        assert unlike([{"a": 1.0}], other)


def test_spark_and_duckdb_give_the_same_answers(answers):
    duckdb, other = (vars(each) for each in answers)
    duckdb["names"], other["names"] = (dict(sorted(each["names"].items())) for each in (duckdb, other))
    assert unlike(duckdb, other)[:5] == []


def test_every_query_has_an_answer(answers):
    """Each query must return rows. Otherwise two empty answers would count as equal."""
    found = answers[0]
    for name in ("outliers", "groups", "unlike", "changes", "versions", "failures", "kinds", "machines", "reads"):
        assert getattr(found, name), name
    assert {row["what"] for row in found.changes} == {
        "verdict", "BIOS", "microcode", "hypervisor", "cores started", "state", "rate error", "median read", "new finding",
        "finding gone"}
    assert {row["span"] for row in found.changes} == {"the run before", "last week"}
    assert {row["measure"] for row in found.outliers} >= {"rate error", "median read", "core offset", "core drift", "SMIs", "stolen time"}
    assert {row["measure"] for row in found.unlike} == {"state", "cores started"}
    assert found.misdated and found.unknown and found.not_done and found.failed and found.warned
    assert {row["machine"] for row in found.machines} > set(NAMES)


def test_the_pages_from_both_engines_are_the_same(answers, made):
    one, other = (page.make_page_content(each, set(), os.fspath(made)) for each in answers)
    assert unlike(one, other)[:5] == []


def test_both_engines_print_the_same_and_leave_no_temporary_files(made, tmp_path):
    # this path has characters with a special meaning in patterns for files, but is not a pattern
    place = tmp_path / "a[b]*?'{c} %20"
    (tmp_path / "tmp").mkdir()
    said, left = [], []
    for name in ("duckdb", "spark"):
        done = subprocess.run([ROOT / "qemu" / "fleet", "--engine", name, made / "all.json", "--out", place], cwd=tmp_path,
                              capture_output=True, text=True, timeout=WAIT_S, env={**os.environ, "TMPDIR": str(tmp_path / "tmp")})
        assert done.returncode == 1 and not done.stderr, done.stderr
        said.append(done.stdout)
        left.append(sorted(path.name for path in [*place.iterdir(), *(place / "data").iterdir()]))
        assert {path.name for path in tmp_path.iterdir()} == {place.name, "tmp"} and not list((tmp_path / "tmp").iterdir())
        shutil.rmtree(place)
    assert said[0] == said[1] and left[0] == left[1]


def test_a_table_that_was_never_written_is_empty(tmp_path):
    with contextlib.closing(spark.Spark(os.fspath(tmp_path))) as base:
        names, rows = base.run_query("SELECT * FROM findings")
    assert {"run", "day", "rule"} < set(names) and not rows and not list(tmp_path.iterdir())


# Runs qemu/fleet, and kills its Java process when the first query starts.
KILLED = """
import runpy, sys
from lab import spark
ask = spark.Spark.table
def kill(self, name, query):
    java = self.session.sparkContext._gateway.proc
    java.kill()
    java.wait()
    return ask(self, name, query)
spark.Spark.table = kill
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_if_spark_dies_during_a_query_one_sentence_is_printed_with_status_2(made, tmp_path):
    fleet, temporary = ROOT / "qemu" / "fleet", tmp_path / "tmp"
    temporary.mkdir()
    code = f"import sys; sys.argv[:1] = []; sys.path.insert(0, {str(fleet.parent)!r})\n{KILLED}"
    done = subprocess.run([sys.executable, "-c", code, fleet, "--engine", "spark", made / "all.json", "--out", tmp_path / "out"],
                          capture_output=True, text=True, timeout=WAIT_S, env={**os.environ, "TMPDIR": str(temporary)})
    assert done.returncode == 2 and not done.stdout
    assert re.fullmatch(r"qemu/fleet: Spark failed: [^\n]+\n", done.stderr), done.stderr
    assert not list(temporary.iterdir())


def test_a_query_that_spark_refuses_fails_with_one_line(tmp_path):
    with contextlib.closing(spark.Spark(os.fspath(tmp_path))) as base:
        with pytest.raises(engine.Failed, match="^Spark failed: [^\n]*nowhere[^\n]*$"):
            base.run_query("SELECT * FROM nowhere")


def listening(pid):
    """Return the addresses on which the process PID listens, as in /proc/net/tcp."""
    sockets = set()
    for each in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.update(re.findall(r"socket:\[(\d+)\]", os.readlink(each)))
    lines = [line.split() for table in ("tcp", "tcp6") for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]]
    return {line[1].split(":")[0] for line in lines if line[3] == "0A" and line[9] in sockets}


def test_spark_listens_on_the_loopback_address_only(tmp_path):
    with socket.create_server(("0.0.0.0", 0)):
        assert "00000000" in listening(os.getpid())
    with contextlib.closing(spark.Spark(os.fspath(tmp_path))) as base:
        base.run_query("SELECT count(*) FROM runs")
        at = listening(base.session.sparkContext._gateway.proc.pid)
    assert at and at <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.mark.parametrize("java, sentence", [
    (None, "Spark needs Java 17 or later"),
    ("#!/bin/sh\necho 'UnsupportedClassVersionError: 55.0' >&2\nexit 1\n", "UnsupportedClassVersionError: 55.0"),
])
def test_without_a_suitable_java_one_sentence_is_printed_with_status_2(made, tmp_path, java, sentence):
    """Java is missing or too old. JAVA_HOME hides the Java that is installed on this machine."""
    (tmp_path / "bin").mkdir()
    if java:
        (tmp_path / "bin" / "java").write_text(java)
        (tmp_path / "bin" / "java").chmod(0o755)
    done = subprocess.run([sys.executable, ROOT / "qemu" / "fleet", "--engine", "spark", made / "all.json", "--out", tmp_path / "out"],
                          capture_output=True, text=True, timeout=WAIT_S, env={**os.environ, "JAVA_HOME": str(tmp_path)})
    assert done.returncode == 2 and not done.stdout
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
