"""Converts reports of the old schema baretick.report/1 to baretick.report/2, which has other names for some keys and values."""

SCHEMA = "baretick.report/1"
KEYS = {
    "cores": {"meetings": "pingpongs", "apart": "off_majority", "watched_ns": "observed_ns"},
    "skew": {"players": "cores", "width": "concurrency", "meetings": "pingpongs"},
    "interference": {"watched_ns": "observed_ns"},
}
OUTCOMES = [("kept", "passed"), ("broken", "failed"), ("not seen", "not_checked")]


def convert_to_current(report, schema):
    """Convert the report REPORT of the old schema. SCHEMA is the name of the new schema. Parts with an unexpected type stay
    unchanged, because the later check against the schema rejects them.
    """
    now = {**report, "schema": schema}
    for key, names in KEYS.items():
        now[key] = _apply_to_objects(report.get(key), lambda row, names=names: {names.get(name, name): row[name] for name in row})
    now["behaviours"] = _apply_to_objects(report.get("behaviours"), lambda row: {**row, "outcome": _rename_outcome(row.get("outcome"))})
    now["clocks"] = _apply_clock_verdict_to_read_methods(report.get("clocks"))
    return now


def _apply_clock_verdict_to_read_methods(clocks):
    """Apply the verdict of a clock to its further read methods, if their own verdict is better. In the old schema each read
    method had its own verdict. In the new schema a fault of the counter is a fault of all its read methods.
    """
    worst = ["pass", "warn", "fail"]
    verdicts = {str(clock.get("id")): clock.get("verdict") for clock in clocks if isinstance(clock, dict)} if isinstance(clocks, list) else {}

    def change_verdict(clock):
        own, main = clock.get("verdict"), verdicts.get(str(clock.get("main")))
        return {**clock, "verdict": main} if own in worst and main in worst[worst.index(own):] else clock
    return _apply_to_objects(clocks, change_verdict)


def _rename_outcome(word):
    return next((new for old, new in OUTCOMES if old == word), word)


def _apply_to_objects(value, change):
    """Return CHANGE applied to the object VALUE, or to each object in the list VALUE."""
    if isinstance(value, list):
        return [change(item) if isinstance(item, dict) else item for item in value]
    return change(value) if isinstance(value, dict) else value
