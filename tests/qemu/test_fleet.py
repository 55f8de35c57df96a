"""qemu/fleet: which files it accepts and refuses, what it finds in a fleet, and its exit statuses."""
import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from harness import ROOT, check_schema
from readers import gather, rows, stick as stick_reader, table
from results import reports
from results.reports import make_incomplete_report
from lab import dataset, engine, questions, words
from made_fleet import KINDS, ODD, Maker, clock, planted, slower

GOLDENS = ROOT / "tests" / "goldens"
WAIT_S = 120  # longest wait; the machine may be busy


@pytest.fixture(scope="module")
def maker():
    return Maker(json.loads((GOLDENS / "clean.json").read_text()))


def gathered(maker, reports):
    return "".join(maker.text(report) + "\n" for report in reports)


@pytest.fixture
def fleet(tmp_path, maker, duckdb):
    """Return a function that calls qemu/fleet with a data set in the test's own folder. An argument that is a list of
    reports becomes the file all.json."""
    def call(*arguments, out="out"):
        for reports in arguments:
            if isinstance(reports, list):
                (tmp_path / "all.json").write_text(gathered(maker, reports))
        words = [str(tmp_path / "all.json" if isinstance(word, list) else word) for word in arguments]
        return subprocess.run([ROOT / "qemu" / "fleet", *words, "--out", tmp_path / out], capture_output=True, text=True, timeout=WAIT_S)
    return call


def ask(folder, query):
    """Return the rows of QUERY from the data set in FOLDER, by DuckDB."""
    with engine.connect_to_duckdb(str(folder)) as base:
        return base.execute(query).fetchall()


def golden(name="clean"):
    return (GOLDENS / f"{name}.json").read_text()


def long_file(path, size=1 << 30):
    with open(path, "wb") as file:
        file.write(b'{"schema": "baretick.report/1", ')
        file.truncate(size)  # a large sparse file that takes no space on the disk


BAD = {
    "truncated.json": lambda path: path.write_text(golden()[:20000]),
    "empty.json": lambda path: path.write_text(""),
    "foreign.json": lambda path: path.write_text('{"name": "left-pad", "version": "1.3.0"}'),
    "list.json": lambda path: path.write_text("[1, 2, 3]"),
    "binary.json": lambda path: path.write_bytes(bytes(range(256)) * 64),
    "deep.json": lambda path: path.write_text("[" * 100000),
    "many.json": lambda path: path.write_text('{"a":[' + "0," * 1_600_000 + "0]}"),
    "hostile.json": lambda path: path.write_text('{"schema": "baretick.report/\\u001b[31m\\n9"}'),
    "gigabyte.json": long_file,
    "fifo.json": os.mkfifo,
    "link.json": lambda path: path.symlink_to(GOLDENS / "clean.json"),
    "dangling.json": lambda path: path.symlink_to("nowhere"),
    "cut.csv": lambda path: path.write_text((GOLDENS / "clean.csv").read_text()[:9000]),
    "other.csv": lambda path: path.write_text("a,b\n1,2\n"),
    "infinite.csv": lambda path: path.write_text((GOLDENS / "clean.csv").read_text().replace(",elapsed,24071", ",elapsed,inf")),
}


def test_what_is_no_report_is_named_in_one_line_and_skipped(fleet, tmp_path):
    many = tmp_path / "many"
    many.mkdir()
    for name, make in BAD.items():
        make(many / name)
    (many / "good.json").write_text(golden())
    done = fleet(many)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert all(line.isprintable() and line.endswith(": skipped") for line in lines)
    assert sorted(re.search(r"many/(\S+) ", line)[1] for line in lines) == sorted(BAD)
    assert done.stdout.startswith(f"1 report added, 0 already stored, {len(BAD)} skipped; 1 in the data set\n")
    said = {re.search(r"many/(\S+) ", line)[1]: line for line in lines}
    for name, sentence in {"gigabyte.json": "is longer than 16 MiB", "fifo.json": "is no file", "link.json": "is a link",
                           "foreign.json": "is not of schema", "many.json": "has more than", "cut.csv": "ends within a row"}.items():
        assert sentence in said[name]


def test_folders_that_lead_round_in_a_circle_and_one_that_is_named_twice(fleet, tmp_path):
    many = tmp_path / "many"
    (many / "inner").mkdir(parents=True)
    (many / "inner" / "back").symlink_to(many)
    (many / "good.json").write_text(golden())
    done = fleet(many, many)
    assert done.returncode == 0 and "1 report added, 0 already stored, 1 skipped" in done.stdout
    assert "back is a link" in done.stderr


def test_a_folder_too_deep_is_not_gone_down(fleet, tmp_path):
    (tmp_path / "many" / "/".join("d" * 40)).mkdir(parents=True)
    (tmp_path / "many" / "good.json").write_text(golden())
    done = fleet(tmp_path / "many")
    assert done.returncode == 0 and "more than 32 folders deep" in done.stderr


def test_a_bad_line_among_gathered_reports_is_named_by_its_number(fleet, maker, tmp_path):
    text = gathered(maker, [maker.report(n) for n in range(3)]).splitlines()
    (tmp_path / "all.json").write_text("\n".join([text[0], text[1][:5000], text[2]]) + "\n")
    done = fleet(tmp_path / "all.json")
    assert done.stdout.startswith("2 reports added, 0 already stored, 1 skipped")
    assert "all.json, line 2 is not JSON" in done.stderr


def test_a_line_without_an_end_ends_the_file_but_not_the_rest(fleet, maker, tmp_path):
    with open(tmp_path / "all.json", "w") as file:
        file.write(gathered(maker, [maker.report(n) for n in range(40)]))
        file.write('{"schema": ' + " " * (17 << 20))
    done = fleet(tmp_path / "all.json")
    assert done.stdout.startswith("40 reports added, 0 already stored, 1 skipped"), done.stderr
    assert "line 41 is longer than 16 MiB" in done.stderr


def test_a_file_in_parts_has_each_line_once(maker, tmp_path, monkeypatch):
    monkeypatch.setattr(gather, "SLICE", 100_000)
    monkeypatch.setattr(gather, "SPLIT_MIN", 1)
    text = gathered(maker, [maker.report(n) for n in range(12)])
    (tmp_path / "all.json").write_text(text)
    parts = list(gather.split_file_into_tasks(str(tmp_path / "all.json")))
    assert len(parts) > 2
    data = (tmp_path / "all.json").read_bytes()
    assert b"".join(data[begin:begin + length] for _, _, begin, length, _ in parts) == data
    assert [number for *_, number in parts][0] == 1
    for _, _, begin, _, number in parts:
        assert data[:begin].count(b"\n") == number - 1


def test_what_is_dropped_first_changes_no_row():
    text = (GOLDENS / "sick.json").read_bytes()
    whole = json.loads(text)
    lean = gather.parse_report(text)
    assert len(gather.drop_unused_report_lists(text)) < len(text) and b'"exact":null' in gather.drop_unused_report_lists(text)
    every = [rows.make_rows(report, "0", "a", None, None) for report in (whole, lean)]
    assert every[0] == every[1] and every[0]["findings"] and every[0]["cores"]


def test_the_counts_of_a_timer_are_those_of_its_report():
    report = json.loads(golden("sick"))
    counts = ("expected", "delivered", "empty", "doubled", "early", "excused")
    made = rows.make_rows(report, "0", "a", None, None)["intervals"]
    assert made and [[row[name] for name in counts] for row in made] == [[row[name] for name in counts] for row in report["intervals"]]


def test_table_and_report_of_one_run_give_the_same_figures(fleet, tmp_path):
    shutil.copy(GOLDENS / "clean.csv", tmp_path / "table.csv")
    shutil.copy(GOLDENS / "clean.json", tmp_path / "report.json")
    fleet(tmp_path / "table.csv", tmp_path / "report.json", "--db", tmp_path / "db")
    both = ask(tmp_path / "db", "SELECT count(DISTINCT run), count(DISTINCT machine), count(DISTINCT verdict), min(smi_count) FROM runs")
    assert both == [(2, 1, 1, None)]
    for list_of, name, columns in (("clocks", "clock", ["verdict", "hz_value", "hz_low", "error_ppm_high", "p50_ns", "max_ns", "reads"]),
                                 ("cores", "apic_id", ["offset_ns_value", "drift_ppm_low", "started"])):
        different = " + ".join(f"count(DISTINCT coalesce(CAST({column} AS VARCHAR), '-')) - 1" for column in columns)
        found = ask(tmp_path / "db", f"SELECT {name}, count(*), {different} FROM {list_of} GROUP BY {name}")
        assert len(found) >= 4 and {(count, more) for _, count, more in found} == {(2, 0)}


def test_wrong_claims_of_a_fleet_are_found_by_source_with_their_error(fleet, maker, tmp_path):
    report = json.loads(golden())
    report["claims"][1] |= {"outcome": "failed", "error_ppm": {"value": 1740.5, "low": 1740, "high": 1741}}
    fleet([report], "--db", tmp_path / "db")
    assert ask(tmp_path / "db", "SELECT source, clock, hz_value, error_ppm_value, error_ppm_low FROM claims WHERE outcome = 'failed'") == [
        ("CPUID 16h", "tsc", 2e9, 1740.5, 1740)]
    assert ask(tmp_path / "db", "SELECT source, hz_value, reason FROM claims WHERE state = 'not_claimed'") == [("CPUID 15h", None, "It is 0.")]


def test_a_label_comes_back_out_of_a_table():
    label = json.loads(golden("sick"))["options"]["label"]
    found, = table.parse_reports((GOLDENS / "sick.csv").read_bytes())
    assert label and found["options"]["label"] == label and found["verdict"] == "fail" and len(found["findings"]) > 3


def test_tables_put_together_are_several_runs(fleet, tmp_path):
    head, _, rest = (GOLDENS / "clean.csv").read_text().partition("\n")
    (tmp_path / "both.csv").write_text(f"{head}\n{rest}" + rest.replace("2026-01-01T", "2026-01-02T"))
    assert fleet(tmp_path / "both.csv").stdout.startswith("2 reports added")
    assert fleet(tmp_path / "both.csv").stdout.startswith("0 reports added, 2 already stored")


def test_of_a_folder_with_both_the_table_is_left(fleet, tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("csv", "json"):
        shutil.copy(GOLDENS / f"clean.{name}", tmp_path / "run" / f"report.{name}")
    # this file, which nextboot --collect writes, is no report
    (tmp_path / "run" / "kernel.json").write_text('{"schema": "baretick.kernel/1"}')
    assert fleet(tmp_path / "run").stdout.startswith("1 report added, 0 already stored, 0 skipped; 1 in")


def stick(path, files):
    """Make an image whose partition is at the same place as in images of `make image`. Its folder baretick has FILES
    {name: text}."""
    with open(path, "wb") as image:
        image.truncate(4 << 20)
    partition = f"{path}@@1M"
    subprocess.run(["mformat", "-i", partition, "-T", str((3 << 20) // 512), "-h", "16", "-s", "32", "::"], check=True)
    subprocess.run(["mmd", "-i", partition, "::/baretick"], check=True)
    for folder in dict.fromkeys(name.rpartition("/")[0] for name in files):
        subprocess.run(["mmd", "-i", partition, f"::/baretick/{folder}"], check=True)
    for name, text in files.items():
        subprocess.run(["mcopy", "-i", partition, "-", f"::/baretick/{name}"], input=text.encode(), check=True)


@pytest.mark.skipif(not shutil.which("mformat"), reason="there are no mtools")
def test_a_stick_gives_its_reports_and_a_broken_one_a_sentence(fleet, maker, tmp_path):
    one, two = (maker.text(maker.report(n)) for n in (1, 2))
    stick(tmp_path / "stick.img", {"1/report.json": one, "1/report.csv": "no matter", "2/report.json": two, "3/report.json": "{"})
    (tmp_path / "broken.img").write_bytes(bytes(range(256)) * 8192)
    done = fleet(tmp_path / "stick.img", tmp_path / "broken.img", "--db", tmp_path / "db")
    assert done.stdout.startswith("2 reports added, 0 already stored, 2 skipped"), done.stdout + done.stderr
    assert "broken.img has no folder baretick" in done.stderr and "stick.img:/baretick/3/report.json is not JSON" in done.stderr
    assert [serial for serial, in ask(tmp_path / "db", "SELECT serial FROM runs ORDER BY serial")] == ["SN-000001", "SN-000002"]


def test_the_reports_of_a_stick_have_no_more_bytes_than_the_stick(monkeypatch):
    """The entries of a damaged folder may all name the same large file."""
    monkeypatch.setattr(stick_reader, "read_file", lambda *_: b"x" * 60)
    left = [100]
    first, second = (stick_reader.Report("stick.img", "", f"::/baretick/{n}/report.json", left) for n in (1, 2))
    assert len(first.decode_json()) == 60
    with pytest.raises(ValueError, match="the reports before it have more bytes than the stick"):
        second.decode_json()


def test_a_table_of_very_many_runs_is_refused():
    rows = "".join(f"{n},,,elapsed,1,,,\n" for n in range(reports.COUNT_MAX + 1))
    with pytest.raises(ValueError, match="more than 1,000 runs"):
        table.parse_reports(f"run,clock,core,metric,value,low,high,unit\n{rows}".encode())


@pytest.mark.skipif(not shutil.which("mformat"), reason="there are no mtools")
def test_a_folder_that_the_firmware_could_not_rename_is_a_report(fleet, maker, tmp_path):
    one, two = (maker.text(maker.report(n)) for n in (1, 2))
    stick(tmp_path / "stick.img", {"0001.new/report.json": one, "0002.new/report.json": two[:1000]})
    done = fleet(tmp_path / "stick.img", "--db", tmp_path / "db")
    assert done.stdout.startswith("1 report added, 0 already stored, 1 skipped"), done.stdout + done.stderr
    assert "stick.img:/baretick/0002.new/report.json is not JSON" in done.stderr
    assert ask(tmp_path / "db", "SELECT serial FROM runs") == [("SN-000001",)]


@pytest.mark.parametrize("serial, label, machine, known_by", [
    ("SN-1", "rack 7", "Example Inc. / Server 1 / SN-1", "serial number"),
    ("SN-1", None, "Example Inc. / Server 1 / SN-1", "serial number"),
    (None, "rack 7", "rack 7", "label"),
    (None, None, None, "nothing"),
])
def test_a_machine_is_its_serial_number_else_its_label_else_not_known(maker, serial, label, machine, known_by):
    report = maker.report(0)
    report["machine"]["identity"]["serial"], report["options"]["label"] = serial, label
    check_schema(json.loads(maker.text(report)))
    run = rows.make_rows(report, "0", "a", None, None)["runs"][0]
    assert (run["machine"], run["known_by"]) == (machine, known_by)


def test_machines_without_a_serial_number_are_not_one_and_count_for_none(fleet, maker):
    reports = [maker.report(4 * n) for n in range(9)]
    for report in reports:
        report["machine"]["identity"]["serial"] = None
    slower(clock(reports[0], "hpet")["latency"], 50)
    done = fleet(reports)
    assert done.returncode == 0
    assert "9 reports of unknown machines" in done.stdout and "Not determined" in done.stdout
    assert "No machine is proven to be unlike its kind" in done.stdout


def test_the_page_names_warnings_and_runs_not_done_and_sorts_machines(fleet, maker, tmp_path):
    reports = [maker.report(4 * n) for n in range(3)]
    for report, serial in zip(reports, ("node10", "node2", "node1")):
        report["machine"]["identity"]["serial"] = serial
    reports[0].update(verdict="warn", findings=[{"rule": "clock-slow", "severity": "warn", "clock": "hpet", "core": None, "text": "It is slow."}])
    (tmp_path / "all.json").write_text(gathered(maker, reports))
    (tmp_path / "cut.json").write_text(json.dumps(make_incomplete_report("baretick printed nothing", "tcg", 1)))
    done = fleet(tmp_path / "all.json", tmp_path / "cut.json")
    page = (tmp_path / "out" / "fleet.html").read_text()
    shown = json.loads(re.search(r'<script[^>]*id="fleet"[^>]*>(.*?)</script>', page, re.S)[1])
    rows = {table["id"]: table["rows"] for table in shown["tables"]}
    assert shown["verdict"] == "warn" and shown["headline"] == "1 machine with warnings; no machine is proven to be unlike its kind"
    assert [row[1:] for row in rows["warnings"]] == [["hpet", "clock-slow", "It is slow."]] and rows["warnings"][0][0]["text"].endswith("node10")
    assert [row[0]["text"].rpartition(" ")[2] for row in rows["machines"]] == ["node1", "node2", "node10"]
    assert [row[0]["text"].rpartition(" ")[2] for row in rows["reads"]] == ["node1", "node2", "node10"]
    (name, reason), = rows["undone"]
    assert name["text"].endswith("cut.json") and reason == "baretick printed nothing"
    assert "1 run not done" in done.stdout and "\nNot done\n  not known:" in done.stdout and "baretick printed nothing" in done.stdout, done


def fleet_of(maker, tmp_path, count, odd):
    (tmp_path / "all.json").write_text(gathered(maker, maker.fleet(count, odd)))
    return {machine: found_as for machine, (_, found_as) in planted(count, odd).items()}


def on_page(path):
    """Return the tables of fleet.html."""
    text = re.search(r'<script type="application/json" id="fleet">(.*?)</script>', path.read_text(), re.DOTALL)[1]
    return {table["id"]: table["rows"] for table in json.loads(text)["tables"]}


def test_twenty_oddities_are_on_top_of_a_fleet(fleet, maker, tmp_path):
    oddities = fleet_of(maker, tmp_path, 300, ODD)
    done = fleet(tmp_path / "all.json")
    assert done.returncode == 1, done.stderr
    tables = on_page(tmp_path / "out" / "fleet.html")
    found = {(int(row[0]["text"][-6:]), row[2], row[1]) for row in [*tables["figures"], *tables["traits"]]}
    assert {(machine, *found_as) for machine, found_as in oddities.items()} <= found
    assert len({machine for machine, *_ in found} - set(oddities)) <= 5
    order = list(dict.fromkeys(int(row[0]["text"][-6:]) for row in tables["figures"]))
    odd_figures = {machine for machine, (what, _) in oddities.items() if what not in ("state", "cores started")}
    assert set(order[:len(odd_figures)]) == odd_figures
    assert all(len(line) <= 80 for line in done.stdout.splitlines()[:-1])


def test_the_page_has_the_median_reads_of_each_machines_newest_run(fleet, maker, tmp_path):
    reports = [maker.report(n) for n in (1, 2)]
    clock(reports[0], "hpet")["id"] = "x'; DROP TABLE clocks; --"  # invalid id of a clock, which is hostile SQL
    fleet(reports)
    text = re.search(r'id="fleet">(.*?)</script>', (tmp_path / "out" / "fleet.html").read_text(), re.DOTALL)[1]
    reads = next(table for table in json.loads(text)["tables"] if table["id"] == "reads")
    names = [name for name, *_ in reads["columns"]][1:]
    assert {"tsc", "acpi_pm", "hpet"} <= set(names) and len(names) == len(set(names))
    by_machine = {row[0]["text"].split(" / ")[-1]: dict(zip(names, row[1:])) for row in reads["rows"]}
    for report in reports:
        assert by_machine[report["machine"]["identity"]["serial"]] == {name: next((entry["latency"]["p50_ns"] for entry in report["clocks"] if entry["id"] == name and entry["latency"]),
                                  None) for name in names}


def collected(maker, folder, number, ppm_off, **kernel):
    """Make a folder like nextboot --collect does. The kernel's rate of the TSC is PPM_OFF too low."""
    report = maker.report(number)
    measured = clock(report, "tsc")["measured_hz"]
    kernel = {"schema": "baretick.kernel/1", "release": "6.1.0-44-amd64", "clocksource": "tsc",
              "tsc": {"believed_hz": measured["value"] / (1 + ppm_off / 1e6)}, **kernel}
    folder.mkdir(parents=True)
    (folder / "report.json").write_text(maker.text(report))
    (folder / "kernel.json").write_text(json.dumps(kernel))
    return report["machine"]["identity"]["serial"]


def test_a_kernel_whose_rate_of_the_tsc_is_outside_of_the_interval_is_named(fleet, maker, tmp_path):
    off = collected(maker, tmp_path / "in" / "a", 1, 205.0)
    clocksource = collected(maker, tmp_path / "in" / "b", 2, -10.0, clocksource="hpet")
    collected(maker, tmp_path / "in" / "c", 3, 0.0)
    (tmp_path / "in" / "d.json").write_text(maker.text(maker.report(4)))  # a report without messages of a kernel
    done = fleet(tmp_path / "in")
    assert done.returncode == 0, done.stderr
    rows = on_page(tmp_path / "out" / "fleet.html")["kernels"]
    assert [row[0]["text"].split(" / ")[-1] for row in rows] == [off, clocksource]
    assert re.search(r"Linux 6.1.0-44-amd64 counts the TSC with [\d.]+ MHz, which is 205.\d{3} ppm too low "
                     r"\(\+[\d.]+ to \+[\d.]+\); its clock is tsc$", rows[0][1]), rows
    assert re.search(r"10.\d{3} ppm too high \(-[\d.]+ to -[\d.]+\); its clock is hpet$", rows[1][1]), rows
    assert "Kernels whose rate of the TSC is off" in done.stdout


def test_reports_of_three_hosts_tell_between_which_a_guest_may_move_without_tsc_scaling(fleet, maker):
    """Reports of three simulated hosts (deckhouse/virtualization pull request 2630) measured these rates, in Hz. The true rates
    are 2.9 GHz, 249 ppm more and 251 ppm more."""
    reports = [maker.report(number) for number in range(3)]
    for number, rate in enumerate([(2900000054.131, 2899999045.138, 2900001063.127), (2900722154.436, 2900721145.384, 2900723163.491),
                                   (2900727954.402, 2900726945.333, 2900728963.474)]):
        reports[number]["machine"]["identity"]["serial"] = f"host{number}"
        clock(reports[number], "tsc")["measured_hz"] = dict(zip(("value", "low", "high"), rate))
    done = fleet(reports)
    pairs = re.findall(r"(not allowed|allowed|not determined): the TSC of \S+ \S+ / \S+ \d / (host\d) is [\d.]+ ppm slower \((\S+) to (\S+)\) "
                       r"than that of \S+ \S+ / \S+ \d / (host\d);", " ".join(done.stdout.split()))
    assert [(result, first, second) for result, first, _, _, second in pairs] == [
        ("allowed", "host0", "host1"), ("not allowed", "host0", "host2"), ("allowed", "host1", "host2")], done.stdout
    for (_, _, low, high, _), ppm in zip(pairs, (1 / 1.000249 - 1, 1 / 1.000251 - 1, 1.000249 / 1.000251 - 1)):
        assert float(low) < ppm * 1e6 < float(high) < float(low) + 1.5


@pytest.mark.parametrize("content, flaw", [
    ('{"schema": "baretick.kernel/9"}', "its schema is not baretick.kernel/1"), ("[]", "its schema is not baretick.kernel/1"),
    ("{", "cannot be read: "), ("[" * 100_000, "cannot be read: ")], ids=["version", "list", "cut", "deep"])
def test_a_damaged_kernel_file_is_named_and_its_report_is_taken(fleet, maker, tmp_path, content, flaw):
    collected(maker, tmp_path / "in", 1, 205.0)
    (tmp_path / "in" / "kernel.json").write_text(content)
    done = fleet(tmp_path / "in")
    assert "1 report added" in done.stdout and "Kernels" not in done.stdout, done.stderr
    assert "kernel.json" in done.stderr and flaw in done.stderr


def test_a_healthy_fleet_has_none(fleet, maker, tmp_path):
    assert not fleet_of(maker, tmp_path, 300, 0)
    done = fleet(tmp_path / "all.json")
    assert done.returncode == 0 and "No machine is proven to be unlike its kind." in done.stdout
    assert "Not determined" not in done.stdout and "300 machines known, of 4 kinds" in done.stdout


def test_four_of_a_kind_say_nothing_and_five_do(fleet, maker):
    def odd_among(count):
        reports = [maker.report(4 * n) for n in range(count)]
        slower(clock(reports[0], "hpet")["latency"], 9)
        return fleet(reports, out=f"out{count}")
    four, five = odd_among(4), odd_among(5)
    assert four.returncode == 0 and "Not determined: fewer than five" in four.stdout
    assert five.returncode == 1 and "hpet, median read" in five.stdout


def test_figures_beyond_all_measure_are_none_and_spoil_nothing(fleet, maker, tmp_path):
    reports = [maker.report(4 * n) for n in range(9)]
    for report, ms, figure in zip(reports, (0, 1, 2 ** 70), (1e299, -1e299, 5e-324)):
        report["elapsed_ms"] = ms
        report["interference"]["smi_count"] = 2 ** 53
        report["quality"]["stolen_percent"] = report["machine"]["tsc_hz"] = figure
        for each in report["clocks"]:
            each["error_ppm"] = {"value": figure, "low": figure, "high": figure}
            if each["latency"]:
                each["latency"].update(min_ns=0, p50_ns=-10, p50_within_ns=None, max_ns=10 ** 200)
    done = fleet(reports)
    # status 1, because the fleet has an outlier with too many SMIs
    assert done.returncode == 1 and not done.stderr, done.stderr
    assert "9 machines known" in done.stdout
    text = json.dumps(on_page(tmp_path / "out" / "fleet.html"))
    assert "SMIs" in text and "Infinity" not in text and "NaN" not in text and "rate error" not in text


def test_machines_that_are_all_alike_make_nothing_an_outlier(fleet, maker):
    """All machines are equal, except one, so the median absolute deviation is 0. If only deviations were compared, 1
    ppm or 1 ns would make a machine an outlier. Here 20 ppm and 30 % must not make an outlier."""
    reports = []
    for n in range(20):
        report = maker.report(0)
        report["machine"]["identity"]["serial"] = f"SN-{n}"
        reports.append(json.loads(maker.text(maker.base)) | {"machine": report["machine"], "started_at": report["started_at"]})
    for row in reports[3]["clocks"]:
        if row["error_ppm"]:
            row["error_ppm"]["value"] += 20
            row["error_ppm"]["low"] += 20
            row["error_ppm"]["high"] += 20
        if row["latency"]:
            slower(row["latency"], 1.3)
    done = fleet(reports)
    assert done.returncode == 0 and "20 machines known, of 1 kind" in done.stdout, done.stdout


def test_an_interval_that_reaches_back_to_the_kind_is_no_outlier(fleet, maker):
    def with_error(error_ppm, out):
        reports = [maker.report(4 * n) for n in range(10)]
        clock(reports[0], "rtc")["error_ppm"] = {"value": 400, "low": 400 - error_ppm, "high": 400 + error_ppm}
        return fleet(reports, out=out).returncode
    assert with_error(1, "sharp") == 1
    assert with_error(390, "blunt") == 0


def test_a_third_of_a_kind_is_a_group_and_no_outlier(fleet, maker):
    reports = [maker.report(4 * n) for n in range(30)]
    for report in reports[:10]:
        slower(clock(report, "hpet")["latency"], 9)
    done = fleet(reports)
    assert done.returncode == 0 and "Two groups in one kind" in done.stdout


def test_what_is_in_already_is_not_taken_twice_and_only_what_is_new_is_status_1(fleet, maker, tmp_path):
    fleet_of(maker, tmp_path, 60, 2)
    first, again = fleet(tmp_path / "all.json"), fleet(tmp_path / "all.json")
    assert (first.returncode, again.returncode) == (1, 0)
    assert again.stdout.startswith("0 reports added, 60 already stored, 0 skipped; 60 in the data set")
    failed = maker.report(7, day=2)
    failed["verdict"] = "fail"
    failed["findings"] = [{"rule": "clock-stuck", "severity": "fail", "clock": "pit", "core": None, "measured": None, "low": None,
                           "high": None, "limit": None, "unit": None, "text": "pit is stuck.", "cause": None, "advice": None,
                           "source": None}]
    worse, same = fleet([failed]), fleet([failed])
    assert (worse.returncode, same.returncode) == (1, 0)
    assert "pit, clock-stuck: pit is stuck." in worse.stdout and "new finding: clock-stuck" in worse.stdout
    days = sorted(path.name for path in (tmp_path / "out" / "data" / "runs").iterdir())
    assert days == ["day=2026-03-01", "day=2026-03-02"]


def test_what_changed_since_the_run_before_and_since_last_week(fleet, maker):
    old, between, new = (maker.report(1, day) for day in (1, 9, 10))
    slower(clock(new, "hpet")["latency"], 5)
    said = fleet([old, between, new]).stdout
    for span in ("the run before", "last week"):
        part = said.partition(f"Changed since {span}")[2].partition("\n\n")[0]
        assert "hpet, median read: " in part and part.count("before, now") == 1, said


def update_bios(report):
    report["machine"]["identity"]["bios"] = "Example BIOS 3.0.0"
    slower(clock(report, "hpet")["latency"], 3)


@pytest.mark.parametrize("machines, said", [(6, "hpet: median read is slower on 6 of 6 machines"), (4, "not determined: 4 machines")])
def test_what_a_bios_did_is_said_of_five_machines_or_more(fleet, maker, machines, said):
    reports = [maker.report(4 * n, day) for n, day in itertools.product(range(machines), (1, 5))]
    for after in reports[1::2]:
        update_bios(after)
    part = fleet(reports).stdout.partition("Effects of version changes")[2].partition("\n\n")[0]
    assert said in " ".join(part.split()) and "BIOS Example BIOS 2.1.0 to Example BIOS 3.0.0" in " ".join(part.split())
    assert "rate error" not in part


def test_one_machine_that_goes_to_and_fro_is_one_machine(fleet, maker, tmp_path):
    reports = []
    for n, day in itertools.product(range(4), (1, 3, 5, 7)):
        reports.append(maker.report(4 * n, day))
        if day in (3, 7):
            update_bios(reports[-1])
    said = fleet(reports, "--db", tmp_path / "db").stdout
    part = said.partition("Effects of version changes")[2].partition("\n\n")[0]
    # "not determined" is printed for the change to the new version and for the change back
    assert " ".join(part.split()).count("not determined: 4 machines") == 2, said


def test_a_quick_run_behind_a_long_one_is_no_step_of_the_bios(fleet, maker):
    reports = [maker.report(4 * n, day) for n, day in itertools.product(range(6), (1, 5))]
    for before, after in zip(reports[::2], reports[1::2]):
        update_bios(after)
        after["options"]["profile"] = "quick" if before["options"]["profile"] != "quick" else "standard"
    assert "Effects of version changes" not in fleet(reports).stdout


def test_who_was_asked_for_two_cores_is_not_unlike_its_kind(fleet, maker):
    for cores_max, status in ((2, 0), (None, 1)):
        reports = [maker.report(4 * n, 1) for n in range(12)]
        for report in reports:
            report["machine"]["cores_started"] = 8
        reports[5]["machine"]["cores_started"] = 2
        reports[5]["options"]["cores_max"] = cores_max
        done = fleet(reports, out=f"out{status}")
        assert done.returncode == status, done.stdout
        assert ("cores started: 2" in done.stdout) == bool(status)


@pytest.mark.parametrize("date", ["2000-01-01T00:00:07Z", "2099-01-01T00:00:07Z"])
def test_a_run_whose_date_is_wrong_is_of_when_it_was_read_and_that_is_said(fleet, maker, date):
    report = maker.report(1, 9)
    fleet([report])
    report["started_at"], report["verdict"] = date, "fail"
    done = fleet([report])
    assert done.returncode == 1 and "Changed since the run before" in done.stdout, done.stdout
    assert "1 run dated before 2024 or after the time of reading" in done.stdout
    assert "The verdict is fail." in done.stdout


def test_of_runs_with_wrong_dates_that_are_read_together_the_last_file_is_the_newest(fleet, maker, tmp_path):
    for n, verdict in enumerate(("pass", "fail", "warn"), 1):
        report = maker.report(1, 1)
        report["started_at"], report["verdict"] = f"2000-01-01T00:00:{20 - n}Z", verdict
        (tmp_path / f"run-{n}.json").write_text(maker.text(report))
    fleet(*(tmp_path / f"run-{n}.json" for n in (3, 1, 2)), "--db", tmp_path / "db")
    with dataset_of(tmp_path) as data:
        answers = questions.Answers(data)
    assert [row["verdict"] for row in answers.machines] == ["warn"]
    assert [(row["before"], row["now"]) for row in answers.changes if row["what"] == "verdict"] == [("fail", "warn")]


def dataset_of(tmp_path):
    return contextlib.closing(dataset.Dataset(tmp_path / "out"))


def test_what_could_not_be_said_is_new_the_next_time(fleet, maker, tmp_path):
    fleet_of(maker, tmp_path, 60, 2)
    (tmp_path / "out" / "fleet.html").mkdir(parents=True)
    assert fleet(tmp_path / "all.json").returncode == 2
    (tmp_path / "out" / "fleet.html").rmdir()
    said, again = fleet(tmp_path / "all.json"), fleet(tmp_path / "all.json")
    assert (said.returncode, again.returncode) == (1, 0), said.stdout
    (tmp_path / "out" / "told.json").write_text("{")
    # nothing is new, because the data set already has the contents of the damaged file
    assert fleet(tmp_path / "all.json").returncode == 0


def test_a_list_that_is_cut_is_named(fleet, maker, tmp_path):
    class Few(questions.Answers):
        shown_max = 3
    fleet_of(maker, tmp_path, 60, 2)
    fleet(tmp_path / "all.json")
    with dataset_of(tmp_path) as data:
        few, all_of_it = Few(data), questions.Answers(data)
    assert len(few.machines) == 3 and few.known == all_of_it.known == 60
    assert "machines" in few.cut and not all_of_it.cut
    assert list(words.describe_limitations(few)) == [
        f"Only the first 3 rows of these tables are shown and searched for new findings: {', '.join(few.cut)}"]


def test_a_folder_may_be_named_with_any_characters(fleet, maker):
    reports = [maker.report(1)]
    for _ in range(2):
        done = fleet(reports, out="a[b]*?'{c}")
        assert done.returncode == 0, done.stderr
    assert "0 reports added, 1 already stored, 0 skipped; 1 in the data set" in done.stdout


def test_a_data_set_of_an_older_version_is_read_without_its_missing_columns(fleet, maker, tmp_path):
    fleet([maker.report(1)])
    made = next((tmp_path / "out" / "data" / "runs").glob("day=*/*.parquet"))
    with engine.connect_to_duckdb() as base:
        base.execute(f"COPY (SELECT * EXCLUDE (cores_by, cores_max) FROM read_parquet('{made}')) TO '{made}.new' (FORMAT parquet)")
    os.replace(f"{made}.new", made)
    done = fleet([maker.report(2)])
    assert done.returncode == 0 and "1 report added, 0 already stored, 0 skipped; 2 in the data set" in done.stdout, done.stderr


def test_a_load_that_was_killed_leaves_nothing(fleet, maker, tmp_path):
    fleet([maker.report(1)])
    data = tmp_path / "out" / "data"
    made = next((data / "clocks").glob("day=*/*.parquet"))
    # a file of a killed load, which belongs to no run in the data set; the next load must remove it
    shutil.copy(made, made.with_name("20990101T000000000000-0.parquet"))
    fleet([maker.report(2)], "--db", tmp_path / "db")
    assert not list(data.glob("clocks/*/20990101*"))
    assert ask(tmp_path / "db", "SELECT DISTINCT count(*) FROM clocks GROUP BY run, clock") == [(1,)]


def test_nothing_that_could_be_read_is_status_2(fleet, tmp_path):
    (tmp_path / "bad.json").write_text("{")
    done = fleet(tmp_path / "bad.json", tmp_path / "gone.json")
    assert done.returncode == 2 and "no report could be read" in done.stderr
    assert subprocess.run([ROOT / "qemu" / "fleet"], capture_output=True).returncode == 2


def damage_randomly(path):
    data = bytearray(path.read_bytes())
    data[-300:-200] = bytes(100)
    path.write_bytes(data)


def replace_by_fifo(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"rubbish"), lambda path: path.write_bytes(path.read_bytes()[:-9]), damage_randomly,
                                    replace_by_fifo], ids=["rubbish", "cut", "damaged", "fifo"])
def test_a_damaged_file_of_the_data_set_is_status_2_and_one_line(fleet, maker, tmp_path, damage):
    reports = [maker.report(1)]
    fleet(reports)
    damage(next((tmp_path / "out" / "data" / "clocks").glob("day=*/*.parquet")))
    done = fleet(reports)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and done.stderr[:-1].isprintable()
    assert done.stderr.startswith("qemu/fleet: DuckDB failed: ") and f"(the data set is in {tmp_path}/out/data)" in done.stderr


def test_an_internal_error_is_status_2_and_one_line(duckdb, fleet, maker, tmp_path):
    (tmp_path / "one.json").write_text(maker.text(maker.report(1)))
    shutil.copytree(ROOT / "qemu", tmp_path / "qemu", ignore=shutil.ignore_patterns("__pycache__"))
    for name in "src", "build":
        (tmp_path / name).symlink_to(ROOT / name)
    with open(tmp_path / "qemu/lab/page.py", "a") as file:
        file.write("\n\ndef render_page(*_):\n    raise KeyError('\\x1b[31m')\n")
    done = subprocess.run([tmp_path / "qemu/fleet", tmp_path / "one.json", "--out", tmp_path / "out"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2 and done.stderr == "qemu/fleet: internal error: KeyError: '\\x1b[31m' (--debug shows where)\n"
    (tmp_path / "file").write_text("")
    assert fleet(tmp_path / "one.json", out="file").returncode == 2


def test_two_at_once_do_not_write_one_data_set(fleet, tmp_path):
    import fcntl
    (tmp_path / "out").mkdir()
    folder = os.open(tmp_path / "out", os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    done = fleet(GOLDENS / "clean.json")
    os.close(folder)
    assert done.returncode == 2 and "in use by another" in done.stderr


@pytest.mark.parametrize("engine, goal", [("duckdb", "fleet"), ("spark", "fleet-spark")])
def test_without_its_environment_it_says_which_goal_makes_that(tmp_path, engine, goal):
    shutil.copytree(ROOT / "qemu", tmp_path / "qemu", ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run([sys.executable, tmp_path / "qemu" / "fleet", "--engine", engine, "x"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2 and f"`make {goal}`" in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@pytest.mark.parametrize("name, packages, hashes", [
    ("requirements", ["duckdb"], 2), ("requirements-spark", ["pyspark", "py4j"], 2), ("requirements-setuptools", ["setuptools"], 1)])
def test_what_is_installed_is_pinned_by_its_hash_and_from_nowhere_in_particular(name, packages, hashes):
    text = (ROOT / "qemu" / "lab" / f"{name}.txt").read_text()
    assert re.findall(r"^(\w+)==[0-9.]+ \\$", text, re.MULTILINE) == packages
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) == hashes
    assert "://" not in text and "index" not in text


def test_queries_are_of_the_sql_that_other_engines_speak():
    own = re.compile(r"\b(qualify|exclude|replace|unnest|list_\w+|struct_\w+|median|mad|quantile\w*|arg_max|arg_min|pivot|unpivot|asof|"
                     r"read_\w+|ilike|filter|group by all|order by all|using sample)\b|::|\[|\{", re.IGNORECASE)
    paths = sorted((ROOT / "qemu" / "lab" / "sql").glob("*.sql"))
    assert len(paths) > 8
    for path in paths:
        text = re.sub(r"--.*|'[^']*'", "", path.read_text())
        assert not own.search(text), (path.name, own.search(text))
        assert text.lstrip().startswith("SELECT") and ";" not in text


def test_figures_are_said_as_they_are():
    row = {"subject": "hpet", "measure": "median read", "unit": "ns", "value": 2400.0, "low": 2390.0, "high": 2410.0,
           "middle": 590.5, "machines": 200}
    assert words.describe_outlier(row) == ("hpet, median read: 2,400 ns (2,390 to 2,410); the median of 200 machines of its kind is 590.5 ns")
    assert words.format_value_with_interval({**row, "low": 2400.0, "high": 2400.0}) == "2,400 ns"


def test_the_made_fleet_is_of_reports_as_the_schema_has_them(maker):
    assert len(planted(40)) == ODD and len(KINDS) == 4
    for report in itertools.islice(maker.fleet(40), 12):
        check_schema(json.loads(maker.text(report)))
