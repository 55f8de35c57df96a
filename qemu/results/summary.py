"""Makes a job summary in Markdown, which CI services show on their pages: the verdict, the clocks, the findings.

Strings from the machine are not trusted. Each becomes plain text on one line, with a limited length.
"""
import re

from results.sanitize import clean

ROWS_MAX = 64        # most rows of a table or list, so that a summary stays far below GitHub's limit of 1 MiB
STRING_MAX = 400
# All characters that can start markup, HTML, a link, a mention or a formula in a line, or end a table's cell. They are written
# as character references, which are text: CommonMark 0.31, 2.5 "Entity and numeric character references".
ACTIVE = re.compile(r"[\\`*\[\]<>&|~@#/$]|(?<![a-z0-9])_|_(?![a-z0-9])|(?<=www)\.", re.IGNORECASE)
WORDS = {"pass": "pass", "warn": "pass, with warnings", "fail": "**fail**", "incomplete": "**incomplete**"}


def plain(text):
    text = " ".join(clean(text, STRING_MAX).split())
    text = "".join(c if c <= "~" else "?" for c in text)
    return ACTIVE.sub(lambda match: f"&#{ord(match[0])};", text)


def hertz(value):
    for unit, size in ("GHz", 1e9), ("MHz", 1e6), ("kHz", 1e3):
        if value >= size:
            return f"{value / size:.6f} {unit}"
    return f"{value:.3f} Hz"


def figure(value, unit=""):
    return "-" if value is None else f"{value:.4g}{unit}" if value < 1e4 else f"{value:,.0f}{unit}"


def count(number, noun):
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def bounded(rows):
    rows = list(rows)
    left = len(rows) - ROWS_MAX
    return rows[:ROWS_MAX] + ([f"... and {left} more\n"] if left > 0 else [])


def _verdict(clock):
    """Return the clock's verdict, or n.d. if it passed but something was not determined."""
    if clock.get("verdict") == "pass" and clock.get("not_determined"):
        return f"not determined ({count(clock['not_determined'], 'rule')})"
    return clock.get("verdict") or "not read"


def _outcomes(report):
    """Return a sentence with the numbers of rules that passed, failed, were not determined and were not checked."""
    rows = [row.get("outcome") for row in report.get("behaviours") or []]
    judged = ("passed", "failed") if report.get("unjudged") else ("passed", "failed", "not_determined", "not_checked")
    said = ", ".join(f"{rows.count(outcome)} {outcome.replace('_', ' ')}" for outcome in judged)
    return f"Promises: {said}{'; ' + plain(report['unjudged']) if report.get('unjudged') else ''}." if rows else None


def table(clocks):
    yield "| clock | rate | resolution | a read | median latency | 99 % | loop | verdict |"
    yield "|---|--:|--:|--:|--:|--:|--:|---|"
    for clock in clocks[:ROWS_MAX]:
        latency, measured = clock.get("latency") or {}, clock.get("measured_hz") or {}
        cost = (clock.get("cost") or {}).get("read_ns") or {}
        reason = f": {plain(clock['reason'])}" if clock.get("verdict") == "absent" and clock.get("reason") else ""
        yield "| " + " | ".join([
            plain(clock["id"]), "-" if measured.get("value") is None else hertz(measured["value"]),
            figure(clock.get("resolution_ns"), " ns"), figure(cost.get("value"), " ns"), figure(latency.get("p50_ns"), " ns"),
            figure(latency.get("p99_ns"), " ns"), figure(latency.get("loop_ns"), " ns"),
            plain(_verdict(clock)) + reason]) + " |"


def synchrony(report):
    skew = report.get("skew")
    if not skew or not skew.get("pairs"):
        return None
    within, warps, told = skew.get("within_ns"), skew.get("warps"), plain(skew.get("text") or "not judged")
    said = f"TSCs of the cores: {told}" if within is None else f"No two cores' TSCs differ by more than {figure(within, ' ns')}"
    return f"{said} ({count(skew['pairs'], 'pair')} of cores, {count(warps, 'warp')})."


def advice(report):
    rows = report.get("advice") or []
    use = [row for row in rows if not row.get("avoid")]
    if use:
        yield f"Best clock: **{plain(use[0].get('clock') or '')}**, {plain(use[0].get('reason') or '')}"
    for row in report.get("taken") or []:
        yield f"{plain(row.get('system') or '')} takes **{plain(row.get('clock') or '')}**, {plain(row.get('reason') or '')}"
    for row in rows:
        if row.get("avoid"):
            yield f"To avoid: **{plain(row.get('clock') or '')}**, {plain(row.get('reason') or '')}"


def render(report, problem, comparison=None):
    verdict = "incomplete" if problem else report["verdict"]
    machine = report.get("machine") or {} if report["clocks"] else {}
    identity = machine.get("identity") or {}
    facts = [(report.get("options") or {}).get("label"), identity.get("vendor"), identity.get("product"),
             identity.get("serial") and f"serial number {identity['serial']}", machine.get("cpu"), machine.get("accelerator") or machine.get("hypervisor"), machine.get("firmware"),
             machine.get("cores_started") and f"{machine['cores_started']} cores"]
    worse = comparison.worse if comparison else []
    but = f", {'and' if verdict == 'fail' else 'but'} **worse than the baseline**" if worse else ""
    lines = [f"## baretick: {WORDS.get(verdict) or plain(verdict)}{but}", ""]
    said = (report.get("answer") or {}).get("text")
    if said:
        lines += [plain(said), ""]
    stolen = (report.get("quality") or {}).get("text")
    if stolen:
        lines += [plain(stolen), ""]
    if problem:
        lines += [f"Reason: {plain(problem)}", ""]
    if any(facts):
        lines += ["Machine: " + ", ".join(plain(fact) for fact in facts if fact), ""]
    given = (report.get("options") or {}).get("given")
    if given:
        lines += [f"Options: {plain(given)}", ""]
    if report["clocks"]:
        lines += [*table(report["clocks"]), ""]
    if report["clocks"] and _outcomes(report):
        lines += [_outcomes(report), ""]
    found = [f"- {plain(row.get('severity') or '')}, {plain(row['rule'])}: {plain(row.get('text') or '')}"
             for row in report.get("findings") or []]
    if report["clocks"]:
        lines += [*(bounded(found) or ["No findings."]), ""]
    lines += [line + "\n" for line in bounded(filter(None, [*advice(report), synchrony(report)]))]
    if comparison:
        rows = [f"- {plain(sentence)}" for sentence in worse]
        nothing = "Nothing was seen to be worse, but much time was stolen." if comparison.doubt else "Nothing is worse."
        lines += ["### Beside the baseline", "", *(bounded(rows) or [nothing]), ""]
        lines += [f"Note: {plain(note)}\n" for note in comparison.notes]
    return "\n".join(lines).rstrip("\n") + "\n"
