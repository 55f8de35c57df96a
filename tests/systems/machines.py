"""The machines of `make systems`: QEMU's arguments, and faults that are caused while the system runs."""
import typing

import emulator

AHEAD_TICKS, SMALL_TICKS = 600_000_000, 5_000  # 300 ms and 2.5 us of a TSC of 2 GHz
CORES_RUN = b"phase: skew"
RATES_END = b"phase: latency"


class Machine(typing.NamedTuple):
    """A machine. FAULT(emulator) is called when a kernel has settled, and when baretick prints the text AT."""
    words: str
    about: str
    fault: typing.Callable = None
    at: bytes = RATES_END
    rate_of_rtc: float = None

    def has_fault(self):
        return self.fault is not None or self.rate_of_rtc is not None


MAX = "-cpu max -m 256M"
ONE, TWO = f"-machine q35 -smp 1 {MAX}", f"-machine q35 -smp 2 {MAX}"
MACHINES = {
    "q35-1": Machine(ONE, "one core"),
    "q35-2": Machine(TWO, "two cores"),
    "q35-no-hpet-1": Machine(f"-machine q35,hpet=off -smp 1 {MAX}", "one core, no HPET"),
    "q35-no-hpet-2": Machine(f"-machine q35,hpet=off -smp 2 {MAX}", "two cores, no HPET"),
    "pc-2": Machine(f"-machine pc -smp 2 {MAX}", "the older machine, two cores"),
    "q35-2-packages": Machine(f"-machine q35 -smp 2,sockets=2 {MAX}", "two cores in two packages"),
    "q35-4-in-2": Machine(f"-machine q35 -smp 4,sockets=2,cores=2 {MAX}", "four cores in two packages"),
    "epyc-2": Machine("-machine q35 -smp 2 -m 256M -cpu EPYC", "two cores, called EPYC"),
    "skylake-2": Machine("-machine q35 -smp 2 -m 256M -cpu Skylake-Client", "two cores, called Skylake"),
    "qemu64-1": Machine("-machine q35 -smp 1 -m 256M -cpu qemu64", "one core without RDTSCP"),
    "hpet-stops-1": Machine(ONE, "one core, the HPET stops", emulator.stop_hpet),
    "hpet-stops-2": Machine(TWO, "two cores, the HPET stops", emulator.stop_hpet),
    "hpet-to-zero-1": Machine(ONE, "one core, the HPET is set to 0", emulator.set_hpet_to_zero),
    "rtc-stops-1": Machine(ONE, "one core, the RTC stops", emulator.stop_rtc),
    "rtc-fast-1": Machine(ONE, "one core, the RTC is 5 % fast", rate_of_rtc=1.05),
    "tsc-ahead-1": Machine(ONE, "one core, the TSC jumps 300 ms ahead", emulator.move_tsc(core0=AHEAD_TICKS)),
    "tsc-back-1": Machine(ONE, "one core, the TSC is set back by 300 ms", emulator.move_tsc(core0=-AHEAD_TICKS)),
    "core-ahead-2": Machine(TWO, "two cores, core 1's TSC jumps 300 ms ahead", emulator.move_tsc(core1=AHEAD_TICKS), CORES_RUN),
    "core-little-2": Machine(TWO, "two cores, core 1's TSC jumps 2.5 us ahead", emulator.move_tsc(core1=SMALL_TICKS), CORES_RUN),
}
