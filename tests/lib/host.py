"""Measures how busy the host was during a test, for the message of a failure."""
import contextlib
import json
import pathlib
import resource
import time

PRESSURE = pathlib.Path("/proc/pressure/cpu")


def processor_s():
    """Return the processor time of this process and of its finished children."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def waited_s():
    """Return the seconds in which at least one task of this machine waited for a processor. Return None if Linux does not
    count them (Documentation/accounting/psi.rst)."""
    try:
        return int(PRESSURE.read_text().split("total=")[1].split()[0]) / 1e6
    except (OSError, IndexError, ValueError):
        return None


class Share:
    """The share of the host's time since this object was made. Its text tells a starved test from a fault of baretick."""

    def __init__(self):
        self.begin_s, self.processor_s, self.waited_s = time.monotonic(), processor_s(), waited_s()

    def __str__(self):
        whole_s = time.monotonic() - self.begin_s
        text = f"{processor_s() - self.processor_s:.1f} processor-seconds in {whole_s:.1f} s"
        if self.waited_s is None or not whole_s:
            return text
        percent = min(100, 100 * (waited_s() - self.waited_s) / whole_s)
        return f"{text}; some task of the host waited for a processor in {percent:.0f} % of this time"


def list_stolen_percents(folder):
    """Return the percentages of stolen time that the reports in FOLDER give."""
    found = []
    for path in sorted(folder.rglob("report.json")):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            found.append(json.loads(path.read_bytes())["quality"]["stolen_percent"])
    return [percent for percent in found if percent is not None]
