"""Machines that boot by PXE or by HTTP. They get their options from the boot server, and send their report to it. Each
failure must be reported, and the run must continue."""
import errno
import http.server
import re
import socket
import subprocess
import threading

import pytest

from boots import EFI, EFI_BUILT, checked, qemu
from harness import FAST_TCG, NO_SCREEN, ROOT
from netboot import firmware_that_boots
from stick import FAST

pytestmark = EFI_BUILT

CODE, VARIABLES = "/usr/share/OVMF/OVMF_CODE_4M.fd", "/usr/share/OVMF/OVMF_VARS_4M.fd"
HOST = "10.0.2.2"  # the host's address in QEMU's user network
CARD = ["-device", "virtio-net-pci,netdev=net,romfile=,bootindex=1,mac=52:54:00:ab:cd:ef"]
ME = "mac=525400abcdef&serial=rack%207"
SERIAL = ["-smbios", "type=1,serial=rack 7"]
NO_VOLUME = "No report was saved on the boot volume: the application was not started from a volume."
CLIENT_S = 300     # longest wait for a client
HELD = object()    # marks the place in an answer after which the server sends nothing more


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = CLIENT_S

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/efi")
        self.send_header("Content-Length", str(EFI.stat().st_size))
        self.end_headers()

    def do_GET(self):
        if self.path == "/baretick.efi":
            self.do_HEAD()
            self.wfile.write(EFI.read_bytes())
            if self.server.answer is None:
                self.server.shutdown()
                self.server.server_close()
            return
        self.server.asked.append(self.path)
        self.close_connection = True
        for part in self.server.answer:
            if part is HELD:
                self.server.over.wait(CLIENT_S)
            else:
                self.wfile.write(part)

    def do_POST(self):
        self.server.bodies.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    """A server that sends the application and receives reports. ANSWER lists the parts of its answer to every other GET
    request, such as the request for options. If ANSWER is None, the server ends after it has sent the application."""
    daemon_threads = True

    def __init__(self, *answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = None if answer == (None,) else answer
        self.asked, self.bodies, self.over = [], [], threading.Event()
        self.url = f"http://{HOST}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture
def server():
    started = []

    def start(*answer):
        started.append(Server(*answer))
        return started[-1]
    yield start
    for each in started:
        each.over.set()
        if each.answer is not None:
            each.shutdown()
            each.server_close()


@pytest.fixture
def disk(tmp_path):
    """Return a disk without a boot loader, so that the machine tries the network next."""
    path = tmp_path / "disk.img"
    path.write_bytes(bytes(510) + b"\x55\xaa" + bytes((1 << 20) - 512))
    return ["--cpus", "1", "--boot", "usb", "--image", path]


@pytest.fixture
def by_http(run, disk, tmp_path):
    """Return a function that boots http://.../baretick.efi from a server. WORDS are options that qemu/run passes to the
    machine, in addition to the server's options."""
    def boot(url, *words):
        code = firmware_that_boots(f"{url}/baretick.efi", tmp_path / "firmware", CODE, VARIABLES)
        return run("--accel", "tcg", "--firmware", code, *NO_SCREEN, *disk, *qemu("-netdev", "user,id=net", *CARD, *SERIAL),
                   "--", *words)
    return boot


@pytest.fixture
def by_pxe(run, disk, tmp_path):
    """Return a function that boots the application by PXE and TFTP."""
    folder = tmp_path / "tftp"
    folder.mkdir()
    (folder / EFI.name).write_bytes(EFI.read_bytes())
    network = f"user,id=net,tftp={folder},bootfile={EFI.name}"
    return lambda *words: run(*FAST_TCG, *NO_SCREEN, *disk, *qemu("-netdev", network, *CARD), "--", *words)


@pytest.fixture
def fleet(tmp_path):
    """Return the folder LAB, and a function that starts qemu/fleet --serve LAB on a port and returns the port."""
    lab, started = tmp_path / "lab", []

    def start(port):
        started.append(subprocess.Popen([ROOT / "qemu" / "fleet", "--serve", lab, "--port", str(port), "--keep-free", "0"],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        line = started[-1].stdout.readline()
        if not line and "Address already in use" in started[-1].stderr.read():
            pytest.skip(f"another program took port {port}")
        return re.search(r":(\d+)/ ", line)[1]
    yield lab, start
    for each in started:
        each.terminate()
        each.wait()


def port_80():
    """Open a socket on port 80 that accepts no connection. Skip the test if the port cannot be used."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        held.bind(("127.0.0.1", 80))
    except OSError as error:
        held.close()
        if error.errno not in (errno.EACCES, errno.EADDRINUSE):
            raise
        pytest.skip(f"PXE's server is asked at port 80, and this machine's can't be had: {error.strerror}")
    return held


def said(done):
    """Return the sentence about sending the report, which is on the serial line after the report."""
    serial = done.file("serial.log").replace(b"\r", b"").decode("ascii", "replace")
    return re.findall(r"^The report was .*", serial.rpartition("\nBARETICK REPORT END")[2], re.M)


def from_server(report):
    """Return the notes in the report that concern the server."""
    assert NO_VOLUME in report["notes"]
    return [note for note in report["notes"] if "booted" in note and note != NO_VOLUME]


def taken(url):
    return [f"Options are taken from {url}/baretick.cfg, where this machine was booted from."]


def none(url, why):
    return [f"No options are taken from {url}/baretick.cfg, where this machine was booted from: {why}."]


@pytest.mark.xdist_group("port 80")
def test_a_machine_booted_by_pxe_has_its_options_of_the_labs_server_and_its_report_goes_there(by_pxe, fleet):
    lab, start = fleet
    (lab / "options").mkdir(parents=True)
    (lab / "options" / "525400abcdef.cfg").write_text(f'{" ".join(FAST)} label="by its card"\n')
    port_80().close()
    start(80)
    done = by_pxe()
    report = checked(done)
    assert report["options"]["label"] == "by its card" and report["options"]["clocks"] == ["tsc"]
    assert from_server(report) == taken(f"http://{HOST}")
    assert said(done) == [f"The report was sent to http://{HOST}/reports."]
    kept, = (lab / "reports").iterdir()
    assert kept.read_bytes() == done.file("report.json")


@pytest.mark.long
@pytest.mark.xdist_group("port 80")
def test_a_machine_booted_by_pxe_from_a_server_without_http_says_so(by_pxe):
    with port_80():
        done = by_pxe(*FAST)
    assert from_server(checked(done)) == none(f"http://{HOST}", "the connection was refused")
    assert said(done) == [f"The report was not accepted by http://{HOST}/reports: the connection was refused."]


def test_a_machine_booted_by_http_has_its_options_of_that_server_and_its_report_goes_there(by_http, fleet):
    """Takes 13 to 16 s of processor time, because the firmware itself loads the application over its network stack."""
    lab, start = fleet
    (lab / "options").mkdir(parents=True)
    (lab / "options" / "rack_7.cfg").write_text(f'{" ".join(FAST)} label="by its serial number"\n')
    url = f"http://{HOST}:{start(0)}"
    done = by_http(url, "label=later")
    report = checked(done)
    assert report["options"]["label"] == "later" and report["options"]["clocks"] == ["tsc"]
    assert from_server(report) == taken(url)
    assert said(done) == [f"The report was sent to {url}/reports."]
    kept, = (lab / "reports").iterdir()
    assert kept.read_bytes() == done.file("report.json")


OK = b"HTTP/1.1 200 OK\r\n"
LONGER = "the server's answer is longer than 64 KiB"
CLOSED = "the connection was closed before the answer was complete"
SILENT = "the server did not answer in time"


@pytest.mark.long
@pytest.mark.parametrize("answer, why", [
    ([b"HTTP/1.1 500 Internal Server Error\r\n\r\n"], "the server answered with status 500"),
    ([OK + b"\r\n", b"# a comment\n" * 8192], LONGER),
    ([OK + b"Content-Length: 65537\r\n\r\n", b"#" * 65537], LONGER),
    ([OK, b"X: y\r\n" * 12288], LONGER),
    ([OK + b"Content-Type: text/html\r\n\r\n<html>"], "the server's answer is a web page"),
    ([OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"], "the server's answer is encoded"),
    ([OK + b"Content-Length: x\r\n\r\n"], "the answer's Content-Length is not a single number"),
    ([OK + b"Content-Length: 12\r\n\r\nexit=reboot"], CLOSED),
    ([OK + b"Content-Length: 12\r\n"], CLOSED),
    ([], "the connection was closed without an answer"),
    ([b"\0\1rubbish\r\n\r\n" * 40], "the server's answer is not HTTP"),
    ([HELD], SILENT),
    ([OK + b"\r\nexit=reboot", HELD], SILENT),
    ([OK + b"Content-Length: 12\r\n\r\nexit", HELD], SILENT),
    ([None], "the connection was refused")])
def test_a_server_that_has_no_options_in_the_end_is_said_to_and_the_machine_measured(by_http, server, answer, why):
    """The run measures without the server's options, and the report says why they are missing. With an answer of 64 KiB
    this takes 13 to 16 s, because the firmware reads it slowly."""
    lab = server(*answer)
    done = by_http(lab.url, *FAST)
    assert from_server(checked(done)) == none(lab.url, why)
    if lab.answer is None:
        assert said(done) == [f"The report was not accepted by {lab.url}/reports: {why}."]
    else:
        assert lab.asked == [f"/baretick.cfg?{ME}"]
        assert lab.bodies == [("/reports", done.file("report.json"))]


@pytest.mark.long
@pytest.mark.parametrize("words, sent_to", [
    ([], "/reports"), (["save=off"], None), (["save=auto"], None), (["save={url}/else"], "/else")])
def test_of_a_machine_without_options_nothing_is_said_and_its_save_is_obeyed(by_http, server, words, sent_to):
    lab = server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
    done = by_http(lab.url, *FAST, *(word.format(url=lab.url) for word in words))
    report = checked(done)
    assert [note for note in report["notes"] if lab.url in note] == []
    assert lab.bodies == ([(sent_to, done.file("report.json"))] if sent_to else [])
    assert said(done) == ([f"The report was sent to {lab.url}{sent_to}."] if sent_to else [])


@pytest.mark.long
@pytest.mark.parametrize("body", [b"label=x", b"label=x\n\0\0"])
def test_options_may_come_without_a_length(by_http, server, body):
    lab = server(OK + b"\r\n", body)
    report = checked(by_http(lab.url, *FAST))
    assert report["options"]["label"] == "x" and from_server(report) == taken(lab.url)


@pytest.mark.parametrize("body, error", [
    (b"colcks=tsc\n", '"colcks=tsc" is not an option'),
    pytest.param(b"#" * 10240, "the options are 10240 bytes long; the maximum is 8192 bytes.", marks=pytest.mark.long)],
    ids=["unknown", "too long"])
def test_a_wrong_option_of_the_server_is_named_as_one_of_a_volume(by_http, server, body, error):
    lab = server(OK + f"Content-Length: {len(body)}\r\n\r\n".encode("ascii"), body)
    done = by_http(lab.url)
    assert done.status == 2 and lab.bodies == []
    serial = done.file("serial.log").decode("ascii", "replace")
    assert f"error: In {lab.url}/baretick.cfg: {error}" in serial and "Nothing was measured." in serial
