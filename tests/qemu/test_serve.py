"""qemu/fleet --serve: the files that it sends, the reports that it accepts, and the requests that it refuses. All
connections use 127.0.0.1."""
import collections
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import textwrap
import threading
import time

import pytest

from harness import ROOT
from serve import limits, store
from serve.server import Server as server_of

FLEET = ROOT / "qemu" / "fleet"
GOLDEN = (ROOT / "tests" / "goldens" / "clean.json").read_bytes()
WAIT_S = 120  # longest wait; the machine may be busy
EFI = b"MZ the application"
MIB = 1 << 20
MEMORY_MAX_MIB = 400
SMALL = {"schema": "baretick.report/1", "verdict": "pass", "clocks": [{"id": "tsc", "verdict": "pass"}]}


def small(**more):
    return json.dumps({**SMALL, **more}).encode("ascii")


def of(serial, **more):
    return small(machine={"identity": {"serial": serial}}, **more)


class Server:
    """A running server: `process` is its process, and `lab` is the folder that it serves."""

    def __init__(self, lab, *arguments, before=lambda: None, environment=None):
        lab.parent.joinpath("app.efi").write_bytes(EFI)
        self.lab, self.said = lab, lab.parent / "said"
        self.errors = open(lab.parent / "errors", "w+")

        def prepare():
            # the server must handle the signal, even if the tests' parent process ignores it
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            before()
        self.process = subprocess.Popen(
            [FLEET, "--serve", lab, "--port", "0", "--application", lab.parent / "app.efi", "--keep-free", "0", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, preexec_fn=prepare, env={**os.environ, **(environment or {})})
        self.first = self.process.stdout.readline()
        self.port = int(re.search(r":(\d+)/ ", self.first)[1])

    def connect(self, timeout=WAIT_S):
        return socket.create_connection(("127.0.0.1", self.port), timeout)

    def raw(self, *pieces):
        """Send the bytes PIECES. Return (status, headers in lower case, body) of the answer. The status is None if
        there is no answer."""
        with self.connect() as line:
            with contextlib.suppress(OSError):
                for piece in pieces:
                    line.sendall(piece)
            return answer(line)

    def get(self, target, method="GET"):
        return self.raw(f"{method} {target} HTTP/1.1\r\nHost: lab\r\n\r\n".encode("latin-1"))

    def post(self, body, *headers, length=None):
        head = [f"Content-Length: {len(body) if length is None else length}", *headers]
        return self.raw("\r\n".join(["POST /reports HTTP/1.1", "Host: lab", *head, "", ""]).encode("latin-1") + body)

    def reports(self):
        return sorted(path.name for path in (self.lab / "reports").iterdir())

    def memory_mib(self):
        return int(re.search(r"VmHWM:\s*(\d+)", pathlib.Path(f"/proc/{self.process.pid}/status").read_text())[1]) >> 10

    def end(self, by=signal.SIGINT):
        """End the server with the signal BY. Return (status, output after the first line)."""
        self.process.send_signal(by)
        out, _ = self.process.communicate(timeout=WAIT_S)
        self.errors.seek(0)
        return self.process.returncode, out.splitlines()


def answer(line):
    data = b""
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(65536):
            data += piece
    data = data.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    if not data:
        return None, {}, b""
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("ascii").split("\r\n")
    return int(first.split()[1]), {name.lower(): value for name, value in (each.split(": ", 1) for each in rest)}, body


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts a server with further arguments. At the end of the test each server is stopped, and
    must not have reported an internal error."""
    started = []

    def start(*arguments, lab="lab", **more):
        started.append(Server(tmp_path / lab, *arguments, **more))
        return started[-1]
    yield start
    for each in started:
        if each.process.poll() is None:
            each.end()
        each.process.stdout.close()
        each.errors.seek(0)
        assert "internal error" not in each.errors.read()
        each.errors.close()


@pytest.fixture
def server(serve):
    return serve()


# Tests of normal requests.

@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_application_is_handed_out(serve, method):
    status, headers, body = serve().get("/baretick.efi", method)
    assert (status, body) == (200, EFI if method == "GET" else b"")
    assert headers["content-length"] == str(len(EFI)) and headers["content-type"] == "application/efi"


def test_a_new_build_is_handed_out_next(server, tmp_path):
    assert server.get("/baretick.efi")[2] == EFI
    (tmp_path / "app.efi.new").write_bytes(b"MZ another, of another length")
    (tmp_path / "app.efi.new").rename(tmp_path / "app.efi")
    assert server.get("/baretick.efi")[2] == b"MZ another, of another length"
    (tmp_path / "app.efi").unlink()
    assert server.get("/baretick.efi")[0] == 500


def test_options_are_the_first_of_a_macs_a_serials_and_everybodys(server):
    folder = server.lab / "options"
    asked = "/baretick.cfg?mac=525400ABCDEF&serial=SN%2F42"
    assert server.get(asked)[0] == 404
    (server.lab / "baretick.cfg").write_text("profile=quick\n")
    assert server.get(asked)[2] == b"profile=quick\n" == server.get("/baretick.cfg")[2]
    folder.mkdir()
    (folder / "SN_42.cfg").write_text("label=serial\n")
    assert server.get(asked)[2] == b"label=serial\n"
    (folder / "525400abcdef.cfg").write_text("label=mac\n")
    status, headers, body = server.get(asked)
    assert (status, body, headers["content-length"]) == (200, b"label=mac\n", "10")
    assert server.get(asked, "HEAD")[1]["content-length"] == "10" and server.get(asked, "HEAD")[2] == b""
    assert server.get("http://lab:8080" + asked)[2] == b"label=mac\n"
    assert server.get("/baretick.cfg?mac=&serial=")[2] == b"profile=quick\n"


def test_a_report_is_kept_byte_for_byte_under_machine_and_time(server):
    status, _, body = server.post(GOLDEN)
    name = body.decode().strip()
    assert status == 201 and re.fullmatch(r"SN-0042-20\d{6}T\d{6}Z\.json", name)
    assert server.reports() == [name] and (server.lab / "reports" / name).read_bytes() == GOLDEN
    ended, lines = server.end()
    assert ended == 0 and lines[-1] == "1 report received, 0 requests refused"
    assert re.fullmatch(rf"\d\d:\d\d:\d\d  127\.0\.0\.1  SN-0042  pass  reports/{re.escape(name)}", lines[0])


def test_a_machine_is_its_serial_else_its_label_else_its_product(server):
    bodies = [small(machine={"identity": {"serial": "S", "product": "P"}}, options={"label": "L", "clocks": []}),
              small(machine={"identity": {"serial": None, "product": "P"}}, options={"label": "L", "clocks": []}),
              small(machine={"identity": {"product": "P"}}), small(machine=None)]
    assert [server.post(body)[2].decode().split("-")[0] for body in bodies] == ["S", "L", "P", "unknown"]


def test_reports_of_one_name_are_both_kept(server):
    names = [server.post(of("twin", elapsed_ms=n))[2].decode().strip() for n in range(8)]
    assert sorted(names) == server.reports() and len(set(names)) == 8
    seconds = collections.Counter(re.match(r"twin-(\w+Z)", name)[1] for name in names)
    assert sorted(names) == sorted(f"twin-{second}{f'-{n}' if n > 1 else ''}.json" for second, count in seconds.items()
                                   for n in range(1, count + 1))
    kept = {json.loads((server.lab / "reports" / name).read_bytes())["elapsed_ms"] for name in names}
    assert kept == set(range(8))


def test_what_is_there_is_never_written_over(server):
    begin = time.time()
    for second in range(-1, 60):
        stem = "mine-" + time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(begin + second))
        (server.lab / "reports" / f"{stem}.json").write_text("kept")
        (server.lab / "reports" / f"{stem}-2.json").symlink_to(server.lab / "elsewhere")
    status, _, body = server.post(of("mine"))
    assert status == 201 and body.endswith(b"Z-3.json\n") and not (server.lab / "elsewhere").exists()
    assert sum((server.lab / "reports" / name).read_text() == "kept" for name in server.reports()
               if not name.endswith(("-2.json", "-3.json"))) == 61


def test_curl_waits_before_it_sends_a_body(server):
    with server.connect() as line:
        line.sendall(f"POST /reports HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: {len(GOLDEN)}\r\n\r\n".encode())
        assert line.recv(1000) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(GOLDEN)
        assert answer(line)[0] == 201
    assert server.post(b"", "Expect: 100-continue", length=17 * MIB)[0] == 413


def test_pythons_own_client_is_understood(server):
    client = http.client.HTTPConnection("127.0.0.1", server.port, timeout=WAIT_S)
    client.request("HEAD", "/baretick.efi")
    assert client.getresponse().status == 200
    client.request("POST", "/reports", GOLDEN)
    assert client.getresponse().status == 201


def test_the_fleet_reads_what_was_gathered(server, tmp_path, duckdb):
    report = json.loads(GOLDEN)
    for n in range(6):
        report["machine"]["identity"]["serial"] = f"SN-{n // 2}"
        report["elapsed_ms"] = n
        assert server.post(json.dumps(report).encode())[0] == 201
    with report_on_its_way(server):  # it must not be counted
        done = subprocess.run([FLEET, server.lab / "reports", "--out", tmp_path / "out"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0 and done.stdout.startswith("6 reports added, 0 already stored, 0 skipped; 6 in the data set\n"), done


@contextlib.contextmanager
def report_on_its_way(server, head=b"POST /reports HTTP/1.1\r\nContent-Length: 100000\r\n\r\n", part=b" " * 500):
    """Send HEAD and PART of a report on a connection. In the block, the server has begun a file for the report."""
    before = len(server.reports())
    with server.connect() as line:
        line.sendall(head + part)
        until(lambda: len(server.reports()) == before + 1)
        yield line


def until(true):
    end_s = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.02)


# Tests of the server's arguments, and of its end.

@pytest.mark.parametrize("arguments, sentence", [
    (["--serve", "lab", "report.json"], "--serve takes no reports"), (["--serve", "lab", "--db", "x"], "--serve takes no reports"),
    (["--port", "80", "x.json"], "--port needs --serve"), ([], "the following arguments are required: REPORT"),
    (["--serve", "lab", "--port", "65536"], "is not a whole number from 0 to 65535"), (["--serve", "lab", "--rate", "0"], "from 1"),
    (["--serve", "lab", "--deadline", "nan"], "is not a number of seconds"), (["--serve", "lab", "--deadline", "-1"], "is not a number"),
    (["--serve", "lab", "--application", "none.efi"], "there is no none.efi: type `make`, or name one with --application"),
    (["--serve", "lab", "--application", "."], ".: Is a directory"), (["--serve", "file", "--application", "file"], "file: "),
    (["--serve", "lab", "--application", "file", "--listen", "192.0.2.99"], "192.0.2.99, port 8080: "),
    (["--serve", "lab", "--application", "file", "--listen", ""], "'' is no address"),
    (["--serve", "linked", "--application", "file"], "reports"),
    (["--serve", "lab", "--application", "file", "--keep-free", str(1 << 40)], "would stay free"),
])
def test_what_cannot_be_served_is_a_sentence_and_status_2(tmp_path, arguments, sentence):
    (tmp_path / "file").write_text("MZ")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "reports").symlink_to(tmp_path)
    done = subprocess.run([FLEET, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 2 and sentence in done.stderr and "Traceback" not in done.stderr and "internal" not in done.stderr, done
    assert done.stdout == ""


def test_a_port_or_a_folder_that_another_server_has_is_named(serve, tmp_path):
    server = serve()
    for folder, port, sentence in ((server.lab, 0, "is served already"), (tmp_path / "b", server.port, "Address already in use")):
        done = subprocess.run([FLEET, "--serve", folder, "--port", str(port), "--application", tmp_path / "app.efi"],
                              capture_output=True, text=True, timeout=WAIT_S)
        assert done.returncode == 2 and sentence in done.stderr and len(done.stderr.splitlines()) == 1, done


def test_it_listens_on_loopback_alone(server):
    assert server.first.startswith("http://127.0.0.1:")
    tables = pathlib.Path("/proc/net/tcp").read_text() + pathlib.Path("/proc/net/tcp6").read_text()
    assert re.findall(rf" (\w+):{server.port:04X} \w+:0000 0A ", tables) == ["0100007F"]


def test_it_listens_where_it_is_told_to(serve):
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        pytest.skip(f"no IPv6 here: {error}")
    server = serve("--listen", "::1")
    assert server.first.startswith("http://[::1]:")
    with socket.create_connection(("::1", server.port), WAIT_S) as line:
        line.sendall(b"GET /baretick.efi HTTP/1.1\r\n\r\n")
        assert answer(line)[::2] == (200, EFI)


# Makes each start of a thread take a second, as on a busy host. Python imports this module at its start.
SLOW_START = """
import threading, time
start = threading.Thread.start
def slow(self):
    start(self)
    time.sleep(1)
threading.Thread.start = slow
"""


@pytest.mark.parametrize("slow", ["", SLOW_START], ids=["idle", "busy"])
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_with_a_report_on_its_way_and_leaves_no_half(serve, tmp_path, by, slow):
    (tmp_path / "sitecustomize.py").write_text(slow)
    server = serve(environment={"PYTHONPATH": str(tmp_path)})
    with report_on_its_way(server):
        assert server.end(by) == (0, ["0 reports received, 1 request refused"])
    assert server.reports() == []


# Gives open connections enough time on a busy host. Python imports this module at its start.
LONG_GRACE = f"""
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {str(ROOT / "qemu")!r})
import serve.server
serve.server.GRACE_S = {WAIT_S}
"""


def test_a_report_on_its_way_at_the_end_is_taken(serve, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(LONG_GRACE)
    server = serve(environment={"PYTHONPATH": str(tmp_path)})
    with report_on_its_way(server, b"POST /reports HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % len(GOLDEN), GOLDEN[:500]) as line:
        server.process.send_signal(signal.SIGTERM)
        until(lambda: is_closed(server))
        line.sendall(GOLDEN[500:])
        assert answer(line)[0] == 201
    assert server.process.wait(WAIT_S) == 0
    assert server.process.stdout.read().endswith("1 report received, 0 requests refused\n")


def is_closed(server):
    try:
        server.connect().close()
    except ConnectionError:
        return True
    return False


def test_what_a_killed_server_left_is_gone_with_the_next(serve):
    server = serve()
    with report_on_its_way(server):
        assert server.end(signal.SIGKILL)[0] == -signal.SIGKILL
    assert len(server.reports()) == 1
    serve()
    assert server.reports() == []


def test_when_nobody_reads_what_it_says_it_ends(server):
    server.process.stdout.close()
    assert server.post(GOLDEN)[0] == 201
    assert server.process.wait(WAIT_S) == 2


# Tests of refused requests. The server must still answer the next request.

def refusals():
    head = "POST /reports HTTP/1.1\r\n"
    return {
        "no length": (head + "\r\n", 411), "chunked": (head + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 411),
        "both": (head + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\nhello", 411),
        "two lengths": (head + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400),
        "signed": (head + "Content-Length: -1\r\n\r\n", 400), "plus": (head + "Content-Length: +5\r\n\r\nhello", 400),
        "a list": (head + "Content-Length: 5, 5\r\n\r\nhello", 400), "hex": (head + "Content-Length: 0x10\r\n\r\n", 400),
        "digits of elsewhere": (head + "Content-Length: \xb2\r\n\r\n", 400), "huge": (head + f"Content-Length: {'9' * 5000}\r\n\r\n", 413),
        "one too many": (head + f"Content-Length: {16 * MIB + 1}\r\n\r\n", 413), "empty": (head + "Content-Length: 0\r\n\r\n", 422),
        "from a page": (head + "Origin: http://evil.example\r\nContent-Length: 2\r\n\r\n{}", 403),
        "elsewhere": ("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 404), "a name": ("POST /reports/a.json HTTP/1.1\r\n\r\n", 404),
        "put": ("PUT /reports HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", 405), "a list of them": ("GET /reports HTTP/1.1\r\n\r\n", 405),
        "posted": ("POST /baretick.efi HTTP/1.1\r\n\r\n", 405), "own word": ("BREW /baretick.cfg HTTP/1.1\r\n\r\n", 405),
        "the root": ("GET / HTTP/1.1\r\n\r\n", 404), "star": ("OPTIONS * HTTP/1.1\r\n\r\n", 404), "tunnel": ("CONNECT a:1 HTTP/1.1\r\n\r\n", 404),
        "version": ("GET / HTTP/9.1\r\n\r\n", 505), "no version": ("GET / FTP/1\r\n\r\n", 400), "words": ("a b c d e\r\n\r\n", 400),
        "long line": ("GET /" + "a" * 9000 + " HTTP/1.1\r\n\r\n", 414), "long header": ("GET / HTTP/1.1\r\nA: " + "a" * 200000 + "\r\n\r\n", 431),
        "wide headers": ("GET / HTTP/1.1\r\n" + f"A: {'b' * 1000}\r\n" * 80 + "\r\n", 431),
        "many headers": ("GET / HTTP/1.1\r\n" + "A: b\r\n" * 500 + "\r\n", 431),
        "many fields": ("GET /baretick.cfg?" + "a=b&" * 9 + " HTTP/1.1\r\n\r\n", 400),
        "a bad mac": ("GET /baretick.cfg?mac=../../etc/pass HTTP/1.1\r\n\r\n", 400), "tls": ("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n\n", 400),
    }


def test_what_is_refused_gets_its_status_and_leaves_nothing(server):
    for name, (text, wanted) in refusals().items():
        status, headers, body = server.raw(text.encode("latin-1"))
        assert status == wanted and headers["connection"] == "close", name
        assert body.endswith(b"\n") and body.strip().decode("ascii").isprintable(), name
        assert wanted != 405 or headers["allow"], name
        assert server.reports() == [] and server.get("/baretick.efi")[0] == 200, name


def test_an_answer_is_not_lost_by_a_reset(server):
    with server.connect() as line:
        line.sendall(b"POST /elsewhere HTTP/1.1\r\nContent-Length: 500000\r\n\r\n" + bytes(500000))
        assert answer(line)[0] == 404
        # waits for the end of the connection, which would be a reset if the server had not read all data
        until(lambda: threads(server) == 1)
        assert line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0


@pytest.mark.parametrize("body, sentence", [
    (b"{}", "is not of schema"), (GOLDEN[:9000], "is not JSON"), (b"[" * 100000, "is not JSON"), (b"a,b\n1,2\n", "is not JSON"),
    (b'{"a":[' + b"0," * 1_600_000 + b"0]}", "has more than 1,500,000 values"), (b"\xff" * 5000, "is not JSON"), (b"\x00" * 5000, "is not JSON"),
    (b'{"schema": "baretick.report/\\u001b[31m\\n9"}', "but of"), (GOLDEN + GOLDEN, "is not JSON"),
    (small(machine=[]), "machine is no object"), (small(verdict=None), "verdict is null"),
], ids=range(11))
def test_what_is_no_report_is_not_kept_and_is_told_why(server, body, sentence):
    status, _, said = server.post(body)
    assert status == 422 and sentence in said.decode("ascii") and said.decode("ascii").strip().isprintable()
    assert server.reports() == []
    assert server.end() == (0, ["0 reports received, 1 request refused"])
    line, = server.errors.read().splitlines()
    assert "refused: 422 the body is no report: it " in line and line.isprintable()


def test_a_body_that_ends_early_leaves_nothing(server):
    with server.connect() as line:
        line.sendall(b"POST /reports HTTP/1.1\r\nContent-Length: 5000\r\n\r\n" + of("half"))
        line.shutdown(socket.SHUT_WR)
        status, _, body = answer(line)
    assert status == 400 and b"did not come" in body and server.reports() == []


def test_a_report_that_writes_to_the_terminal_does_not(server):
    text = "\x1b]0;owned\x07\x1b[2J\r\n\u202ekcab\ud800"
    assert server.post(of(text + "x"))[0] == 201
    status, _, said = server.post(of("x", verdict="pa\x1b[31mss\n"))
    assert status == 422 and said.decode("ascii").strip().isprintable()
    _, lines = server.end()
    assert len(lines) == 2 and all(line.isprintable() for line in lines) and "owned" in lines[0]


# Tests of paths that try to leave the folder.

OUTSIDE = ["/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/etc/passwd", "/%2e%2e/secret.cfg", "/baretick.cfg/../../secret.cfg",
           "/baretick.efi%00.cfg", "/baretick.cfg%00", "/options/../../secret.cfg", "/options/", "/reports/", "/./baretick.cfg", "/baretick.cfg;a",
           "/..\\..\\secret.cfg", "file:///etc/passwd", "http://lab/../secret.cfg", "\\\\lab\\secret", "/" + "../" * 500, "/baretick.cfg#x"]
SERIALS = ["../../secret", "..%2f..%2fsecret", "%2fetc%2fpasswd", "..", ".", "%00secret", "secret%00", "/secret", "%ff%fe", "a" * 4000, "-rf", "",
           "~root", "..%5csecret", "%2e%2e%2fsecret", "%F0%9F%98%80", "secret.cfg%0a", "&serial=../secret", "=", "baretick.cfg"]


@pytest.fixture
def secret(tmp_path):
    for name in ("secret.cfg", "secret", "passwd.cfg"):
        (tmp_path / name).write_text("SECRET")


def test_no_path_leads_out(server, secret):
    (server.lab / "options").mkdir()
    for target in OUTSIDE:
        status, _, body = server.get(target)
        assert status in (400, 404) and b"SECRET" not in body and b"root:" not in body, target
    for serial in SERIALS:
        status, _, body = server.get(f"/baretick.cfg?serial={serial}")
        assert status == 404 and b"SECRET" not in body, serial


def tree(folder):
    """Return {path: bytes} for all files in FOLDER, except files called `errors`. A folder has the value False, and a
    symbolic link to no file has True."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else path.is_symlink() for path in folder.rglob("*")
            if path.name != "errors"}


def test_no_serial_number_leads_out(serve, secret, tmp_path):
    server = serve("--rate", 1000)
    before = tree(tmp_path)
    names = ["../../evil", "/etc/evil", "..", ".", "...", ".hidden", "a\x00b", "\\evil", "a" * 5000, "-rf", "\ud800\u202e", "C:\\x", "a/b/c", "\n", " ",
             "con", "%2e%2e%2f", "~", "$(reboot)", "`x`", "é", ""]
    for name in names:
        status, _, body = server.post(of(name))
        assert status == 201, name
        assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,100}\.json", body.decode().strip()), name
    after = tree(tmp_path)
    assert len(server.reports()) == len(names)
    assert {path for path in after if path not in before} == {f"lab/reports/{name}" for name in server.reports()}
    assert {path: after[path] for path in before} == before


@pytest.mark.parametrize("where, kind", [("options", "link"), *itertools.product(
    ["baretick.cfg", "options/525400123456.cfg", "options/SN.cfg"], ["link", "fifo", "long", "folder"])])
def test_a_link_a_pipe_and_what_is_too_long_are_not_handed_out(server, secret, tmp_path, where, kind):
    path = server.lab / where
    path.parent.mkdir(exist_ok=True)
    if where == "options":
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "SN.cfg").write_text("SECRET")
        path.symlink_to(tmp_path / "elsewhere")
    else:
        {"link": lambda: path.symlink_to(tmp_path / "secret.cfg"), "fifo": lambda: os.mkfifo(path), "folder": path.mkdir,
         "long": lambda: path.write_bytes(b"SECRET" * 20000)}[kind]()
    status, _, body = server.get("/baretick.cfg?mac=525400123456&serial=SN")
    assert status == 500 and b"SECRET" not in body


def test_a_folder_that_becomes_a_link_is_not_followed(server, tmp_path):
    (tmp_path / "outside").mkdir()
    (server.lab / "reports").rename(server.lab / "before")
    (server.lab / "reports").symlink_to(tmp_path / "outside")
    assert server.post(GOLDEN)[0] == 201
    assert not list((tmp_path / "outside").iterdir()) and len(list((server.lab / "before").iterdir())) == 1


# Tests of requests that are too long, too slow or too many.

@pytest.mark.parametrize("length", ["10000000000", None])
def test_ten_gigabytes_are_refused_before_they_are_read(server, length):
    sent = 0
    with server.connect() as line:
        line.sendall(b"POST /reports HTTP/1.1\r\n" + (f"Content-Length: {length}\r\n\r\n" if length else "Transfer-Encoding: chunked\r\n\r\n").encode())
        with contextlib.suppress(OSError):
            while sent < 10_000_000_000:
                sent += line.send(b"0" * MIB)
    assert sent < 64 * MIB
    assert server.post(b"", length=length or "")[0] in (400, 413)
    assert server.reports() == [] and server.memory_mib() < MEMORY_MAX_MIB and server.get("/baretick.efi")[0] == 200


def test_sixteen_mebibytes_of_values_cost_bounded_memory_and_the_next_is_served(server):
    body = b'{"schema": "baretick.report/1", "clocks": [' + b"[]," * 1_499_000 + b"0]}"
    bodies = [body.ljust(16 * MIB)] * 4
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert {status for status, _, _ in pool.map(server.post, bodies)} <= {422, 503}
    assert server.memory_mib() < MEMORY_MAX_MIB and server.post(GOLDEN)[0] == 201


def trickle(server, head, stop):
    """Send a byte from time to time on a connection. Return the time in s until the server ends the connection, and its
    answer."""
    begin_s = time.monotonic()
    with server.connect() as line:
        line.settimeout(0.1)
        line.sendall(head)
        data = b""
        while not stop.is_set():
            try:
                line.sendall(b"a")
                piece = line.recv(1000)
                data += piece
                if not piece:
                    break
            except socket.timeout:
                continue
            except ConnectionError:
                break
        else:
            return None
    return time.monotonic() - begin_s, data


@pytest.mark.parametrize("head", [b"", b"GET /baretick.efi HTTP/1.1\r\nA: ", b"POST /reports HTTP/1.1\r\nContent-Length: 1000\r\n\r\n"],
                         ids=["nothing", "headers", "body"])
def test_who_sends_a_byte_now_and_then_is_ended_by_the_deadline(serve, head):
    server = serve("--deadline", 1.2)
    stop = threading.Event()
    watch = threading.Timer(WAIT_S / 4, stop.set)
    watch.start()
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda _: trickle(server, head, stop), range(20)))
    watch.cancel()
    assert None not in found and not stop.is_set()
    assert server.reports() == [] and server.get("/baretick.efi")[0] == 200


def test_who_reads_nothing_is_ended_by_the_deadline(serve, tmp_path):
    server = serve("--deadline", 1)
    (tmp_path / "app.efi").write_bytes(b"MZ".ljust(32 * MIB))
    with server.connect() as line:
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(b"GET /baretick.efi HTTP/1.1\r\n\r\n")
        line.recv(1, socket.MSG_PEEK)  # waits for the answer, and reads nothing of it
        until(lambda: threads(server) == 1)
    assert server.get("/baretick.efi", "HEAD")[0] == 200


def threads(server):
    return len(os.listdir(f"/proc/{server.process.pid}/task"))


def sockets(server):
    """Return the number of the server's open sockets. A new file gets the lowest free number. Therefore the list of files
    never has more sockets than were open at one time, even if sockets are closed while it is read."""
    folder, found = f"/proc/{server.process.pid}/fd", 0
    for name in os.listdir(folder):
        with contextlib.suppress(FileNotFoundError):
            found += os.readlink(f"{folder}/{name}").startswith("socket:")
    return found


def test_two_hundred_posts_at_once_are_each_taken_or_told_to_come_again(serve):
    server = serve("--rate", 1000)
    bodies = [of(f"M{n % 50}", elapsed_ms=n, reason="x" * 20000) for n in range(200)]
    gate = threading.Barrier(200, timeout=WAIT_S)

    def post(body):
        gate.wait()
        return server.post(body)
    with concurrent.futures.ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(post, bodies))
    taken = {body: answer[2].decode().strip() for body, answer in zip(bodies, answers) if answer[0] == 201}
    assert {status for status, _, _ in answers} <= {201, 503} and taken
    assert all(int(headers["retry-after"]) > 0 for status, headers, _ in answers if status == 503)
    assert sorted(taken.values()) == server.reports()
    assert all((server.lab / "reports" / name).read_bytes() == body for body, name in taken.items())
    assert server.memory_mib() < MEMORY_MAX_MIB
    status, lines = server.end()
    assert status == 0 and lines[-1] == f"{len(taken)} reports received, {200 - len(taken)} request{'' if len(taken) == 199 else 's'} refused"


def test_hundreds_of_connections_have_a_bounded_number_of_threads_and_end(serve):
    """Each connection has a thread. The test counts the connections, because the thread of a closed connection may end
    after the next one has started."""
    server = serve("--deadline", 12)
    seen = [0]

    def look():
        seen.append(sockets(server))
        return threads(server)
    with contextlib.ExitStack() as lines:
        for _ in range(200):
            line = lines.enter_context(socket.socket())
            line.setblocking(False)
            line.connect_ex(("127.0.0.1", server.port))
        until(lambda: look() > 32)
        until(lambda: look() < 8)
    # 64 connections with a thread, the socket that listens, and a connection that waits for a thread
    assert max(seen) <= 64 + 2
    assert server.memory_mib() < MEMORY_MAX_MIB and server.get("/baretick.efi")[0] == 200


def test_one_address_leaves_places_for_others(monkeypatch):
    monkeypatch.setattr(limits, "POST_WAIT_S", 0.01)
    bounds = limits.Limits(60)
    for take, each, everybody in ((bounds.reserve_incoming_report, 8, 16), (bounds.reserve_connection, 32, 1000)):
        with contextlib.ExitStack() as taken:
            assert [taken.enter_context(take("a")) for _ in range(each + 2)] == [True] * each + [False] * 2
            assert [taken.enter_context(take(f"b{n}")) for n in range(20)].count(True) == min(20, everybody - each)
        with take("a") as allowed:
            assert allowed
    assert not bounds.posts and not bounds.connections


def test_a_place_that_gets_free_is_taken():
    bounds = limits.Limits(60)
    with contextlib.ExitStack() as taken, concurrent.futures.ThreadPoolExecutor(1) as pool:
        for _ in range(8):
            taken.enter_context(bounds.reserve_incoming_report("a"))

        def wait():
            with bounds.reserve_incoming_report("a") as allowed:
                return allowed
        waiting = pool.submit(wait)
        taken.close()
        assert waiting.result(WAIT_S) is True


def test_addresses_beyond_number_are_forgotten_and_a_host_has_one_ipv6_network():
    bounds = limits.Limits(1)
    for n in range(10_000):
        assert bounds.take_token(f"10.0.{n >> 8}.{n & 255}") == 0
    assert len(bounds.spent) <= limits.ADDRESSES_MAX and bounds.take_token("10.0.39.15") > 0
    assert server_of.get_client_identity("2001:db8:1:2:3:4:5:6") == server_of.get_client_identity("2001:db8:1:2::%eth0") != server_of.get_client_identity("2001:db8:1:3::")
    assert server_of.get_client_identity("::ffff:192.0.2.1") == "192.0.2.1"


def test_who_posts_too_often_is_told_when_to_come_again(serve):
    server = serve("--rate", 3)
    answers = [server.post(of("often")) for _ in range(6)]
    statuses = [status for status, _, _ in answers]
    assert statuses[:3] == [201] * 3 and statuses.count(429) >= 2
    assert all(1 <= int(headers["retry-after"]) <= 20 for status, headers, _ in answers if status == 429)
    assert len(server.reports()) == statuses.count(201) and server.get("/baretick.efi")[0] == 200
    assert 429 in [server.get("/baretick.cfg")[0] for _ in range(40)]


def test_what_is_to_stay_free_of_the_disk_does(tmp_path):
    home = store.Store(tmp_path / "lab", 0)
    home.keep_free = 1 << 60
    with pytest.raises(store.Full, match="would stay free"), home.create_incoming_file(1):
        pass
    assert not list((tmp_path / "lab" / "reports").iterdir())


def test_a_disk_that_gets_full_leaves_no_half_a_report(serve):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
    server = serve(before=limit)
    assert server.post(GOLDEN)[0] == 507 and server.reports() == []
    assert server.post(of("short"))[0] == 201


# Tests of the configurations in the server's README.

def recipes():
    """Return the configurations of dnsmasq in the README. The configuration for PXE includes the one for HTTP."""
    text = (ROOT / "qemu" / "serve" / "README.md").read_text()
    http, pxe, proxy = (textwrap.dedent(block) for block in re.findall(r"^\*\*[\s\S]*?\n\n((?: {4}.*\n)+)", text, re.M))
    return {"http": http, "pxe": http + pxe, "proxy": proxy}


@pytest.mark.parametrize("name", ["http", "pxe", "proxy"])
def test_dnsmasq_understands_the_recipe(tmp_path, name):
    program = shutil.which("dnsmasq", path=f"{os.environ['PATH']}:/usr/sbin")
    if not program:
        pytest.skip("there is no dnsmasq")
    (tmp_path / "dnsmasq.conf").write_text(recipes()[name])
    done = subprocess.run([program, "--test", "-C", tmp_path / "dnsmasq.conf"], capture_output=True, text=True, timeout=WAIT_S)
    assert done.returncode == 0 and "syntax check OK" in done.stderr, done
    assert "baretick.efi" in recipes()[name]


# Tests of requests that are drawn at random.

PIECES = [b"GET", b"POST", b"HEAD", b" ", b"/", b"/baretick.efi", b"/baretick.cfg", b"/reports", b"?mac=", b"&serial=", b"..", b"%00", b"%", b"\x00",
          b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/", b":", b"Content-Length: ", b"Transfer-Encoding: chunked",
          b"Expect: 100-continue\r\n", b"Connection: keep-alive", b"Host: a", b"7", b"16777216", b"-1", b"\xff\xfe", b"\x1b[2J", b"a" * 3000, b"{}",
          b"http://", b"#", b"\t", b"Origin: x\r\n", b"\x80", b"Content-Type: multipart/form-data; boundary=a\r\n"]
WHOLE = [b"GET /baretick.efi HTTP/1.1\r\nHost: a\r\n\r\n", b"POST /reports HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(small()), small()),
         b"GET /baretick.cfg?mac=525400123456&serial=a HTTP/1.1\r\n\r\n"]


def drawn(draw):
    """Return the bytes to send on a connection: random pieces, or a complete request with changes."""
    if draw.random() < 0.5:
        return b"".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 30)))
    data = bytearray(draw.choice(WHOLE))
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(data))
        data[at:at + draw.randrange(3)] = draw.choice(PIECES)
    return bytes(data)


@pytest.mark.parametrize("count", [400, pytest.param(20_000, marks=pytest.mark.long)])
def test_whatever_a_client_says_is_answered_or_closed(serve, count):
    server = serve("--rate", 1_000_000)
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    taken = 0
    for at in range(count):
        data = drawn(draw)
        with server.connect() as line:
            with contextlib.suppress(ConnectionError):
                line.sendall(data)
                line.shutdown(socket.SHUT_WR)
            status, _, body = answer(line)
        assert status is None or status in (200, 201, 400, 403, 404, 405, 408, 411, 413, 414, 422, 431, 503, 505), (at, data)
        assert status in (None, 200) or body.strip().decode("ascii").isprintable(), (at, data)
        taken += status == 201
    assert len(server.reports()) == taken and server.memory_mib() < MEMORY_MAX_MIB
    assert server.get("/baretick.efi")[0] == 200
    assert all(line.isprintable() for line in server.end()[1])
