"""Collects the running kernel's rates and clocks, from its files in /sys and its messages.

The messages with "tsc:" and "clocksource:" are from Linux 6.17, arch/x86/kernel/tsc.c and kernel/time/clocksource.c. The watchdog's
messages of Linux 7.1 are from the patch that rewrote it (763aacf86f1b). It marks the TSC unstable "due to frequency skew" or "inter CPU
skew". After "Watchdog hpet read timed out" the TSC was not checked.
"""
import os
import re

from next.system import Refused
from results import reports

CLOCKSOURCES = "/sys/devices/system/clocksource/clocksource0"
CLOCKEVENTS = "/sys/devices/system/clockevents"
ABOUT_CLOCKS = re.compile(r"\b(tsc|clocksource|hpet|acpi_pm|pm-timer|kvm-clock|hyper-v|xen:time|rtc|calibrat\w*)\b",
                          re.IGNORECASE)
MESSAGES_MAX = 200
# A message of dmesg or journalctl, with the time in brackets.
STAMP = re.compile(r"^\[\s*(\d+\.\d+)\]\s*(?:\[[^]]*\]\s*)?(.*)$")
MHZ = r"(\d{1,9})\.(\d{3}) MHz"

# Patterns of kernel messages, and the source of the TSC's rate that each message shows. The last message counts.
SOURCES = [
    (r"Fast TSC calibration using PIT", "fast calibration by the PIT"),
    (r"Fast TSC calibration failed", None),
    (r"PIT calibration matches (HPET|PMTIMER)", "calibration by the {0}, and the PIT agrees"),
    (r"using (HPET|PMTIMER) reference calibration", "calibration by the {0}"),
    (r"PIT calibration deviates from (HPET|PMTIMER)", "calibration by the PIT, and the {0} differs"),
    (r"Using PIT calibration value", "calibration by the PIT"),
    (r"HPET/PMTIMER calibration failed\. Using PIT calibration", "calibration by the PIT"),
]


def _parse_khz(match):
    return int(match[1]) * 1000 + int(match[2])


def split_messages(text):
    """Yield (seconds or None, message) of each line of dmesg."""
    for line in text.splitlines():
        found = STAMP.match(line)
        yield (float(found[1]), found[2]) if found else (None, line)


def parse_rates(lines):
    """Parse the kernel's messages LINES about the TSC. Return its rates in Hz, their source, why it is unstable, and the chosen
    clocks.

    The messages have the rates in MHz with three decimals. No digits are missing, because the kernel uses whole kHz."""
    facts = {"processor_hz": None, "tsc_hz": None, "refined_hz": None, "recalibrated_hz": None, "source": None,
            "unstable": None, "switched_to": [], "unchecked": None}
    for line in lines:
        if match := re.search(rf"\btsc: Detected {MHZ} processor", line, re.IGNORECASE):
            facts["processor_hz"] = _parse_khz(match) * 1000
        elif match := re.search(rf"\btsc: Detected {MHZ} TSC", line, re.IGNORECASE):
            facts["tsc_hz"] = _parse_khz(match) * 1000
        elif match := re.search(rf"Refined TSC clocksource calibration: {MHZ}", line):
            facts["refined_hz"] = _parse_khz(match) * 1000
        elif match := re.search(rf"TSC freq recalibrated by \[\w+\]:\s+{MHZ}", line):
            facts["recalibrated_hz"] = _parse_khz(match) * 1000
        elif match := re.search(r"Marking clocksource tsc[\w-]* unstable due to (.+)", line):
            facts["unstable"] = match[1].strip()
        elif match := re.search(r"Watchdog (?!remote)(\S+) read timed out\. Readout sequence took: (\d+)\s?ns", line):
            facts["unchecked"] = f"a read of {match[1]} took {int(match[2]) / 1000:g} us"
        elif match := re.search(r"Watchdog remote CPU (\d+) read timed out", line):
            facts["unchecked"] = f"CPU {match[1]} did not answer in time"
        elif match := re.search(r"Marking TSC unstable due to (.+)", line):
            # the watchdog's own message, which comes before, has the reason
            facts["unstable"] = facts["unstable"] if match[1].strip() == "clocksource watchdog" and facts["unstable"] else match[1].strip()
        elif match := re.search(r"Marking clocksource '?(tsc[\w-]*)'? as unstable(?: because (.+?):?)?$", line):
            facts["unstable"] = match[2] or "the clocksource watchdog"
        elif match := re.search(r"clocksource: Switched to clocksource (\S+)", line, re.IGNORECASE):
            facts["switched_to"].append(match[1])
        for pattern, source in SOURCES:
            if match := re.search(pattern, line):
                facts["source"] = source and source.format(*match.groups())
    return facts


def get_kernel_tsc_hz(facts):
    """Return the kernel's rate of the TSC, or None if no message has it. The kernel uses the refined rate if there is one. It
    does not refine a rate from CPUID or an MSR.
    """
    return facts["refined_hz"] or facts["tsc_hz"] or facts["processor_hz"]


def read_log(system):
    """Return the kernel's messages since its start, from the ring buffer, or from the journal if the ring buffer has lost the
    first ones."""
    texts = []
    for words in (("dmesg",), ("journalctl", "--dmesg", "--boot", "--output", "short-monotonic", "--no-pager")):
        try:
            texts.append(_remove_host_names(system.run_command(*words)))
        except Refused:
            continue
        if "Linux version" in texts[-1]:
            return texts[-1]
    return max(texts, key=len, default="")


def _remove_host_names(text):
    """Remove the host's name and "kernel:", which journalctl prints after the time of each line."""
    return re.sub(r"(?m)^(\[\s*\d+\.\d+\]) \S+ kernel: ", r"\1 ", text)


def _read_tick_devices(system):
    try:
        names = sorted(os.listdir(system.get_path(CLOCKEVENTS)))
    except OSError:
        return {}
    devices = {name: system.read_text(f"{CLOCKEVENTS}/{name}/current_device") for name in names}
    return {name: device for name, device in devices.items() if device}


def collect_kernel_facts(system):
    """Return the content of `kernel.json`."""
    text = read_log(system)
    lines = list(split_messages(text))
    about = [{"at_s": at, "text": line} for at, line in lines if ABOUT_CLOCKS.search(line)]
    available = (system.read_text(f"{CLOCKSOURCES}/available_clocksource") or "").split()
    facts = parse_rates(line for _, line in lines)
    return {
        "schema": reports.KERNEL_SCHEMA,
        "release": system.read_text("/proc/sys/kernel/osrelease"), "version": system.read_text("/proc/sys/kernel/version"),
        "boot_id": system.read_text("/proc/sys/kernel/random/boot_id"), "command_line": system.read_text("/proc/cmdline"),
        "clocksource": system.read_text(f"{CLOCKSOURCES}/current_clocksource"), "clocksources": available,
        "tick_devices": _read_tick_devices(system), "tsc": {**facts, "believed_hz": get_kernel_tsc_hz(facts)},
        "log_is_whole": "Linux version" in text, "messages": about[:MESSAGES_MAX],
    }
