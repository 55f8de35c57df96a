"""Handles signals that request the end of the run, such as Ctrl-C. A handler only stores the signal. qemu/run looks for stored
signals at points where no file is half written.
"""
import signal

SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_stored = []
_handled = []


class Interrupted(Exception):
    """A signal requested the end of the run."""

    def __init__(self, number):
        super().__init__(f"interrupted by {signal.Signals(number).name}")
        self.status = 128 + number  # a shell's exit status for this signal: 130 for Ctrl-C


def install_handlers():
    for number in SIGNALS:
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:  # SIGHUP stays ignored if nohup has set this
            signal.signal(number, lambda number, _frame: _stored.append(number) if not _stored else None)


def is_requested():
    return bool(_stored)


def is_early_report_requested():
    """Return True if the stored signal only ends the measurements early, so that there is still a report. SIGHUP ends the run at
    once, because the user has closed the terminal and does not wait for a report.
    """
    return is_requested() and _stored[0] != signal.SIGHUP


def mark_handled():
    """Mark the stored signal as handled, so that only a later signal counts. Return the name of the handled signal."""
    _handled.extend(_stored)
    _stored.clear()
    return signal.Signals(_handled[-1]).name


def was_handled():
    """Return True if an early end was requested. In that case no other run is started."""
    return bool(_handled)


def raise_if_requested():
    if _stored:
        raise Interrupted(_stored[0])
