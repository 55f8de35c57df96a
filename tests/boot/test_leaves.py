"""CPUID leaves with a wrong rate. In a test image (tests/skew) the boot core runs as an SVM guest whose leaves have
other values. Instructions drive the guest's time (-icount), so the TSC and the local APIC's timer count at exactly 1
GHz."""
import pytest

from boots import EFI_BUILT, SHORT, checked, qemu
from harness import QUICK_TCG, ROOT

IMAGE = ROOT / "build" / "baretick-skew.efi"
NO_SVM = "QEMU ended with status 65"  # QEMU's exit status for EXIT_NO_SVM of tests/skew/skew.c
AS_IT_IS = -1
BASIC_MAX = (0, 0x16, AS_IT_IS, AS_IT_IS, AS_IT_IS)
VMWARE = (0x40000000, 0x40000010, *(int.from_bytes(part, "little") for part in (b"VMwa", b"reVM", b"ware")))
HZ = 10 ** 9
WRONG = 1_001_740  # the wrong rate as a multiple of the right one, in millionths; from acrn-hypervisor#7890
ZERO_16 = (0x16, 0, 0, 0, 0)

pytestmark = [EFI_BUILT, pytest.mark.skipif(not IMAGE.exists(),
                                            reason="build/baretick-skew.efi is not there: type make check")]


def claims(run, *leaves):
    """Return the report of a boot with changed CPUID leaves. Each of LEAVES has the number of a leaf, and its values of
    EAX, EBX, ECX and EDX."""
    words = " ".join(":".join(map(str, leaf)) for leaf in leaves)
    done = run(*QUICK_TCG, "--cpus", "1", "--efi", IMAGE,
               *qemu("-fw_cfg", f"name=opt/baretick/leaves,string={words}"), "--", *SHORT)
    if NO_SVM in done.stderr:
        pytest.skip("this QEMU's cores have no SVM")
    return checked(done, started=1, accelerator="vmware" if VMWARE in leaves else "tcg")


def outcomes(report):
    return {(claim["source"], claim["clock"]): claim["outcome"] for claim in report["claims"]}


@pytest.mark.parametrize("leaves, wrong, right, claimed_hz, effect", [
    pytest.param([BASIC_MAX, ZERO_16, (0x15, 1_000_000, WRONG, HZ, 0)], ("CPUID 15h", "tsc"), ("CPUID 15h ECX", "lapic"),
                 WRONG * 1000, "EDK II's delays would be 1737 ppm too long", id="15h"),
    pytest.param([BASIC_MAX, ZERO_16, (0x15, 2, 1, 2 * HZ, 0)], ("CPUID 15h ECX", "lapic"), ("CPUID 15h", "tsc"), 2 * HZ,
                 "No system that baretick knows uses this rate", id="15h-ecx", marks=pytest.mark.long),
    pytest.param([BASIC_MAX, (0x16, 1200, 1200, 100, 0)], ("CPUID 16h", "tsc"), None, 1200 * 10 ** 6,
                 "No system that baretick knows uses this rate", id="16h", marks=pytest.mark.long),
    pytest.param([VMWARE, (0x40000010, WRONG, 1_000_000, 0, 0)], ("CPUID 40000010h EAX", "tsc"),
                 ("CPUID 40000010h EBX", "lapic"), WRONG * 1000, "PostgreSQL 19 would show times 1737 ppm too short",
                 id="40000010h-eax", marks=pytest.mark.long),
    pytest.param([VMWARE, (0x40000010, 1_000_000, 1_100_000, 0, 0)], ("CPUID 40000010h EBX", "lapic"),
                 ("CPUID 40000010h EAX", "tsc"), 1100 * 10 ** 6, "FreeBSD's timers would fire 9.1 % too late",
                 id="40000010h-ebx"),
])
def test_a_leaf_with_a_wrong_rate_is_named_and_no_clock_is_accused(run, leaves, wrong, right, claimed_hz, effect):
    report = claims(run, *leaves)
    seen = (report["claims"], report["findings"])
    # Findings on QEMU's timers are ignored: they depend on the image's layout, which decides where QEMU can deliver an
    # interrupt to an SVM guest. The rule hpet-stale is usually not checked in QEMU, but it is checked here, because the
    # leaves name VMware as the hypervisor.
    finding, = (found for found in report["findings"] if not found["rule"].startswith(("irq-", "hpet-stale")))
    assert finding["rule"] == f"{wrong[1]}-claim" and finding["clock"] is None, seen
    assert finding["text"].startswith(f"{wrong[0]} states ") and effect in finding["text"], seen
    # the finding's limits are rounded to whole ppm
    assert finding["low"] - 1 <= (HZ / claimed_hz - 1) * 10 ** 6 <= finding["high"] + 1, seen
    assert outcomes(report)[wrong] == "failed", seen
    assert right is None or outcomes(report)[right] == "passed", seen
    assert {key for key, outcome in outcomes(report).items() if outcome == "failed"} <= {wrong, (f"{wrong[0]} ECX", "crystal")}, seen
