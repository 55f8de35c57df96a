"""Limits the clients of the server: time, size, rate, and number of connections."""
import collections
import contextlib
import io
import math
import socket
import threading
import time

CONNECTIONS_MAX = 64         # maximum number of connections, each with a thread; further connections wait in the kernel
CONNECTIONS_MAX_EACH = 32    # maximum number of connections from one address
POSTS_MAX = 16               # maximum number of reports that are received at the same time
POSTS_MAX_EACH = 8
POST_WAIT_S = 5.0            # seconds that a client waits at most until it may send a report
REQUESTS_PER_REPORT = 10     # allowed requests for each allowed report: for the application, for its options, and repeated requests
ADDRESSES_MAX = 4096         # maximum number of clients' addresses whose requests are counted


class TooLong(Exception):
    """The client has sent more bytes than it may send."""


class Stream(io.RawIOBase):
    """The bytes that a client sends on CONNECTION: at most `left` bytes until `end_s` (time.monotonic()). Raises an error
    beyond these limits.
    """

    def __init__(self, connection, end_s, left):
        super().__init__()
        self.connection, self.end_s, self.left = connection, end_s, left

    def readable(self):
        return True

    def readinto(self, buffer):
        if self.left <= 0:
            raise TooLong
        set_time_out(self.connection, self.end_s)
        got = self.connection.recv_into(memoryview(buffer)[:self.left])
        self.left -= got
        return got


def set_time_out(connection, end_s):
    """Set the time-out of CONNECTION so that the next call on it ends at END_S. A constant time-out would start again at each
    call, so a client that sends a few bytes at a time could keep the connection.
    """
    left_s = end_s - time.monotonic()
    if left_s <= 0:
        raise socket.timeout("timed out")
    connection.settimeout(left_s)


class Limits:
    """Counts the connections, the incoming reports, and the requests of each client. A client is an IP address."""

    def __init__(self, rate):
        """RATE is the largest number of reports per minute from the same address."""
        self.rate = rate
        self.lock = threading.Condition()
        self.connections, self.posts = collections.Counter(), collections.Counter()
        self.spent = {}  # maps (address, kind) to (tokens, time), sorted by the latest request

    @contextlib.contextmanager
    def reserve_connection(self, address):
        """Yield True if ADDRESS may have another connection."""
        with self.lock:
            self.connections[address] += 1
            allowed = self.connections[address] <= CONNECTIONS_MAX_EACH
        try:
            yield allowed
        finally:
            self._decrease_count(self.connections, address)

    @contextlib.contextmanager
    def reserve_incoming_report(self, address):
        """Yield True if ADDRESS may send a report now or within POST_WAIT_S."""
        with self.lock:
            allowed = self.lock.wait_for(lambda: sum(self.posts.values()) < POSTS_MAX and
                                         self.posts[address] < POSTS_MAX_EACH, POST_WAIT_S)
            self.posts[address] += allowed
        try:
            yield allowed
        finally:
            self._decrease_count(self.posts, address, allowed)

    def _decrease_count(self, counter, address, by=1):
        with self.lock:
            counter[address] -= by
            if counter[address] <= 0:
                del counter[address]
            self.lock.notify_all()

    def take_token(self, address, what="report"):
        """Return 0 if ADDRESS may request WHAT now, otherwise the number of seconds until it may. Each address has a token
        bucket. The full bucket has the tokens for one minute, and it fills at a constant rate.
        """
        most = self.rate * (1 if what == "report" else REQUESTS_PER_REPORT)
        now_s = time.monotonic()
        with self.lock:
            tokens, then_s = self.spent.pop((address, what), (most, now_s))
            tokens = min(most, tokens + (now_s - then_s) * most / 60)
            allowed = tokens >= 1
            self.spent[address, what] = (tokens - allowed, now_s)
            if len(self.spent) > ADDRESSES_MAX:
                del self.spent[next(iter(self.spent))]
        return 0 if allowed else max(1, math.ceil((1 - tokens) * 60 / most))
