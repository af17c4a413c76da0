#!/usr/bin/env python3
"""Makes the animated PNGs of frames/: see README.md for what each is.

    python3 make_animations.py

NAME.frames beside each NAME.png has the RGBA pixels of all composed frames, one after the other. They are composed
here, pixel by pixel as the specification says, from the samples that went into the file, and compared with Pillow's.
Where Pillow and the specification differ, the specification holds:

- A translucent frame that is blended over another: Pillow pastes it with its own alpha as the mask, so that alpha over
  alpha comes out too small (12.5: the OVER operation). Pillow's alpha_composite() agrees, but for its rounding.
- Disposal to what was there before, of a frame that is blended over it: Pillow leaves the frame.
- Disposal to the background: Pillow fills with black where the file has no alpha (11.3.6.2: transparent black).
- A still picture that is not part of the animation: for Pillow it is the first frame, and the next is drawn on it
  (11.3.6.2: the canvas begins as transparent black).
"""

import io
import struct
from fractions import Fraction

from PIL import Image

import minipng
from make_fixtures import colours, noise, pam, rgba_of, samples, save
from minipng import GREY, PALETTE, RGB, RGBA, SIGNATURE, chunk

NONE, BACKGROUND, PREVIOUS = 0, 1, 2
SOURCE, OVER = 0, 1
CHANNELS = {GREY: 1, RGB: 3, PALETTE: 1, RGBA: 4}
WIDTH, HEIGHT = 14, 11


class Frame:
    """A picture as samples() makes it, and where and how it is shown."""

    def __init__(self, picture, x=0, y=0, dispose=NONE, blend=SOURCE, delay=(1, 10), pieces=1):
        self.picture, self.x, self.y, self.pieces = picture, x, y, pieces
        self.dispose, self.blend, self.delay = dispose, blend, delay

    def control(self, number):
        width, height = self.picture[:2]
        return chunk(b"fcTL", struct.pack(
            ">IIIIIHHBB", number, width, height, self.x, self.y, *self.delay, self.dispose, self.blend))


def cut(data, pieces):
    size = -(-len(data) // pieces)
    return [data[i : i + size] for i in range(0, len(data), size)]


class File:
    """The chunks of an animated PNG as a list, to be spoilt before they are joined."""

    def __init__(self, frames, depth=8, kind=RGBA, loops=0, apart=None, before=b"", between=b"", interlaced=False):
        def packed(picture):
            return minipng.zlib.compress(minipng.image_data(picture, depth, CHANNELS[kind], interlaced), 9)

        self.chunks = [minipng.header(WIDTH, HEIGHT, depth, kind, interlaced),
                       chunk(b"acTL", struct.pack(">II", len(frames), loops))]
        if before:
            self.chunks.append(before)
        number = 0
        if apart:
            self.chunks.append(chunk(b"IDAT", packed(apart)))
        for index, frame in enumerate(frames):
            self.chunks.append(frame.control(number))
            number += 1
            for piece in cut(packed(frame.picture), frame.pieces):
                if index == 0 and not apart:
                    self.chunks.append(chunk(b"IDAT", piece))
                    continue
                self.chunks.append(chunk(b"fdAT", struct.pack(">I", number) + piece))
                number += 1
                if between:
                    self.chunks.append(between)
        self.chunks.append(chunk(b"IEND", b""))

    def joined(self):
        return SIGNATURE + b"".join(self.chunks)

    def places(self, name):
        return [i for i, data in enumerate(self.chunks) if data[4:8] == name]

    def changed(self, name, which, change):
        """With one chunk's data changed, and the right check sum."""
        place = self.places(name)[which]
        data = bytearray(self.chunks[place][8:-4])
        self.chunks[place] = chunk(name, bytes(change(data) or data))
        return self

    def renumbered(self):
        """With sequence numbers that are right."""
        number = 0
        for place, data in enumerate(self.chunks):
            if data[4:8] in (b"fcTL", b"fdAT"):
                self.chunks[place] = chunk(data[4:8], struct.pack(">I", number) + data[12:-4])
                number += 1
        return self


# ------------------------------------------------------------------------------------ composing


def rounded(value):
    return int(value + Fraction(1, 2))


def over(upper, lower):
    """The OVER operation on colours that alpha is not multiplied into, exact, then rounded."""
    if upper[3] == 0:
        return lower
    share = Fraction(upper[3], 255)
    rest = Fraction(lower[3], 255) * (1 - share)
    return tuple(rounded((upper[i] * share + lower[i] * rest) / (share + rest)) for i in range(3)) + (
        rounded((share + rest) * 255),)


def check_over():
    """Against Pillow, which rounds twice."""
    grain = noise(5)
    for _ in range(20000):
        pixels = [tuple(next(grain) for _ in range(4)) for _ in range(2)]
        upper, lower = (Image.frombytes("RGBA", (1, 1), bytes(pixel)) for pixel in pixels)
        other = Image.alpha_composite(lower, upper).tobytes()
        assert all(abs(a - b) <= 1 for a, b in zip(over(*pixels), other)), pixels


def composed(frames, **look):
    """Every frame as it is shown: a list of rows of RGBA."""
    canvas = [[(0, 0, 0, 0)] * WIDTH for _ in range(HEIGHT)]
    shown = []
    for frame in frames:
        width, height = frame.picture[:2]
        flat = bytes(rgba_of(frame.picture, **look))
        before = [row[:] for row in canvas]
        for y in range(height):
            for x in range(width):
                pixel = tuple(flat[(y * width + x) * 4 :][:4])
                at = (frame.y + y, frame.x + x)
                canvas[at[0]][at[1]] = pixel if frame.blend == SOURCE else over(pixel, canvas[at[0]][at[1]])
        shown.append(b"".join(bytes(pixel) for row in canvas for pixel in row))
        if frame.dispose == PREVIOUS:
            canvas = before
        elif frame.dispose == BACKGROUND:
            for y in range(frame.y, frame.y + height):
                canvas[y][frame.x : frame.x + width] = [(0, 0, 0, 0)] * width
    return shown


def pillow_frames(data):
    picture = Image.open(io.BytesIO(data))
    frames = []
    for index in range(picture.n_frames):
        picture.seek(index)
        frames.append(picture.convert("RGBA").tobytes())
    return frames


lines = []


def save_animation(name, frames, like_pillow=True, depth=8, kind=RGBA, palette=None, transparent=None, **options):
    before = b""
    if palette:
        before += chunk(b"PLTE", b"".join(bytes(colour) for colour in palette))
    if transparent:
        before += chunk(b"tRNS", bytes(transparent) if kind == PALETTE else struct.pack(">HHH", *transparent))
    file = File(frames, depth, kind, before=before, **options)
    data = file.joined()
    shown = composed(frames, depth=depth, kind=kind, palette=palette, transparent=transparent)
    # Pillow reads no interlaced frames behind the first, and no frame with other chunks in its middle.
    if not (options.get("interlaced") or options.get("between")):
        assert (pillow_frames(data) == shown) == like_pillow, name
    save(f"frames/{name}.png", data)
    save(f"frames/{name}.frames", b"".join(shown))
    note(name, frames, options.get("loops", 0))


def note(name, frames, loops):
    times = " ".join(str(frame.delay[0] * 1000000 // (frame.delay[1] or 100)) for frame in frames)
    lines.append(f"{name} {len(frames)} {loops} {times}\n")


# ------------------------------------------------------------------------------------ the pictures


def all_or_nothing(picture):
    """Every pixel transparent or opaque."""
    width, height, rows = picture
    return width, height, [[pixel[:3] + (255 if pixel[3] & 64 else 0,) for pixel in row] for row in rows]


def translucent(picture):
    return picture


def opaque(picture):
    width, height, rows = picture
    return width, height, [[pixel[:3] + (255,) for pixel in row] for row in rows]


PAIRS = [(dispose, blend) for dispose in (NONE, BACKGROUND, PREVIOUS) for blend in (SOURCE, OVER)]


def every_operation(alpha, pairs=PAIRS):
    """Each disposal with each blending, three times, with areas anywhere on the canvas."""
    grain = noise(11)
    order = pairs + pairs[::-1] + pairs[::2] + pairs[1::2]
    frames = [Frame(alpha(samples(WIDTH, HEIGHT, 8, 4, 1)), dispose=NONE)]
    for index, (dispose, blend) in enumerate(order):
        width, height = 1 + next(grain) % WIDTH, 1 + next(grain) % HEIGHT
        x, y = next(grain) % (WIDTH - width + 1), next(grain) % (HEIGHT - height + 1)
        frames.append(Frame(alpha(samples(width, height, 8, 4, index + 2)), x, y, dispose, blend))
    return frames


def small(kind, depth, seed, **options):
    return Frame(samples(6, 5, depth, CHANNELS[kind], seed), **options)


def whole(kind, depth, seed, **options):
    return Frame(samples(WIDTH, HEIGHT, depth, CHANNELS[kind], seed), **options)


def make_good():
    save_animation("every-operation", every_operation(all_or_nothing), like_pillow=False, loops=3)
    save_animation("as-pillow", every_operation(all_or_nothing, PAIRS[:-1]))
    save_animation("translucent", every_operation(translucent), like_pillow=False)
    save_animation("interlaced", every_operation(opaque, PAIRS[:-1]), interlaced=True)

    palette, alphas = colours(256), [0, 255] * 64
    save_animation("palette", [whole(PALETTE, 8, 1), small(PALETTE, 8, 2, x=3, y=2, dispose=PREVIOUS),
                               small(PALETTE, 8, 3, x=8, y=6), whole(PALETTE, 8, 4)],
                   kind=PALETTE, palette=palette, transparent=alphas)
    save_animation("palette-over", [whole(PALETTE, 8, 1), small(PALETTE, 8, 2, x=3, y=2, blend=OVER)],
                   kind=PALETTE, palette=palette, transparent=alphas)
    save_animation("grey1", [whole(GREY, 1, 1), small(GREY, 1, 2, x=1, y=1, dispose=PREVIOUS),
                             small(GREY, 1, 3, x=8, y=6)], depth=1, kind=GREY, interlaced=True)
    save_animation("rgb-background", [whole(RGB, 8, 1, dispose=BACKGROUND), small(RGB, 8, 2, x=8, y=6)],
                   like_pillow=False, kind=RGB)
    key = samples(WIDTH, HEIGHT, 8, 3, 1)[2][0][0]
    save_animation("rgb-trns", [whole(RGB, 8, 1), whole(RGB, 8, 1, blend=OVER), small(RGB, 8, 1, x=2, blend=OVER)],
                   kind=RGB, transparent=key)
    save_animation("rgba16", [whole(RGBA, 16, 1), small(RGBA, 16, 2, x=4, y=4)], like_pillow=False, depth=16)
    save_animation("apart", [small(RGBA, 8, 2, x=4, y=4, blend=OVER), whole(RGBA, 8, 3)], like_pillow=False,
                   apart=samples(WIDTH, HEIGHT, 8, 4, 1))
    save_animation("first-previous", [Frame(all_or_nothing(samples(WIDTH, HEIGHT, 8, 4, 1)), dispose=PREVIOUS),
                                      small(RGBA, 8, 2, x=2, y=2)])
    delays = [(0, 0), (0, 7), (1, 0), (1, 30), (65535, 1), (65535, 65535), (7, 1000)]
    save_animation("delays", [whole(RGBA, 8, 1)] + [small(RGBA, 8, i, delay=delay) for i, delay in enumerate(delays)],
                   loops=2**31 - 1)
    save_animation("pieces", [whole(RGBA, 8, 1, pieces=9), whole(RGBA, 8, 2, pieces=20), whole(RGBA, 8, 3, pieces=3)],
                   between=chunk(b"tEXt", b"Comment\0between"))
    # Pillow's own encoder: it cuts frames to what has changed.
    frames = [frame.picture for frame in every_operation(all_or_nothing)[:7]]
    pictures = [Image.new("RGBA", (WIDTH, HEIGHT)) for _ in frames]
    for picture, (width, height, rows) in zip(pictures, frames):
        part = Image.frombytes("RGBA", (width, height), b"".join(bytes(pixel) for row in rows for pixel in row))
        picture.paste(part, (1 if width < WIDTH else 0, 0))
    out = io.BytesIO()
    pictures[0].save(out, "PNG", save_all=True, append_images=pictures[1:], loop=1, duration=[10 * i for i in range(7)],
                     disposal=[0, 1, 2, 0, 1, 0, 0], blend=[0, 0, 0, 0, 1, 0, 1])
    save("frames/pillow.png", out.getvalue())
    shown = pillow_frames(out.getvalue())
    save("frames/pillow.frames", b"".join(shown))
    picture = Image.open(io.BytesIO(out.getvalue()))
    times = []
    for index in range(picture.n_frames):
        picture.seek(index)
        times.append(str(int(picture.info["duration"] * 1000)))
    lines.append(f"pillow {len(shown)} 1 {' '.join(times)}\n")
    save("frames/frames.txt", "".join(lines).encode())


# ---------------------------------------------------------------------------------- broken rules


def make_bad():
    """Each is a good still picture whose animation breaks a rule; the still picture is always the same."""
    def file(**options):
        return File([whole(RGBA, 8, 1), small(RGBA, 8, 2, x=4, y=4), whole(RGBA, 8, 3)], **options)

    def write(at, form, *values):
        return lambda data: struct.pack_into(form, data, at, *values)

    def save_bad(name, made):
        save(f"frames/bad/{name}.png", made.joined())

    def without(made, name, which):
        del made.chunks[made.places(name)[which]]
        return made

    def moved(made, name, which, before):
        data = made.chunks.pop(made.places(name)[which])
        made.chunks.insert(made.places(before)[0], data)
        return made

    def doubled(made, name, which):
        place = made.places(name)[which]
        made.chunks.insert(place, made.chunks[place])
        return made

    def wrong_sum(made, name, which):
        place = made.places(name)[which]
        data = made.chunks[place]
        made.chunks[place] = data[:-1] + bytes([data[-1] ^ 1])
        return made

    save("frames/bad/still.pam", pam(WIDTH, HEIGHT, rgba_of(samples(WIDTH, HEIGHT, 8, 4, 1), 8, RGBA)))
    save_bad("actl-no-frames", file().changed(b"acTL", 0, write(0, ">I", 0)))
    save_bad("actl-too-few", file().changed(b"acTL", 0, write(0, ">I", 2)))
    save_bad("actl-too-many", file().changed(b"acTL", 0, write(0, ">I", 4)))
    save_bad("actl-over-31-bits", file().changed(b"acTL", 0, write(4, ">I", 2**31)))
    save_bad("actl-short", file().changed(b"acTL", 0, lambda data: data[:7]))
    save_bad("actl-twice", doubled(file(), b"acTL", 0))
    save_bad("actl-late", moved(file(), b"acTL", 0, b"fdAT"))
    save_bad("actl-missing", without(file(), b"acTL", 0))
    save_bad("actl-wrong-crc", wrong_sum(file(), b"acTL", 0))
    save_bad("fctl-before-actl", moved(file(), b"fcTL", 0, b"acTL"))
    save_bad("fctl-wrong-crc", wrong_sum(file(), b"fcTL", 1))
    save_bad("fctl-long", file().changed(b"fcTL", 1, lambda data: data + b"\0"))
    save_bad("fctl-twice", doubled(file(), b"fcTL", 0).renumbered())
    save_bad("fctl-no-width", file().changed(b"fcTL", 1, write(4, ">I", 0)))
    save_bad("fctl-no-height", file().changed(b"fcTL", 1, write(8, ">I", 0)))
    save_bad("fctl-too-wide", file().changed(b"fcTL", 1, write(12, ">I", WIDTH - 5)))
    save_bad("fctl-too-high", file().changed(b"fcTL", 1, write(16, ">I", HEIGHT - 4)))
    save_bad("fctl-far-away", file().changed(b"fcTL", 1, write(12, ">II", 2**32 - 1, 2**32 - 1)))
    save_bad("fctl-huge", file().changed(b"fcTL", 1, write(4, ">II", 2**32 - 1, 2**32 - 1)))
    save_bad("fctl-disposal", file().changed(b"fcTL", 1, write(24, ">B", 3)))
    save_bad("fctl-blending", file().changed(b"fcTL", 1, write(25, ">B", 2)))
    save_bad("fctl-first-small", file().changed(b"fcTL", 0, write(4, ">I", WIDTH - 1)))
    save_bad("fctl-without-data", without(file(), b"fdAT", 0).renumbered())
    save_bad("fctl-without-data-at-end", without(file(), b"fdAT", 1).renumbered())
    save_bad("number-gap", file().changed(b"fdAT", 0, write(0, ">I", 3)))
    save_bad("number-again", file().changed(b"fcTL", 2, write(0, ">I", 1)))
    save_bad("number-not-0", file().changed(b"fcTL", 0, write(0, ">I", 1)))
    save_bad("fdat-short", file().changed(b"fdAT", 0, lambda data: data[:3]))
    save_bad("fdat-first", without(file(), b"fcTL", 1).renumbered())
    save_bad("fdat-before-idat", moved(file(), b"fdAT", 0, b"IDAT").renumbered())
    # What is only found out when a frame is decoded: its number, from 0, is at the end of the name.
    save_bad("damaged-crc-2", wrong_sum(file(), b"fdAT", 1))
    save_bad("damaged-data-1", file().changed(b"fdAT", 0, write(9, ">I", 0xDEADBEEF)))
    save_bad("damaged-short-2", file().changed(b"fdAT", 1, lambda data: data[: len(data) // 2]))
    save_bad("damaged-empty-1", file().changed(b"fdAT", 0, lambda data: data[:4]))


if __name__ == "__main__":
    check_over()
    make_good()
    make_bad()
