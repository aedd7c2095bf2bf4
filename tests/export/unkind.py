#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""unkind.py URL: clients that no server deserves. Ends with 0 when the server is still there, has
answered kind requests meanwhile, and what it has to refuse was refused."""

import random
import socket
import sys
import time
import urllib.request

host, port = sys.argv[1].removeprefix("http://").split(":")
random.seed(7)
GOOD = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def connection():
    return socket.create_connection((host, int(port)), timeout=10)


def exchange(data):
    with connection() as peer:
        peer.sendall(data)
        try:
            peer.shutdown(socket.SHUT_WR)  # who has said it all may say so
            return peer.recv(65536)
        except OSError:  # cut off
            return b""


def kind():
    with urllib.request.urlopen(sys.argv[1] + "/metrics", timeout=10) as answer:
        assert b"mtl_up" in answer.read()


def half_requests(how_many):
    """On all connections there may be and more, and then silence."""
    many = []
    for _ in range(how_many):
        peer = connection()
        peer.send(b"GET /metrics HTTP/1.1\r\nHo")
        many.append(peer)
    return many


def is_cut_off(peer):
    peer.settimeout(0)
    try:
        return peer.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


for data in (b"\r\n" * 100 + b"x\r\n\r\n", b"\0" * 1000, b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: a\r\nHost: localhost\r\nConnection: close\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
             b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 5000 + b"\r\n"):
    answer = exchange(data)
    assert not answer.startswith(b"HTTP/1.1 200"), (data[:60], answer[:60])
for age in (0, 1.1, 1.1):  # of the latest answer: given again, or the request waits for another
    time.sleep(age)
    assert exchange(GOOD).startswith(b"HTTP/1.1 200"), f"half closed, {age} s after the answer before"
for _ in range(200):  # one byte changed
    data = bytearray(GOOD)
    data[random.randrange(len(data) - 4)] = random.randrange(256)
    with connection() as peer:
        peer.sendall(data)  # and gone without an answer
kind()

# Half requests by somebody who comes back as soon as he is cut off: who means it is served, at once.
many = half_requests(150)
for _ in range(3):
    begun = time.monotonic()
    kind()
    assert time.monotonic() - begun < 3, f"{time.monotonic() - begun} s beside half requests"
    gone = [peer for peer in many if is_cut_off(peer)]
    assert 150 - 64 <= len(gone) + 1, len(gone)
    for peer in gone:
        peer.close()
    many = [peer for peer in many if peer not in gone] + half_requests(len(gone))
for peer in many:
    peer.close()
kind()

# Who waits for an answer is not who gives way.
time.sleep(1.1)
with connection() as waits:
    waits.sendall(GOOD)
    many = half_requests(100)
    assert waits.recv(65536).startswith(b"HTTP/1.1 200")
for peer in many:
    peer.close()

# Asked for much and never read.
many = [connection() for _ in range(20)]
for peer in many:
    peer.sendall(b"GET /curves.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
kind()
for peer in many:
    peer.close()
kind()
