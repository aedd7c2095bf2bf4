#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""unkind.py URL: clients that no server deserves. Ends with 0 when the server is still there, has
answered kind requests meanwhile, and what it has to refuse was refused."""

import random
import socket
import sys
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
            if data != GOOD:
                peer.shutdown(socket.SHUT_WR)
            return peer.recv(65536)
        except OSError:  # cut off
            return b""


def kind():
    with urllib.request.urlopen(sys.argv[1] + "/metrics", timeout=10) as answer:
        assert b"mtl_up" in answer.read()


for data in (b"\r\n" * 100 + b"x\r\n\r\n", b"\0" * 1000, b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: a\r\nHost: localhost\r\nConnection: close\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
             b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
             b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 5000 + b"\r\n"):
    answer = exchange(data)
    assert not answer.startswith(b"HTTP/1.1 200"), (data[:60], answer[:60])
assert exchange(GOOD).startswith(b"HTTP/1.1 200")
for _ in range(200):  # one byte changed
    data = bytearray(GOOD)
    data[random.randrange(len(data) - 4)] = random.randrange(256)
    with connection() as peer:
        peer.sendall(data)  # and gone without an answer
kind()

# Half requests on all connections there may be and more: who comes after waits and is served once
# they are gone, or before.
many = []
for _ in range(100):
    peer = socket.socket()
    peer.setblocking(False)
    peer.connect_ex((host, int(port)))
    many.append(peer)
for peer in many:
    try:
        peer.send(b"GET /metrics HTTP/1.1\r\nHo")
    except OSError:
        pass
for peer in many:
    peer.close()
kind()

# Asked for much and never read.
many = [connection() for _ in range(20)]
for peer in many:
    peer.sendall(b"GET /curves.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
kind()
for peer in many:
    peer.close()
kind()
