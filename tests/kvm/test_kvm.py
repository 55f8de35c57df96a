"""Tests of the clocks of hypervisors under a real KVM: each report is compared with KVM's features. `make kvm` boots
each kind of machine once for all tests."""
import pytest

import kvms

HOST = "host"
HYPERV = "host,hv-time,hv-vpindex,hv-synic,hv-stimer,hv-frequencies"
OFFERED = {HOST: {"kvmclock"}, HYPERV: {"kvmclock", "hv_ref", "hv_page"}}
PARAVIRTUAL = OFFERED[HYPERV]
OPTIONS = ["profile=quick", "clocks=tsc,acpi_pm,kvmclock,hv_ref,hv_page"]
# Rules that may fail although no clock is faulty, because a read exits to the hypervisor, or because a busy host delays
# interrupts.
SLOW = ("clock-slow", "irq-late", "irq-rate", "irq-lost", "irq-doubled")

CASES = {"kvm-q35-2": ("q35", 2, HOST), "kvm-pc-1": ("pc", 1, HOST), "hyperv-q35-1": ("q35", 1, HYPERV), "hyperv-pc-2": ("pc", 2, HYPERV)}

pytestmark = pytest.mark.kvm


@pytest.fixture(scope="module", params=list(CASES))
def case(request):
    return request.param


@pytest.fixture
def seen(case, runs, tmp_path_factory):
    kvms.need()
    if case not in runs:
        runs[case] = kvms.boot(tmp_path_factory.mktemp(case) / "out", *CASES[case], OPTIONS)
    return runs[case]


def accused(seen):
    return [finding["text"] for finding in seen.report["findings"] if finding["rule"] not in SLOW]


def check_left_as_found(seen):
    """Check that the MSRs of KVM and Hyper-V were restored. On the first core they are compared before and after the
    run. On other cores they are read back."""
    assert "Not restored" not in seen.text
    assert not [note for note in seen.report["notes"] if "Not restored" in note]


def test_exactly_the_clocks_that_kvm_offers_are_present(case, seen):
    assert set(seen.clocks()) & PARAVIRTUAL == OFFERED[CASES[case][2]]
    assert seen.report["machine"]["cores_started"] == CASES[case][1]
    offered = seen.interface("KVM")["offers"]
    assert "kvm-clock" in offered, offered
    if kvms.is_on_rig():
        assert seen.interface("KVM")["stable"] is True, "its host trusts its TSCs"


def test_rates_of_paravirtual_clocks_agree_with_the_other_clocks(case, seen):
    """The rates of each paravirtual clock and of each other clock except the TSC must agree. The next test compares the
    TSC's rate with the rates in the hypervisors' pages."""
    pairs = {frozenset((rate["a"], rate["b"])): rate["ppm"] for rate in seen.report["rates"]}
    for one in OFFERED[CASES[case][2]]:
        for other in set(seen.clocks()) - {one, "tsc", "null"}:
            ppm = pairs[frozenset((one, other))]
            assert ppm and ppm["low"] <= 0 <= ppm["high"], (one, other, ppm)
    assert all(ppm["low"] <= 0 <= ppm["high"] for ppm in pairs.values() if ppm), pairs


def test_rates_in_pages_agree_with_measured_rates_and_page_agrees_with_msr(case, seen):
    rows = {(row["clock"], row["rule"]): row for row in seen.report["behaviours"] if row["rule"].startswith("pv-")}
    wanted = {("kvmclock", "pv-claim")}
    if "hv_page" in OFFERED[CASES[case][2]]:
        wanted |= {("hv_page", rule) for rule in ("pv-claim", "pv-fallback", "pv-page-apart")}
    assert wanted <= set(rows)
    assert {key: row["text"] for key, row in rows.items() if row["outcome"] != "passed"} == {}


def test_no_clock_is_accused_and_all_msrs_are_restored(seen):
    assert accused(seen) == []
    assert seen.report["discontinuities"] == []
    check_left_as_found(seen)


@pytest.mark.parametrize("cpu", [HOST, HYPERV], ids=["kvm", "hyperv"])
def test_a_pause_is_reported_as_diverged_clocks_and_accuses_no_clock(tmp_path, cpu):
    """During a pause, KVM's TSC continues to count, and the clocks that KVM calculates for its guest stop. The report
    must name two groups of clocks, and no single clock."""
    kvms.need()
    seen = kvms.boot(tmp_path / "out", "q35", 2, cpu, [*OPTIONS, "duration=500ms"], is_paused=True)
    moments = seen.report["discontinuities"]
    assert {moment["class"] for moment in moments} == {"parted"}
    for moment in moments:
        groups = {clock: group for group in moment["groups"] for clock in group["clocks"]}
        assert groups["tsc"]["elapsed_ms"]["low"] - groups["kvmclock"]["elapsed_ms"]["high"] > kvms.PAUSE_S * 1000 / 2
        assert all(groups.get(name, groups["kvmclock"]) == groups["kvmclock"] for name in OFFERED[cpu])
    named = [finding for finding in seen.report["findings"] if finding["rule"] not in SLOW]
    assert [finding["rule"] for finding in named] == ["clocks-parted"] * len(moments), named
    assert not any(finding["clock"] for finding in named)
    check_left_as_found(seen)


def test_if_the_host_does_not_trust_its_tscs_the_report_follows_the_page(tmp_path):
    """If the flag for a stable TSC is missing in KVM's page, KVM's clock must not be used to compare cores. Findings
    about cores must then be about the TSCs only."""
    kvms.need(rig_only="makes a host whose TSCs are not synchronised")
    seen = kvms.boot(tmp_path / "out", "q35", 2, HOST, OPTIONS, host_tsc="unstable")
    assert seen.interface("KVM")["stable"] is False
    assert "The hypervisor does not set TSC_STABLE: readings on different cores must not be compared." in seen.clocks()["kvmclock"]["reason"]
    assert [finding["text"] for finding in seen.report["findings"] if finding["clock"] in PARAVIRTUAL] == []
    warps = [row for row in seen.report["behaviours"] if row["rule"] == "pv-warp" and row["clock"] == "kvmclock"]
    assert [row["outcome"] for row in warps] == ["not_checked"]
    check_left_as_found(seen)
