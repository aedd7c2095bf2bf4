# SPDX-License-Identifier: MIT
"""Screenshots (PNG, 8 bits, RGB or RGBA, not interlaced) as pixels."""

import struct
import zlib


def paeth(a, b, c):
    p = a + b - c
    return min((a, b, c), key=lambda x: (abs(p - x), (a, b, c).index(x)))


def rows(data):
    """Lists of bytes, and how many bytes a pixel has."""
    at, packed, width, height, channels = 8, b"", 0, 0, 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8 and not interlaced
        elif kind == b"IDAT":
            packed += chunk
        at += length + 12
    raw, stride, before, lines = zlib.decompress(packed), width * channels, bytearray(width * channels), []
    for y in range(height):
        method, line = raw[y * (stride + 1)], bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        if method == 2:
            line = bytearray((x + b) & 255 for x, b in zip(line, before))
        elif method:
            for i in range(stride):
                a = line[i - channels] if i >= channels else 0
                c = before[i - channels] if i >= channels else 0
                line[i] = (line[i] + {1: a, 3: (a + before[i]) // 2, 4: paeth(a, before[i], c) if method == 4 else 0}[method]) & 255
        lines.append(line)
        before = line
    return lines, channels


def count(data, colour, near=40):
    """Pixels that look like a colour, (r, g, b)."""
    lines, channels = rows(data)
    return sum(all(abs(line[i + k] - colour[k]) <= near for k in range(3)) for line in lines for i in range(0, len(line), channels))


def colours(data):
    """How many different ones there are."""
    lines, channels = rows(data)
    return len({bytes(line[i:i + 3]) for line in lines for i in range(0, len(line), channels)})
