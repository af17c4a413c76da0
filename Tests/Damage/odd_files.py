#!/usr/bin/env python3
"""Makes odd pictures and decompression bombs for `make damage`: odd_files.py FOLDER.

They are made again each time and compared with nothing: only crashes and hangs count. Needs only cjpeg, jpegtran and
Python.
"""

import os
import struct
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Fixtures"))
sys.dont_write_bytecode = True

import minipng
from minipng import chunk, header

FOLDER = sys.argv[1]


def save(name, data):
    path = os.path.join(FOLDER, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def tool(*command, data):
    """Returns the program's output, or None if it fails."""
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return done.stdout if done.returncode == 0 else None


def pnm(width, height, channels):
    pixels = bytes((x * 7 + y * 13 + c * 50 + (x * y) % 31) & 255
                   for y in range(height) for x in range(width) for c in range(channels))
    return b"P%d\n%d %d\n255\n" % (6 if channels == 3 else 5, width, height) + pixels


# ------------------------------------------------------------------------------------------- JPEG

# jpegtran accepts at most 100 scans.
COLOUR_SCANS = "0 1 2: 0 0 0 0;" + "".join(f"0: {k} {k} 0 0;" for k in range(1, 64)) + "1: 1 63 0 0; 2: 1 63 0 0;"
GREY_SCANS = {
    "one-each": "0: 0 0 0 0;" + "".join(f"0: {k} {k} 0 0;" for k in range(1, 64)),
    "bit-by-bit": "0: 0 0 0 7;" + "".join(f"0: 0 0 {b} {b - 1};" for b in range(7, 0, -1))
    + "0: 1 63 0 7;" + "".join(f"0: 1 63 {b} {b - 1};" for b in range(7, 0, -1)),
}


def with_scans(script, data):
    path = os.path.join(FOLDER, "scans.tmp")
    with open(path, "w") as file:
        file.write(script)
    made = tool("jpegtran", "-scans", path, data=data)
    os.remove(path)
    return made


def jpegs():
    yield from ((f"quality-{q}", ["-quality", str(q)], 3) for q in (1, 50, 100))
    for sampling in ("1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2", "2x4", "4x4,1x1,2x2", "1x1,2x2,2x2", "3x1", "1x3",
                     "3x2,1x1,1x1", "2x2,2x1,1x2", "3x3,2x2,1x1"):
        for kind in ([], ["-progressive"]):
            yield f"sampling-{sampling.replace(',', '-')}{''.join(kind)}", ["-sample", sampling, *kind], 3
    for interval in ("1B", "7B", "1", "3"):
        for kind in ([], ["-progressive"], ["-arithmetic"]):
            yield f"restart-{interval}{''.join(kind)}", ["-restart", interval, *kind], 3
    for kind in (["-arithmetic"], ["-arithmetic", "-progressive"], ["-optimize"], ["-grayscale"], ["-rgb"],
                 ["-grayscale", "-progressive"], ["-rgb", "-progressive"], ["-precision", "12"], ["-lossless", "1,0"]):
        yield "".join(kind)[1:].replace(",", "-"), kind, 3
    for kind in ([], ["-progressive"]):
        yield f"grey{''.join(kind)}", kind, 1


def make_jpegs():
    for name, options, channels in jpegs():
        for width, height in ((67, 43), (9, 1)):
            data = tool("cjpeg", *options, data=pnm(width, height, channels))
            if data:
                save(f"odd/{name}-{width}x{height}.jpg", data)
            elif height > 1:
                print(f"cjpeg cannot do {name}")
    colour, grey = (tool("cjpeg", data=pnm(67, 43, channels)) for channels in (3, 1))
    save("odd/scans-one-each-colour.jpg", with_scans(COLOUR_SCANS, colour))
    for name, script in GREY_SCANS.items(): save(f"odd/scans-{name}.jpg", with_scans(script, grey))
    save("odd/twelve-bits.jpg", grey.replace(b"\xff\xc0\x00\x0b\x08", b"\xff\xc1\x00\x0b\x0c"))
    save("odd/other-frame.jpg", grey.replace(b"\xff\xc0", b"\xff\xc2"))
    save("odd/fill-bytes.jpg", grey.replace(b"\xff\xdb", b"\xff" * 3000 + b"\xdb"))
    save("odd/many-comments.jpg", grey[:2] + b"\xff\xfe\x00\x04ab" * 5000 + grey[2:])
    save("odd/twice.jpg", colour + colour)
    save("odd/within.jpg", colour[:2] + b"\xff\xe1" + struct.pack(">H", len(grey) + 2) + grey + colour[2:])


# -------------------------------------------------------------------------------------------- PNG

CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
DEPTHS = {0: (1, 2, 4, 8, 16), 2: (8, 16), 3: (1, 2, 4, 8), 4: (8, 16), 6: (8, 16)}
END = chunk(b"IEND", b"")


def picture(width, height, depth, kind):
    most = (1 << depth) - 1
    return width, height, [[tuple((x * 3 + y * 5 + c * 40) & most for c in range(CHANNELS[kind])) for x in range(width)]
                           for y in range(height)]


def png(width, height, depth, kind, interlaced=False, before=b"", after=b"", data=None, piece=0, crc_xor=0, level=6):
    if data is None:
        rows = minipng.image_data(picture(width, height, depth, kind), depth, CHANNELS[kind], interlaced)
        data = zlib.compress(rows, level)
    palette = chunk(b"PLTE", bytes(range(256)) * 3) if kind == 3 and depth == 8 else (
        chunk(b"PLTE", bytes(range(3 << depth))) if kind == 3 else b"")
    pieces = [data] if not piece else [data[i:i + piece] for i in range(0, len(data), piece)]
    return (minipng.SIGNATURE + header(width, height, depth, kind, interlaced) + before + palette
            + b"".join(chunk(b"IDAT", part, crc_xor) for part in pieces) + after + END)


def make_pngs():
    for kind, depths in DEPTHS.items():
        for depth in depths:
            for interlaced in (False, True):
                for width, height in ((33, 17), (1, 9)):
                    name = f"odd/png-{kind}-{depth}{'-i' if interlaced else ''}-{width}x{height}.png"
                    save(name, png(width, height, depth, kind, interlaced))
    for width, height in ((2**31 - 1, 1), (1, 2**31 - 1), (2**31 - 1, 2**31 - 1), (100000, 100000), (4000, 4000)):
        for kind in (0, 6):
            data = zlib.compress(bytes(4000))
            save(f"odd/png-little-data-{kind}-{width}x{height}.png", png(width, height, 8, kind, data=data))
            save(f"odd/png-little-data-i-{kind}-{width}x{height}.png", png(width, height, 8, kind, True, data=data))
    texts = chunk(b"tEXt", b"a\0b") * 5000
    save("odd/png-many-chunks.png", png(33, 17, 8, 6, before=texts, after=texts))
    save("odd/png-many-data-chunks.png", png(33, 17, 8, 6, piece=1))
    save("odd/png-empty-data-chunks.png", png(33, 17, 8, 6, before=chunk(b"IDAT", b"") * 3000))
    save("odd/png-wrong-sum.png", png(33, 17, 8, 6, crc_xor=1))
    save("odd/png-wrong-sum-text.png", png(33, 17, 8, 6, before=chunk(b"tEXt", b"a\0b", 1)))
    save("odd/png-stored.png", png(33, 17, 8, 6, level=0))
    save("odd/png-much-too-much.png", png(33, 17, 8, 6, data=zlib.compress(bytes(10_000_000))))
    packed = zlib.compress(bytes(50_000_000), 9)
    for name, start in ((b"zTXt", b"a\0\0"), (b"iCCP", b"a\0\0"), (b"iTXt", b"a\0\1\0\0\0")):
        save(f"odd/png-bomb-{name.decode()}.png", png(33, 17, 8, 6, before=chunk(name, start + packed)))


# ------------------------------------------------------------------------------------------ bombs

SIDE = 65500


def jpeg_bomb(frame, scan_end, bits_of_a_block):
    """Makes a plain grey JPEG: every code is a single 0 bit, for no change."""
    def segment(marker, data): return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    table = bytes([1] + [0] * 15 + [0])
    blocks = ((SIDE + 7) // 8) ** 2
    return (b"\xff\xd8" + segment(0xDB, bytes([0]) + bytes([16] * 64))
            + segment(frame, struct.pack(">BHHB", 8, SIDE, SIDE, 1) + b"\x01\x11\x00")
            + segment(0xC4, b"\x00" + table) + segment(0xC4, b"\x10" + table)
            + segment(0xDA, b"\x01\x01\x00\x00" + bytes([scan_end, 0]))
            + bytes(blocks * bits_of_a_block // 8 + 1) + b"\xff\xd9")


def png_bomb(interlaced):
    """Makes a PNG of one bit a pixel; if it is interlaced, it is also incomplete."""
    pack = zlib.compressobj(9)
    row = bytes(1 + (SIDE + 7) // 8)
    data = b"".join(pack.compress(row * 100) for _ in range(SIDE // 100)) + pack.flush()
    return png(SIDE, SIDE, 1, 0, interlaced, data=data)


def make_bombs():
    save("bombs/jpeg.jpg", jpeg_bomb(0xC0, 63, 2))
    save("bombs/jpeg-progressive.jpg", jpeg_bomb(0xC2, 0, 1))
    save("bombs/png.png", png_bomb(False))
    save("bombs/png-interlaced.png", png_bomb(True))


make_jpegs()
make_pngs()
make_bombs()
