"""Signals that ask the run to end: noted when they come, however many, and heeded only where nothing is half done."""
import signal

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_noted = []


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


def check():
    if _noted:
        raise Interrupted(_noted[0])
