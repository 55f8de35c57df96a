"""Converts a report to rows of six tables. COLUMNS defines the columns of each table for Parquet, DuckDB and the queries."""
import datetime
import re

from results.sanitize import clean_text

WORD_MAX = 200    # maximum number of characters of a word
TEXT_MAX = 600    # maximum number of characters of a sentence
WHOLE_MAX = 2 ** 53  # limit of whole numbers, because JSON readers may round larger ones
# Limits for the absolute value of each number except 0. Numbers outside of them are dropped, so that products and quotients in
# queries stay finite.
TINY, HUGE = 1e-18, 1e18
UNKNOWN_DAY = "unknown"
SPREAD = ("value", "low", "high")

# The columns of each table: name, type, and path of the value in the report. A name with * stands for three columns, for value,
# low and high of an interval. Columns without a path are computed by make_rows(). `run` is the SHA-256 of the report's bytes.
# The files of each table are partitioned by `day`.
TEXT, WORD, REAL, WHOLE, FLAG, TIME = "VARCHAR", "VARCHAR", "DOUBLE", "BIGINT", "BOOLEAN", "TIMESTAMP"
COLUMNS = {
    "runs": [
        ("run", WORD, None), ("day", WORD, None), ("started_at", TIME, None), ("loaded_at", TIME, None), ("source", TEXT, None),
        ("page", TEXT, None), ("machine", WORD, None), ("known_by", WORD, None), ("kind", WORD, None),
        ("vendor", WORD, "machine.identity.vendor"), ("product", WORD, "machine.identity.product"),
        ("serial", WORD, "machine.identity.serial"), ("board", WORD, "machine.identity.board"),
        ("bios", WORD, "machine.identity.bios"), ("bios_date", WORD, "machine.identity.bios_date"),
        ("microcode", WHOLE, "machine.identity.microcode"), ("host", WORD, "machine.identity.host"),
        ("cpu", WORD, "machine.cpu"), ("hypervisor", WORD, "machine.hypervisor"),
        ("accelerator", WORD, "machine.accelerator"), ("firmware", WORD, "machine.firmware"),
        ("cores_listed", WHOLE, "machine.cores_listed"), ("cores_started", WHOLE, "machine.cores_started"),
        ("tsc_hz", REAL, "machine.tsc_hz"), ("label", WORD, "options.label"), ("profile", WORD, "options.profile"),
        ("cores_by", WORD, "options.cores"), ("cores_max", WHOLE, "options.cores_max"),
        ("tool_version", WORD, "tool.version"), ("tool_commit", WORD, "tool.commit"), ("elapsed_ms", REAL, "elapsed_ms"),
        ("verdict", WORD, "verdict"), ("reason", TEXT, "reason"),
        ("stolen_percent", REAL, "quality.stolen_percent"), ("reliable_tails", FLAG, "quality.reliable_tails"),
        ("warps", WHOLE, "skew.warps"), ("within_ns", WHOLE, "skew.within_ns"),
        ("gaps", WHOLE, "interference.gaps"), ("gaps_total_ns", REAL, "interference.total_ns"),
        ("observed_ns", REAL, "interference.observed_ns"), ("smi_count", WHOLE, "interference.smi_count"),
        ("kernel", WORD, "kernel.release"), ("kernel_clock", WORD, "kernel.clocksource"),
        ("kernel_tsc_hz", REAL, "kernel.tsc.believed_hz"),
    ],
    "clocks": [
        ("clock", WORD, "id"), ("state", WORD, "state"), ("verdict", WORD, "verdict"), ("reason", TEXT, "reason"),
        ("width_bits", WHOLE, "width_bits"), ("claimed_hz", REAL, "claimed_hz"), ("hz_*", REAL, "measured_hz"),
        ("error_ppm_*", REAL, "error_ppm"), ("change_ppm_*", REAL, "change_ppm"), ("resolution_ns", REAL, "resolution_ns"),
        ("reads", WHOLE, "latency.count"), ("min_ns", REAL, "latency.min_ns"), ("p50_ns", REAL, "latency.p50_ns"),
        ("p50_low_ns", REAL, "latency.p50_within_ns.0"), ("p50_high_ns", REAL, "latency.p50_within_ns.1"),
        ("p90_ns", REAL, "latency.p90_ns"), ("p99_ns", REAL, "latency.p99_ns"), ("p999_ns", REAL, "latency.p999_ns"),
        ("max_ns", REAL, "latency.max_ns"), ("loop_ns", REAL, "latency.loop_ns"),
        ("read_cost_ns_*", REAL, "cost.read_ns"), ("backward", WHOLE, "monotonic.backward"),
        ("stalls", WHOLE, "monotonic.stalls"), ("not_determined", WHOLE, "not_determined"),
    ],
    "cores": [
        ("apic_id", WHOLE, "apic_id"), ("boot", FLAG, "boot"), ("started", FLAG, "started"), ("tsc_adjust", WHOLE, "tsc_adjust"),
        ("offset_ns_*", REAL, "offset_ns"), ("drift_ppm_*", REAL, "drift_ppm"), ("off_majority", FLAG, "off_majority"),
        ("drifts", FLAG, "drifts"), ("steps_back", FLAG, "steps_back"), ("backward", WHOLE, "monotonic.backward"),
        ("observed_ns", REAL, "observed_ns"), ("gaps", WHOLE, "gaps"), ("worst_gap_ns", REAL, "worst_gap_ns"),
    ],
    "intervals": [
        ("source", WORD, "source"), ("mode", WORD, "mode"), ("core", WHOLE, "core"), ("period_ns", REAL, "asked.period_ns"),
        ("asked", WHOLE, "asked.count"), ("expected", WHOLE, "expected"), ("delivered", WHOLE, "delivered"), ("empty", WHOLE, "empty"),
        ("doubled", WHOLE, "doubled"), ("early", WHOLE, "early"), ("excused", WHOLE, "excused"),
        ("late_min_ns", REAL, "lateness_ns.min"), ("late_p50_ns", REAL, "lateness_ns.p50"),
        ("late_p99_ns", REAL, "lateness_ns.p99"), ("late_max_ns", REAL, "lateness_ns.max"),
        ("late_error_ns", REAL, "lateness_ns.error"), ("rate_ppm_*", REAL, "rate_ppm"), ("policy", WORD, "policy"),
        ("state", WORD, "state"), ("reason", TEXT, "reason"),
    ],
    "claims": [
        ("source", WORD, "source"), ("clock", WORD, "clock"), ("state", WORD, "state"), ("outcome", WORD, "outcome"),
        ("hz_*", REAL, "value_hz"), ("measured_hz_*", REAL, "measured_hz"), ("error_ppm_*", REAL, "error_ppm"),
        ("reason", TEXT, "reason"),
    ],
    "findings": [
        ("rule", WORD, "rule"), ("severity", WORD, "severity"), ("clock", WORD, "clock"), ("core", WHOLE, "core"),
        ("measured", REAL, "measured"), ("low", REAL, "low"), ("high", REAL, "high"), ("bound", REAL, "limit"),
        ("unit", WORD, "unit"), ("text", TEXT, "text"),
    ],
}
DETAILS = [table for table in COLUMNS if table != "runs"]
KEYS = ("schema", "tool", "options", "started_at", "elapsed_ms", "machine", "quality", "clocks", "cores", "skew",
        "interference", "intervals", "claims", "findings", "verdict", "reason")
HEAD = [("run", WORD, None), ("day", WORD, None)]


def expand_interval_columns(columns):
    """Return COLUMNS with three columns (value, low, high) in place of each column whose name has a *."""
    for name, kind, place in columns:
        if "*" in name:
            yield from ((name.replace("*", part), kind, f"{place}.{part}") for part in SPREAD)
        else:
            yield name, kind, place


SPREAD_COLUMNS = {table: [*([] if table == "runs" else HEAD), *expand_interval_columns(columns)] for table, columns in COLUMNS.items()}


def keep_needed_keys(report):
    """Return REPORT without the keys whose values are in no table, so that these keys need not be checked."""
    return {key: report[key] for key in KEYS if key in report} if isinstance(report, dict) else report


def get_item_at_path(value, place):
    """Return the item at the path PLACE in VALUE, or None."""
    for key in place.split("."):
        if isinstance(value, list):
            value = value[int(key)] if key.isdigit() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def convert_value(value, kind):
    """Return VALUE as a column of KIND stores it, or None if it has another type."""
    if kind == FLAG:
        return value if isinstance(value, bool) else None
    if kind in (REAL, WHOLE):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not (value == 0 or TINY < abs(value) < HUGE):
            return None
        return float(value) if kind == REAL else int(value) if abs(value) <= WHOLE_MAX else None
    return clean_text(value, TEXT_MAX) if isinstance(value, str) and value else None


def parse_time(word):
    """Return the time of the report's key started_at in a database's format, or None if it is no valid time."""
    if not isinstance(word, str) or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", word[:19]):
        return None
    try:
        return datetime.datetime.fromisoformat(word[:19]).isoformat(" ")
    except ValueError:
        return None


def join_words(*words):
    return " / ".join(clean_text(word, WORD_MAX) if word else "-" for word in words)


def identify_machine(row):
    """Return (name of the machine, source of this name). The source is the serial number, or else the label. Without both the
    name is None."""
    if row["serial"] and (row["vendor"] or row["product"]):
        return join_words(row["vendor"], row["product"], row["serial"]), "serial number"
    if row["label"]:
        return row["label"], "label"
    return None, "nothing"


def get_machine_kind(row):
    """Return the kind of the machine, or None if the machine is not identified. Figures are compared only between machines of
    the same kind.
    """
    if not row["vendor"] and not row["product"]:
        return None
    under = [row["hypervisor"] or row["accelerator"]] if row["hypervisor"] or row["accelerator"] else []
    if row["accelerator"] and row["hypervisor"]:
        under = [f"{row['hypervisor']} ({row['accelerator']})"]
    return join_words(row["vendor"], row["product"], row["bios"], row["cpu"], *under)


def make_row(columns, value):
    return {name: convert_value(get_item_at_path(value, place), kind) for name, kind, place in columns if place}


def make_rows(report, digest, source, page, loaded_at):
    """Return {table: rows} of REPORT, which reports.check_report() has accepted."""
    run = make_row(SPREAD_COLUMNS["runs"], report)
    started_at = parse_time(report.get("started_at"))
    run.update(run=digest, started_at=started_at, day=started_at[:10] if started_at else UNKNOWN_DAY, loaded_at=loaded_at,
               source=clean_text(source), page=clean_text(page) if page else None)
    run["machine"], run["known_by"] = identify_machine(run)
    run["kind"] = get_machine_kind(run)
    tables = {"runs": [run]}
    for table in DETAILS:
        tables[table] = [{"run": digest, "day": run["day"], **make_row(SPREAD_COLUMNS[table], row)}
                         for row in report.get(table) or [] if isinstance(row, dict)]
    return tables
