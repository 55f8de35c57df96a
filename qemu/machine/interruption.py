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
    """Return True if a signal may end the measurements early. After SIGHUP the terminal is gone, and no user waits."""
    return asked() and _noted[0] != signal.SIGHUP


def meet():
    """Mark the noted signals as handled, so that only later ones count. Return the signal's name."""
    _met.extend(_noted)
    _noted.clear()
    return signal.Signals(_met[-1]).name


def met():
    """Whether an early end was asked for: no other run is begun."""
    return bool(_met)


def check():
    if _noted:
        raise Interrupted(_noted[0])
