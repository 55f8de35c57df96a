"""Handles signals that request the end of the run. A handler only stores the signal. The runner checks for it at points where
no work is half done.
"""
import signal

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_noted = []
_met = []


class Interrupted(Exception):
    """A signal requested the end of the run."""

    def __init__(self, number):
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.status = 128 + number  # a shell's exit status for this signal: 130 for Ctrl-C


def install():
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # SIGHUP stays ignored if nohup has set this
            signal.signal(number, lambda number, _frame: _noted.append(number) if not _noted else None)


def asked():
    return bool(_noted)


def may_be_met():
    """Return True if a signal may end the measurements early. After SIGHUP the terminal is closed, and no user waits."""
    return asked() and _noted[0] != signal.SIGHUP


def meet():
    """Mark the stored signals as handled, so that only later signals count. Return the signal's name."""
    _met.extend(_noted)
    _noted.clear()
    return signal.Signals(_met[-1]).name


def met():
    """Return True if an early end was requested. In that case no other run is started."""
    return bool(_met)


def check():
    if _noted:
        raise Interrupted(_noted[0])
