# Makes pictures of each format with the format's own tools; sourced by run.sh. Uses $pictures, have.

# PNGs of a photograph-like scene, with and without transparency, at odd sizes.
make_sources() {
    "$python" - "$pictures" <<'EOF'
import sys
import numpy as np
from PIL import Image

def scene(width, height, seed):
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    noise = np.random.default_rng(seed).normal(0, 4, (height, width, 3))
    red = 128 + 90 * np.sin(x / 17) * np.cos(y / 23)
    green = 255 * x / width
    blue = np.where((x // 24 + y // 24) % 2 == 0, 200, 60)
    return np.clip(np.dstack([red, green, blue]) + noise, 0, 255).astype(np.uint8)

folder = sys.argv[1]
for name, width, height in [("large", 641, 479), ("small", 37, 29), ("row", 53, 1), ("column", 1, 47), ("dot", 1, 1), ("wide", 1000, 60)]:
    pixels = scene(width, height, len(name))
    Image.fromarray(pixels).save(f"{folder}/{name}.png")
    alpha = ((np.arange(width)[None, :] * 7 + np.arange(height)[:, None] * 3) % 256).astype(np.uint8)
    Image.fromarray(np.dstack([pixels, alpha]), "RGBA").save(f"{folder}/{name}-alpha.png")
Image.fromarray(scene(256, 512, 8)).save(f"{folder}/grid.png")
Image.fromarray(scene(61, 43, 3)).convert("L").save(f"{folder}/grey.png")
frames = [Image.fromarray(scene(48, 32, seed)) for seed in range(5)]
frames[0].save(f"{folder}/moving.gif", save_all=True, append_images=frames[1:], duration=[50, 60, 70, 80, 90], loop=0)
Image.fromarray(scene(40, 24, 9)).convert("P").save(f"{folder}/palette.gif")
# This picture has the Exif orientation 6: it is shown turned by a quarter.
exif = Image.Exif()
exif[0x0112] = 6
Image.fromarray(scene(41, 27, 4)).save(f"{folder}/turned.webp", lossless=True, exif=exif)
frames[0].save(f"{folder}/turned-moving.webp", save_all=True, append_images=frames[1:], lossless=True, exif=exif)
EOF
}

make_webp() {
    local name
    for name in large small row column dot grey large-alpha small-alpha; do
        cwebp -quiet -q 80 "$pictures/$name.png" -o "$pictures/$name.webp"
        cwebp -quiet -lossless -exact "$pictures/$name.png" -o "$pictures/$name-lossless.webp"
    done
    gif2webp -quiet "$pictures/moving.gif" -o "$pictures/moving.webp"
}

make_avif() {
    local name
    for name in large small row column dot grey small-alpha; do
        avifenc -j 1 -s 10 --min 20 --max 30 "$pictures/$name.png" "$pictures/$name.avif" >/dev/null
    done
    avifenc -j 1 -s 10 -l "$pictures/small.png" "$pictures/small-lossless.avif" >/dev/null
    avifenc -j 1 -s 10 -d 10 -y 444 "$pictures/small.png" "$pictures/deep.avif" >/dev/null
    avifenc -j 1 -s 10 --grid 2x8 "$pictures/grid.png" "$pictures/grid.avif" >/dev/null
    avifenc -j 1 -s 10 -y 420 --grid 2x8 "$pictures/grid.png" "$pictures/grid-420.avif" >/dev/null
    avifenc -j 1 -s 10 -y 422 --irot 1 --imir 0 "$pictures/small.png" "$pictures/turned.avif" >/dev/null
}

make_jxl() {
    local name
    for name in large small row column dot grey large-alpha small-alpha; do
        cjxl --quiet --num_threads=0 -e 3 -d 1 "$pictures/$name.png" "$pictures/$name.jxl" 2>/dev/null
    done
    cjxl --quiet --num_threads=0 -e 3 -d 0 "$pictures/small-alpha.png" "$pictures/small-lossless.jxl" 2>/dev/null
    cjxl --quiet --num_threads=0 -e 4 -d 1 -p "$pictures/large.png" "$pictures/progressive.jxl" 2>/dev/null
    cjxl --quiet --num_threads=0 -e 3 --container=1 "$pictures/small.png" "$pictures/container.jxl" 2>/dev/null
    cjxl --quiet --num_threads=0 -e 3 "$pictures/moving.gif" "$pictures/moving.jxl" 2>/dev/null
}

make_heif() {
    local name
    for name in large small grey small-alpha wide; do
        heif-enc -q 60 "$pictures/$name.png" -o "$pictures/$name.heif" >/dev/null 2>&1
    done
}

# of_pillow EXTENSION NAME...: converts PNGs.
of_pillow() {
    "$python" - "$pictures" "$@" <<'EOF'
import sys
from PIL import Image

folder, extension, names = sys.argv[1], sys.argv[2], sys.argv[3:]
for name in names:
    Image.open(f"{folder}/{name}.png").save(f"{folder}/{name}.{extension}")
EOF
}

make_bmp() {
    of_pillow bmp large small row column dot grey
    "$python" - "$pictures" <<'EOF'
import struct
import sys

# Pixels of 15 bits, of which the other one is set in some, behind a header with a mask for alpha.
pixels = b"".join(struct.pack("<H", (x * 9241 + y * 331) & 0xffff) for y in range(6) for x in range(8))
header = struct.pack("<IiiHHIIiiII4I", 108, 8, 6, 1, 16, 0, len(pixels), 0, 0, 0, 0, 0x7c00, 0x3e0, 0x1f, 0x8000)
with open(f"{sys.argv[1]}/unused-bit.bmp", "wb") as file:
    file.write(b"BM" + struct.pack("<IHHI", 122 + len(pixels), 0, 0, 122) + header.ljust(108, b"\0") + pixels)
EOF
}

make_ico() {
    of_pillow ico small small-alpha grey
    # PNGs of 16 bits, and one that states linear light.
    "$python" - "$pictures" <<'EOF'
import struct
import sys
import zlib

def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

def icon(name, depth, kind, channels, extra=b""):
    size = channels * depth // 8
    rows = b"".join(b"\0" + bytes((y * 29 + x * 7 + x * x) % 256 for x in range(16 * size)) for y in range(9))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 9, depth, kind, 0, 0, 0)) + extra
    png += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    entry = struct.pack("<BBBBHHII", 16, 9, 0, 0, 1, 32, len(png), 22)
    with open(f"{sys.argv[1]}/{name}.ico", "wb") as file:
        file.write(struct.pack("<HHH", 0, 1, 1) + entry + png)

icon("deep-grey", 16, 4, 2)
icon("deep-alpha", 16, 6, 4)
icon("deep-colours", 16, 2, 3)
icon("linear", 8, 2, 3, chunk(b"gAMA", struct.pack(">I", 100000)))
EOF
}

# No pictures, but pixels with a profile, of which libsdd makes the bodies.
make_icc() { "$python" Tests/Fuzz/profiles.py --bodies "$pictures"; }

# Shapes at the edges of pixels, which each version of librsvg draws alike, and some that are not.
make_svg() {
    "$python" - "$pictures" <<'EOF'
import sys

def tiles(width, height, alpha):
    for y in range(0, height, 8):
        for x in range(0, width, 8):
            colour = f"#{x * 7 % 256:02x}{y * 5 % 256:02x}{(x + y) % 256:02x}"
            opacity = f' fill-opacity="{(x + 3 * y) % 11 / 10}"' if alpha else ""
            yield f'<rect x="{x}" y="{y}" width="8" height="8" fill="{colour}"{opacity}/>'

folder = sys.argv[1]
for name, width, height in [("large", 641, 479), ("small", 37, 29), ("small-alpha", 37, 29), ("row", 53, 1),
                            ("column", 1, 47), ("dot", 1, 1)]:
    inside = "".join(tiles(width, height, name == "small-alpha"))
    if name == "large":
        inside += '<circle cx="300" cy="200" r="150" fill="gold" opacity=".5"/><text x="50" y="99" font-size="60">Text</text>'
    with open(f"{folder}/{name}.svg", "w") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{inside}</svg>')
EOF
}
