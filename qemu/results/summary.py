"""Makes a job summary in Markdown, which CI services show on their pages: the verdict, the clocks, the findings.

Strings from the machine are not trusted. Each becomes plain text on one line, with a limited length.
"""
import re

from results.sanitize import clean_text

ROWS_MAX = 64        # maximum number of rows of a table or list, so that a summary stays far below GitHub's limit of 1 MiB
STRING_MAX = 400
# All characters that can start markup, HTML, a link, a mention or a formula in a line, or end a table's cell. They are written as
# character references, which cannot start markup: CommonMark 0.31, 2.5 "Entity and numeric character references".
ACTIVE = re.compile(r"[\\`*\[\]<>&|~@#/$]|(?<![a-z0-9])_|_(?![a-z0-9])|(?<=www)\.", re.IGNORECASE)
WORDS = {"pass": "pass", "warn": "pass, with warnings", "fail": "**fail**", "incomplete": "**incomplete**"}


def escape_text(text):
    text = " ".join(clean_text(text, STRING_MAX).split())
    text = "".join(c if c <= "~" else "?" for c in text)
    return ACTIVE.sub(lambda match: f"&#{ord(match[0])};", text)


def format_hertz(value):
    for unit, size in ("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3):
        if value >= size:
            return f"{value / size:.6f} {unit}"
    return f"{value:.3f} Hz"


def format_figure(value, unit=""):
    return "-" if value is None else f"{value:.4g}{unit}" if value < 1e4 else f"{value:,.0f}{unit}"


def format_count(number, noun):
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def limit_rows(rows):
    rows = list(rows)
    left = len(rows) - ROWS_MAX
    return rows[:ROWS_MAX] + ([f"... and {left} more\n"] if left > 0 else [])


def _format_verdict(clock):
    """Return the clock's verdict. If it is "pass" but some of the clock's rules were not determined, return "not determined" with
    their number.
    """
    if clock.get("verdict") == "pass" and clock.get("not_determined"):
        return f"not determined ({format_count(clock['not_determined'], 'rule')})"
    return clock.get("verdict") or "not read"


def _format_behaviour_outcomes(report):
    """Return a sentence with the numbers of rules that passed, failed, were not determined and were not checked."""
    rows = [row.get("outcome") for row in report.get("behaviours") or []]
    judged = ("passed", "failed") if report.get("unjudged") else ("passed", "failed", "not_determined", "not_checked")
    said = ", ".join(f"{rows.count(outcome)} {outcome.replace('_', ' ')}" for outcome in judged)
    return f"Specified behaviour: {said}{'; ' + escape_text(report['unjudged']) if report.get('unjudged') else ''}." if rows else None


def format_table(clocks):
    yield "| clock | rate | resolution | a read | median latency | 99 % | loop | verdict |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|"
    for clock in clocks[:ROWS_MAX]:
        latency, measured = clock.get("latency") or {}, clock.get("measured_hz") or {}
        cost = (clock.get("cost") or {}).get("read_ns") or {}
        reason = f": {escape_text(clock['reason'])}" if clock.get("verdict") == "absent" and clock.get("reason") else ""
        yield "| " + " | ".join([
            escape_text(clock["id"]), "-" if measured.get("value") is None else format_hertz(measured["value"]),
            format_figure(clock.get("resolution_ns"), " ns"), format_figure(cost.get("value"), " ns"), format_figure(latency.get("p50_ns"), " ns"),
            format_figure(latency.get("p99_ns"), " ns"), format_figure(latency.get("loop_ns"), " ns"),
            escape_text(_format_verdict(clock)) + reason]) + " |"


def format_synchrony(report):
    skew = report.get("skew")
    if not skew or not skew.get("pairs"):
        return None
    within, warps, told = skew.get("within_ns"), skew.get("warps"), escape_text(skew.get("text") or "not judged")
    said = f"TSCs of the cores: {told}" if within is None else f"No two cores' TSCs differ by more than {format_figure(within, ' ns')}"
    return f"{said} ({format_count(skew['pairs'], 'pair')} of cores, {format_count(warps, 'warp')})."


def group_systems(rows):
    """Yield (names of systems, row) for each group of rows with the same clock and reason."""
    groups = {}
    for row in rows:
        groups.setdefault((row.get("clock"), row.get("reason")), (row, []))[1].append(row.get("system") or "")
    return [(names, row) for row, names in groups.values()]


def format_advice(report):
    rows = report.get("advice") or []
    use = [row for row in rows if not row.get("avoid")]
    if use:
        yield f"Best clock: **{escape_text(use[0].get('clock') or '')}**, {escape_text(use[0].get('reason') or '')}"
    for systems, row in group_systems(report.get("taken") or []):
        yield f"{escape_text(' and '.join(systems))} take{'s' * (len(systems) == 1)} **{escape_text(row.get('clock') or '')}**, {escape_text(row.get('reason') or '')}"
    for row in rows:
        if row.get("avoid"):
            yield f"To avoid: **{escape_text(row.get('clock') or '')}**, {escape_text(row.get('reason') or '')}"


def format_summary(report, problem, comparison=None):
    verdict = "incomplete" if problem else report["verdict"]
    machine = report.get("machine") or {} if report["clocks"] else {}
    identity = machine.get("identity") or {}
    facts = [(report.get("options") or {}).get("label"), identity.get("vendor"), identity.get("product"),
             identity.get("serial") and f"serial number {identity['serial']}", machine.get("cpu"), machine.get("accelerator") or machine.get("hypervisor"), machine.get("firmware"),
             machine.get("cores_started") and f"{machine['cores_started']} cores"]
    worse = comparison.regression_sentences if comparison else []
    but = f", {'and' if verdict == 'fail' else 'but'} **worse than the baseline**" if worse else ""
    lines = [f"## baretick: {WORDS.get(verdict) or escape_text(verdict)}{but}", ""]
    said = (report.get("answer") or {}).get("text")
    if said:
        lines += [escape_text(said), ""]
    stolen = (report.get("quality") or {}).get("text")
    if stolen:
        lines += [escape_text(stolen), ""]
    if problem:
        lines += [f"Reason: {escape_text(problem)}", ""]
    if any(facts):
        lines += ["Machine: " + ", ".join(escape_text(fact) for fact in facts if fact), ""]
    given = (report.get("options") or {}).get("given")
    if given:
        lines += [f"Options: {escape_text(given)}", ""]
    if report["clocks"]:
        lines += [*format_table(report["clocks"]), ""]
    if report["clocks"] and _format_behaviour_outcomes(report):
        lines += [_format_behaviour_outcomes(report), ""]
    found = [f"- {escape_text(row.get('severity') or '')}, {escape_text(row['rule'])}: {escape_text(row.get('text') or '')}"
             for row in report.get("findings") or []]
    if report["clocks"]:
        lines += [*(limit_rows(found) or ["No findings."]), ""]
    lines += [line + "\n" for line in limit_rows(filter(None, [*format_advice(report), format_synchrony(report)]))]
    if comparison:
        rows = [f"- {escape_text(sentence)}" for sentence in worse]
        nothing = "Nothing was seen to be worse, but much time was stolen." if comparison.doubt else "Nothing is worse."
        lines += ["### Comparison with the baseline", "", *(limit_rows(rows) or [nothing]), ""]
        lines += [f"Note: {escape_text(note)}\n" for note in comparison.notes]
    return "\n".join(lines).rstrip("\n") + "\n"
