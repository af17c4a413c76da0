#!/usr/bin/env python3
"""Makes metadata/gain-map.avif and gain-map.heic: pictures with a gain map as an item.

    apt-get install python3-pil libavif-bin libheif-examples; python3 make_gain_maps.py

avifenc and heif-enc make the picture and the map, each a file of its own. Here their items are put into one file, with
what describes the map (ISO/IEC 14496-12 and 23008-12, ISO 21496-1).
"""

import os
import struct
import subprocess
import tempfile

from make_fixtures import photo, save

MAP = "urn:com:apple:photo:2020:aux:hdrgainmap"
XMP = ('<rdf:Description xmlns:HDRGainMap="http://ns.apple.com/HDRGainMap/1.0/">'
       "<HDRGainMap:HDRGainMapHeadroom>4</HDRGainMap:HDRGainMapHeadroom></rdf:Description>")


def box(name, *contents):
    content = b"".join(contents)
    return struct.pack(">I4s", 8 + len(content), name.encode()) + content


def full(name, version, *contents):
    return box(name, struct.pack(">B3x", version), *contents)


def boxes(data):
    """The boxes of one level, as pairs of name and content."""
    at = 0
    while at < len(data):
        size, name = struct.unpack_from(">I4s", data, at)
        yield name.decode(), data[at + 8:at + size]
        at += size


def encoded(picture, command, extension):
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.png"), os.path.join(folder, "a" + extension)
        picture.save(source)
        subprocess.run([part.format(source=source, target=target) for part in command], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(target, "rb") as file:
            return file.read()


def taken_apart(data):
    """The only picture of a file: the type of its item, its properties, and its data."""
    meta = dict(boxes(dict(boxes(data))["meta"][4:]))
    kind = meta["iinf"][meta["iinf"].index(b"infe"):][12:16].decode()
    # One item in one piece, whose numbers have 4 bytes; heif-enc also writes a base.
    sizes, count = struct.unpack_from(">HH", meta["iloc"], 4)
    assert meta["iloc"][0] == 0 and sizes in (0x4400, 0x4440) and count == 1
    offset, size = struct.unpack(">II", meta["iloc"][-8:])
    if sizes == 0x4440:
        offset += struct.unpack(">I", meta["iloc"][12:16])[0]
    properties = dict(boxes(meta["iprp"]))["ipco"]
    return kind, [box(name, content) for name, content in boxes(properties)], data[offset:offset + size]


def file_of(brands, items, references):
    """Puts items together: the type, the properties and the data of each, which are numbered from 1."""
    entries, places, properties, associations = b"", b"", b"", b""
    for number, (kind, own, data) in enumerate(items, 1):
        rest = b"\0" + (b"application/rdf+xml\0" if kind == "mime" else b"")
        entries += full("infe", 2, struct.pack(">HH4s", number, 0, kind.encode()), rest)
        count = sum(1 for _ in boxes(properties))
        indexes = bytes(0x80 * (entry[4:8] in (b"av1C", b"hvcC", b"irot")) | count + place
                        for place, entry in enumerate(own, 1))
        associations += struct.pack(">HB", number, len(own)) + indexes if own else b""
        properties += b"".join(own)
    linked = sum(1 for item in items if item[1])

    def head(start):
        places, at = b"", start
        for number, (_, _, data) in enumerate(items, 1):
            places += struct.pack(">HHHII", number, 0, 1, at, len(data))
            at += len(data)
        return box("ftyp", brands[0].encode(), bytes(4), *(brand.encode() for brand in brands)) + full(
            "meta", 0, full("hdlr", 0, bytes(4), b"pict", bytes(13)), full("pitm", 0, struct.pack(">H", 1)),
            full("iloc", 0, struct.pack(">HH", 0x4400, len(items)), places),
            full("iinf", 0, struct.pack(">H", len(items)), entries),
            full("iref", 0, *(box(kind, struct.pack(f">HH{len(to)}H", one, len(to), *to)) for kind, one, to in references)),
            box("iprp", box("ipco", properties), full("ipma", 0, struct.pack(">I", linked), associations)))

    data = b"".join(item[2] for item in items)
    return head(len(head(0)) + 8) + box("mdat", data)


def main():
    # Both are turned to the left by a quarter.
    avif = [taken_apart(encoded(photo(*size), ["avifenc", "--lossless", "-s", "6", "--irot", "1", "{source}", "{target}"],
                                ".avif")) for size in ((24, 16), (12, 8))]
    # Headrooms of 0 and 5/2; for all channels from 0 to 5/2, gamma 1, offsets of 1/64.
    metadata = bytes(6) + struct.pack(">14I", 0, 1, 5, 2, 0, 1, 5, 2, 1, 1, 1, 64, 1, 64)
    extent = next(entry for entry in avif[0][1] if entry[4:8] == b"ispe")
    save("metadata/gain-map.avif", file_of(
        ["avif", "mif1", "miaf", "tmap"], avif + [("tmap", [extent], metadata)], [("dimg", 3, [1, 2])]))

    heic = [taken_apart(encoded(photo(*size), ["heif-enc", "-q", "50", "{source}", "-o", "{target}"], ".heic"))
            for size in ((96, 64), (64, 64))]
    kind, own, data = heic[1]
    own += [full("auxC", 0, MAP.encode() + b"\0")]
    save("metadata/gain-map.heic", file_of(
        ["heic", "mif1"], [heic[0], (kind, own, data), ("mime", [], XMP.encode())],
        [("auxl", 2, [1]), ("cdsc", 3, [2])]))


if __name__ == "__main__":
    main()
