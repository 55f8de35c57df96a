"""Signals that ask the run to end: noted when they come, however many, and heeded only where nothing is half done."""
import signal

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_noted = []
_met = []


class Interrupted(Exception):
    """The first signal asked the run to end."""

    def __init__(self, number):
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.status = 128 + number  # as a shell has it: 130 for Ctrl-C


def install():
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, lambda number, _frame: _noted.append(number) if not _noted else None)


def asked():
    return bool(_noted)


def may_be_met():
    """Whether somebody waits for an end who may be served by an early one: nobody does whose terminal is gone."""
    return asked() and _noted[0] != signal.SIGHUP


def meet():
    """What was asked for is being done: only what comes from now on is heeded. The signal's name."""
    _met.extend(_noted)
    _noted.clear()
    return signal.Signals(_met[-1]).name


def met():
    """Whether an early end was asked for: no other run is begun."""
    return bool(_met)


def check():
    if _noted:
        raise Interrupted(_noted[0])
