"""Checks whether a guest that prints nothing hangs. QEMU reports the instruction pointers of its cores."""
import re
import time

# Seconds without progress after which a guest counts as hung. Under KVM, firmware needs fewer seconds for its first text, except
# on a busy host, or on a host that is a guest itself.
BOUND_S = 10
ASK_S = 1.0      # seconds between two queries; they are rare, because each query stops the cores for a short time
LOOP_BYTES = 64  # longest loop, in bytes of code, that is taken for a hang
POINTER = re.compile(r"\b[ER]?IP=([0-9a-f]+)\b")


class HangCheck:
    """Detects a guest that hangs. Send QUESTION to QEMU whenever is_due() is true, and pass each answer to receive_answer().

    The guest hangs if all cores stay in loops of at most LOOP_BYTES for BOUND_S seconds. It also counts as hung if QEMU
    does not answer in this time. In both cases has_hung() returns true, and explain_hang() returns the reason.
    """

    QUESTION = ("human-monitor-command", {"command-line": "info registers -a"})

    def __init__(self):
        self._since = self._asked = time.monotonic()
        self._pointers = []

    def is_due(self, now):
        due = now - self._asked >= ASK_S
        if due:
            self._asked = now
        return due

    def receive_answer(self, answer):
        text = answer.get("return")
        pointers = [int(digits, 16) for digits in POINTER.findall(text)] if isinstance(text, str) else []
        stays = len(pointers) == len(self._pointers) and all(
            abs(pointer - before) < LOOP_BYTES for pointer, before in zip(pointers, self._pointers))
        if not stays:
            self._pointers, self._since = pointers, time.monotonic()

    def has_hung(self, now):
        return now - self._since >= BOUND_S

    def explain_hang(self):
        went = f"stayed near address {self._pointers[0]:x}h" if self._pointers else "QEMU did not tell its address"
        return f"for {BOUND_S} s the guest printed nothing and {went}"
