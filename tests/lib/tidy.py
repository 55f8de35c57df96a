"""Compares report.csv with report.json. Each figure whose key has a metric in the schema must be in the CSV once, with
all its digits."""
import csv
import decimal
import io
import json

import shape

COLUMNS = ["run", "clock", "core", "metric", "value", "low", "high", "unit", "machine"]
VERDICTS = {"pass": 0, "warn": 1, "fail": 2, "incomplete": 3}


def get_value_and_interval(value):
    """Return (value, low, high) as the CSV writes them. A missing end is None. Return None if there is no value."""
    if isinstance(value, dict):
        return value["value"], value["low"], value["high"]
    value = VERDICTS.get(value) if isinstance(value, str) else value
    return None if value is None else (int(value) if isinstance(value, bool) else value, None, None)


def list_rows(node, value):
    """Yield (metric, figures, unit) of each property that has a metric. Objects in VALUE are included, but not its
    lists and maps."""
    for key, each in shape.properties(node).items():
        below = shape.properties(each)
        if "csv" in each and not isinstance(shape.part(each, "additionalProperties"), dict):
            # A text value is in the CSV's column for the unit.
            words = isinstance(value[key], str) and key != "verdict"
            yield each["csv"][0], *(((None, None, None), value[key]) if words else (get_value_and_interval(value[key]), each["csv"][1]))
        elif below and value[key]:
            yield from list_rows(each, value[key])


def read_list_figures(report, key):
    node = shape.properties(shape.REPORT)[key]
    for element in report[key]:
        for row in list_rows(shape.part(node, "items"), element):
            yield element, *row


def list_clock_rows(core):
    """Yield the rows for the maps of a core, such as `latency`, which map clocks to figures."""
    for key, each in shape.properties(shape.SCHEMA["$defs"]["core"]).items():
        below = shape.part(each, "additionalProperties")
        for clock, value in core[key].items() if below else ():
            for metric, found, unit in list_rows(below, value) if value else ():
                yield clock, each.get("csv", [""])[0] + metric, found, unit


def calculate_expected_rows(report):
    """Return {(clock, core, metric): ((value, low, high), unit)} of all rows that the CSV must have."""
    rows = {}

    def add_row(clock, core, metric, found, unit, always=False):
        if found or always:
            key = clock or "", "" if core is None else str(core), metric
            assert key not in rows, key
            rows[key] = found or (None, None, None), unit or ""
    for metric, found, unit in list_rows(shape.REPORT, report):
        add_row(None, None, metric, found, unit)
    for clock, metric, found, unit in read_list_figures(report, "clocks"):
        add_row(clock["id"], None, metric, found, unit, metric == "verdict")
    for rate, metric, found, unit in read_list_figures(report, "rates"):
        add_row(rate["a"], None, metric + rate["b"], found, unit)
    for claim, metric, found, unit in read_list_figures(report, "claims"):
        source = claim["source"].lower().replace(" ", "_").replace(",", "").replace("'", "")
        add_row(claim["clock"], None, f"{source}_{metric}", found, unit)
    for row, metric, found, unit in read_list_figures(report, "calibrations"):
        add_row(row["clock"], None, f"{row['loop']}_{metric}", found, unit)
    # A report of many cores from a serial line is shortened, and then has figures of the boot core only.
    short = any(not core["latency"] for core in report["cores"])
    for core, metric, found, unit in read_list_figures(report, "cores"):
        if core["boot"] or not short:
            add_row(None, core["apic_id"], metric, found, unit)
    for core in report["cores"]:
        for clock, *row in list_clock_rows(core):
            add_row(clock, core["apic_id"], *row)
    for row, metric, found, unit in read_list_figures(report, "intervals"):
        if row["state"] == "present" and not row["reason"]:
            asked = f"{row['mode'].replace('-', '_')}_{row['asked']['period_ns']}_"
            add_row(row["source"], row["core"], asked + metric, found, unit)
    for finding, metric, found, _ in read_list_figures(report, "findings"):
        key = finding["clock"] or "", "" if finding["core"] is None else str(finding["core"])
        name, count = metric + finding["rule"], 1
        while (*key, name if count == 1 else f"{name}_{count}") in rows:
            count += 1
        found = found and (found[0], finding["low"], finding["high"])
        add_row(finding["clock"], finding["core"], name if count == 1 else f"{name}_{count}", found, finding["unit"], True)
    return rows


def parse_number(text):
    return decimal.Decimal(text) if text else None


def read_rows(data):
    """Return {(clock, core, metric): ((value, low, high), unit)} of the CSV DATA, and the set of all (run, machine) in
    its rows."""
    rows, runs = {}, set()
    reader = csv.DictReader(io.StringIO(data.decode("ascii"), newline=""), strict=True)
    assert reader.fieldnames == COLUMNS
    for row in reader:
        assert None not in row and None not in row.values(), row
        key = row["clock"], row["core"], row["metric"]
        assert key not in rows, f"twice: {key}"
        rows[key] = (parse_number(row["value"]), parse_number(row["low"]), parse_number(row["high"])), row["unit"]
        runs.add((row["run"], row["machine"]))
    return rows, runs


def check_csv(json_data, csv_data):
    """Compare the CSV with the JSON. The JSON has the worst offset as the middle of an interval and half of its width,
    and this half width is rounded. So the CSV's ends may differ by the rounding."""
    report = json.loads(json_data, parse_float=decimal.Decimal)
    found, runs = read_rows(csv_data)
    identity = report["machine"]["identity"]
    machine = report["options"]["label"] or identity["serial"] or identity["product"] or ""
    assert runs == {(report["started_at"] or "", machine)}
    wanted, skew = calculate_expected_rows(report), report["skew"] or {}
    worst, known = (rows.pop(("", "", "worst_offset"), None) for rows in (found, wanted))
    assert (worst is None) == (known is None)
    if worst:
        (value, low, high), unit = worst
        assert (value, high, unit) == (skew["worst_offset_ns"], skew["worst_offset_ns"] + skew["error_ns"], "ns")
        assert abs(value - low - skew["error_ns"]) <= 1
    assert sorted(found) == sorted(wanted)
    assert {key: (found[key], row) for key, row in wanted.items() if found[key] != row} == {}
    for words in ("options_given", "vendor", "product", "serial", "board", "bios", "bios_date"):
        found.pop(("", "", words), None)
    assert {row[1] for row in found.values()} <= {"", "%", "ns", "ms", "us", "ppm", "ppb", "Hz", "ticks", "bits", "reads", "steps", "runs",
                                                  "stalls", "cores", "pairs", "warps", "gaps", "SMIs", "rules",
                                                  "periods", "deadlines", "interrupts", "readings"}
