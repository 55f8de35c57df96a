"""report.csv beside report.json: the same figures to the last digit, none left out, none twice."""
import csv
import decimal
import io
import json

COLUMNS = ["run", "clock", "core", "metric", "value", "low", "high", "unit"]
VERDICTS = {"pass": 0, "warn": 1, "fail": 2, "incomplete": 3}
LATENCY = {"reads": "count", "latency_min": "min_ns", "latency_p50": "p50_ns", "latency_p90": "p90_ns",
           "latency_p99": "p99_ns", "latency_p999": "p999_ns", "latency_max": "max_ns", "latency_mean": "mean_ns",
           "loop": "loop_ns"}
MONOTONIC = {"steps_back": ("backward", "steps"), "worst_step_back": ("worst_ticks", "ticks"), "stalls": ("stalls", "stalls")}


def bare(value):
    """A figure without an interval, or nothing where there is none."""
    return None if value is None else (value, None, None)


def ends(interval):
    return interval and (interval["value"], interval["low"], interval["high"])


def of_run(report):
    machine, skew, gaps = report["machine"], report["skew"] or {}, report["interference"] or {}
    yield "verdict", bare(VERDICTS[report["verdict"]]), ""
    yield "elapsed", bare(report["elapsed_ms"]), "ms"
    yield "cores_listed", bare(machine["cores_listed"]), "cores"
    yield "cores_started", bare(machine["cores_started"]), "cores"
    yield "tsc_rate", bare(machine["tsc_hz"]), "Hz"
    for metric, key, unit in (("pairs", "pairs", "pairs"), ("warps", "warps", "warps"), ("within", "within_ns", "ns"),
                              ("contradictions", "contradictions", "pairs"), ("best_trip", "best_trip_ns", "ns"),
                              ("median_trip", "median_trip_ns", "ns")):
        yield metric, bare(skew.get(key)), unit
    for metric, key, unit in (("observed", "observed_ns", "ns"), ("gaps", "gaps", "gaps"), ("gaps_total", "total_ns", "ns"),
                              ("worst_gap", "worst_ns", "ns"), ("smi_count", "smi_count", "SMIs")):
        yield metric, bare(gaps.get(key)), unit


def of_clock(clock):
    yield "width", bare(clock["width_bits"]), "bits"
    yield "claimed_rate", bare(clock["claimed_hz"]), "Hz"
    yield "rate", ends(clock["measured_hz"]), "Hz"
    yield "rate_error", ends(clock["error_ppm"]), "ppm"
    yield "rate_change", ends(clock["change_ppm"]), "ppm"
    yield "resolution", bare(clock["resolution_ns"]), "ns"
    yield "step", bare(clock["step_ticks"]), "ticks"
    for metric, key in LATENCY.items() if clock["latency"] else ():
        yield metric, bare(clock["latency"][key]), "reads" if metric == "reads" else "ns"
    for metric, (key, unit) in MONOTONIC.items() if clock["monotonic"] else ():
        yield metric, bare(clock["monotonic"][key]), unit


def of_core(core):
    yield None, "started", bare(int(core["started"])), ""
    yield None, "tsc_adjust", bare(core["tsc_adjust"]), "ticks"
    yield None, "offset", ends(core["offset_ns"]), "ns"
    yield None, "drift", ends(core["drift_ppm"]), "ppm"
    yield None, "observed", bare(core["observed_ns"]), "ns"
    yield None, "gaps", bare(core["gaps"]), "gaps"
    yield None, "worst_gap", bare(core["worst_gap_ns"]), "ns"
    for key, prefix in (("latency", ""), ("latency_contended", "contended_")):
        for clock, figures in core[key].items():
            for name in ("min", "p50", "p99") if figures else ():
                yield clock, f"{prefix}latency_{name}", bare(figures[f"{name}_ns"]), "ns"


def expected(report):
    """(clock, core, metric): (value, low, high), unit of all that the table has to have."""
    rows = {}

    def put(clock, core, metric, figures, unit, always=False):
        if figures or always:
            key = clock or "", "" if core is None else str(core), metric
            assert key not in rows, key
            rows[key] = figures or (None, None, None), unit or ""
    for metric, figures, unit in of_run(report):
        put(None, None, metric, figures, unit)
    for clock in report["clocks"]:
        put(clock["id"], None, "verdict", bare(VERDICTS.get(clock["verdict"])), "", always=True)
        for metric, figures, unit in of_clock(clock):
            put(clock["id"], None, metric, figures, unit)
    for rate in report["rates"]:
        put(rate["a"], None, f"rate_against_{rate['b']}", ends(rate["ppm"]), "ppm")
    for core in report["cores"]:
        for clock, metric, figures, unit in of_core(core):
            put(clock, core["apic_id"], metric, figures, unit)
    for finding in report["findings"]:
        key = finding["clock"] or "", "" if finding["core"] is None else str(finding["core"])
        name, count = f"finding_{finding['rule']}", 1
        while (*key, name if count == 1 else f"{name}_{count}") in rows:
            count += 1
        figures = None if finding["measured"] is None else (finding["measured"], finding["low"], finding["high"])
        put(finding["clock"], finding["core"], name if count == 1 else f"{name}_{count}", figures, finding["unit"], True)
    return rows


def number(text):
    return decimal.Decimal(text) if text else None


def read(data):
    """(clock, core, metric): (value, low, high), unit of each row of the CSV in DATA, and what its rows call the run."""
    rows, runs = {}, set()
    reader = csv.DictReader(io.StringIO(data.decode("ascii"), newline=""), strict=True)
    assert reader.fieldnames == COLUMNS
    for row in reader:
        assert None not in row and None not in row.values(), row
        key = row["clock"], row["core"], row["metric"]
        assert key not in rows, f"twice: {key}"
        rows[key] = (number(row["value"]), number(row["low"]), number(row["high"])), row["unit"]
        runs.add(row["run"])
    return rows, runs


def check(json_data, csv_data):
    """Of the worst offset the JSON has the middle and half the width, which is rounded."""
    report = json.loads(json_data, parse_float=decimal.Decimal)
    found, runs = read(csv_data)
    assert runs == {report["started_at"] or ""}
    worst = found.pop(("", "", "worst_offset"), None)
    skew = report["skew"] or {}
    assert (worst is None) == (skew.get("worst_offset_ns") is None)
    if worst:
        (value, low, high), unit = worst
        assert (value, high, unit) == (skew["worst_offset_ns"], skew["worst_offset_ns"] + skew["error_ns"], "ns")
        assert abs(value - low - skew["error_ns"]) <= 1
    wanted = expected(report)
    assert sorted(found) == sorted(wanted)
    assert {key: (found[key], row) for key, row in wanted.items() if found[key] != row} == {}
    assert {row[1] for row in found.values()} <= {"", "ns", "ms", "us", "ppm", "ppb", "Hz", "ticks", "bits", "reads", "steps",
                                                  "stalls", "cores", "pairs", "warps", "gaps", "SMIs"}
