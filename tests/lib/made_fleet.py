"""Makes reports of a fleet of machines that do not exist. One real report is changed at random, as crystals and boards
differ, and outliers are planted.

Machines of the same kind differ by a few ppm and a few percent. Each function in PLANTS makes an outlier that a user
would search for. It changes a healthy report by much more, and shifts its intervals accordingly."""
import copy
import json
import math
import random

KINDS = [("Example Inc.", f"Server {n}", f"Example BIOS 2.{n}.0", f"Example CPU {n} @ 2.00GHz") for n in range(1, 5)]
LONG = ("exact", "histogram")
ODD = 20


def clock(report, name):
    return next(each for each in report["clocks"] if each["id"] == name)


def shift_interval(interval, by):
    for key in ("value", "low", "high"):
        interval[key] += by


def change_crystal_rate(report, names, ppm):
    for each in report["clocks"]:
        if each["id"].startswith(names) and each["error_ppm"]:
            shift_interval(each["error_ppm"], ppm)


def slower(latency, factor):
    for key in ("min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"):
        latency[key] = round(latency[key] * factor)
    for key in ("p50_within_ns", "p90_within_ns", "p99_within_ns", "p999_within_ns"):
        latency[key] = latency[key] and [round(value * factor) for value in latency[key]]


def set_core_offset(report, core, ns):
    shift_interval(report["cores"][core]["offset_ns"], ns)


def set_core_drift(report, core, ppm):
    shift_interval(report["cores"][core]["drift_ppm"], ppm)


def make_clock_absent(report, name):
    clock(report, name).update(state="absent", reason="no table in ACPI", verdict="absent", latency=None, measured_hz=None,
                               error_ppm=None)


# Each row has a function that makes an outlier, and the (figure, clock) that qemu/fleet must name for it.
PLANTS = [
    (lambda report: change_crystal_rate(report, ("hpet", "acpi_pm", "pit"), 400), ("rate error", "hpet")),
    (lambda report: change_crystal_rate(report, ("rtc",), -300), ("rate error", "rtc")),
    (lambda report: slower(clock(report, "hpet")["latency"], 9), ("median read", "hpet")),
    (lambda report: slower(clock(report, "tsc")["latency"], 60), ("median read", "tsc")),
    (lambda report: slower(clock(report, "acpi_pm")["latency"], 0.1), ("median read", "acpi_pm")),
    (lambda report: set_core_offset(report, -1, -4000), ("core offset", "tsc")),
    (lambda report: set_core_drift(report, -1, 3), ("core drift", "tsc")),
    (lambda report: report["interference"].update(smi_count=2400), ("SMIs", "machine")),
    (lambda report: report["quality"].update(stolen_percent=31), ("stolen time", "machine")),
    (lambda report: make_clock_absent(report, "hpet"), ("state", "hpet")),
    (lambda report: report["machine"].update(cores_started=3), ("cores started", "machine")),
]


class Maker:
    """Makes reports of a fleet from one REPORT of at least two cores. The intervals are made as narrow as on a quiet
    machine. Long lists are copied as text, so that ten thousand reports take only a minute."""

    def __init__(self, report, seed=1):
        self.base, self.random, self.kept = copy.deepcopy(report), random.Random(seed), {}
        self.base["behaviours"], self.base["findings"], self.base["verdict"] = [], [], "pass"
        self.base["options"]["label"] = None
        for each in filter(None, (each["error_ppm"] for each in self.base["clocks"])):
            each.update(value=0.0, low=-0.1, high=0.1)
        for core in self.base["cores"][1:]:
            core.update(offset_ns={"value": 0, "low": -25, "high": 25}, drift_ppm={"value": 0, "low": -0.003, "high": 0.003})
        for each in self.base["clocks"]:
            for key in LONG:
                if each["latency"] and each["latency"].get(key):
                    mark = f"@{len(self.kept)}@"
                    self.kept[json.dumps(mark)] = json.dumps(each["latency"][key])
                    each["latency"][key] = mark

    def report(self, machine, day=1):
        """Return a healthy report of machine number MACHINE."""
        report, chance = copy.deepcopy(self.base), self.random
        crystals = random.Random(machine)  # a machine keeps its crystals, so its rates are the same in each report
        vendor, product, bios, cpu = KINDS[machine % len(KINDS)]
        report["started_at"] = f"2026-03-{day:02}T{machine % 24:02}:{machine % 60:02}:07"
        report["machine"].update(cpu=cpu, hypervisor=None, accelerator=None)
        report["machine"]["identity"].update(vendor=vendor, product=product, bios=bios, serial=f"SN-{machine:06}", host=None)
        change_crystal_rate(report, ("hpet", "acpi_pm", "pit"), crystals.gauss(0, 8))
        change_crystal_rate(report, ("rtc",), crystals.gauss(0, 10))
        for each in report["clocks"]:
            if each["latency"]:
                slower(each["latency"], math.exp(chance.gauss(0, 0.05)))
        for core in report["cores"][1:]:
            if core["offset_ns"]:
                shift_interval(core["offset_ns"], round(chance.gauss(0, 8)))
        report["interference"]["smi_count"] = sum(chance.random() < 0.3 for _ in range(8))
        report["quality"]["stolen_percent"] = round(chance.random() * 0.3, 2)
        return report

    def text(self, report):
        """Return REPORT as one line of a file."""
        line = json.dumps(report, separators=(",", ":"))
        for mark, long in self.kept.items():
            line = line.replace(mark, long)
        return line

    def fleet(self, count, odd=ODD):
        """Yield COUNT reports, one after another. planted(COUNT, ODD) lists the outliers."""
        found_as = planted(count, odd)
        for machine in range(count):
            report = self.report(machine)
            if machine in found_as:
                found_as[machine][0](report)
            yield report


def planted(count, odd=ODD):
    """Return {number of the machine: (function, (figure, clock))} of the outliers, which are spread evenly over the
    fleet."""
    return {(n * count // odd + 3) % count: PLANTS[n % len(PLANTS)] for n in range(odd)}
