"""Compares the TSC rate and the clock that the running kernel uses with baretick's report. The kernel's rate counts as different
only if it is outside of the interval in the report.
"""

import re

SECONDS_A_DAY = 86_400
# The clocks that have one name in the kernel and another name in a report: src/report/README.md, `clocks[].id`.
NAMES = {"kvm-clock": "kvmclock", "hyperv_clocksource_tsc_page": "hv_page", "hyperv_clocksource_msr": "hv_ref",
         "hyperv_clocksource": "hv_ref", "tsc-early": "tsc"}


def _get_measured_rate(report):
    """Return the measured rate of the TSC with its bounds, or None. In a report, any of these three numbers may be null."""
    tsc = next((clock for clock in report.get("clocks") or [] if clock.get("id") == "tsc"), {})
    rate = tsc.get("measured_hz") or {}
    return rate if all((rate.get(end) or 0) > 0 for end in ("value", "low", "high")) else None


def calculate_tsc_rate_error(kernel, report):
    """Return the error of the kernel's TSC rate, or None if this rate or the measured rate is not known. `ppm` and
    `seconds_a_day` are [value, low, high] of the error of a clock that uses the kernel's rate. `excluded` is true if the kernel's
    rate is outside of the interval of the measured rate.
    """
    believed, measured = kernel["tsc"]["believed_hz"], _get_measured_rate(report)
    if not believed or not measured:
        return None
    # A TSC that is faster than the kernel's rate makes the kernel's time too fast.
    ppm = [(measured[end] / believed - 1) * 1e6 for end in ("value", "low", "high")]
    return {"ppm": ppm, "seconds_a_day": [each * SECONDS_A_DAY / 1e6 for each in ppm],
            "excluded": not measured["low"] <= believed <= measured["high"]}


def find_row_of_kernel(rows, release):
    """Return the row of a report's list `taken` for the kernel RELEASE ("6.12.117"), or None. The versions are in the names of the
    systems: "Linux before 6.12", "Linux 6.12 to 7.0", "Linux 7.1 and later". Without a release, all versions must agree."""
    version = tuple(int(part) for part in re.findall(r"\d+", release or "")[:2])
    found = []
    for row in rows:
        words = re.fullmatch(r"Linux (before )?(\d+)\.(\d+)(?: to (\d+)\.(\d+)| and later)?", row.get("system") or "")
        if not words:
            continue
        bound, end = (int(words[2]), int(words[3])), (int(words[4]), int(words[5])) if words[4] else version
        if not version or (version < bound if words[1] else bound <= version <= end):
            found.append(row)
    return found[0] if found and len({row.get("clock") for row in found}) == 1 else None


def get_clock_names(kernel, report):
    """Return (the kernel's clock, the clock that Linux should choose according to the report), by the report's names. None means
    not known."""
    current = kernel["clocksource"]
    expected = (find_row_of_kernel(report.get("taken") or [], kernel.get("release")) or {}).get("clock")
    return NAMES.get(current, current), expected


def _format_mhz(hertz):
    return f"{hertz / 1e6:.6f} MHz"


def format_comparison(kernel, report):
    """Yield the lines of the table for the terminal."""
    started = report.get("started_at")
    yield f"report   {report.get('verdict')}{f', started {started}' if started else ''}"
    measured, facts = _get_measured_rate(report), kernel["tsc"]
    if measured:
        low, value, high = (_format_mhz(measured[end]) for end in ("low", "value", "high"))
        yield f"tsc      baretick measured {value} ({low} to {high})"
    else:
        yield "tsc      baretick measured no rate"
    if facts["believed_hz"]:
        source = "refined" if facts["refined_hz"] else facts["source"] or "the source is not in its messages"
        yield f"         the kernel counts with {_format_mhz(facts['believed_hz'])} ({source})"
    else:
        why = "" if kernel["log_is_whole"] else ": their beginning is lost"
        yield f"         the kernel's messages have no rate{why}"
    found = calculate_tsc_rate_error(kernel, report)
    if found and found["excluded"]:
        ppm, day = found["ppm"], found["seconds_a_day"]
        off = f"{abs(ppm[0]):.3f} ppm too {{}} ({ppm[1]:+.3f} to {ppm[2]:+.3f})"
        if kernel["clocksource"] in ("tsc", "tsc-early"):
            yield (f"differs  the kernel's clock runs {off.format('fast' if ppm[0] > 0 else 'slow')}, which is "
                   f"{abs(day[0]):.2f} s a day, unless something disciplines it")
        else:
            yield (f"differs  the kernel's rate of the TSC is {off.format('low' if ppm[0] > 0 else 'high')}; its clock does not "
                   "use the TSC now")
    elif found:
        yield "agrees   the kernel's rate is within baretick's interval"
    current, expected = get_clock_names(kernel, report)
    if current and expected:
        match = "as baretick expected" if current == expected else f"and baretick expected {expected}"
        yield f"clock    the kernel uses {current}, {match}"
    elif current:
        yield f"clock    the kernel uses {current}; the report does not say which clock baretick expected"
    if facts["unstable"]:
        yield f"         it marked the TSC unstable: {facts['unstable']}"
    if facts.get("unchecked"):
        yield f"         it could not check the TSC: {facts['unchecked']}"
