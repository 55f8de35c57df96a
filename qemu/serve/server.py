"""Runs the server of qemu/fleet --serve from start to end."""
import contextlib
import ipaddress
import os
import signal
import socket
import socketserver
import sys
import threading
import time

from results import files, sanitize
from serve import handler, limits, store

APPLICATION_MAX = 64 << 20  # largest application in bytes
REFUSED_MAX = 10_000        # maximum number of refused requests that are printed
POLL_S = 0.2                # seconds between two checks for a signal
GRACE_S = 3.0               # seconds that open connections have to end when the server ends
CLOSE_S = 10.0              # seconds that the threads of closed connections have to end; on a busy host this may take more than one
ENDING = (signal.SIGINT, signal.SIGTERM)
SHOWN_MAX = 300             # maximum number of characters of a printed line


class Missing(Exception):
    """The server cannot start. The message is a sentence with the reason."""


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """A server that handles each connection in a thread, and limits the number of connections."""
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, options, home):
        self.store, self.limits = home, limits.Limits(options.rate)
        self.deadline_s = options.deadline
        self.efi, self.read = options.application, (None, b"")
        self.checking, self.saying = threading.Lock(), threading.Lock()
        self.places = threading.Semaphore(limits.CONNECTIONS_MAX)
        self.open = set()
        self.reports = self.refusals = 0
        self.deaf = None  # the error that occurred when the output was closed, or None
        self.ended = False  # true after SIGINT or SIGTERM
        self.read_application()
        try:
            family, _, _, _, address = socket.getaddrinfo(options.listen, options.port, type=socket.SOCK_STREAM,
                                                          flags=socket.AI_PASSIVE)[0]
            self.address_family = family
            super().__init__(address, handler.Handler)
        except (OSError, UnicodeError) as error:
            problem = getattr(error, "strerror", None) or error
            raise Missing(f"{options.listen}, port {options.port}: {problem}") from error

    # The following functions handle connections.

    def service_actions(self):
        """End the server if a signal has set `ended`. serve_forever() calls this function between two connections, so the
        exception does not interrupt the start of a connection's thread. Such an interruption would close the connection.
        """
        if self.ended:
            raise KeyboardInterrupt

    def process_request(self, request, client_address):
        while not self.places.acquire(timeout=POLL_S):
            self.service_actions()
        self.open.add(request)
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._release_connection(request)
            raise

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._release_connection(request)

    def _release_connection(self, request):
        self.open.discard(request)
        self.places.release()

    def handle_error(self, request, client_address):
        kind, error, _ = sys.exc_info()
        self.print_line(f"{client_address[0]}: internal error: {kind.__name__}: {error}", sys.stderr)

    @staticmethod
    def get_client_identity(address):
        """Return the identity of a client: its IPv4 address, or the first 64 bits of its IPv6 address, because one host
        may use all addresses with these bits.
        """
        found = ipaddress.ip_address(address.partition("%")[0])
        if found.version == 6 and not found.ipv4_mapped:
            return str(ipaddress.ip_network((found, 64), strict=False))
        return str(getattr(found, "ipv4_mapped", None) or found)

    # The following functions are called by the handler of a request.

    def read_application(self):
        """Return the bytes of the application. Read the file again if it has changed."""
        try:
            about = os.stat(self.efi)
            known, data = self.read
            if known != (about.st_mtime_ns, about.st_size, about.st_ino):
                data = files.read_file(self.efi, APPLICATION_MAX)
                self.read = ((about.st_mtime_ns, about.st_size, about.st_ino), data)
        except OSError as error:
            raise store.Unusable(f"the application cannot be read: {files.format_error(error)}") from error
        except ValueError as error:
            raise store.Unusable(f"the application: {self.efi} {error}") from error
        return data

    def print_received_report(self, request, machine, verdict, name):
        with self.saying:
            self.reports += 1
        self.print_line(f"{format_log_line_start(request)}  {machine or 'unknown machine'}  {verdict}  reports/{name}")

    def print_refusal(self, request, refusal):
        with self.saying:
            self.refusals += 1
        if self.refusals <= REFUSED_MAX and (request.command == "POST" or refusal.status >= 500):
            self.print_line(f"{format_log_line_start(request)}  refused: {refusal.status.value} {refusal}", sys.stderr)

    def print_line(self, line, where=None):
        """Print a line for the operator. If the output is closed, end the server."""
        with self.saying:
            try:
                sanitize.print_line(line, where, SHOWN_MAX)
            except OSError as error:
                if not self.deaf:
                    self.deaf = error
                    threading.Thread(target=self.shutdown, daemon=True).start()

    # The following functions end the server.

    def end_connections(self):
        """Accept no new connections. Wait GRACE_S for the end of open connections, and then close them."""
        self.server_close()
        end_s = time.monotonic() + GRACE_S
        for _ in range(limits.CONNECTIONS_MAX):
            if not self.places.acquire(timeout=max(0, end_s - time.monotonic())):
                break
        for request in list(self.open):
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)
        until_s = time.monotonic() + CLOSE_S
        while self.open and time.monotonic() < until_s:
            time.sleep(0.01)


def format_log_line_start(request):
    """Return the start of a printed line: the time and the client."""
    return f"{time.strftime('%H:%M:%S')}  {request.client_address[0]}"


def run_server(options):
    """Serve until Ctrl-C or SIGTERM. Raise Missing, store.Busy or OSError if the server cannot start."""
    try:
        server = Server(options, store.Store(options.serve, options.keep_free << 20))
    except store.Unusable as error:
        raise Missing(str(error)) from error
    except store.Full as error:
        raise Missing(f"{options.serve}: {error}") from error

    def end_server(*_):
        server.ended = True
    for number in ENDING:
        signal.signal(number, end_server)
    host, port = server.server_address[:2]
    server.print_line(f"http://{f'[{host}]' if ':' in host else host}:{port}/ hands out {options.application} and takes "
               f"reports into {os.path.join(options.serve, 'reports')}; Ctrl-C ends it")
    try:
        server.serve_forever(POLL_S)
    except KeyboardInterrupt:
        for number in ENDING:
            signal.signal(number, signal.default_int_handler)  # a second signal ends the wait for open connections
        with contextlib.suppress(KeyboardInterrupt):
            server.end_connections()
    if server.deaf:
        raise server.deaf
    server.print_line(f"{server.reports} report{'' if server.reports == 1 else 's'} received, {server.refusals} request"
               f"{'' if server.refusals == 1 else 's'} refused")
