"""Makes pictures that take, or pretend to take, much memory or time: FORMAT-TRICK.EXTENSION, for Tests/Coders/limits.c.

    make_tricks.py FOLDER short|long FORMAT...

The formats' own tools make the pictures; what is wrong with them is written into their files here. "short" makes
pictures of 4 million pixels, "long" also of 16, and more kinds."""
import base64
import struct
import subprocess
import sys

import numpy as np
from PIL import Image

folder, length, formats = sys.argv[1], sys.argv[2], sys.argv[3:]
is_long = length == "long"
SIDE = 2000


def path(name):
    return f"{folder}/{name}"


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def read(name):
    with open(path(name), "rb") as file:
        return bytearray(file.read())


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data)


def plain(name, side, mode="RGB"):
    Image.new(mode, (side, side), (200, 30, 60, 128)[: len(mode)]).save(path(name), compress_level=1)


def noisy(name, side, channels=4):
    pixels = np.random.default_rng(1).integers(0, 256, (side, side, channels), dtype=np.uint8)
    # Encoders are fast with little noise, bodies small, and decoders need all their memory with some.
    pixels //= 32
    if channels > 3:
        pixels[:, :, 3] = np.arange(side) % 256
    Image.fromarray(pixels).save(path(name), compress_level=1)


def encode(format, source, name, *options):
    """Encodes a PNG as FORMAT-NAME."""
    target = path(f"{format}-{name}.{format}")
    if format == "webp":
        run("cwebp", "-q", "70", "-m", "0", *options, path(source), "-o", target)
    elif format == "avif":
        run("avifenc", "-j", "1", "-s", "10", *options, path(source), target)
    elif format == "jxl":
        run("cjxl", "--num_threads=0", "-e", "3", *options, path(source), target)
    elif format == "heif":
        run("heif-enc", "-q", "50", "-p", "preset=ultrafast", *options, path(source), "-o", target)


# ---- GIF, written by hand

def gif_screen(width, height):
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes([0, 0, 0, 255, 255, 255])


def gif_frame(side, disposal):
    """A frame of at most 16 pixels of one colour, with codes of 3 bits: each pixel's behind a code that clears."""
    value = shift = 0
    for code in [4, 0] * (side * side) + [5]:
        value |= code << shift
        shift += 3
    data = value.to_bytes((shift + 7) // 8, "little")
    control = b"\x21\xf9\x04" + bytes([disposal << 2, 1, 0, 0]) + b"\0"
    return control + b"\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02" + bytes([len(data)]) + data + b"\0"


def make_gif():
    Image.new("P", (16, 16)).save(path("gif-small.gif"))
    Image.new("P", (SIDE, SIDE)).save(path("gif-plain.gif"))
    frames = 200000 if is_long else 20000
    write("gif-frames.gif", gif_screen(1000, 1000) + gif_frame(1, 3) * frames + b";")
    write("gif-far.gif", gif_screen(1000, 1000) + gif_frame(1, 3) * 9999 + b";")
    # Frames that cover the canvas, and are removed again.
    Image.new("P", (1000, 1000)).save(path("frame.gif"))
    picture = bytes(read("frame.gif"))
    begin = picture.index(b"\x2c\0\0\0\0")
    frame = b"\x21\xf9\x04" + bytes([3 << 2, 1, 0, 0]) + b"\0" + picture[begin:picture.rindex(b";")]
    write("gif-covers.gif", picture[:13 + 3 * 2 ** ((picture[10] & 7) + 1)] + frame * 3000 + b";")
    lie = read("gif-plain.gif")
    lie[6:10] = struct.pack("<HH", 16, 16)
    write("gif-screen.gif", lie)
    lie[6:10] = struct.pack("<HH", 65535, 65535)
    write("gif-huge.gif", lie)
    comment = b"\x21\xfe" + (b"\xff" + b"c" * 255) * 32768 + b"\0"
    write("gif-comment.gif", gif_screen(16, 16) + comment + gif_frame(4, 0) + b";")


# ---- bitmaps, written by hand

def bitmap(width, height, bits, compression=0, palette=0):
    return struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, 0, 0, 0, palette, 0)


def bmp(header, rest):
    return b"BM" + struct.pack("<IHHI", 14 + len(header) + len(rest), 0, 0, 0) + header + rest


def make_bmp():
    Image.new("RGB", (16, 16)).save(path("bmp-small.bmp"))
    Image.new("RGB", (SIDE, SIDE)).save(path("bmp-plain.bmp"))
    write("bmp-huge.bmp", bmp(bitmap(60000, 60000, 24), bytes(1000)))
    write("bmp-wide.bmp", bmp(bitmap(0x7fffffff, 1, 1), bytes(1000)))
    # Few bytes, of which each draws a row, and some that only move.
    runs = (bytes([255, 0]) * 8 + b"\0\0") * SIDE + b"\0\1"
    write("bmp-runs.bmp", bmp(bitmap(SIDE, SIDE, 8, 1, 1), bytes(4) + runs))
    write("bmp-moves.bmp", bmp(bitmap(SIDE, SIDE, 8, 1, 1), bytes(4) + b"\0\2\0\0" * (2 << 20) + b"\0\1"))
    write("bmp-palette.bmp", bmp(bitmap(16, 16, 24, 0, 0xffffffff), bytes(2000)))


def make_ico():
    Image.new("RGBA", (16, 16)).save(path("ico-small.ico"))
    Image.new("RGB", (SIDE, SIDE)).save(path("ico.png"))
    png = bytes(read("ico.png"))

    def directory(entries):
        return struct.pack("<HHH", 0, 1, len(entries)) + b"".join(
            struct.pack("<BBBBHHII", 0, 0, 0, 0, 1, 32, size, at) for size, at in entries)

    write("ico-plain.ico", directory([(len(png), 22)]) + png)
    header = bitmap(60000, 120000, 32)
    write("ico-huge.ico", directory([(40, 22)]) + header)
    # As many entries as there can be, all of the same picture, and entries that are the directory itself.
    small = bitmap(16, 32, 8) + bytes(4 * 256 + 256 + 64)
    count = 65535
    write("ico-many.ico", directory([(len(small), 6 + 16 * count)] * count) + small)
    write("ico-itself.ico", directory([(len(small), 22), (1000, 0), (1000, 6)]) + small)


# ---- boxes

def patch_sizes(data, width, height):
    """Writes other sizes into all "ispe" boxes."""
    at = data.find(b"ispe")
    while at >= 0:
        data[at + 8:at + 16] = struct.pack(">II", width, height)
        at = data.find(b"ispe", at + 4)
    return data


def with_pieces(data, count):
    """Adds items to "iloc" that are nowhere else, of 65,535 pieces each, which take no bytes."""
    at = data.index(b"iloc") + 4
    picture, = struct.unpack_from(">H", data, at + 8)
    size, = struct.unpack_from(">I", data, at - 8)
    begin = data.index(b"mdat") + 4
    more = b"".join(struct.pack(">HHH", 1000 + number, 0, 65535) for number in range(count))
    # The picture is all that follows, in a box of its own.
    place = struct.pack(">B3xHH", 0, 0, 1 + count) + struct.pack(">HHH", picture, 0, 1) + more
    head = data[:at - 8] + struct.pack(">I", 8 + len(place)) + b"iloc" + place + data[at - 8 + size:begin]
    meta = head.index(b"meta")
    grown = struct.unpack_from(">I", head, meta - 4)[0] + 8 + len(place) - size
    head[meta - 4:meta] = struct.pack(">I", grown)
    return head + data[begin:]


def make_boxes(format):
    encode(format, "small.png", "small")
    encode(format, "plain.png", "plain")
    encode(format, "noisy.png", "alpha")
    write(f"{format}-lie.{format}", patch_sizes(read(f"{format}-plain.{format}"), 64, 64))
    write(f"{format}-huge.{format}", patch_sizes(read(f"{format}-small.{format}"), 60000, 60000))
    write(f"{format}-pieces.{format}", with_pieces(read(f"{format}-small.{format}"), 60000 if is_long else 9000))
    write(f"{format}-free.{format}", read(f"{format}-small.{format}") + struct.pack(">I", 8 << 20) + b"free" +
          bytes((8 << 20) - 8))
    if is_long:
        encode(format, "plain11000.png", "large")
        write(f"{format}-largelie.{format}", patch_sizes(read(f"{format}-large.{format}"), 64, 64))


def make_avif():
    make_boxes("avif")
    encode("avif", "plain.png", "deep", "-d", "12", "-y", "444")
    run("avifenc", "-j", "1", "-s", "10", "--grid", "4x4", *[path("tile.png")] * 16, path("avif-tiles.avif"))
    # libaom 3.6 aborts itself at twelve frames that are the same.
    run("avifenc", "-j", "1", "-s", "10", *[path("plain.png")] * (8 if is_long else 3), path("avif-frames.avif"))
    write("exif.bin", b"II*\0\x08\0\0\0\0\0\0\0\0\0" + bytes(8 << 20))
    encode("avif", "small.png", "exif", "--exif", path("exif.bin"))


def make_heif():
    make_boxes("heif")
    # A grid whose tile is itself, and one that is the tile of its own transparency; as far as heif-enc makes grids of
    # small pictures.
    plain("small-alpha.png", 16, "RGBA")
    encode("heif", "small-alpha.png", "plane")
    picture = read("heif-plane.heif")
    first = picture.find(b"dimg")
    second = picture.find(b"dimg", first + 4)
    if first < 0 or second < 0:
        return
    grid = picture[first + 4:first + 6]
    picture[second + 8:second + 10] = grid
    write("heif-plane.heif", picture)
    picture[first + 8:first + 10] = grid
    write("heif-itself.heif", picture)


# ---- others

def make_webp():
    encode("webp", "small.png", "small")
    encode("webp", "plain.png", "plain")
    encode("webp", "noisy.png", "alpha")
    encode("webp", "noisy.png", "lossless", "-lossless", "-z", "0")
    for name, side in [("canvas", 16), ("huge", 16384)]:
        picture = bytes(read("webp-plain.webp"))[12:]
        extended = b"VP8X" + struct.pack("<I", 10) + bytes(4) + struct.pack("<I", side - 1)[:3] * 2
        write(f"webp-{name}.webp", b"RIFF" + struct.pack("<I", 4 + len(extended) + len(picture)) + b"WEBP" + extended +
              picture)
    picture = bytes(read("webp-small.webp"))[12:]
    exif = b"EXIF" + struct.pack("<I", 8 << 20) + bytes(8 << 20)
    extended = b"VP8X" + struct.pack("<I", 10) + bytes([8, 0, 0, 0]) + struct.pack("<I", 15)[:3] * 2
    write("webp-exif.webp", b"RIFF" + struct.pack("<I", 4 + len(extended) + len(picture) + len(exif)) + b"WEBP" +
          extended + picture + exif)
    # Frames of 1 x 1 pixel on a canvas of a million.
    plain("dot.png", 1)
    encode("webp", "dot.png", "dot")
    dot = bytes(read("webp-dot.webp"))[12:]
    frame = b"ANMF" + struct.pack("<I", 16 + len(dot)) + bytes(12) + b"\x0a\0\0\0" + dot
    extended = b"VP8X" + struct.pack("<I", 10) + bytes([2, 0, 0, 0]) + struct.pack("<I", 999)[:3] * 2
    frames = extended + b"ANIM" + struct.pack("<I", 6) + bytes(6) + frame * (100000 if is_long else 9000)
    write("webp-frames.webp", b"RIFF" + struct.pack("<I", 4 + len(frames)) + b"WEBP" + frames)


def make_jxl():
    encode("jxl", "small.png", "small", "--container=1")
    encode("jxl", "plain.png", "plain")
    encode("jxl", "noisy.png", "alpha")
    encode("jxl", "plain.png", "lossless", "-d", "0")
    Image.new("P", (16, 16)).save(path("one.gif"))
    frames = [Image.new("P", (500, 500), index % 200) for index in range(200 if is_long else 40)]
    frames[0].save(path("many.gif"), save_all=True, append_images=frames[1:], duration=50)
    run("cjxl", "--num_threads=0", "-e", "1", "-d", "0", path("many.gif"), path("jxl-frames.jxl"))
    write("jxl-exif.jxl", read("jxl-small.jxl") + struct.pack(">I", 8 << 20) + b"Exif" + bytes((8 << 20) - 8))


plain("small.png", 16)
plain("plain.png", SIDE)
plain("tile.png", SIDE // 4)
noisy("noisy.png", SIDE)
if is_long:
    plain("plain11000.png", 11000)
# ---- SVG

def make_svg():
    def svg(name, inside, attributes='width="100" height="80"'):
        write(f"svg-{name}.svg", f'<svg xmlns="http://www.w3.org/2000/svg" {attributes}>{inside}</svg>'.encode())

    def filtered(primitives):
        return f'<filter id="f">{primitives}</filter><rect width="{SIDE}" height="{SIDE}" filter="url(#f)"/>'

    whole = f'width="{SIDE}" height="{SIDE}"'
    svg("small", '<rect width="50" height="40"/><text y="50">Text</text>')
    svg("plain", f'<rect {whole}/>', whole)
    svg("huge", "", 'width="60000" height="60000"')
    svg("wide", "", 'width="2147483647" height="1"')
    svg("groups", '<g opacity=".5">' * 100 + f'<rect {whole}/>' + "</g>" * 100, whole)
    svg("filters", filtered('<feGaussianBlur stdDeviation="9"/>' * 30), whole)
    svg("octaves", filtered('<feTurbulence baseFrequency=".1" numOctaves="9999999"/>'), whole)
    svg("elements", '<rect width="1" height="1"/>' * 30000)
    svg("path", '<path d="M0 0' + " 1 1" * 200000 + '"/>')
    svg("uses", '<rect id="a0" width="1" height="1"/>' + "".join(
        f'<g id="a{i}">' + f'<use href="#a{i - 1}"/>' * 10 + "</g>" for i in range(1, 20)))
    svg("chain", '<rect id="a0" width="1" height="1"/>' + "".join(
        f'<g id="a{i}">{"<g>" * 200}<use href="#a{i - 1}"/>{"</g>" * 200}</g>' for i in range(1, 300)))
    Image.new("1", (20000, 20000)).save(path("svg.png"))
    svg("image", f'<image href="data:image/png;base64,{base64.b64encode(read("svg.png")).decode()}"/>')


for format in formats:
    globals()[f"make_{format}"]()
