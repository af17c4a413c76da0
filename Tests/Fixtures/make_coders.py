#!/usr/bin/env python3
"""Makes the pictures of coders/, for the example coders: see README.md for what each is.

    python3 -m pip install pillow; apt-get install libavif-bin; python3 make_coders.py

Beside each NAME.EXT there is NAME.EXT.pams: what a decoder must give, frame after frame, each as a PAM. They come from
Pillow; those of the GIFs are composed here, as the specification and browsers have it, and compared with Pillow's.
"""

import io
import os
import struct
import subprocess
import tempfile

from PIL import Image, ImageOps, ImageSequence

from make_fixtures import HERE, noise, pam, photo, save


def encoded(pictures, kind, **options):
    out = io.BytesIO()
    if len(pictures) > 1:
        options.update(save_all=True, append_images=pictures[1:])
    pictures[0].save(out, kind, **options)
    return out.getvalue()


def frames_of(data):
    with Image.open(io.BytesIO(data)) as picture:
        return [frame.convert("RGBA") for frame in ImageSequence.Iterator(picture)]


def save_with_frames(name, data, frames=None):
    frames = frames or frames_of(data)
    save(f"coders/{name}", data)
    save(f"coders/{name}.pams", b"".join(pam(*frame.size, frame.tobytes()) for frame in frames))


def glass(width, height, seed):
    """Colours that show through, all there are of some alphas."""
    values = noise(seed)
    picture = Image.new("RGBA", (width, height))
    picture.putdata([(next(values), next(values), next(values), (x * 37) % 256) for x in range(width * height)])
    return picture


def without_hidden_colours(picture):
    """Of what is transparent there is no colour to compare."""
    empty = Image.new("RGBA", picture.size)
    return Image.composite(picture, empty, picture.getchannel("A").point(lambda alpha: 255 if alpha else 0))


# ---------------------------------------------------------------------------------------- WebP


def make_webp():
    save_with_frames("lossless.webp", encoded([without_hidden_colours(glass(23, 17, 5))], "WEBP", lossless=True))
    save_with_frames("photo.webp", encoded([photo(37, 29)], "WEBP", quality=70))
    pictures = []
    for step in range(4):
        picture = photo(24, 16).convert("RGBA")
        picture.paste((0, 0, 0, 0), (step * 5, 3, step * 5 + 8, 12))
        pictures.append(picture)
    data = encoded(pictures, "WEBP", lossless=True, duration=[40, 70, 100, 250], loop=3)
    save_with_frames("moving.webp", data)


# ----------------------------------------------------------------------------------------- GIF


def lzw(indices, bits):
    """As GIF packs them, but with a clear code so often that codes never grow: nothing becomes smaller."""
    codes = []
    for place, index in enumerate(indices):
        if place % (2**bits - 2) == 0:
            codes.append(2**bits)
        codes.append(index)
    codes.append(2**bits + 1)
    number = sum(code << (place * (bits + 1)) for place, code in enumerate(codes))
    return number.to_bytes((len(codes) * (bits + 1) + 7) // 8, "little")


def parts(data):
    return b"".join(bytes([len(data[at : at + 255])]) + data[at : at + 255] for at in range(0, len(data), 255)) + b"\0"


BITS = 3
COLOURS = [(10, 20, 30), (250, 0, 0), (0, 240, 0), (0, 0, 230), (220, 220, 0), (0, 210, 210), (200, 0, 200), (9, 9, 9)]


def rows_in_order(height, interlaced):
    if not interlaced:
        return range(height)
    return [y for first, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(first, height, step)]


class Frame:
    def __init__(self, left, top, width, height, disposal=0, transparent=None, delay=5, local=None, interlaced=False):
        values = noise(left * 31 + top * 7 + width)
        self.box = (left, top, width, height)
        self.indices = [next(values) % 2**BITS for _ in range(width * height)]
        self.disposal, self.transparent, self.delay = disposal, transparent, delay
        self.local, self.interlaced = local, interlaced

    def block(self):
        flags = self.disposal << 2 | (self.transparent is not None)
        control = b"!\xf9\4" + struct.pack("<BHBB", flags, self.delay, self.transparent or 0, 0)
        width, height = self.box[2:]
        table = b"".join(map(bytes, self.local)) if self.local else b""
        flags = (0x80 | BITS - 1 if self.local else 0) | self.interlaced << 6
        rows = [self.indices[y * width : (y + 1) * width] for y in rows_in_order(height, self.interlaced)]
        return control + b"," + struct.pack("<HHHHB", *self.box, flags) + table + bytes([BITS]) + parts(
            lzw(sum(rows, []), BITS))


def gif(width, height, frames, loop=None):
    data = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80 | BITS - 1, 0, 0) + b"".join(map(bytes, COLOURS))
    if loop is not None:
        data += b"!\xff\x0bNETSCAPE2.0\3\1" + struct.pack("<H", loop) + b"\0"
    return data + b"".join(frame.block() for frame in frames) + b";"


def composed(width, height, frames):
    """Disposal to the background is to what is transparent. The first frame is never cut."""
    left, top, across, down = frames[0].box
    width, height = max(width, left + across), max(height, top + down)
    canvas, made = Image.new("RGBA", (width, height)), []
    for frame in frames:
        before = canvas.copy()
        left, top, across, down = frame.box
        for place, index in enumerate(frame.indices):
            x, y = left + place % across, top + place // across
            if index != frame.transparent and x < width and y < height:
                canvas.putpixel((x, y), (frame.local or COLOURS)[index] + (255,))
        made.append(canvas.copy())
        if frame.disposal == 2:
            canvas.paste((0, 0, 0, 0), (left, top, left + across, top + down))
        elif frame.disposal == 3:
            canvas = before
    return made


def save_gif(name, width, height, frames, loop=None, like_pillows=None):
    """As many frames as `like_pillows` says, or all, are Pillow's."""
    data, made = gif(width, height, frames, loop), composed(width, height, frames)
    for ours, pillows in list(zip(made, frames_of(data), strict=True))[:like_pillows]:
        assert without_hidden_colours(pillows).tobytes() == ours.tobytes(), name
    save_with_frames(name, data, made)


def make_gif():
    save_gif("still.gif", 19, 13, [Frame(0, 0, 19, 13)])
    save_gif("interlaced.gif", 19, 21, [Frame(0, 0, 19, 21, interlaced=True)])
    local = [(255 - red, green // 2, blue) for red, green, blue in COLOURS]
    moving = [
        Frame(0, 0, 16, 12, 1, 7, delay=4),
        Frame(3, 2, 6, 5, 2, 6, delay=10, local=local),
        Frame(5, 4, 7, 6, 3, 5, delay=0, interlaced=True),
        Frame(2, 1, 9, 9, 0, 4, delay=100),
        Frame(1, 6, 5, 5, 3, 3),
        Frame(8, 0, 8, 12, 2, 2),
        Frame(0, 0, 3, 3, 1, 1),
    ]
    # Pillow forgets what a frame without disposal has drawn, if the one before was to be taken back. ImageMagick's
    # "convert -coalesce" composes all of them as here.
    save_gif("moving.gif", 16, 12, moving, loop=0, like_pillows=4)
    save_gif("twice.gif", 16, 12, moving[:2], loop=1)
    # The first frame makes the canvas larger; the second is outside, where Pillow makes it larger again.
    save_gif("outside.gif", 10, 8, [Frame(6, 5, 8, 8), Frame(20, 20, 4, 4)], like_pillows=0)


# ---------------------------------------------------------------------------------------- AVIF


def avifenc(picture, *options):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.png"), os.path.join(folder, "a.avif")
        picture.save(source)
        subprocess.run(["avifenc", "--lossless", "-s", "6", *options, source, target], check=True,
                       stdout=subprocess.DEVNULL)
        with open(target, "rb") as file:
            return file.read()


def make_avif():
    picture = without_hidden_colours(glass(23, 17, 9))
    data = avifenc(picture)
    assert frames_of(data)[0].tobytes() == picture.tobytes()
    save_with_frames("lossless.avif", data)
    for name, options in (("turned", ["--irot", "1"]), ("mirrored", ["--irot", "3", "--imir", "0"])):
        data = avifenc(photo(12, 8), *options)
        save_with_frames(f"{name}.avif", data)
        with Image.open(io.BytesIO(data)) as picture:
            upright = ImageOps.exif_transpose(picture).convert("RGBA")
        save(f"coders/{name}.avif.upright.pam", pam(*upright.size, upright.tobytes()))
    save_with_frames("photo.avif", encoded([photo(37, 29)], "AVIF", quality=80, subsampling="4:4:4"))
    pictures = [photo(24, 16).rotate(angle) for angle in (0, 90, 180)]
    save_with_frames("moving.avif", encoded(pictures, "AVIF", quality=90, subsampling="4:4:4", duration=[40, 80, 120]))


# ------------------------------------------------------------------------------------ BMP and ICO


def bitmap_header(length, width, height, bits, compression=0, colours=0, masks=()):
    """The header of a bitmap: 12 bytes as in OS/2 1, 40 to 124 as in Windows, or 64 as in OS/2 2."""
    if length == 12:
        return struct.pack("<IHHHH", 12, width, height, 1, bits)
    header = struct.pack("<IiiHHIIiiII", length, width, height, 1, bits, compression, 0, 0, 0, colours, 0)
    return (header + struct.pack(f"<{len(masks)}I", *masks)).ljust(length, b"\0")


def bmp(header, palette, pixels):
    begin = 14 + len(header) + len(palette)
    return b"BM" + struct.pack("<IHHI", begin + len(pixels), 0, 0, begin) + header + palette + pixels


def bitmap_rows(rows):
    """Rows of a bitmap, the lowest first, each filled up to a multiple of 4 bytes."""
    return b"".join(row + bytes(-len(row) % 4) for row in reversed(rows))


def bitmap_palette(colours, entry=4):
    return b"".join(bytes([blue, green, red, 0][:entry]) for red, green, blue in colours)


def packed(indexes, bits):
    """Indexes of a row, the first in the highest bits of a byte."""
    value = 0
    for index in indexes:
        value = value << bits | index
    spare = -len(indexes) * bits % 8
    return (value << spare).to_bytes((len(indexes) * bits + spare) // 8, "big")


def runs(rows, bits):
    """Rows as runs: repeated indexes, and literal ones where at least three differ."""
    out = bytearray()
    for row in reversed(rows):
        at = 0
        while at < len(row):
            count = next((i for i in range(1, len(row) - at) if row[at + i] != row[at]), len(row) - at)
            literal = row[at:at + 9]
            if count == 1 and len(literal) > 2:
                data = packed(literal, bits)
                out += bytes([0, len(literal)]) + data + bytes(len(data) % 2)
                at += len(literal)
            else:
                out += bytes([count, row[at] if bits == 8 else row[at] * 17])
                at += count
        out += b"\0\0"
    return bytes(out[:-2]) + b"\0\1"


def make_bmp():
    width, height = 22, 13
    values = noise(21)
    colours = [(next(values), next(values), next(values)) for _ in range(16)]
    # Some that are repeated, so that there are runs.
    rows = [[next(values) % 16 if (x + y) % 9 < 5 else y for x in range(width)] for y in range(height)]

    def shown(colour_at, size=(width, height)):
        picture = Image.new("RGBA", size)
        picture.putdata([colour_at(x, y) for y in range(size[1]) for x in range(size[0])])
        return [picture]

    def colour_at(x, y):
        return (*colours[rows[y][x]], 255)

    def keep(name, header, palette, pixels, picture):
        save_with_frames(f"{name}.bmp", bmp(header, palette, pixels), picture)

    for bits in 1, 2, 4, 8:
        mask = (1 << bits) - 1
        few = [[index & mask for index in row] for row in rows]
        keep(f"palette{bits}", bitmap_header(40, width, height, bits, 0, min(16, mask + 1)),
             bitmap_palette(colours[:mask + 1]), bitmap_rows([packed(row, bits) for row in few]),
             shown(lambda x, y, few=few: (*colours[few[y][x]], 255)))
    four = bitmap_rows([packed(row, 4) for row in rows])
    keep("os2", bitmap_header(12, width, height, 4), bitmap_palette(colours, 3), four, shown(colour_at))
    keep("os2-2", bitmap_header(64, width, height, 4), bitmap_palette(colours), four, shown(colour_at))
    keep("top-down", bitmap_header(40, width, -height, 4), bitmap_palette(colours),
         bitmap_rows([packed(row, 4) for row in reversed(rows)]), shown(colour_at))
    # Indexes without a colour are black.
    keep("few-colours", bitmap_header(40, width, height, 4, 0, 5), bitmap_palette(colours[:5]), four,
         shown(lambda x, y: colour_at(x, y) if rows[y][x] < 5 else (0, 0, 0, 255)))
    keep("rle8", bitmap_header(40, width, height, 8, 1, 16), bitmap_palette(colours), runs(rows, 8), shown(colour_at))
    keep("rle4", bitmap_header(40, width, height, 4, 2), bitmap_palette(colours), runs(rows, 4), shown(colour_at))
    true = b"\0\0".join(b"".join(bytes([1, *reversed(colours[index])]) for index in row) for row in reversed(rows))
    keep("rle24", bitmap_header(64, width, height, 24, 4), b"", true + b"\0\1", shown(colour_at))
    # What runs pass over is transparent, and what lies beside the picture is cut off.
    keep("rle8-skips", bitmap_header(40, width, height, 8, 1, 16), bitmap_palette(colours),
         bytes([200, 2, 0, 0, 0, 2, 7, 4, 3, 3, 0, 1]),
         shown(lambda x, y: (*colours[2], 255) if y == height - 1 else
               (*colours[3], 255) if y == height - 6 and 7 <= x < 10 else (0, 0, 0, 0)))

    def deep(name, length, bits, compression, masks, behind, picture, alpha_of=lambda x: 255):
        """Pixels with channels in these bits."""
        lines = []
        for y in range(height):
            line = b""
            for x in range(width):
                pixel = 0
                for value, mask in zip((*colours[rows[y][x]], alpha_of(x)), masks):
                    most = mask & -mask and mask // (mask & -mask)
                    pixel |= (value * most // 255) * (mask & -mask)
                line += pixel.to_bytes(bits // 8, "little")
            lines.append(line)
        stored = () if behind else masks if compression else ()
        keep(name, bitmap_header(length, width, height, bits, compression, 0, stored),
             struct.pack(f"<{behind}I", *masks[:behind]), bitmap_rows(lines), picture)

    def rounded(masks):
        def of(value, mask):
            most = mask // (mask & -mask)
            return (value * most // 255 * 255 + most // 2) // most
        return shown(lambda x, y: (*(of(value, mask) for value, mask in zip(colours[rows[y][x]], masks)), 255))

    five = (0x7c00, 0x3e0, 0x1f)
    deep("rgb555", 40, 16, 0, five, 0, rounded(five))
    six = (0xf800, 0x7e0, 0x1f)
    deep("rgb565", 40, 16, 3, six, 3, rounded(six))
    deep("rgb24", 40, 24, 0, (0xff0000, 0xff00, 0xff), 0, shown(colour_at))
    deep("rgb32", 40, 32, 0, (0xff0000, 0xff00, 0xff, 0xff000000), 0, shown(colour_at), lambda x: x)
    turned = (0xff000000, 0xff0000, 0xff00, 0xff)
    glassy = shown(lambda x, y: (*colours[rows[y][x]], x * 11))
    for name, length, compression, behind in (("rgba32-v3", 56, 3, 0), ("rgba32-v4", 108, 3, 0), ("rgba32-v5", 124, 3, 0),
                                              ("rgba32-masks", 40, 6, 4)):
        deep(name, length, 32, compression, turned, behind, glassy, lambda x: x * 11)
    # Writers without an idea of alpha leave zeros.
    deep("rgba32-zero", 108, 32, 3, turned, 0, shown(colour_at), lambda x: 0)
    deep("rgb30", 40, 32, 3, (0x3ff00000, 0xffc00, 0x3ff), 3, shown(colour_at))
    return colours, rows


def make_ico(colours, rows):
    width, height = len(rows[0]), len(rows)

    def icon(*pictures, kind=1):
        out, at = struct.pack("<HHH", 0, kind, len(pictures)), 6 + 16 * len(pictures)
        for side, data in pictures:
            out += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(data), at)
            at += len(data)
        return out + b"".join(data for _, data in pictures)

    def masked(mask):
        return bitmap_header(40, width, height * 2, 4) + bitmap_palette(colours) + \
            bitmap_rows([packed(row, 4) for row in rows]) + bitmap_rows([packed(row, 1) for row in mask])

    def shown(mask):
        picture = Image.new("RGBA", (width, height))
        picture.putdata([(0, 0, 0, 0) if mask[y][x] else (*colours[rows[y][x]], 255)
                         for y in range(height) for x in range(width)])
        return [picture]

    mask = [[int((x + y) % 3 == 0) for x in range(width)] for y in range(height)]
    save_with_frames("mask.ico", icon((16, masked(mask))), shown(mask))
    save_with_frames("cursor.ico", icon((16, masked(mask)), kind=2), shown(mask))
    # The mask is left out at times.
    whole = [[0] * width for _ in rows]
    save_with_frames("no-mask.ico", icon((16, masked(whole)[:-4 * height])), shown(whole))
    glassy = glass(16, 16, 31)
    blue_first = b"".join(bytes([b, g, r, a]) for r, g, b, a in glassy.getdata())
    rgba = bitmap_header(40, 16, 32, 32) + bitmap_rows([blue_first[y * 64:y * 64 + 64] for y in range(16)])
    save_with_frames("alpha.ico", icon((16, rgba)), [glassy])
    # The largest is shown, whatever the directory says of sizes; what cannot be read is passed over.
    large = without_hidden_colours(glass(24, 24, 33))
    save_with_frames("sizes.ico", icon((255, rgba), (0, b"none" * 20), (8, encoded([large], "PNG"))), [large])


# ---------------------------------------------------------------------------------------- SVG


def make_svg():
    space = 'xmlns="http://www.w3.org/2000/svg"'
    # Multiplied by 102 / 255, these are whole numbers.
    back, front, glass = (10, 90, 160, 255), (255, 255, 255, 255), (200, 100, 50, 102)
    inside = ('<rect width="10" height="6" fill="#0a5aa0"/><path fill="#fff" d="M1 1h2v3h-2z"/><g class="a"><rect x="5" '
              'width="3" height="6" fill="#c86432"/></g>')

    def picture(scale, is_opaque):
        made = Image.new("RGBA", (10, 6), back if is_opaque else (0, 0, 0, 0))
        made.paste(front, (1, 1, 3, 4))
        made.paste((200, 100, 50, 255) if is_opaque else glass, (5, 0, 8, 6))
        return [made.resize((10 * scale, 6 * scale), Image.Resampling.NEAREST)]

    def keep(name, text, frames):
        save_with_frames(f"{name}.svg", text.encode(), frames)

    keep("shapes", f'<svg {space} width="10" height="6">{inside}</svg>', picture(1, True))
    keep("box", f'<svg {space} viewBox="0 0 10 6" width="20">{inside}</svg>', picture(2, True))
    clear = inside[inside.index("<path"):].replace('class="a"', 'opacity=".4"')
    keep("alpha", f'<svg {space} width=".3125in" height="13.5pt" viewBox="0 0 10 6">{clear}</svg>', picture(3, False))
    # As drawing programs write it.
    keep("entities", '<?xml version="1.0" encoding="utf-8"?>\n<!-- <svg> -->\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" '
         '"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd" [\n<!ENTITY ns "http://www.w3.org/2000/svg">\n<!ENTITY c '
         f'"fill: #0a5aa0">]>\n<svg xmlns="&ns;" width="10px" height="6px">{inside}</svg>'.replace(
             'fill="#0a5aa0"', 'style="&c;"'), picture(1, True))


if __name__ == "__main__":
    make_svg()
    make_webp()
    make_gif()
    make_avif()
    make_ico(*make_bmp())
