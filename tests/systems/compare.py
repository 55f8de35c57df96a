"""Compares what a kernel did on a machine with what baretick predicts, and keeps the table of outcomes."""
import json
import re

# baretick's rows of `taken`, for the kernel of each release of Debian and for Xen, and baretick's names for Linux's clocksources
SYSTEMS = {"bookworm": "Linux before 6.12", "trixie": "Linux 6.12 to 7.0", "sid": "Linux 7.1 and later", "xen": "Xen 4.17"}
CLOCKS = {"tsc-early": "tsc", "kvm-clock": "kvmclock", "hyperv_clocksource_msr": "hv_ref", "hyperv_clocksource_tsc_page": "hv_page"}
# Patterns of a kernel's messages on a fault of a clock, and of the name of a clock that it calls unstable
NOTICED = re.compile(r"skew|as unstable|clocksource watchdog|check_tsc_sync_source failed|TSC warp|TSC ADJUST", re.IGNORECASE)
BLAMED = re.compile(r"Marking (?:clocksource )?'?([\w-]+)'? (?:as )?unstable", re.IGNORECASE)
RATE_PPM_MAX = 500  # above this error a clock cannot be corrected by NTP, see the rule rate-disagree


def predict(report, suite):
    """Return the row of `taken` on the kernel of SUITE."""
    return next((row for row in report["taken"] if row["system"] == SYSTEMS[suite]), None)


def name_clock(clocksource):
    return CLOCKS.get(clocksource, clocksource)


def get_rate_error_ppm(report, outcome):
    """Return the difference between the kernel's rate of the TSC and baretick's, in ppm, or None."""
    tsc = next((clock for clock in report["clocks"] if clock["id"] == "tsc"), None)
    hz = tsc and tsc["measured_hz"]
    return round((outcome["refined_hz"] / hz["value"] - 1) * 1e6, 1) if hz and outcome["refined_hz"] else None


def has_noticed(outcome):
    """Return True if a message tells that the kernel found a fault of a clock."""
    return any(map(NOTICED.search, outcome["messages"]))


def get_blamed_clock(outcome):
    """Return the clock that the kernel calls unstable because of its watchdog or its check of two cores, or None."""
    marks = [match for message in outcome["messages"] if NOTICED.search(message) and (match := BLAMED.search(message))]
    return name_clock(marks[0][1].lower()) if marks else None


def find_differences(report, suite, outcome, has_fault):
    """Return a sentence for each difference between the prediction of REPORT and OUTCOME, a row of outcomes.json. HAS_FAULT is true
    if a fault was caused: on a healthy machine and a busy host, a kernel may notice a fault that does not exist."""
    row, differences = predict(report, suite), []
    if not row:
        return [f"baretick predicts nothing for {outcome['release']}"]
    if row["clock"] not in outcome["taken"]:
        differences.append(f"clocksource: baretick predicts {row['clock']}, {outcome['release']} took {', '.join(outcome['taken'])}")
    tick = report["tick"] and (report["tick"]["source"] or "").replace("_", "-")
    if tick and outcome["tick"] not in ([], [tick]):  # Xen prints no tick
        differences.append(f"tick device: baretick predicts {tick}, {outcome['release']} took {', '.join(outcome['tick'])}")
    error = get_rate_error_ppm(report, outcome)
    if error is not None and abs(error) > RATE_PPM_MAX:
        differences.append(f"the TSC's rate: {outcome['release']} differs by {error} ppm")
    if has_fault and "notices" in row:
        differences += _find_differences_of_faults(row, outcome)
    return differences


def _find_differences_of_faults(row, outcome):
    noticed, blamed = has_noticed(outcome), get_blamed_clock(outcome)
    if row["notices"] == "yes" and not noticed or row["notices"] in (None, "no") and noticed:
        yield f"notices: baretick predicts {row['notices']}, {outcome['release']} said {outcome['messages'] or 'nothing'}"
    if outcome["stands_still"] != ("stands still" in row["reason"]):
        yield f"time: {outcome['release']} {'stood still' if outcome['stands_still'] else 'did not stand still'}, baretick predicts the opposite"
    if blamed and row["blamed"] and blamed != row["blamed"]:
        yield f"blames: baretick predicts {row['blamed']}, {outcome['release']} blamed {blamed}"


def format_row(name, suite, outcome, report):
    row = predict(report, suite)
    error = get_rate_error_ppm(report, outcome)
    return (f"{name:<16} {outcome['release']:<28} {name_clock(outcome['clocksource']):<9} predicted {row and row['clock'] or '-':<9} "
            f"{'stands still  ' if outcome['stands_still'] else ''}tick {','.join(outcome['tick'])}  rate {'-' if error is None else f'{error:+.1f} ppm'}  "
            f"{'; '.join(outcome['messages']) or 'silent'}")


def merge(table, name, machine, suite, outcome):
    """Add OUTCOME of MACHINE, which has NAME, to TABLE, the contents of outcomes.json. Each clock that a kernel took in some boot
    stays in the row, because kernels decide differently on a busy host."""
    entry = table.setdefault(name, {"kernels": {}})
    entry.update(about=machine.about, has_fault=machine.has_fault())
    row = entry["kernels"].setdefault(suite, {"taken": {}, "known_wrong": None})
    clock = name_clock(outcome["clocksource"])
    row["taken"][clock] = row["taken"].get(clock, 0) + 1
    row.update(outcome, varies=len(row["taken"]) > 1)


def format_table(table):
    return json.dumps(table, indent=1) + "\n"
