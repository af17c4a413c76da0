#!/usr/bin/env python3
"""Makes the pictures of metadata/: see README.md for what each is.

    python3 make_metadata.py

Beside NAME.png or NAME.jpg is what is to be found in it: NAME.icc, NAME.exif and NAME.xmp, which are what went in and
what Pillow reads, and NAME.texts: a line for each text, with keyword, text, language and translated keyword, and tabs
between. For a JPEG NAME ends with -jpeg there.
"""

import io
import struct
import zlib

from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

import minipng
from make_fixtures import exif, jpeg, noise, photo, samples, save
from minipng import GREY_ALPHA, PALETTE, RGB, chunk

SMALL = samples(5, 4, 8, 3, 3)
XMP = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xml:lang="é"/></x:xmpmeta>'.encode()
EXIF = exif(1, ">")


def profile(size):
    """Bytes of a length; of a JPEG nobody looks into them."""
    grain = noise(99)
    return bytes(next(grain) for _ in range(size))


def real_profile(space=b"RGB "):
    """A profile that libpng takes for one: sRGB, with a fixed date, and perhaps another kind of colours."""
    made = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    made[24:36] = struct.pack(">6H", 2026, 1, 1, 0, 0, 0)
    made[16:20] = space
    return bytes(made)


def save_texts(name, texts):
    lines = ["\t".join((keyword, text, *(rest or ("", "")))) for keyword, text, *rest in texts]
    save(f"metadata/{name}.texts", "".join(line + "\n" for line in lines).encode())


def save_blocks(name, **blocks):
    for kind, block in blocks.items():
        save(f"metadata/{name}.{kind}", block)


# ----------------------------------------------------------------------------------------- PNG


def zipped(data):
    return zlib.compress(data, 9)


def itxt(keyword, text, packed=False, language=b"", translated=b""):
    data = zipped(text) if packed else text
    return chunk(b"iTXt", keyword + b"\0" + bytes([packed, 0]) + language + b"\0" + translated + b"\0" + data)


def make_pngs():
    # By Pillow.
    info = PngInfo()
    info.add_text("Title", "A café")
    info.add_text("Description", "slopes, edges and grain. " * 40, zip=True)
    info.add_itxt("Author", "Łukasz 日本", lang="pl", tkey="Autor")
    info.add_itxt("Comment", "zażółć " * 50, zip=True)
    info.add_itxt("XML:com.adobe.xmp", XMP.decode())
    info.add(b"teXt", b"private", after_idat=True)
    out = io.BytesIO()
    icc = real_profile()
    photo(12, 8).save(out, "PNG", pnginfo=info, icc_profile=icc, exif=EXIF)
    save("metadata/pillow.png", out.getvalue())
    read = Image.open(io.BytesIO(out.getvalue()))
    read.load()
    assert read.info["icc_profile"] == icc and read.info["xmp"] == XMP and read.info["exif"].endswith(EXIF)
    save_blocks("pillow", icc=icc, exif=read.info["exif"].removeprefix(b"Exif\0\0"), xmp=XMP)
    texts = []
    for keyword, text in read.text.items():
        if keyword != "XML:com.adobe.xmp":
            rest = (text.lang, text.tkey) if getattr(text, "lang", None) is not None else ("", "")
            texts.append((keyword, str(text), *rest))
    assert len(texts) == 4
    save_texts("pillow", texts)

    # By hand: behind the pixels, of every kind twice, and damaged ones between, which are left out.
    latin = bytes(range(0xA0, 0x100))
    before = chunk(b"tEXt", b"Latin\0" + latin) + chunk(b"tEXt", b"Empty\0") + chunk(b"tEXt", b"no end of the keyword")
    before += chunk(b"tEXt", b"Wrong\0sum", crc_xor=1) + chunk(b"zTXt", b"Packed\0\0" + zipped(b"caf\xe9"))
    before += chunk(b"zTXt", b"Method\0\1" + zipped(b"x")) + chunk(b"zTXt", b"Spoilt\0\0" + b"not zlib's")
    before += chunk(b"eXIf", EXIF) + chunk(b"eXIf", b"MM again")
    after = itxt(b"Plain", "für".encode(), language=b"de", translated="Schlüssel".encode())
    after += itxt(b"Not UTF-8", b"f\xfcr") + itxt(b"Packed too", "für".encode(), packed=True)
    after += chunk(b"iTXt", b"Flag\0\2\0\0\0x") + chunk(b"iTXt", b"Short\0\0\0de\0")
    after += itxt(b"XML:com.adobe.xmp", XMP, packed=True) + chunk(b"tEXt", b"Behind\0the pixels")
    after += chunk(b"tEXt", b"Inner\0a\0b") + chunk(b"tEXt", b"Schl\xfcssel\0x")
    save("metadata/kinds.png", minipng.encode(SMALL, 8, RGB, before=before, after=after))
    save_blocks("kinds", exif=EXIF, xmp=XMP)
    save_texts("kinds", [
        ("Latin", latin.decode("latin-1")), ("Empty", ""), ("Packed", "café"), ("Plain", "für", "de", "Schlüssel"),
        ("Not UTF-8", "für"), ("Packed too", "für"), ("Behind", "the pixels"), ("Inner", "a\0b"),
        ("Schlüssel", "x")])

    save("metadata/bad/icc-wrong-crc.png", with_profile(chunk(b"iCCP", b"x\0\0" + zipped(icc), crc_xor=1)))
    save("metadata/bad/icc-spoilt.png", with_profile(chunk(b"iCCP", b"x\0\0" + zipped(icc)[:-100])))
    save("metadata/bad/icc-method.png", with_profile(chunk(b"iCCP", b"x\0\1" + zipped(icc))))
    save("metadata/bad/icc-no-name.png", with_profile(chunk(b"iCCP", b"x" * 50)))
    save("metadata/bad/icc-of-greys.png", with_profile(chunk(b"iCCP", b"x\0\0" + zipped(real_profile(b"GRAY")))))
    save("metadata/bad/icc-bomb.png", with_profile(chunk(b"iCCP", b"x\0\0" + zipped(bytes(64 << 20)))))
    large = struct.pack(">I", 9 << 20) + icc[4:] + bytes((9 << 20) - len(icc))
    save("metadata/bad/icc-large.png", with_profile(chunk(b"iCCP", b"x\0\0" + zipped(large))))
    grey = real_profile(b"GRAY")
    save("metadata/grey.png", minipng.encode(samples(5, 4, 8, 2, 3), 8, GREY_ALPHA,
                                             before=chunk(b"iCCP", b"grey\0\0" + zipped(grey))))
    save_blocks("grey", icc=grey)
    save_texts("grey", [])
    palette = chunk(b"iCCP", b"palette\0\0" + zipped(icc)) + chunk(b"PLTE", bytes(768))
    save("metadata/palette.png", minipng.encode(samples(5, 4, 8, 1, 3), 8, PALETTE, before=palette))
    save_blocks("palette", icc=icc)
    save_texts("palette", [])
    save("metadata/bad/exif-wrong-crc.png", with_profile(chunk(b"eXIf", EXIF, crc_xor=1)))
    bomb = chunk(b"zTXt", b"Bomb\0\0" + zipped(bytes(16 << 20)))
    bombs = bomb + itxt(b"Bomb too", bytes(16 << 20), packed=True) + chunk(b"tEXt", b"Title\0good")
    save("metadata/bad/text-bombs.png", minipng.encode(SMALL, 8, RGB, before=bombs))
    bombs = bomb * 12 + chunk(b"tEXt", b"Title\0late")
    save("metadata/bad/many-bombs.png", minipng.encode(SMALL, 8, RGB, before=bombs))


def with_profile(data):
    return minipng.encode(SMALL, 8, RGB, before=data)


# ---------------------------------------------------------------------------------------- JPEG


def segment(marker, data):
    return bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data


def with_segments(*segments):
    data = jpeg(photo(12, 8))
    return data[:2] + b"".join(segments) + data[2:]


def icc_parts(icc, count):
    size = -(-len(icc) // count)
    return [segment(0xE2, b"ICC_PROFILE\0" + bytes([i + 1, count]) + icc[i * size : (i + 1) * size])
            for i in range(count)]


def make_jpegs():
    # By Pillow: a profile in three segments.
    icc = profile(150_000)
    data = jpeg(photo(12, 8), icc_profile=icc, exif=b"Exif\0\0" + EXIF, xmp=XMP, comment="grüß".encode())
    save("metadata/pillow.jpg", data)
    read = Image.open(io.BytesIO(data))
    assert read.info["icc_profile"] == icc and read.info["xmp"] == XMP and read.info["exif"] == b"Exif\0\0" + EXIF
    save_blocks("pillow-jpeg", icc=icc, exif=EXIF, xmp=XMP)
    save_texts("pillow-jpeg", [("Comment", read.info["comment"].decode())])

    # By hand: out of order, with others between.
    icc = profile(100)
    parts = icc_parts(icc, 3)
    comments = segment(0xFE, b"first\0") + segment(0xFE, b"caf\xe9") + segment(0xFE, b"")
    data = with_segments(parts[2], comments, parts[0], segment(0xE2, b"other"), segment(0xE1, b"other"), parts[1],
                         segment(0xE1, b"Exif\0\0" + EXIF), segment(0xE1, b"Exif\0\0again"))
    save("metadata/kinds.jpg", data)
    assert Image.open(io.BytesIO(data)).info["icc_profile"] == icc
    save_blocks("kinds-jpeg", icc=icc, exif=EXIF)
    save_texts("kinds-jpeg", [("Comment", "first"), ("Comment", "café"), ("Comment", "")])

    save("metadata/bad/icc-missing.jpg", with_segments(parts[0], parts[2]))
    save("metadata/icc-twice.jpg", with_segments(*parts, parts[1]))
    save("metadata/bad/icc-counts.jpg", with_segments(*parts[:2], icc_parts(icc, 4)[2]))
    save("metadata/bad/icc-number-0.jpg", with_segments(segment(0xE2, b"ICC_PROFILE\0\0\1abc")))
    save("metadata/bad/icc-short.jpg", with_segments(segment(0xE2, b"ICC_PROFILE\0")))


GAIN_MAP = (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
            b'<rdf:Description xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/" hdrgm:Version="1.0" '
            b'hdrgm:GainMapMax="2.5" hdrgm:HDRCapacityMax="2.5"/></rdf:RDF></x:xmpmeta>')


def make_gain_map():
    """By Pillow, which writes the index of a multi-picture file: a photo and its gain map, half as large."""
    base, made = io.BytesIO(jpeg(photo(24, 16))), io.BytesIO()
    with Image.open(io.BytesIO(jpeg(photo(12, 8), xmp=GAIN_MAP))) as gain:
        gain.encoderinfo = {"xmp": GAIN_MAP}
        Image.open(base).save(made, "MPO", save_all=True, append_images=[gain], quality=90)
    data = made.getvalue()
    assert data.count(GAIN_MAP) == 1 and Image.open(io.BytesIO(data)).n_frames == 2
    save("metadata/gain-map.jpg", data)


if __name__ == "__main__":
    make_pngs()
    make_jpegs()
    make_gain_map()
