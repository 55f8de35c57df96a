"""Converts report.csv back to reports. Such a report has only the figures that report.csv contains. A file may have the rows of
several runs.
"""
import csv
import io
import math

from results import reports

HEADER = ["run", "clock", "core", "metric", "value", "low", "high", "unit", "machine"]
VERDICTS = ["pass", "warn", "fail", "incomplete"]
ROWS_MAX = 200_000  # maximum number of rows of one run; a run with 256 cores has fewer
# Path of each metric's value in the report. For the metrics in WORDS the value is text.
RUN = {"elapsed": "elapsed_ms", "cores_listed": "machine.cores_listed", "cores_started": "machine.cores_started",
       "tsc_rate": "machine.tsc_hz", "stolen": "quality.stolen_percent", "warps": "skew.warps", "within": "skew.within_ns",
       "gaps": "interference.gaps", "gaps_total": "interference.total_ns", "observed": "interference.observed_ns",
       "smi_count": "interference.smi_count"}
WORDS = {"vendor": "vendor", "product": "product", "serial": "serial", "board": "board", "bios": "bios",
         "bios_date": "bios_date"}
CLOCK = {"width": "width_bits", "claimed_rate": "claimed_hz", "resolution": "resolution_ns", "reads": "latency.count",
         "latency_min": "latency.min_ns", "latency_p50": "latency.p50_ns", "latency_p90": "latency.p90_ns",
         "latency_p99": "latency.p99_ns", "latency_p999": "latency.p999_ns", "latency_max": "latency.max_ns",
         "loop": "latency.loop_ns", "steps_back": "monotonic.backward", "stalls": "monotonic.stalls",
         "not_determined": "not_determined"}
CLOCK_INTERVALS = {"rate": "measured_hz", "rate_error": "error_ppm", "rate_change": "change_ppm", "read_cost": "cost.read_ns"}
CORE = {"tsc_adjust": "tsc_adjust", "observed": "observed_ns", "gaps": "gaps", "worst_gap": "worst_gap_ns"}
CORE_INTERVALS = {"offset": "offset_ns", "drift": "drift_ppm"}


def is_report_csv(data):
    return data.startswith(b"run,clock,core,metric,value,")


def parse_reports(data):
    """Return the reports in DATA, each with the rows of one run of one machine. Raise ValueError if DATA is no such table."""
    try:
        lines = csv.reader(io.StringIO(data.decode("ascii"), newline=""), strict=True)
        header = next(lines)
        if not data.endswith(b"\n"):
            raise ValueError("ends within a row")
        if header[:8] != HEADER[:8]:
            raise ValueError("has other columns than report.csv")
        found = {}
        for row in lines:
            if not row:
                continue
            if len(row) < len(header):
                raise ValueError(f"ends within a row, line {lines.line_num}")
            found.setdefault((row[0], row[8] if len(row) > 8 else ""), []).append(row)
            if len(found) > reports.COUNT_MAX:
                raise ValueError(f"has the rows of more than {reports.COUNT_MAX:,} runs")
    except (csv.Error, UnicodeDecodeError, StopIteration) as error:
        raise ValueError(f"is no table in ASCII: {error}") from error
    if any(len(rows) > ROWS_MAX for rows in found.values()):
        raise ValueError(f"has more than {ROWS_MAX:,} rows of one run")
    return [_make_report(started_at, rows) for (started_at, _), rows in found.items()]


def parse_number(word):
    """Return WORD as a number, as in JSON, or None if the field is empty."""
    if not word:
        return None
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word[:40]} is no number")
    return int(word) if word.lstrip("-").isdigit() else number


def _set_item_at_path(into, place, value):
    *way, last = place.split(".")
    for key in way:
        into = into.setdefault(key, {})
    into[last] = value


def _make_interval(numbers):
    return dict(zip(("value", "low", "high"), numbers)) if None not in numbers else None


def _make_report(started_at, rows):
    report = {"schema": reports.read_schema_name(), "started_at": started_at, "verdict": None, "machine": {"identity": {}}, "findings": []}
    clocks, cores = {}, {}
    for _, clock, core, metric, value, low, high, unit, *machine in rows:
        numbers = [parse_number(word) for word in (value, low, high)]
        if metric.startswith("finding_"):
            report["findings"].append({"rule": metric[8:], "clock": clock or None, "core": parse_number(core), "unit": unit or None,
                                       **dict(zip(("measured", "low", "high"), numbers))})
        elif not clock and not core:
            _set_run_value(report, metric, numbers, unit)
        elif not core and (metric == "verdict" or metric in CLOCK or metric in CLOCK_INTERVALS):
            # Only these metrics add an entry to CLOCKS. Metrics of claims and calibrations may be about the LAPIC or the crystal,
            # which are not clocks of the report.
            _set_clock_value(clocks.setdefault(clock, {"id": clock}), metric, numbers)
        elif core and not clock:
            row = cores.setdefault(core, {"apic_id": parse_number(core)})
            if metric in CORE_INTERVALS:
                _set_item_at_path(row, CORE_INTERVALS[metric], _make_interval(numbers))
            elif metric in CORE or metric == "started":
                _set_item_at_path(row, CORE.get(metric, metric), bool(numbers[0]) if metric == "started" else numbers[0])
    report.update(clocks=list(clocks.values()), cores=list(cores.values()))
    label = next((row[8] for row in rows if len(row) > 8), None)
    known = report["machine"]["identity"]
    if label and label not in (known.get("serial"), known.get("product")):
        report["options"] = {"label": label, "clocks": []}
    return reports.check_report(report)


def _set_run_value(report, metric, numbers, unit):
    if metric == "verdict":
        report["verdict"] = _get_verdict_name(numbers[0])
    elif metric in WORDS and unit:
        report["machine"]["identity"][WORDS[metric]] = unit
    elif metric in RUN:
        _set_item_at_path(report, RUN[metric], numbers[0])


def _set_clock_value(clock, metric, numbers):
    if metric == "verdict":
        clock["verdict"] = _get_verdict_name(numbers[0])
    elif metric in CLOCK_INTERVALS:
        _set_item_at_path(clock, CLOCK_INTERVALS[metric], _make_interval(numbers))
    elif metric in CLOCK:
        _set_item_at_path(clock, CLOCK[metric], numbers[0])


def _get_verdict_name(number):
    return VERDICTS[number] if number in range(len(VERDICTS)) else None
