"""Checks whether a guest without output hangs, by the instruction pointers of its cores, which QEMU reports."""
import re
import time

BOUND_S = 10     # under KVM firmware prints earlier, unless the host is busy or is a guest itself
ASK_S = 1.0      # time between two queries, which each stop the cores for a moment
LOOP_BYTES = 64  # longest loop of code that waits for ever
POINTER = re.compile(r"\b[ER]?IP=([0-9a-f]+)\b")


class Stillness:
    """Detects a guest that hangs. Send QUESTION to QEMU whenever is_due() is true. Pass each answer to take(). is_over() is
    true if all cores stayed in loops of LOOP_BYTES for BOUND_S, or if QEMU did not answer in this time. why() returns the
    reason."""

    QUESTION = ("human-monitor-command", {"command-line": "info registers -a"})

    def __init__(self):
        self._since = self._asked = time.monotonic()
        self._pointers = []

    def is_due(self, now):
        due = now - self._asked >= ASK_S
        if due:
            self._asked = now
        return due

    def take(self, answer):
        text = answer.get("return")
        pointers = [int(digits, 16) for digits in POINTER.findall(text)] if isinstance(text, str) else []
        stays = len(pointers) == len(self._pointers) and all(
            abs(pointer - before) < LOOP_BYTES for pointer, before in zip(pointers, self._pointers))
        if not stays:
            self._pointers, self._since = pointers, time.monotonic()

    def is_over(self, now):
        return now - self._since >= BOUND_S

    def why(self):
        went = f"went no further than {self._pointers[0]:x}h" if self._pointers else "QEMU did not tell where it is"
        return f"for {BOUND_S} s the guest said nothing and {went}"
