"""Selects and sorts all tests, and counts their results."""
import collections
import hashlib
import itertools
import json
import pathlib
import sys

import pytest

from host import Share, list_stolen_percents, processor_s


def pytest_collectstart():
    """Let Python write bytecode only if it has a folder of its own (PYTHONPYCACHEPREFIX), not next to the tests. This is
    repeated for each collected file, because some of them import programs that set sys.dont_write_bytecode."""
    sys.dont_write_bytecode = not sys.pycache_prefix


pytest_collectstart()
pytest_plugins = ["runners"]
# Processor-seconds and seconds of each test of the last `make check` that computed or waited for a second.
DURATIONS = pathlib.Path(__file__).parent.parent / "build" / "durations"
SLOWEST = 10
# A test waits if it takes more than this many times its processor time. A test that computes shares its processor with at most one
# other test.
WAITING = 3
# Part of the time of the tests that compute in which all tests that wait start. The rest is for the last of them to end.
WAITING_STARTS = 0.75
OUTCOMES = {"passed": "passed", "failed": "failed", "error": "failed", "skipped": "skipped"}


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="also what is dear and rare")
    parser.addoption("--kvm", action="store_true", help="what needs a real KVM, and nothing else")
    parser.addoption("--spark", action="store_true", help="what needs Spark, and nothing else")
    parser.addoption("--results", metavar="FOLDER", help="where to leave the counts and how long each test took")



def group_of(item):
    """Return the name of the test's group. A worker runs the tests of a group one after another. Tests that share a
    boot are one group."""
    boot, group = item.get_closest_marker("boot"), item.get_closest_marker("xdist_group")
    if boot and not group:
        name = hashlib.sha256(repr(boot.args).encode()).hexdigest()[:8]
        item.add_marker(pytest.mark.xdist_group(name))
        return name
    return group.args[0] if group else item.nodeid


def read_durations():
    """Return {test: (processor-seconds, seconds)} from the last run, or {} if there is none."""
    try:
        lines = [line.split(None, 2) for line in DURATIONS.read_text().splitlines()]
        return {test: (float(processor_s), float(whole_s)) for processor_s, whole_s, test in lines}
    except (OSError, ValueError):
        return {}


def waits(processor_s, whole_s):
    return whole_s > WAITING * processor_s


def in_order(groups, known):
    """Return GROUPS with the longest first, and with the groups that wait spread evenly over the others. All groups that
    wait start within the first WAITING_STARTS of the time of the others. KNOWN has the durations."""
    computing, waiting = [], []
    for group in groups:
        processor_s, whole_s = (sum(known.get(item.nodeid, (0, 0))[i] for item in group) for i in range(2))
        if waits(processor_s, whole_s):
            waiting.append((whole_s, group))
        else:
            computing.append((processor_s, group))
    starts = []
    for kind, share in (waiting, WAITING_STARTS), (computing, 1):
        kind.sort(key=lambda each: -each[0])
        total_s = sum(each[0] for each in kind) or 1
        start_s = itertools.accumulate((each[0] for each in kind), initial=0)
        starts += ((share * start / total_s, group) for start, (_, group) in zip(start_s, kind))
    return [group for _, group in sorted(starts, key=lambda each: each[0])]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session, config, items):
    """Put the longest tests first, so that no worker starts a long one when the others have finished. A group counts as
    one test. Tests that wait come between the others, because the processors would be idle if only such tests were
    left. The order does not depend on the number of processors."""
    left_out = [item for item in items if item.get_closest_marker("long") and not config.getoption("long")
                or any(bool(item.get_closest_marker(name)) != config.getoption(name) for name in ("kvm", "spark"))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    known = read_durations()
    groups = collections.defaultdict(list)
    for item in items:
        groups[group_of(item)].append(item)
    items[:] = [item for group in in_order(groups.values(), known) for item in group]
    session.processor_s, session.share = processor_s(), Share()


# Results.

def describe_host(item):
    """Return lines about what the host took from the test ITEM, from its shared boot, and from its guests."""
    lines = [f"the test: {item.session.share}"]
    if booted := item.funcargs.get("booted"):
        lines.append(f"its boot: {booted.share}")
    folders = [booted.out] if booted else []
    for percent in (percent for folder in [*folders, item.funcargs.get("tmp_path")] if folder for percent in list_stolen_percents(folder)):
        lines.append(f"by a guest's report, {percent:g} % of its cores' time was stolen")
    return "\n".join(lines)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """Add to pytest's report of a test phase the processor time since the previous report. A worker runs one test at a
    time, so the test used this time. If the phase failed, add what the host took."""
    report = (yield).get_result()
    now = processor_s()
    report.processor_s, item.session.processor_s = now - item.session.processor_s, now
    if report.failed:
        report.sections.append(("what the host took", describe_host(item)))
    if report.when == "teardown":
        item.session.share = Share()


def list_failures(stats):
    """Return the names of the tests and files that failed."""
    return sorted({report.nodeid.partition("@")[0] for word in ("failed", "error") for report in stats.get(word, [])})


def counts(stats):
    """Return {outcome: number of tests}. For a program in C, each of its tests counts."""
    found = collections.Counter()
    for word, outcome in OUTCOMES.items():
        for report in stats.get(word, []):
            # the report of a file that cannot be imported has no user_properties
            properties = getattr(report, "user_properties", [])
            own = {name: number for name, number in properties if name in OUTCOMES}
            found.update(own if own.get(outcome) else {outcome: 1})
    return {outcome: found[outcome] for outcome in OUTCOMES.values()}


def pytest_terminal_summary(terminalreporter, config):
    computed, whole = collections.Counter(), collections.Counter()
    for report in sum(terminalreporter.stats.values(), []):
        if isinstance(report, pytest.TestReport):
            test = report.nodeid.partition("@")[0]
            computed[test] += getattr(report, "processor_s", 0)
            whole[test] += report.duration
    lines = [f"{processor_s:6.1f} {whole[test]:6.1f} {test}" for test, processor_s in computed.most_common()
             if processor_s >= 1 or waits(processor_s, whole[test]) and whole[test] >= 1]
    if lines:
        terminalreporter.section(f"the slowest {SLOWEST} of {computed.total():.0f} processor-seconds")
        terminalreporter.write_line("\n".join(lines[:SLOWEST]))
    if config.getoption("results"):
        folder = pathlib.Path(config.getoption("results"))
        (folder / "durations").write_text("".join(f"{line}\n" for line in lines))
        stats = terminalreporter.stats
        (folder / "counts.json").write_text(json.dumps({**counts(stats), "failures": list_failures(stats)}))
