"""Handles one HTTP request on a connection. README.md describes the protocol."""
import contextlib
import http.server
import io
import re
import socket
import time
import urllib.parse
from http import HTTPStatus

from readers import gather
from results import reports
from results.sanitize import clean_text
from serve import limits, store

LINE_MAX = 8 << 10        # maximum number of bytes of the request's first line
# Maximum size in bytes of the request line and the headers. The first bytes of the body may be read together with the headers,
# and also count.
HEAD_MAX = 32 << 10
HEAD_PART = 6             # the request line and the headers must be received within 1/6 of the time limit for the request
BODY_BYTES_PER_S = 64 << 10  # slowest accepted speed, because a slower client only occupies a connection
PIECE = 64 << 10
# Maximum number of bytes of a refused body that are read. Closing a connection with unread bytes would lose the answer.
DRAIN_MAX = 1 << 20
DRAIN_S = 1.0
FIELDS_MAX = 8            # maximum number of fields of a query
RETRY_S = 2               # seconds after which a client may try again if there are too many connections
TEXT = "text/plain; charset=us-ascii"
EFI = "application/efi"   # HTTP boot recognizes an application by this type or by .efi: UEFI 2.10, 24.7.3.1
TARGET = re.compile(r"(?:http://[^/?#]*)?(/[^?#]*)(?:\?([^#]*))?")  # path and query of a URL: RFC 9112, 3.2.1 and 3.2.2


class Refused(Exception):
    """The request is refused. Has the answer to the client: a status, a sentence, and headers."""

    def __init__(self, status, sentence, *headers):
        super().__init__(sentence)
        self.status, self.headers = HTTPStatus(status), headers


class Handler(http.server.BaseHTTPRequestHandler):
    """Handles one request. `server` (server.py) provides `store`, `limits`, `deadline_s`, `checking`, read_application(),
    print_received_report() and print_refusal().
    """
    protocol_version = "HTTP/1.1"

    def setup(self):
        begin_s = time.monotonic()
        self.end_s = begin_s + self.server.deadline_s
        self.head_s = self.server.deadline_s / HEAD_PART
        self.stream = limits.Stream(self.request, begin_s + self.head_s, HEAD_MAX)
        self.rfile = io.BufferedReader(self.stream, PIECE)
        self.address = self.server.get_client_identity(self.client_address[0])
        self.command = self.path = ""
        self.expects = False

    def finish(self):
        with contextlib.suppress(OSError):
            self.rfile.close()

    def handle(self):
        with self.server.limits.reserve_connection(self.address) as allowed:
            try:
                self._handle_request(allowed)
            except OSError:
                pass  # the client has closed the connection or does not read, so no answer is possible

    def _handle_request(self, allowed):
        try:
            if not allowed:
                raise make_busy_refusal(f"{limits.CONNECTIONS_MAX_EACH} connections of this address are open")
            if self._parse_request_head():
                self._route_request()
        except Refused as refused:
            self.server.print_refusal(self, refused)
            self._send_answer(refused.status, f"{clean_text(refused)}\n".encode("ascii", "replace"), TEXT, *refused.headers)
            self._discard_rest_of_body()

    def _parse_request_head(self):
        """Parse the request line and the headers. Return False if the client sent nothing."""
        try:
            self.raw_requestline = self.rfile.readline(LINE_MAX + 1)
            if len(self.raw_requestline) > LINE_MAX:
                raise Refused(414, f"the request's first line is longer than {LINE_MAX >> 10} KiB")
            return bool(self.raw_requestline) and self.parse_request()
        except socket.timeout:
            raise Refused(408, f"there was no whole request within {self.head_s:g} s") from None
        except limits.TooLong:
            raise Refused(431, f"the request has more than {HEAD_MAX >> 10} KiB of headers") from None

    def send_error(self, code, message=None, explain=None):
        """Refuse the request with the status CODE. Only parse_request() calls this function."""
        raise Refused(code, message)

    def handle_expect_100(self):
        """Note that the client waits for the answer "100 Continue" before it sends the body. _receive_body() sends this answer.
        """
        self.expects = True
        return True

    def _route_request(self):
        wait_s = self.server.limits.take_token(self.address, "request")
        if wait_s:
            raise Refused(429, "too many requests of this address", f"Retry-After: {wait_s}")
        target = TARGET.fullmatch(self.path)
        routes = {"/baretick.efi": (("GET", "HEAD"), self._send_application),
                  "/baretick.cfg": (("GET", "HEAD"), self._send_options),
                  "/reports": (("POST",), self._receive_report)}
        if not target or target[1] not in routes:
            raise Refused(404, "this server has only /baretick.efi, /baretick.cfg and, for POST, /reports")
        methods, action = routes[target[1]]
        if self.command not in methods:
            raise Refused(405, f"{target[1]} takes {' and '.join(methods)}", f"Allow: {', '.join(methods)}")
        try:
            action(target[2] or "")
        except store.Full as error:
            raise Refused(507, f"there is no room for a report: {error}") from error
        except store.Unusable as error:
            raise Refused(500, str(error)) from error

    def _send_application(self, _):
        self._send_answer(HTTPStatus.OK, self.server.read_application(), EFI)

    def _send_options(self, query):
        try:
            # If several fields of the query have the same name, the first field is used.
            fields = dict(reversed(urllib.parse.parse_qsl(query, max_num_fields=FIELDS_MAX)))
        except ValueError:
            raise Refused(400, f"the query has more than {FIELDS_MAX} fields") from None
        mac = fields.get("mac", "").lower()
        if mac and not re.fullmatch("[0-9a-f]{12}", mac):
            raise Refused(400, "mac is not 12 hexadecimal digits")
        data = self.server.store.read_options(mac, store.convert_to_file_name(fields.get("serial")))
        if data is None:
            raise Refused(404, "there are no options for this machine, and none for all")
        self._send_answer(HTTPStatus.OK, data, TEXT)

    def _receive_report(self, _):
        if "Origin" in self.headers:
            raise Refused(403, "reports are not taken from web pages")
        length = self._get_body_length()
        wait_s = self.server.limits.take_token(self.address)
        if wait_s:
            raise Refused(429, f"more than {self.server.limits.rate} reports a minute of this address",
                          f"Retry-After: {wait_s}")
        with self.server.limits.reserve_incoming_report(self.address) as allowed:
            if not allowed:
                raise make_busy_refusal("too many reports are being sent at this moment")
            with self.server.store.create_incoming_file(length) as incoming:
                self._receive_body(length, incoming)
                machine, verdict = self._check_report(incoming)
                name = self.server.store.keep_report(incoming, machine, store.get_present_time())
        try:
            self._send_answer(HTTPStatus.CREATED, f"{name}\n".encode("ascii"), TEXT)
        finally:
            self.server.print_received_report(self, machine, verdict, name)  # counts the report even if the client did not receive the answer

    def _get_body_length(self):
        """Return the length of the body in bytes."""
        if "Transfer-Encoding" in self.headers:
            raise Refused(411, "a report needs Content-Length, and no Transfer-Encoding")
        found = set(self.headers.get_all("Content-Length", []))
        if not found:
            raise Refused(411, "a report needs Content-Length")
        length = found.pop()
        if found or not re.fullmatch("[0-9]+", length):
            raise Refused(400, "Content-Length is not one number")
        if len(length.lstrip("0")) > 15 or int(length) > reports.SIZE_MAX:
            raise Refused(413, f"a report has at most {reports.SIZE_MAX >> 20} MiB")
        return int(length)

    def _receive_body(self, length, incoming):
        """Receive LENGTH bytes of the body into INCOMING."""
        if self.expects:
            self._send_bytes(b"HTTP/1.1 100 Continue\r\n\r\n")
        self.stream.left = length
        self.stream.end_s = min(self.end_s, time.monotonic() + self.head_s + length / BODY_BYTES_PER_S)
        left = length
        while left:
            try:
                piece = self.rfile.read1(min(left, PIECE))
            except socket.timeout:
                raise Refused(408, f"{left} of {length} bytes did not come in time") from None
            if not piece:
                raise Refused(400, f"{left} of {length} bytes did not come")
            incoming.write(piece)
            left -= len(piece)

    def _check_report(self, incoming):
        """Return (machine, verdict) of the report in INCOMING. Only one report is parsed at a time, because parsing needs more
        memory than the body.
        """
        if not self.server.checking.acquire(timeout=max(0, self.end_s - time.monotonic())):
            raise make_busy_refusal("too many reports are being read at this moment")
        try:
            report = gather.parse_report(incoming.read())
        except (ValueError, MemoryError, RecursionError) as error:
            flaw = f"the body is no report: it {error}" if str(error) else "the report needs too much memory"
            raise Refused(422, flaw) from error
        finally:
            self.server.checking.release()
        identity = ((report.get("machine") or {}).get("identity")) or {}
        names = (identity.get("serial"), (report.get("options") or {}).get("label"), identity.get("product"))
        return next((name for name in names if store.convert_to_file_name(name)), None), report["verdict"]

    def _send_answer(self, status, body, kind, *headers):
        head = [f"HTTP/1.1 {status.value} {status.phrase}", f"Date: {self.date_time_string()}", "Server: baretick",
                f"Content-Type: {kind}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", ""]
        self._send_bytes("\r\n".join(head).encode("ascii") + (b"" if self.command == "HEAD" else body))

    def _send_bytes(self, data):
        limits.set_time_out(self.request, self.end_s)
        self.request.sendall(data)  # the time-out of sendall() is for all data, and not for each piece

    def _discard_rest_of_body(self):
        """Read the rest of the request. If a connection is closed with unread bytes, the kernel sends a reset, and the client
        loses the answer.
        """
        self.request.shutdown(socket.SHUT_WR)
        rest = limits.Stream(self.request, min(self.end_s, time.monotonic() + DRAIN_S), DRAIN_MAX)
        with contextlib.suppress(limits.TooLong):
            while rest.readinto(bytearray(PIECE)):
                pass


def make_busy_refusal(sentence):
    return Refused(503, sentence, f"Retry-After: {RETRY_S}")
