"""A PNG encoder for tests: any colour type, depth and interlacing of the specification, and chunks that
no proper encoder writes. Only the standard library.

A picture is (width, height, rows); a row is a list of pixels; a pixel is a tuple of samples, each of
`depth` bits.
"""

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, RGB, PALETTE, GREY_ALPHA, RGBA = 0, 2, 3, 4, 6

# Adam7: first column, first row, column step, row step.
PASSES = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def chunk(name, data, crc_xor=0):
    crc = zlib.crc32(name + data) ^ crc_xor
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", crc)


def header(width, height, depth, kind, interlaced=False):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, int(interlaced)))


def packed(row, depth):
    """The samples of a row as bytes."""
    samples = [sample for pixel in row for sample in pixel]
    if depth == 16:
        return b"".join(struct.pack(">H", sample) for sample in samples)
    out, bits, count = bytearray(), 0, 0
    for sample in samples:
        bits, count = bits << depth | sample, count + depth
        if count == 8:
            out.append(bits)
            bits, count = 0, 0
    if count:
        out.append(bits << (8 - count))
    return bytes(out)


def paeth(left, up, corner):
    estimate = left + up - corner
    distances = [(abs(estimate - value), order, value) for order, value in enumerate((left, up, corner))]
    return min(distances)[2]


def filtered(kind, row, above, step):
    """One row after one of the five filters, with its number in front."""
    out = bytearray([kind])
    for i, value in enumerate(row):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        up = above[i]
        out.append((value - (0, left, up, (left + up) // 2, paeth(left, up, corner))[kind]) & 0xFF)
    return bytes(out)


def scanlines(rows, depth, channels):
    """All rows, every filter in turn."""
    step = max(1, channels * depth // 8)
    out, above = b"", None
    for y, row in enumerate(rows):
        data = packed(row, depth)
        out += filtered(y % 5, data, above or bytes(len(data)), step)
        above = data
    return out


def image_data(picture, depth, channels, interlaced):
    width, height, rows = picture
    if not interlaced:
        return scanlines(rows, depth, channels)
    out = b""
    for x0, y0, dx, dy in PASSES:
        part = [[rows[y][x] for x in range(x0, width, dx)] for y in range(y0, height, dy)]
        if part and part[0]:
            out += scanlines(part, depth, channels)
    return out


def encode(picture, depth, kind, interlaced=False, before=b"", after=b"", pieces=1):
    """A PNG. `before` and `after` are chunks around IDAT, which is cut into `pieces`."""
    channels = {GREY: 1, RGB: 3, PALETTE: 1, GREY_ALPHA: 2, RGBA: 4}[kind]
    data = zlib.compress(image_data(picture, depth, channels, interlaced), 9)
    size = -(-len(data) // pieces)
    body = b"".join(chunk(b"IDAT", data[i : i + size]) for i in range(0, len(data), size))
    start = SIGNATURE + header(picture[0], picture[1], depth, kind, interlaced)
    return start + before + body + after + chunk(b"IEND", b"")
