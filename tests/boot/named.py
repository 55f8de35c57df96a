#!/usr/bin/env python3
"""Runs QEMU in a separate network namespace with a DNS server that knows one name, lab.example. An HTTP server at this
name saves posted data.

Usage: unshare --map-root-user --mount --net named.py FOLDER QEMU [ARGUMENT...]

The file `posted` in FOLDER gets the posted body. QEMU's user network passes DNS requests on to the host's DNS server,
which is the server of this program. This server does not answer questions about silent.example. For every other name it
answers that the name does not exist. Both servers end with QEMU."""
import ctypes
import fcntl
import os
import pathlib
import selectors
import signal
import socket
import struct
import subprocess
import sys

import test_network

LOOPBACK, HTTP_PORT = "127.0.0.1", 8080
# names that the DNS server knows; the address is the host's address in QEMU's user network
NAMES = {"lab.example": bytes([10, 0, 2, 2])}
SILENT = "silent.example"
# RFC 2308, 3: the answer "no such name" includes the root's SOA record
AUTHORITY = struct.pack("!BHHIHBB5I", 0, 6, 1, 60, 22, 0, 0, 1, 60, 60, 60, 60)
SIOCSIFFLAGS, IFF_UP = 0x8914, 1  # command of ioctl() from <linux/sockios.h>, and its flag from <net/if.h>
PR_SET_PDEATHSIG = 1              # operation of prctl(), from <linux/prctl.h>


def listen(folder):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH22x", b"lo", IFF_UP))
    (folder / "resolv.conf").write_text(f"nameserver {LOOPBACK}\n")
    subprocess.run(["mount", "--bind", folder / "resolv.conf", "/etc/resolv.conf"], check=True)
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((LOOPBACK, socket.getservbyname("domain")))
    return names, socket.create_server((LOOPBACK, HTTP_PORT))


def answer_to(question):
    """Return the answer to QUESTION, a DNS request for the address of one name (RFC 1035, 4.1). Return None if no
    answer is to be sent."""
    labels, at = [], 12
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode("ascii"))
        at += 1 + question[at]
    name, asked = ".".join(labels).lower(), question[12:at + 5]
    if name == SILENT:
        return None
    found = NAMES.get(name)
    head = struct.pack("!HHHHHH", int.from_bytes(question[:2], "big"), 0x8180 if found else 0x8183, 1, bool(found), not found, 0)
    return head + asked + (struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + found if found else AUTHORITY)


def serve(names, posts, folder):
    """Answer DNS requests on the socket NAMES and HTTP posts on the socket POSTS. Save the body of the latest post in
    FOLDER."""
    ready = selectors.DefaultSelector()
    for each in (names, posts):
        ready.register(each, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is names:
                question, client = names.recvfrom(512)
                if answer := answer_to(question):
                    names.sendto(answer, client)
                continue
            line, _ = posts.accept()
            with line:
                body = test_network.body_of(line)
                line.sendall(test_network.status("201 Created"))
            (folder / "posted").write_bytes(body)


def main():
    folder, qemu = pathlib.Path(sys.argv[1]), sys.argv[2:]
    names, posts = listen(folder)
    parent = os.getpid()
    if os.fork():
        os.execvp(qemu[0], qemu)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    null = os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(null, each)
    serve(names, posts, folder)


if __name__ == "__main__":
    main()
