"""Runs that the user ends early. The report must be complete, and must say that the run was ended."""
import json
import re
import signal
import subprocess
import time

from boots import EFI_BUILT
from harness import QUICK_TCG, RUNNER, check_schema

pytestmark = [EFI_BUILT]

BOUND_S = 300


def ended_after(line, out, duration_s, *options):
    """Return the report of a soak whose measurements take DURATION_S. The runner gets a Ctrl-C when the serial line
    matches the regular expression LINE."""
    words = [RUNNER, *QUICK_TCG, "--cpus", "2", "--out", out, "--", "profile=soak", f"duration={duration_s}s", "irq=off",
             "clocks=tsc,acpi_pm", *options]
    process = subprocess.Popen(list(map(str, words)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    log, end = out / "serial.log", time.monotonic() + BOUND_S
    while not (log.exists() and re.search(line, log.read_bytes().replace(b"\r", b""), re.MULTILINE)):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=BOUND_S)
    assert process.returncode == 0, said
    assert "SIGINT: the measurements end early" in said
    return json.loads((out / "report.json").read_text()), (out / "report.txt").read_text()


def test_the_rest_of_a_soak_that_is_ended_early_is_measured_like_a_quick_run(tmp_path):
    report, text = ended_after(rb"^phase: rates$", tmp_path / "out", 60)
    check_schema(report)
    assert report["verdict"] == "pass" and 0 < report["ended_early_ms"] < report["elapsed_ms"]
    assert report["options"]["profile"] == "soak" and report["options"]["duration_ms"] == 60_000
    for clock in report["clocks"]:
        took_s = clock["latency"]["count"] * clock["latency"]["loop_ns"] / 1e9
        assert 0 < took_s < 60 / 4, clock["id"]
    assert [core["observed_ns"] > 0 for core in report["cores"]] == [True, True]
    assert report["skew"]["pingpongs"] and report["skew"]["later"]
    assert any(re.match(r"The user ended the run early at \d+\.\d s", note) for note in report["notes"]), report["notes"]
    assert "; ended early at" in " ".join(text.split())


def test_a_soak_that_is_ended_early_has_its_series_up_to_then(tmp_path):
    """A soak reads the clocks of the other core for up to 10 s before its series starts, or for the duration of a
    measurement if this is shorter. With 5 s there would be about 30 rows."""
    report, text = ended_after(rb"(?s)^phase: series\n(.*?^ +\d+ s ){4}", tmp_path / "out", 5, "interval=1s")
    check_schema(report)
    assert report["verdict"] == "pass" and report["ended_early_ms"] and report["options"]["interval_ms"] == 1000
    rows = report["series"]
    assert len(rows) >= 3
    assert [row["to_ms"] for row in rows[:-1]] == [row["from_ms"] for row in rows[1:]]
    assert all(row["to_ms"] - row["from_ms"] >= 999 for row in rows[:-1])
    # If the request to end comes while a row is being completed, the run notices it only after it has set the row's
    # end. The last row may then end up to one interval (1 s) before the early end.
    assert report["ended_early_ms"] - 1000 <= rows[-1]["to_ms"] < report["elapsed_ms"]
    for clock in report["clocks"]:
        reads = [row["clocks"][clock["id"]] for row in rows]
        assert sum(read["count"] for read in reads) == clock["latency"]["count"], clock["id"]
        assert min(read["min_ns"] for read in reads if read["count"]) == clock["latency"]["min_ns"]
        assert max(read["max_ns"] for read in reads if read["count"]) == clock["latency"]["max_ns"]
    assert sum(row["gaps"] or 0 for row in rows) == report["interference"]["gaps"]
    # A row's observed time is a sum of parts of up to 10 ms, each rounded to a nanosecond. The report's total is
    # rounded only once.
    observed_ns = report["interference"]["observed_ns"]
    assert abs(sum(row["observed_ns"] for row in rows) - observed_ns) <= observed_ns / 10 ** 6
    assert any(row["cores"][1]["offset_ns"] for row in rows)
    # During the run, each row was printed as a line. The text report has the rows again.
    log = (tmp_path / "out" / "serial.log").read_bytes().decode("ascii", "replace").replace("\r", "")
    told = re.findall(r"^ +(\d+) s .* +[\d.]+ ?[num]s +-\n", log[:log.index("phase: stop-cores")], re.M)
    assert len(told) == len(rows)
    moments = [(int(s), row["to_ms"]) for s, row in zip(told, rows)]
    assert all(abs(s * 1000 - to_ms) <= 501 for s, to_ms in moments), moments
    assert re.search(r"^progress: \d+% .*, \d+ s left\n", log, re.M)
    lines = text[text.index("The run over time"):].split("\n\n")[1].splitlines()
    assert "tsc" in lines[0] and "acpi_pm" in lines[0] and len(lines) == 1 + min(len(rows), 12)
