"""Machines that lack the requirements of INIT-SIPI-SIPI, from the test image in tests/fault. The firmware's MP services
must start the cores instead."""
import pytest

from boots import VERDICT_STATUS
from test_exceptions import FAULTING, SHORT, faulting

pytestmark = pytest.mark.skipif(not FAULTING.exists(), reason="build/baretick-fault.efi is not there: type make check")


@pytest.mark.parametrize("lacking, sentence", [
    ("lo", "There is too little memory to start cores, or none below 1 MiB."),
    ("ma", "The MADT does not list the boot core's APIC id 0, so a core in its list may be the boot core: no core was sent INIT."),
], ids=["low-page", "boot-core-in-madt"])
def test_where_baretick_cannot_start_cores_the_firmware_does(run, lacking, sentence):
    done = run(*faulting(lacking, 0, "open"), "--cpus", "2", "--", *SHORT)
    report = done.report
    assert f"{sentence} So the other cores are started by the firmware's MP services (cores=mp)." in report["notes"], report["notes"]
    assert done.status == VERDICT_STATUS[report["verdict"]] and report["verdict"] in ("pass", "warn"), done
    assert [core["started"] for core in report["cores"]] == [True, True] and report["skew"]["cores"] == 2
