"""What a report is as far as the runner reads it, and one for a run that gave none."""
import json
import os

SCHEMA = "baretick.report/2"
ORDER = {"pass": 0, "warn": 1, "fail": 2}

TEXT = (str, type(None))
FIGURE = (int, float, type(None))
INTERVAL = {"value": FIGURE, "low": FIGURE, "high": FIGURE}
SHAPE = {
    "schema": str, "verdict": str, "reason": TEXT, "options": {"clocks": [str]},
    "machine": {"cpu": TEXT, "hypervisor": TEXT, "firmware": TEXT, "accelerator": TEXT, "cores_started": FIGURE,
                "tsc_hz": FIGURE},
    "clocks": [{"id": str, "verdict": TEXT, "reason": TEXT, "claimed_hz": FIGURE, "measured_hz": INTERVAL,
                "error_ppm": INTERVAL, "resolution_ns": FIGURE, "step_ticks": FIGURE,
                "latency": {"min_ns": FIGURE, "p50_ns": FIGURE, "p99_ns": FIGURE, "loop_ns": FIGURE,
                            "clean": {"hit": FIGURE}}}],
    "skew": {"pairs": FIGURE, "warps": FIGURE, "within_ns": FIGURE},
    "behaviours": [{"rule": str, "clock": TEXT, "outcome": str, "text": TEXT}],
    "findings": [{"rule": str, "severity": str, "clock": TEXT, "text": TEXT}],
    "advice": [{"clock": str, "avoid": bool, "reason": TEXT}],
}
NEEDED = ("schema", "verdict", "clocks", "id", "rule")


def incomplete(reason, accelerator, elapsed_ms):
    """A report of a run that gave none: nothing in it was measured."""
    return {
        "schema": SCHEMA,
        "tool": {"name": "baretick", "version": None, "commit": None},
        "options": None, "started_at": None, "elapsed_ms": elapsed_ms,
        "machine": {"cpu": None, "hypervisor": None, "firmware": None, "accelerator": accelerator,
                    "cores_listed": None, "cores_started": None, "fence": None,
                    "tsc_is_invariant": None, "tsc_hz": None, "tsc_source": None},
        "clocks": [], "rates": [], "cores": [], "skew": None, "interference": None, "behaviours": [],
        "findings": [], "advice": [], "notes": [], "verdict": "incomplete", "reason": reason,
    }


def parse(data):
    """The report in DATA; ValueError with a sentence where it is none that can be read on."""
    try:
        report = json.loads(data.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"is not JSON in ASCII: {error}") from error
    schema = report.get("schema") if isinstance(report, dict) else None
    if schema != SCHEMA:
        found = f", but of {json.dumps(schema)[:40]}" if isinstance(schema, str) else ""
        raise ValueError(f"is not of schema {SCHEMA}{found}")
    flaw = _flaw(report, SHAPE, "")
    if flaw:
        raise ValueError(f"is not as schema {SCHEMA} has it: {flaw}")
    return report


def _refuse_constant(word):
    raise ValueError(f"{word} is no number")


def _flaw(value, shape, where):
    """The first place where VALUE is not of SHAPE; None: there is none. Whatever is not NEEDED may be absent."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{where} is no list"
        places = ((item, shape[0], f"{where}[{number}]") for number, item in enumerate(value))
    elif isinstance(shape, dict):
        if value is None and where:
            return None
        if not isinstance(value, dict):
            return f"{where} is no object"
        missing = [key for key in NEEDED if key in shape and key not in value]
        if missing:
            return f"{where or 'it'} has no {missing[0]}"
        places = ((value[key], shape[key], f"{where}.{key}".lstrip(".")) for key in shape if key in value)
    else:
        return None if isinstance(value, shape) else f"{where} is {json.dumps(value)[:40]}"
    return next(filter(None, (_flaw(*place) for place in places)), None)


def write(path, data):
    """Whole or not at all: somebody may be reading the last one."""
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)
