"""With save=http://... the firmware's network sends the report. If this fails, the stick and the serial line must still
have the report, and a sentence gives the reason."""
import contextlib
import re
import shlex
import socket
import subprocess
import sys
import threading

import pytest

from boots import IMAGE_BUILT, checked, qemu
from harness import FROM_SNAPSHOT, NO_SCREEN, ROOT, write_script
from stick import FAST, FILES, REAL_TIME_STICK, block_sums, folders, volume_of

pytestmark = IMAGE_BUILT

CARD = [*NO_SCREEN, *qemu("-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=")]
HOST = "10.0.2.2"     # the host's address in QEMU's user network
NOBODY = "10.0.2.77"  # an address in that network that no machine uses
CLIENT_S = 300        # longest wait for a client

def body_of(line):
    """Return the body of a client's post. LINE is the connection, and the headers give the body's length."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (piece := line.recv(65536)):
            return b""
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"POST /some/where?x=1 HTTP/1.1\r\n") and b"Content-Type: application/json" in head
    length = int(re.search(rb"Content-Length: (\d+)", head)[1])
    while len(body) < length and (piece := line.recv(65536)):
        body += piece
    return body


class Server:
    """A server that accepts connections one after another, and answers each with ANSWER. `bodies` has the received
    data."""

    def __init__(self, answer=None, reads=True, closes=True):
        self.answer, self.reads, self.closes = answer, reads, closes
        self.bodies, self.held = [], []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):  # closing the socket ends the loop
            while True:
                line, _ = self.socket.accept()
                line.settimeout(CLIENT_S)
                with contextlib.suppress(OSError):
                    self._one(line)

    def _one(self, line):
        body = body_of(line) if self.reads else b"a part" * bool(line.recv(1000))
        if not body:
            return  # a connection without data, from a client that only tried to connect
        self.bodies.append(body)
        if self.answer:
            line.sendall(self.answer)
        if self.closes:
            line.close()
        else:
            self.held.append(line)


@pytest.fixture
def server():
    started = []

    def start(*arguments, **keywords):
        started.append(Server(*arguments, **keywords))
        return started[-1]
    yield start
    for each in started:
        each.socket.close()
        for line in each.held:
            line.close()


def status(line):
    return f"HTTP/1.1 {line}\r\nContent-Length: 5\r\n\r\nsome\n".encode("ascii")


def sent(run, address, card=CARD):
    """Return the report from the serial line, and the sentence about sending it. Assert that the stick also has the
    report."""
    done = run(*REAL_TIME_STICK, *card, "--", *FAST, f"save={address}")
    assert checked(done)["options"]["save"] == address
    saved = folders(volume_of(done.file("stick.img")))["0001"]
    assert {name: saved[name] == done.file(name) for name in FILES} == dict.fromkeys(FILES, True)
    serial = done.file("serial.log").replace(b"\r", b"")
    assert {"REPORT", "TEXT", "CSV", "RECORD"} == {name.decode() for name in block_sums(serial)}
    said, = re.findall(r"^The report was .*", serial.rpartition(b"\nBARETICK REPORT END")[2].decode("ascii"), re.M)
    return done.file("report.json"), said


@pytest.mark.parametrize("line, words", [
    ("422 Unprocessable Content", "422: no report"),
    pytest.param("413 Content Too Large", "413: too large", marks=pytest.mark.long),
    pytest.param("503 Service Unavailable", "503: the server can't accept a report now", marks=pytest.mark.long),
    pytest.param("301 Moved Permanently", "301", marks=pytest.mark.long)])
def test_a_server_that_refuses_is_quoted(run, server, line, words):
    """A server refuses the report. The sentence about sending must quote the server's status, although the body of the
    answer is one byte longer than its stated length."""
    lab = server(status(line) + b"!")
    address = f"http://{HOST}:{lab.port}/some/where?x=1"
    report, said = sent(run, address)
    assert lab.bodies == [report]
    assert said == f"The report was not accepted by {address}: the server answered with status {words}."


CLOSED = "the connection was closed without an answer"
SILENT = "the server did not answer in time"
CUT_OFF = "the connection was closed before the request was complete"


@pytest.mark.long
@pytest.mark.parametrize("how, words", [
    ({}, CLOSED), ({"answer": b"HTTP/1.1 20"}, CLOSED),
    ({"answer": b"\0\1rubbish\r\n\r\n" * 40}, "the server's answer is not HTTP"),
    ({"closes": False}, SILENT), ({"answer": b"HTTP/1.1 20", "closes": False}, SILENT)])
def test_a_server_that_gives_no_answer_is_waited_for_a_while(run, server, how, words):
    address = f"http://{HOST}:{server(**how).port}/some/where?x=1"
    assert sent(run, address)[1] == f"The report was not accepted by {address}: {words}."


def test_a_server_that_reads_nothing_and_closes_the_connection_is_said_to_have(run, server):
    """The server closes the connection without reading. QEMU's user network may already have accepted all data.
    Therefore the report may say that the connection was closed before or after the request was complete."""
    address = f"http://{HOST}:{server(reads=False).port}/some/where?x=1"
    assert sent(run, address)[1] in [f"The report was not accepted by {address}: {words}." for words in (CUT_OFF, CLOSED)]


def test_a_server_that_is_not_there_is_said_to_refuse(run):
    with socket.socket() as taken:  # has a port and does not listen, so that no other program gets the port
        taken.bind(("127.0.0.1", 0))
        address = f"http://{HOST}:{taken.getsockname()[1]}/reports"
        assert sent(run, address)[1] == f"The report was not accepted by {address}: the connection was refused."


@pytest.mark.long
@pytest.mark.parametrize("card, words", [
    (CARD, "nothing answers there"),
    ([], "the firmware offers no TCP on any network card"),
    (qemu("-netdev", "socket,id=net,listen=127.0.0.1:0", "-device", "virtio-net-pci,netdev=net,romfile="),
     "no network card gets an address by DHCP")])
def test_a_network_that_does_not_answer_is_waited_for_a_while(run, card, words):
    address = f"http://{NOBODY}/reports"
    assert sent(run, address, card)[1] == f"The report was not accepted by {address}: {words}."


@pytest.fixture
def named(tmp_path):
    """Return arguments for a QEMU in a network with a DNS server, see named.py."""
    apart = ["unshare", "--map-root-user", "--mount", "--net"]
    if subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("a network of its own is not allowed here: unshare fails")
    words = [*apart, "env", f"PYTHONPATH={':'.join(filter(None, sys.path))}", sys.executable, ROOT / "tests" / "boot" / "named.py", tmp_path,
             FROM_SNAPSHOT[1]]
    return ["--qemu", write_script(tmp_path / "qemu", f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')]


def test_a_server_may_be_named(run, named, tmp_path):
    address = "http://lab.example:8080/some/where?x=1"
    report, said = sent(run, address, [*CARD, *named])
    assert said == f"The report was sent to {address}."
    assert (tmp_path / "posted").read_bytes() == report


@pytest.mark.long
@pytest.mark.parametrize("name, words", [
    ("nowhere.example", "DNS has no address for that name"),
    ("silent.example", "no DNS server answers in time")])
def test_a_name_that_is_not_found_is_said_to_be_so(run, named, name, words):
    address = f"http://{name}/some/where?x=1"
    assert sent(run, address, [*CARD, *named])[1] == f"The report was not accepted by {address}: {words}."
