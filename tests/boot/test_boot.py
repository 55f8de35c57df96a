"""Boots the application in QEMU with qemu/run, on machines that are large, small, or have missing or wrong parts.

The tests use TCG only, so that every machine can run them. No test depends on absolute times. If a test checks figures,
instructions drive the guest's clocks (-icount). A boot takes long. Therefore tests that only read a report share a boot
(marker boot), and measurements are short if their length does not matter."""
import os
import re
import statistics
import subprocess

import pytest

from boots import EFI_BUILT, FIRMWARE_AGAIN, IMAGE_BUILT, SECURE, SHORT, VERDICT_STATUS, check_interval, checked, clocks, faults, qemu
from harness import BARE, BY_INSTRUCTIONS, BY_INSTRUCTIONS_WITH_SLEEP, FAST_TCG, NO_SCREEN, QUICK_BARE, QUICK_SCREEN, QUICK_TCG, ROOT, TCG
from results import cases

COST_RUNS = 5
# rows of clocks that only hypervisors offer; TCG offers none of them
PARAVIRTUAL = ["kvmclock", "hv_ref", "hv_page", "xen"]
CLOCKS = [name for name in re.search(r"separated by commas: ([\w, ]+) \|",
                                     (ROOT / "src/options/README.md").read_text()).group(1).split(", ") if name not in PARAVIRTUAL]
NO_RTC = ["-global", "mc146818rtc.iobase=0x170"]
ALL_BUT_TWO = ["-machine", "hpet=off,pit=off"], ["hpet", "hpet_32", "pit", "pit_rdback", "rtc", "rtc_pf"]

pytestmark = EFI_BUILT


def states(report):
    return {name: clock["state"] for name, clock in clocks(report).items()}


def present_but(*missing):
    return {name: name not in missing for name in CLOCKS}


def presence(report):
    return {name: state == "present" for name, state in states(report).items()}


# Tests of healthy machines. They depend on three facts of TCG: every core reads the host's TSC, TSC_ADJUST does not
# exist, and TSC_AUX has its value after a reset.

PLACES = qemu("-smp", "4,sockets=2,cores=1,threads=2")
# arguments for a machine that waits for a key at its end
WAITING_SCREEN = [*FAST_TCG, *BY_INSTRUCTIONS_WITH_SLEEP]
on_q35 = pytest.mark.boot(*QUICK_TCG, "--cpus", "4", *PLACES, "--", *SHORT)
# the cores run at the same time, in threads of QEMU
in_parallel = pytest.mark.boot(*BARE, *PLACES, "--", *SHORT, "clocks=tsc,acpi_pm", "irq=off")
on_pc = pytest.mark.boot(*QUICK_BARE, "--machine", "pc", *qemu("-smp", "2,maxcpus=8"), "--", *SHORT)
# in real time, because by instructions a core that the firmware lends does not finish its jobs in time
through_mp = pytest.mark.boot(*FAST_TCG, *NO_SCREEN, *qemu("-smp", "2,sockets=2"), "--",
                              *SHORT, "cores=mp", "exit=return", "clocks=tsc,hpet", "irq=off")
of_1 = pytest.mark.boot(*WAITING_SCREEN, "--cpus", "1", "--screenshot", "{out}/screen.ppm.png", "--", *SHORT, "clocks=tsc,hpet")


@on_q35
def test_q35_with_4_cores_has_every_clock_on_every_core(booted):
    done = booted
    report = checked(done, started=4)
    assert [clock["id"] for clock in report["clocks"]] == CLOCKS
    assert presence(report) == present_but()
    found = clocks(report)
    assert found["acpi_pm"]["width_bits"] == 24
    assert found["pit"]["width_bits"] == 16
    assert found["hpet"]["claimed_hz"] == 100_000_000  # the tick of QEMU's HPET is 10 ns
    assert all(clock["latency"]["count"] > 0 for clock in report["clocks"])
    assert all(clock["verdict"] in ("pass", "warn") for clock in report["clocks"])
    assert report["verdict"] in ("pass", "warn") and not faults(report)
    assert len({core["apic_id"] for core in report["cores"]}) == 4
    for core in report["cores"]:
        assert set(core["latency"]) == set(CLOCKS)
        for name, figures in core["latency"].items():
            ordered = [figures["min_ns"], figures["p50_ns"], figures["p99_ns"]]
            assert ordered == sorted(ordered), (core["apic_id"], name)
    text = done.file("report.txt").decode()
    for name in CLOCKS:
        assert re.search(rf"\b{name}\b", text), name
    assert "running %" in text
    assert done.stdout.startswith("baretick ")
    assert "progress: " in done.stdout
    assert "BARETICK" not in done.stdout


@on_q35
def test_4_cores_that_take_turns_have_no_warp(booted):
    """With -icount, each pause of a core lets the next core run, so the host cannot keep a core from its turns."""
    for check in ("contended", "lock_free"):
        found = booted.report["skew"][check]
        assert (found["cores"], found["warps"], found["starved"]) == (4, 0, False), check


@in_parallel
def test_4_cores_that_run_at_the_same_time_have_no_warp(booted):
    """The host may give a core no time until the check ends. The report must then say that the check proves nothing."""
    report = checked(booted, started=4)
    found = [report["skew"][check] for check in ("contended", "lock_free")]
    assert all(check["warps"] == 0 and (check["cores"] == 4 or check["starved"]) for check in found), found
    text = " ".join(booted.file("report.txt").decode().split())
    assert text.count(": inconclusive: no warp, but a core got too few iterations.") == sum(check["starved"] for check in found)


@on_pc
def test_pc_has_every_clock_and_starts_no_core_that_is_listed_but_disabled(booted):
    report = checked(booted, started=2)
    assert presence(report) == present_but() and not faults(report)
    assert report["machine"]["cores_listed"] == 2


@pytest.mark.parametrize("count", [
    pytest.param(1, marks=of_1), pytest.param(16, marks=pytest.mark.boot(*QUICK_BARE, "--cpus", "16", "--", *SHORT, "clocks=tsc,acpi_pm")),
    pytest.param(16, id="16-all-clocks", marks=[
        pytest.mark.boot(*TCG, "--cpus", "16", "--", "duration=10ms"), pytest.mark.long])])
def test_every_core_is_started(booted, count):
    report = checked(booted, started=count)
    assert report["machine"]["cores_listed"] == count
    assert all(core["reason"] is None for core in report["cores"])
    if count > 1:
        assert report["skew"]["cores"] == count and report["skew"]["schedule"] in ("all", "star")
        assert sum(core["pingpongs"] > 0 for core in report["cores"]) > 1


@through_mp
def test_cores_mp_measures_every_core_through_the_firmware_and_only_the_clocks_asked_for_and_null(booted):
    report = checked(booted, started=2)
    assert all(set(core["latency"]) == {"tsc", "hpet", "null"} for core in report["cores"])
    assert sorted(clocks(report)) == ["hpet", "null", "tsc"]
    assert all(clocks(report)[name]["cost"] for name in ("hpet", "tsc")), "null is read always, for it is subtracted"


PLACES_OF_4 = [(0, 0, 0), (0, 0, 1), (1, 0, 0), (1, 0, 1)]


@pytest.mark.parametrize("cores, expected", [
    pytest.param("sipi", PLACES_OF_4, marks=in_parallel, id="sipi"),
    pytest.param("mp", [(package, 0, 0) for package in range(2)], marks=through_mp, id="mp"),
    pytest.param("mp", PLACES_OF_4, id="mp-to-the-end", marks=[
        pytest.mark.boot(*TCG, *PLACES, "--", "duration=10ms", "cores=mp"), pytest.mark.long])])
def test_each_core_says_where_it_sits_and_stands_at_0(booted, cores, expected):
    report = checked(booted, started=len(expected))
    assert report["options"]["cores"] == cores
    rows = report["cores"]
    assert sorted((core["package"], core["core"], core["thread"]) for core in rows) == expected
    assert [(core["tsc_adjust"], core["tsc_aux"]) for core in rows] == [(None, 0)] * len(expected)
    assert report["skew"]["cores"] == len(expected)
    assert rows[0]["offset_ns"] == {"value": 0, "low": 0, "high": 0}
    for core in rows[1:]:
        check_interval(core["offset_ns"])
        check_interval(core["drift_ppm"])
        if core["offset_ns"] is not None:  # on a very busy host, two cores may never complete a ping-pong
            assert core["pingpongs"] > 0 and core["offset_ns"]["low"] <= 0 <= core["offset_ns"]["high"]
    assert not [finding["rule"] for finding in report["findings"] if finding["rule"].startswith("tsc-")]


def test_too_little_memory_for_96_cores_is_a_sentence_and_a_smaller_plan(run):
    # Searches for a size of memory that is enough for a report, but not for 96 cores. Today this size is 34 MB. In real
    # time it takes less, because QEMU's many idle cores then do not run in turn.
    megabytes, tried, planned = 34, set(), None
    while not planned and megabytes not in tried:
        tried.add(megabytes)
        done = run(*BARE, "--cpus", "96", *qemu("-m", f"{megabytes}M"), "--", *SHORT, "clocks=tsc", "cores=3", "irq=off")
        planned = re.search(r"96 cores need \d+ MiB of memory, which are not available: at most (\d+) cores are", " ".join(done.report.get("notes", "")))
        megabytes += 4 if done.status == 2 else -4
    assert planned, done
    report = checked(done, started=min(3, int(planned[1])))
    assert len(report["cores"]) == int(planned[1]) < 96
    assert report["machine"]["cores_listed"] == 96


def test_a_deadline_that_passes_leaves_an_incomplete_report_of_what_was_measured(run):
    done = run(*QUICK_BARE, "--cpus", "1", "--", "profile=quick", "duration=1s", "deadline=6s")
    report = done.report
    assert done.status == 2 and report["verdict"] == "incomplete"
    assert all(clocks(report)[name]["latency"]["count"] for name in ("tsc", "null")), "the clocks are read in turn"
    assert any("deadline" in note for note in report["notes"])


def test_help_prints_the_options_that_the_runners_own_help_ends_with(run):
    done = run(*QUICK_BARE, "--cpus", "1", "--", "help")
    assert done.status == 0 and done.stdout.partition("\n")[2] == (ROOT / "qemu" / "options.txt").read_text()


@through_mp
def test_cores_mp_returns_to_whoever_started_it_with_a_whole_report(booted):
    checked(booted, started=2)
    assert any(text in booted.file("serial.log") for text in FIRMWARE_AGAIN)


@pytest.mark.long
def test_a_read_costs_about_the_same_on_both_cores_of_the_emulator(run):
    """Both virtual cores run at the same time, and the boot core waits while core 1 takes samples. When it polled its TSC without a
    pause, reads of the TSC cost core 1 up to ten times as much. When it executed one PAUSE after another, reads of the HPET took two
    to five times as long. A ratio within one run does not depend on the host's speed. The median of some runs does not depend on a
    moment in which the host was busy. The five boots take up to 50 processor-seconds."""
    ratios = {"tsc": [], "hpet": []}
    for _ in range(COST_RUNS):
        done = run(*BARE, "--cpus", "2", "--", *SHORT, "clocks=tsc,hpet,acpi_pm", "irq=off")
        assert clocks(done.report)["tsc"]["cost"]["cores"] == 2
        for clock, found in ratios.items():
            first, second = (core["latency"][clock]["p50_ns"] for core in done.report["cores"])
            found.append(second / first)
    assert statistics.median(ratios["tsc"]) < 1.3, ratios
    assert statistics.median(ratios["hpet"]) < 1.8, ratios


@pytest.fixture(scope="module")
def built_by_clang(tmp_path_factory):
    """Return a folder with an application and an ELF file that clang built without warnings."""
    build = tmp_path_factory.mktemp("clang") / "build"
    subprocess.run(["make", "NO_INSTALL=1", "WERROR=1", "CC=clang", f"BUILD={build}", "all"], cwd=ROOT, check=True, timeout=600,
                   env={**os.environ, "MAKEFLAGS": ""})
    return build


@pytest.mark.long
@pytest.mark.xdist_group("clang")  # tests of one group share one build
@pytest.mark.parametrize("file, words, firmware", [
    ("baretick.efi", [*FAST_TCG, "--efi"], "EDK II"),
    ("baretick.elf", ["--accel", "tcg", "--boot", "bare", "--image"], "none (PVH"),
], ids=["efi", "elf"])
def test_what_clang_builds_without_a_warning_boots(run, built_by_clang, file, words, firmware):
    """Takes a minute, because clang builds the whole application again."""
    report = checked(run(*words, built_by_clang / file, "--cpus", "2", "--", *SHORT))
    assert report["machine"]["firmware"].startswith(firmware)


@through_mp
def test_no_argument_of_the_runner_is_deprecated_in_this_qemu(booted):
    assert b"deprecated" not in booted.file("qemu.log")


# Machines without some device: each missing device must have a row with the reason, and the run must not hang. Also
# runs that use fewer cores than the machine has.

@pytest.mark.parametrize("machine, cores, missing, started", [
    (["-machine", "hpet=off"], "cores=2", ["hpet", "hpet_32"], 2),
    (["-machine", "pit=off", "-cpu", "qemu64"], "cores=off", ["pit", "pit_rdback", "tsc_rdtscp"], 1),
], ids=["hpet-2-cores", "pit-rdtscp-no-other-core"])
def test_a_missing_clock_is_a_row_with_a_reason_and_no_more_cores_are_started_than_asked_for(run, machine, cores, missing, started):
    report = checked(run(*QUICK_BARE, "--cpus", "4", *qemu(*machine), "--", *SHORT, cores), started)
    check_missing(report, missing)
    assert report["machine"]["cores_listed"] == 4


# without an RTC, this firmware cannot start the file of -kernel, but it can boot from a stick
FROM_STICK = [*FAST_TCG, "--boot", "usb"]


@IMAGE_BUILT
@pytest.mark.parametrize("boot, arguments, missing", [
    pytest.param(FROM_STICK, [], ["rtc", "rtc_pf"], marks=pytest.mark.long),
    pytest.param(FROM_STICK, *ALL_BUT_TWO, marks=pytest.mark.long),
    (QUICK_BARE, *ALL_BUT_TWO),
], ids=["rtc", "all-but-two", "all-but-two, bare"])
def test_a_machine_without_an_rtc_is_measured(run, boot, arguments, missing):
    done = run(*boot, "--cpus", "2", *qemu(*NO_RTC, *arguments), "--", *SHORT)
    check_missing(checked(done, started=2), missing)


def check_missing(report, missing):
    assert presence(report) == present_but(*missing)
    for name in missing:
        assert clocks(report)[name]["reason"], name
        assert clocks(report)[name]["latency"] is None, name


def test_a_machine_without_acpi_tables_and_screen_has_all_cores_and_the_clocks_that_need_none(run):
    report = checked(run(*FAST_TCG, "--cpus", "2", *qemu("-machine", "acpi=off"), *NO_SCREEN, "--", *SHORT,
                         "clocks=tsc,hpet,hpet_32,acpi_pm", "irq=off"), started=2)
    assert ("ACPI has no MADT, which would list the cores: the other cores are started by the firmware's MP services (cores=mp)."
            in report["notes"])
    assert presence(report) == {"tsc": True, "hpet": False, "hpet_32": False, "acpi_pm": False, "null": True}


def test_an_hpet_table_that_points_nowhere_is_not_believed(run, tmp_path):
    """The HPET table states registers at FED00000h (IA-PC HPET 1.0a, 3.2.4), but this machine has no HPET there. The
    report must show the HPET as broken."""
    table = tmp_path / "table"
    address = bytes([0, 64, 0, 0]) + (0xFED00000).to_bytes(8, "little")
    table.write_bytes((0x8086A201).to_bytes(4, "little") + address + bytes([0, 0x80, 0, 0]))
    report = checked(run(*QUICK_BARE, "--cpus", "1", *qemu(
        "-machine", "hpet=off", "-acpitable", f"sig=HPET,data={table}"), "--", *SHORT))
    assert states(report)["hpet"] == states(report)["hpet_32"] == "broken"
    assert clocks(report)["hpet"]["verdict"] == "fail"


@pytest.mark.parametrize("word, sentence", [
    ("colour=red", "colour=red\" is not an option; the options are duration, "), ("exit=return", "needs cores=mp")], ids=["unknown", "return"])
def test_a_wrong_option_is_named_and_nothing_is_measured(run, word, sentence):
    done = run(*QUICK_BARE, "--cpus", "1", "--", word)
    assert done.status == 2 and sentence in done.stderr, done
    assert "progress" not in done.stdout
    assert done.report["verdict"] == "incomplete"
    assert done.report["clocks"] == []


# Machines without a serial line or without a screen.

def test_without_a_serial_line_the_run_ends_and_says_that_no_report_came(run):
    done = run(*QUICK_SCREEN, "--cpus", "1", *qemu("-serial", "none"), "--", *SHORT, "clocks=tsc")
    assert done.status == 2
    assert re.search(r"baretick ended with (pass|fail), but its report did not come", done.stderr), done


@of_1
def test_the_screen_shows_something_at_the_end(booted):
    checked(booted)
    data = booted.file("screen.ppm.png")
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert len(data) > 4000  # larger than the picture of a blank screen


# Machines whose time is the count of executed instructions (-icount), so that all figures can be predicted.

def test_driven_by_instructions_two_runs_are_the_same_and_every_rate_is_nominal(run):
    # The machine has one core. With several cores, the order in which they run depends slightly on the host.
    runs = [run(*QUICK_BARE, "--cpus", "1", "--", *SHORT) for _ in range(2)]
    report = checked(runs[0], started=1)
    assert runs[0].file("report.json") == runs[1].file("report.json")
    tsc = clocks(report)["tsc"]["measured_hz"]
    assert tsc["low"] <= 1_000_000_000 <= tsc["high"]
    assert tsc["high"] - tsc["low"] < 1_000_000  # within 1000 ppm; with a wider interval, the test would prove nothing
    for name in ("hpet", "acpi_pm", "pit"):
        clock = clocks(report)[name]
        assert clock["measured_hz"]["low"] <= clock["claimed_hz"] <= clock["measured_hz"]["high"], clock
    assert all(clock["verdict"] == "pass" for clock in report["clocks"])


# Tests of the accelerator, and of results for other programs.

def test_auto_comes_to_an_end_with_or_without_kvm(run, tmp_path):
    junit = tmp_path / "junit.xml"
    done = run("--boot", "bare", "--cpus", "1", "--junit", junit, "--", *SHORT)
    assert done.status in (0, 1), done
    report = done.report
    assert report["machine"]["accelerator"] in ("tcg", "kvm")
    assert ("continues with emulation (TCG)" in done.stderr) <= (report["machine"]["accelerator"] == "tcg")
    found = cases.make_cases(report, None)
    named = [case.name for case in found if case.group not in ("rules", "timers")]
    assert [name for name in named if name not in PARAVIRTUAL] == CLOCKS + ["run"]
    assert junit.read_text().count("<testcase ") == len(found)


# Firmware with more protection than usual: with system management mode, or with memory that is not executable.

STRICT = "/usr/share/OVMF/OVMF_CODE_4M.secboot.strictnx.fd"


@pytest.mark.parametrize("firmware", [SECURE, STRICT], ids=["smm", "strict-nx"])
def test_stricter_firmware_boots_it(run, firmware):
    if not os.path.exists(firmware):
        pytest.skip(f"{os.path.basename(firmware)} is not there")
    checked(run(*TCG, *BY_INSTRUCTIONS, "--cpus", "2", "--firmware", firmware, *NO_SCREEN, "--", *SHORT, "clocks=tsc,hpet"), started=2)


# Machines whose CPU or tables have missing parts. Each run must follow its options, end in time, and give the reason.

def test_without_a_tsc_no_clock_is_measured_and_none_fails(run):
    done = run(*QUICK_BARE, "--cpus", "2", *qemu("-cpu", "max,-tsc"), "--", *SHORT)
    report = done.report
    assert done.status == VERDICT_STATUS[report["verdict"]] != 1, done
    assert set(states(report).values()) == {"absent"}
    assert all(clock["reason"] == "CPUID 1h EDX[4] reports no TSC." for clock in report["clocks"])
    assert not [finding for finding in report["findings"] if finding["clock"]], report["findings"]
    assert {row["rule"]: row["outcome"] for row in report["behaviours"] if row["clock"] == "hpet"} == {
        "hpet-period": "passed", "hpet-base": "passed"}


def test_a_guest_whose_hypervisor_hides_takes_its_options_from_fw_cfg(run):
    done = run(*QUICK_TCG, "--cpus", "2", *qemu("-cpu", "max,-hypervisor"), "--", *SHORT, "clocks=tsc,hpet", "irq=off")
    report = done.report
    assert done.status == VERDICT_STATUS[report["verdict"]] != 2, done
    assert report["machine"]["cores_started"] == 2
    assert report["options"]["profile"] == "quick"
    assert report["machine"]["hypervisor"] == "unknown"
    assert ("CPUID shows no hypervisor, but the ACPI tables are from QEMU or Bochs: this machine is treated as a guest."
            in report["notes"]), report["notes"]
