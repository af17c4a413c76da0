#!/usr/bin/env python3
"""Makes the pictures of this folder: see README.md for what each is.

    python3 -m pip install pillow; apt-get install libjpeg-turbo-progs; python3 make_fixtures.py

Each NAME.jpg or NAME.png that is a good picture has beside it NAME.pam: the RGBA pixels that a decoder
must give. For a JPEG they come from Pillow and are compared with djpeg's; for a PNG from the samples that
went into it, and are compared with Pillow's where Pillow keeps them.
"""

import io
import os
import struct
import subprocess

from PIL import Image, ImageOps

import minipng
from minipng import GREY, GREY_ALPHA, PALETTE, RGB, RGBA, chunk

HERE = os.path.dirname(os.path.abspath(__file__))


def save(name, data):
    path = os.path.join(HERE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def pam(width, height, rgba):
    assert len(rgba) == width * height * 4
    text = f"P7\nWIDTH {width}\nHEIGHT {height}\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n"
    return text.encode() + bytes(rgba)


def noise(seed):
    """Bytes that look random and are the same each time."""
    while True:
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        yield seed >> 56


# ---------------------------------------------------------------------------------------- JPEG


def photo(width, height):
    """Something with slopes, edges and grain, as photographs have."""
    grain = noise(1)
    picture = Image.new("RGB", (width, height))
    for y in range(height):
        for x in range(width):
            edge = 90 if (x // 7 + y // 5) % 2 else 0
            colour = (x * 200 // width + edge // 2, y * 180 // height + edge, 160 - x * 90 // width)
            picture.putpixel((x, y), tuple(min(255, value + next(grain) % 24) for value in colour))
    return picture


def jpeg(picture, **options):
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=options.pop("quality", 80), **options)
    return out.getvalue()


def tool(*command, data):
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def ppm(picture):
    out = io.BytesIO()
    picture.save(out, "PPM")
    return out.getvalue()


def jpegtran_scans(script, data, *options):
    path = os.path.join(HERE, "scans.tmp")
    with open(path, "w") as file:
        file.write(script)
    try:
        return tool("jpegtran", *options, "-scans", path, data=data)
    finally:
        os.remove(path)


def segment(data, marker):
    """Where a marker's segment begins, and where it ends."""
    at = 2
    while data[at + 1] != marker:
        at += 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]
    return at, at + 2 + struct.unpack(">H", data[at + 2 : at + 4])[0]


def patched(data, at, new):
    return data[:at] + new + data[at + len(new) :]


def with_size(data, width, height, marker=0xC0):
    return patched(data, segment(data, marker)[0] + 5, struct.pack(">HH", height, width))


def save_jpeg(name, data):
    picture = Image.open(io.BytesIO(data))
    is_cmyk = picture.mode == "CMYK"
    rgba = picture.convert("RGB").convert("RGBA") if is_cmyk else picture.convert("RGBA")
    if not is_cmyk:  # djpeg makes no RGB of CMYK
        other = Image.open(io.BytesIO(tool("djpeg", "-pnm", data=data))).convert("RGBA")
        assert other.tobytes() == rgba.tobytes(), name
    save(f"jpeg/{name}.jpg", data)
    save(f"jpeg/{name}.pam", pam(*rgba.size, rgba.tobytes()))


def ycck(rgb, data_of):
    """Pillow writes CMYK as it is; with YCC in its first three channels and the marker changed it is YCCK."""
    channels = [channel.point(lambda value: 255 - value) for channel in rgb.convert("YCbCr").split()]
    black = Image.linear_gradient("L").resize(rgb.size).point(lambda value: value // 2)
    data = data_of(Image.merge("CMYK", channels + [black]))
    return patched(data, segment(data, 0xEE)[1] - 1, b"\x02")


def make_jpegs():
    small = photo(37, 29)
    baseline = jpeg(small, subsampling="4:2:0")
    save_jpeg("baseline-420", baseline)
    save_jpeg("baseline-444", jpeg(small, subsampling="4:4:4"))
    save_jpeg("baseline-422", jpeg(small, subsampling="4:2:2"))
    save_jpeg("baseline-440", tool("cjpeg", "-sample", "1x2", data=ppm(small)))
    save_jpeg("baseline-411", tool("cjpeg", "-sample", "4x1", data=ppm(small)))
    save_jpeg("grey", jpeg(small.convert("L")))
    save_jpeg("progressive-420", jpeg(small, subsampling="4:2:0", progressive=True))
    save_jpeg("progressive-grey", jpeg(small.convert("L"), progressive=True))
    spectral = "0,1,2: 0-0,0,0; 0: 1-63,0,0; 1: 1-63,0,0; 2: 1-63,0,0;"
    save_jpeg("progressive-spectral", jpegtran_scans(spectral, baseline))
    save_jpeg("sequential-scans", jpegtran_scans("0; 1; 2;", baseline))
    save_jpeg("restart-markers", jpeg(small, subsampling="4:2:0", restart_marker_blocks=2))
    save_jpeg("rgb", jpeg(small, subsampling="4:4:4", keep_rgb=True))
    save_jpeg("size-1x1", jpeg(photo(1, 1)))
    save_jpeg("size-17x3", jpeg(photo(17, 3)))
    save_jpeg("size-3x17", jpeg(photo(3, 17), progressive=True))
    turned = b"MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0"
    save_jpeg("exif-orientation", jpeg(small, exif=b"Exif\0\0" + turned))

    arithmetic = tool("cjpeg", "-arithmetic", data=ppm(small))
    save_jpeg("arithmetic", arithmetic)
    save_jpeg("arithmetic-restarts", tool("cjpeg", "-arithmetic", "-restart", "1", data=ppm(small)))
    save_jpeg("arithmetic-progressive", tool("cjpeg", "-arithmetic", "-progressive", data=ppm(small)))
    save_jpeg("arithmetic-scans", jpegtran_scans("0; 1; 2;", baseline, "-arithmetic"))

    cmyk = jpeg(Image.merge("CMYK", small.split() + (small.convert("L"),)))
    save_jpeg("cmyk-adobe", cmyk)
    start, end = segment(cmyk, 0xEE)
    save_jpeg("cmyk-no-marker", cmyk[:start] + cmyk[end:])
    save_jpeg("ycck", ycck(small, jpeg))
    save_jpeg("ycck-progressive", ycck(small, lambda picture: jpeg(picture, progressive=True)))

    precision = segment(baseline, 0xC0)[0] + 4
    save("jpeg/bad/zero-height.jpg", with_size(baseline, 37, 0))
    save("jpeg/bad/zero-width.jpg", with_size(baseline, 0, 29))
    save("jpeg/bad/huge.jpg", with_size(baseline, 65500, 65500))
    save("jpeg/bad/too-wide.jpg", with_size(baseline, 65535, 29))
    save("jpeg/bad/twelve-bit.jpg", patched(baseline, precision, b"\x0c"))
    save("jpeg/bad/lossless.jpg", patched(baseline, segment(baseline, 0xC0)[0] + 1, b"\xc3"))
    scan = arithmetic.index(b"\xff\xda")
    save("jpeg/bad/arithmetic-cut.jpg", arithmetic[: (scan + len(arithmetic)) // 2])
    second = baseline.index(b"\xff\xda") + 14
    save("jpeg/bad/two-ends.jpg", patched(baseline, (second + len(baseline)) // 2, b"\xff\xd9"))
    sequential = jpegtran_scans("0; 1; 2;", baseline)
    last = sequential.rindex(b"\xff\xda")
    save("jpeg/bad/scan-missing.jpg", sequential[:last] + b"\xff\xd9")
    restarts = jpeg(small, subsampling="4:2:0", restart_marker_blocks=1)
    marker = restarts.index(b"\xff\xd2")
    save("jpeg/bad/restart-missing.jpg", patched(restarts, marker, b"\xff\xd5"))


# ----------------------------------------------------------------------------------------- PNG


def samples(width, height, depth, channels, seed):
    """Rows of pixels with both slopes and grain, and every value of a low depth."""
    grain, top = noise(seed), 2**depth - 1

    def sample(x, y, channel):
        slope = (x * (5 + channel) + y * 3) * top // (width * 6)
        return (slope + (next(grain) * 257 >> 16 - depth) // 3) % (top + 1)

    rows = [[tuple(sample(x, y, c) for c in range(channels)) for x in range(width)] for y in range(height)]
    return width, height, rows


def to_8(value, depth):
    """The nearest of 0...255; exact for the depths below 8."""
    top = 2**depth - 1
    return (value * 255 * 2 + top) // (top * 2)


def rgba_of(picture, depth, kind, palette=None, transparent=None):
    """What the specification says a pixel is."""
    out = bytearray()
    for row in picture[2]:
        for pixel in row:
            if kind == PALETTE:
                index = pixel[0]
                alpha = transparent[index] if transparent and index < len(transparent) else 255
                out += bytes(palette[index]) + bytes([alpha])
                continue
            values = [to_8(value, depth) for value in pixel]
            if kind in (GREY, GREY_ALPHA):
                values[0:1] = values[0:1] * 3
            if kind in (GREY, RGB):
                values.append(0 if transparent == pixel else 255)
            out += bytes(values)
    return out


def rgba16_of(picture, kind, transparent=None):
    """The same of 16 bits, big-endian."""
    out = bytearray()
    for row in picture[2]:
        for pixel in row:
            grey = pixel[:1] * 3 if kind in (GREY, GREY_ALPHA) else pixel[:3]
            alpha = pixel[-1] if kind in (GREY_ALPHA, RGBA) else 0 if transparent == pixel else 65535
            out += struct.pack(">4H", *grey, alpha)
    return out


def save_png(name, picture, depth, kind, palette=None, transparent=None, **options):
    before, compare = options.pop("before", b""), options.pop("compare", True)
    if palette:
        before += chunk(b"PLTE", b"".join(bytes(colour) for colour in palette))
    if transparent and kind == PALETTE:
        before += chunk(b"tRNS", bytes(transparent))
    elif transparent:
        before += chunk(b"tRNS", b"".join(struct.pack(">H", value) for value in transparent))
    data = minipng.encode(picture, depth, kind, before=before, **options)
    rgba = rgba_of(picture, depth, kind, palette, transparent)
    if compare and depth < 16 and not (transparent and kind != PALETTE):
        assert Image.open(io.BytesIO(data)).convert("RGBA").tobytes() == bytes(rgba), name
    save(f"png/{name}.png", data)
    save(f"png/{name}.pam", pam(picture[0], picture[1], rgba))
    if depth == 16:
        save(f"png/{name}.rgba16", rgba16_of(picture, kind, transparent))


def colours(count):
    grain = noise(7)
    return [tuple(next(grain) for _ in range(3)) for _ in range(count)]


def make_pngs():
    width, height = 19, 13
    kinds = [("grey", GREY, 1, (1, 2, 4, 8, 16)), ("grey-alpha", GREY_ALPHA, 2, (8, 16)),
             ("rgb", RGB, 3, (8, 16)), ("rgba", RGBA, 4, (8, 16))]
    for name, kind, channels, depths in kinds:
        for depth in depths:
            picture = samples(width, height, depth, channels, depth)
            save_png(f"{name}{depth}", picture, depth, kind)
            save_png(f"{name}{depth}-interlaced", picture, depth, kind, interlaced=True)
            if kind in (GREY, RGB):
                seen = picture[2][4][7]
                save_png(f"{name}{depth}-trns", picture, depth, kind, transparent=seen, interlaced=depth == 4)
    for depth in (1, 2, 4, 8):
        picture = samples(width, height, depth, 1, depth)
        palette = colours(2**depth)
        alphas = [(index * 37 + 11) % 256 for index in range(2**depth * 3 // 4)]
        save_png(f"palette{depth}", picture, depth, PALETTE, palette)
        save_png(f"palette{depth}-trns", picture, depth, PALETTE, palette, alphas)
        save_png(f"palette{depth}-interlaced", picture, depth, PALETTE, palette, alphas, interlaced=True)
    for w, h in ((1, 1), (3, 17), (17, 3)):
        save_png(f"size-{w}x{h}", samples(w, h, 8, 3, w), 8, RGB)
        save_png(f"size-{w}x{h}-interlaced", samples(w, h, 8, 4, w), 8, RGBA, interlaced=True)

    small = samples(5, 4, 8, 3, 3)
    words = chunk(b"tEXt", b"Comment\0none")
    gamma = chunk(b"gAMA", struct.pack(">I", 100000))
    bomb = chunk(b"zTXt", b"Comment\0\0" + minipng.zlib.compress(bytes(16 << 20), 9))
    save_png("many-idat", samples(width, height, 8, 3, 5), 8, RGB, pieces=60)
    save_png("gamma-and-text", small, 8, RGB, before=gamma + words, after=words)
    # Pillow refuses these two for their texts.
    wrong = chunk(b"tEXt", b"Comment\0none", crc_xor=1)
    save_png("text-wrong-crc", small, 8, RGB, before=wrong, compare=False)
    save_png("text-bomb", small, 8, RGB, before=bomb, compare=False)
    save_png("many-texts", small, 8, RGB, before=words * 300)

    data = minipng.encode(small, 8, RGB)
    start, end = minipng.SIGNATURE, chunk(b"IEND", b"")
    save("png/bad/zero-width.png", start + minipng.header(0, 4, 8, RGB) + data[33:])
    save("png/bad/zero-height.png", start + minipng.header(5, 0, 8, RGB) + data[33:])
    save("png/bad/huge.png", start + minipng.header(2**31 - 1, 2**31 - 1, 16, RGBA) + data[33:])
    save("png/bad/over-31-bits.png", start + minipng.header(2**31, 1, 8, RGB) + data[33:])
    save("png/bad/too-few-rows.png", start + minipng.header(5, 9, 8, RGB) + data[33:])
    save("png/bad/no-idat.png", start + minipng.header(5, 4, 8, RGB) + end)
    save("png/bad/unknown-critical.png", start + chunk(b"CgBI", bytes(4)) + data[8:])
    save("png/bad/idat-wrong-crc.png", patched(data, len(data) - 16, bytes([data[-16] ^ 1])))
    packed = minipng.zlib.compress(minipng.image_data(small, 8, 3, False))
    wrong = packed[:-1] + bytes([packed[-1] ^ 1])
    save("png/bad/idat-wrong-adler.png", data[:33] + chunk(b"IDAT", wrong) + end)
    apart = chunk(b"IDAT", wrong[:-4]) + chunk(b"IDAT", wrong[-4:])
    save("png/bad/idat-wrong-adler-apart.png", data[:33] + apart + end)
    parts = chunk(b"IDAT", packed[:20]) + words + chunk(b"IDAT", packed[20:])
    save("png/bad/idat-apart.png", data[:33] + parts + end)
    save("png/bad/idat-twice.png", data[:33] + chunk(b"IDAT", packed) + words + chunk(b"IDAT", b"") + end)
    transparency = chunk(b"tRNS", struct.pack(">HHH", *small[2][0][0]), crc_xor=1)
    save("png/bad/trns-wrong-crc.png", minipng.encode(small, 8, RGB, before=transparency))
    save("png/bad/palette-missing.png", minipng.encode(samples(5, 4, 8, 1, 3), 8, PALETTE))


# --------------------------------------------------------------------------------------- facts


def exif(orientation, order):
    """Exif's block with an orientation, between two tags that are none of it."""
    entries = ((0x010F, 2, 4, b"abc\0"), (0x0112, 3, 1, struct.pack(order + "H", orientation) + bytes(2)),
               (0x0213, 3, 1, struct.pack(order + "H", 1) + bytes(2)))
    block = struct.pack(order + "2sHIH", b"MM" if order == ">" else b"II", 42, 8, len(entries))
    for tag, kind, count, value in entries:
        block += struct.pack(order + "HHI", tag, kind, count) + value
    return block + bytes(4)


def facts(path):
    """What Pillow says of a file: size, channels, bits a channel, progressive, frames, loops, orientation."""
    with Image.open(path) as picture:
        frames = getattr(picture, "n_frames", 1)
        transparent = "transparency" in picture.info
        channels = {"LA": 2, "P": 3, "RGB": 3, "RGBA": 4, "CMYK": 4}.get(picture.mode, 1)
        depth = 8
        if picture.format == "PNG":
            raw = picture.tile[0][3]
            raw = raw if isinstance(raw, str) else raw[0]
            depth = 1 if raw == "1" else int("".join(filter(str.isdigit, raw)) or 8)
            if picture.mode == "P":
                depth = 8
            # Pillow has no such mode of its own.
            if raw == "LA;16B":
                channels = 2
            # To Pillow a default image that is not part of the animation is a frame.
            frames -= int(getattr(picture, "default_image", False))
        progressive = int(bool(picture.info.get("progressive") or picture.info.get("interlace")))
        loops = picture.info.get("loop", 1) if frames > 1 else 1
        orientation = picture.getexif().get(0x0112, 1)
        channels += int(transparent and channels in (1, 3))
        return (*picture.size, channels, depth, progressive, frames, loops, orientation)


def save_with_forms(name, data):
    """The file, its pixels as stored (.pam), and these in each other form, over the colour 0x336699 where there is no
    alpha: turned as Exif says (.upright.pam), and the plain bytes of the other pixel formats."""
    save(name, data)
    stem = name.rsplit(".", 1)[0]
    with Image.open(io.BytesIO(data)) as picture:
        upright = ImageOps.exif_transpose(picture).convert("RGBA")
        stored = picture.convert("RGBA")
    save(stem + ".pam", pam(*stored.size, stored.tobytes()))
    save(stem + ".upright.pam", pam(*upright.size, upright.tobytes()))
    solid = Image.new("RGB", upright.size, (0x33, 0x66, 0x99))
    solid.paste(upright, mask=upright.getchannel("A"))
    multiplied = upright.convert("RGBa").tobytes()
    swapped = lambda pixels: b"".join(bytes((pixels[i + 2], pixels[i + 1], pixels[i], pixels[i + 3]))
                                      for i in range(0, len(pixels), 4))
    save(stem + ".rgba8-premultiplied", multiplied)
    save(stem + ".bgra8", swapped(upright.tobytes()))
    save(stem + ".bgra8-premultiplied", swapped(multiplied))
    save(stem + ".rgb8", solid.tobytes())
    save(stem + ".grey8", solid.convert("L").tobytes())


def make_facts():
    small = photo(12, 8)
    for orientation in range(1, 9):
        block = exif(orientation, "<>"[orientation % 2])
        save_with_forms(f"facts/orientation-{orientation}.jpg", jpeg(small, exif=b"Exif\0\0" + block))
    turned = chunk(b"eXIf", exif(5, ">"))
    save_with_forms("facts/orientation.png", minipng.encode(samples(19, 13, 8, 4, 3), 8, RGBA, before=turned))
    save_with_forms("facts/grey.jpg", jpeg(small.convert("L")))
    save_with_forms("facts/inks.jpg", jpeg(Image.merge("CMYK", small.split() + (small.convert("L"),))))
    save_with_forms("facts/levels.png", minipng.encode(samples(19, 13, 8, 1, 3), 8, GREY))
    pictures = [photo(12, 8).rotate(angle) for angle in (0, 90, 180)]
    out = io.BytesIO()
    pictures[0].save(out, "PNG", save_all=True, append_images=pictures[1:], loop=2, duration=40)
    save_with_forms("facts/animated.png", out.getvalue())
    out = io.BytesIO()
    pictures[0].save(out, "PNG", save_all=True, append_images=pictures[1:], default_image=True)
    save_with_forms("facts/animated-default-apart.png", out.getvalue())
    for name in ("baseline-420", "progressive-420", "baseline-444", "grey"):
        with open(os.path.join(HERE, f"jpeg/{name}.jpg"), "rb") as file:
            data = file.read()
        for eighths in (1, 2, 4):
            with Image.open(io.BytesIO(tool("djpeg", "-scale", f"{eighths}/8", "-pnm", data=data))) as picture:
                smaller = picture.convert("RGBA")
            save(f"facts/{name}.{eighths}-eighths.pam", pam(*smaller.size, smaller.tobytes()))
    with Image.open(os.path.join(HERE, "png/rgb8.png")) as picture:
        larger = picture.resize((50, 41), Image.Resampling.BILINEAR).convert("RGBA")
    save("facts/rgb8.enlarged.pam", pam(*larger.size, larger.tobytes()))
    lines = []
    for folder in ("facts", "jpeg", "png"):
        for name in sorted(os.listdir(os.path.join(HERE, folder))):
            # Pillow refuses these two for their texts.
            if name.endswith((".jpg", ".png")) and name not in ("many-texts.png", "text-bomb.png", "text-wrong-crc.png"):
                numbers = " ".join(map(str, facts(os.path.join(HERE, folder, name))))
                lines.append(f"{folder}/{name} {numbers}\n")
    save("facts/facts.txt", "".join(lines).encode())


# ----------------------------------------------------------------------------- what is made of pixels


def save_encoded(name, pixels, *options):
    save(f"encoded/{name}.jpg", tool("cjpeg", "-baseline", *options, data=pixels))


def make_encoded():
    opaque = photo(37, 29)
    grain = noise(9)
    glass = opaque.convert("RGBA")
    glass.putalpha(Image.frombytes("L", opaque.size, bytes(next(grain) for _ in range(37 * 29))))
    save("encoded/opaque.pam", pam(37, 29, opaque.convert("RGBA").tobytes()))
    save("encoded/glass.pam", pam(37, 29, glass.tobytes()))
    solid = Image.new("RGB", glass.size, (0x33, 0x66, 0x99))
    solid.paste(glass, mask=glass.getchannel("A"))
    for quality in (1, 30, 75, 90, 100):
        save_encoded(f"opaque-{quality}", ppm(opaque), "-quality", str(quality))
    save_encoded("opaque-90-422", ppm(opaque), "-quality", "90", "-sample", "2x1")
    save_encoded("opaque-90-444", ppm(opaque), "-quality", "90", "-sample", "1x1")
    save_encoded("opaque-60-progressive", ppm(opaque), "-quality", "60", "-progressive")
    save_encoded("opaque-80-grey", ppm(opaque.convert("L")), "-quality", "80")
    save_encoded("glass-80", ppm(solid), "-quality", "80")


def make_transformed():
    picture = Image.frombytes("RGBA", (13, 7), bytes(rgba_of(samples(13, 7, 8, 4, 3), 8, RGBA)))
    turned = {
        "picture": picture,
        "flip-horizontal": picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT),
        "flip-vertical": picture.transpose(Image.Transpose.FLIP_TOP_BOTTOM),
        # Pillow turns the other way round.
        "rotate-90": picture.transpose(Image.Transpose.ROTATE_270),
        "rotate-180": picture.transpose(Image.Transpose.ROTATE_180),
        "rotate-270": picture.transpose(Image.Transpose.ROTATE_90),
        "crop": picture.crop((3, 2, 3 + 5, 2 + 4)),
    }
    for name, made in turned.items():
        save(f"transformed/{name}.pam", pam(*made.size, made.tobytes()))


# ------------------------------------------------------------------- large enough to be seen while they come


def make_large():
    """Below 60 KB each, and no pixels beside them: what is seen on the way is compared with the end."""
    picture = photo(640, 480)
    save("large/baseline.jpg", jpeg(picture, quality=22, subsampling="4:2:0"))
    save("large/progressive.jpg", jpeg(picture, quality=22, subsampling="4:2:0", progressive=True))
    baseline = jpeg(picture, quality=22, subsampling="4:2:0")
    save("large/sequential-scans.jpg", jpegtran_scans("0; 1; 2;", baseline))
    save("large/arithmetic.jpg", tool("jpegtran", "-arithmetic", data=baseline))
    save("large/arithmetic-progressive.jpg", tool("jpegtran", "-arithmetic", "-progressive", data=baseline))
    rows = [[tuple(value & 0xC0 for value in picture.getpixel((x * 2, y * 2))) for x in range(320)] for y in range(240)]
    for interlaced in (False, True):
        name = "large/interlaced.png" if interlaced else "large/rows.png"
        save(name, minipng.encode((320, 240, rows), 8, RGB, interlaced=interlaced, pieces=8))


if __name__ == "__main__":
    make_jpegs()
    make_pngs()
    make_facts()
    make_encoded()
    make_transformed()
    make_large()
