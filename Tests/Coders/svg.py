#!/usr/bin/env python3
"""Tests the coder of SVG through the library: sizes, pixels, what a picture may not reach, bombs, isolation.

    svg.py SHOW FOLDER

SHOW is the program show.c, FOLDER is for files. rsvg-convert is the judge of pixels."""
import base64
import io
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import zlib

import numpy as np
from PIL import Image

SHOW, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
BAD, NO_RESOURCES = 1001, 4009
FILL, STRETCH = 2, 3
CORRUPT, TRUNCATED, ZERO, TOO_MANY, UNSUPPORTED = 100103, 100104, 100105, 100106, 100107
TOO_SLOW, TOO_MUCH, DECODER, NO_DECODER = 100111, 100114, 100118, 400901
failures = 0


def fail(text):
    global failures
    failures += 1
    print(f"FAILED: {text}")


def check(condition, text):
    if not condition:
        fail(text)


def write(name, text):
    path = FOLDER / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


class Shown:
    def __init__(self, path, way="default", width=0, height=0, fit=0, enlarge=0, show=SHOW, **environment):
        run = subprocess.run([show, way, path, str(width), str(height), str(fit), str(enlarge)], capture_output=True,
                             timeout=120, env=os.environ | environment)
        words = run.stderr.decode().strip().splitlines()[-1].split(" ", 4)
        self.status, self.detail, self.width, self.height = map(int, words[:4])
        self.message = words[4] if len(words) > 4 else ""
        self.pixels = None
        if run.stdout:
            head, data = run.stdout.split(b"ENDHDR\n", 1)
            fields = dict(line.split(b" ", 1) for line in head.splitlines()[1:] if b" " in line)
            self.pixels = np.frombuffer(data, np.uint8).reshape(int(fields[b"HEIGHT"]), int(fields[b"WIDTH"]), 4)

    @property
    def size(self):
        return None if self.pixels is None else (self.pixels.shape[1], self.pixels.shape[0])


def shown(text, way="default", name="picture.svg", **options):
    return Shown(write(name, text), way, **options)


def svg(inside, attributes='width="40" height="30"', before=""):
    return f"{before}<svg {NS} {attributes}>{inside}</svg>"


# ---------------------------------------------------------------------------------------------- size

def test_own_sizes():
    box = 'viewBox="0 0 100 50"'
    for attributes, size in [
        ('width="40" height="30"', (40, 30)), ('width="40px" height="1in"', (40, 96)),
        ('width="25.4mm" height="2.54cm"', (96, 96)), ('width="72pt" height="6pc"', (96, 96)),
        ('width="2em" height="40q"', (32, 38)), ('width="10.6" height="0.2"', (11, 1)),
        ('width=" 1e1 " height="+5"', (10, 5)), ("", (300, 150)), (box, (300, 150)),
        ('viewBox="0 0 24 24"', (150, 150)), ('viewBox="0,0,10,100"', (15, 150)), ('viewBox="0 0 600 10"', (300, 5)),
        ('width="100%" height="100%" viewBox="0 0 24 24"', (150, 150)), (f'width="50" {box}', (50, 25)),
        (f'height="50" {box}', (100, 50)), ('width="50"', (50, 150)), ('height="50"', (300, 50)),
        (f'width="50" height="70" {box}', (50, 70)), ('viewBox="0 0 0 10"', (300, 150)),
        ('viewBox="0 0 24 24" preserveAspectRatio="none"', (300, 150)), ('width="9" height="-3"', (9, 150)),
        ('width="9" height="3" style="width: 20px; height:10px"', (9, 3)), ('width="9" height="3vw"', (9, 150)),
    ]:
        got = shown(svg("", attributes))
        check((got.width, got.height) == size and got.size == size, f"size of {attributes}: {got.width} x {got.height}, {size}")
    # A small body may not take much memory, whatever its picture would.
    for attributes, details in [
        ('width="0" height="5"', [ZERO]), ('width="3e9" height="5"', [TOO_MUCH]),
        ('width="60000" height="60000"', [TOO_MUCH]), ('width="40000" height="1"', [UNSUPPORTED]),
    ]:
        got = shown(svg("", attributes))
        check(got.detail in details, f"{attributes}: {got.status} {got.detail} {got.message}")


HALVES = '<rect width="20" height="30" fill="#fff"/><rect x="20" width="20" height="30" fill="#00f"/>'


def test_wanted_sizes():
    """What is drawn at the size that is wanted has sharp edges; what is scaled from 40 x 30 pixels does not."""
    for way in ("default", "isolated", "call", "all"):
        for options, size in [
            (dict(width=20), (20, 15)), (dict(width=400), (40, 30)), (dict(width=400, enlarge=1), (400, 300)),
            (dict(width=402, height=402, enlarge=1), (402, 302)), (dict(width=200, height=200, fit=STRETCH, enlarge=1), (200, 200)),
            (dict(width=120, height=300, fit=FILL, enlarge=1), (120, 300)),
            (dict(width=120, height=120, fit=FILL, enlarge=1), (120, 120)), (dict(width=20, height=30, fit=FILL), (20, 30)),
            (dict(height=6), (8, 6)), (dict(width=6, height=30, fit=STRETCH), (6, 30)),
        ]:
            got = shown(svg(HALVES), way, **options)
            check(got.size == size and (got.width, got.height) == (40, 30), f"{way} {options}: {got.size}, {got.message}")
            colours = {tuple(pixel) for pixel in got.pixels.reshape(-1, 4)} if got.pixels is not None else set()
            check(colours == {(255, 255, 255, 255), (0, 0, 255, 255)}, f"{way} {options}: {sorted(colours)}")
    # The picture's own size is no limit, if it is not drawn in it.
    got = shown(svg('<rect width="3000000" height="1000000" fill="lime"/>', 'width="3000000" height="1000000"'), width=30)
    check(got.size == (30, 10) and (got.pixels == (0, 255, 0, 255)).all(), f"a large picture: {got.size} {got.message}")
    got = shown(svg(HALVES), width=400000, enlarge=1)
    check(got.detail == TOO_MUCH, f"a large size: {got.status} {got.message}")


# -------------------------------------------------------------------------------------------- pixels

GRADIENT = ('<linearGradient id="g"><stop offset="0" stop-color="red"/><stop offset="1" stop-color="blue" '
            'stop-opacity=".2"/></linearGradient>')
BLUR = '<filter id="f"><feGaussianBlur stdDeviation="2"/><feOffset dx="3" dy="2"/></filter>'


def png(colour=(255, 0, 0), size=(8, 8), kind="PNG"):
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def data_url(data, kind="image/png"):
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


PICTURES = {
    "gradient": GRADIENT + '<rect x="3.3" y="2" width="30" height="20" rx="5" fill="url(#g)"/>',
    "path": '<path d="M2 2C10 30 30 30 38 2Z" fill="green" stroke="#c40" stroke-width="1.5" fill-opacity=".6"/>',
    "units": '<rect x="1mm" y="2mm" width="5mm" height="10pt"/><text y="1.5em" font-size="4pt" x=".2in">units</text>',
    "mask": '<mask id="m"><rect width="40" height="15" fill="#888"/></mask><circle cx="20" cy="15" r="12" mask="url(#m)"/>',
    "filter": BLUR + '<rect x="8" y="8" width="20" height="10" fill="#084" filter="url(#f)"/>',
    "group": '<g opacity=".5"><rect width="20" height="20" fill="red"/><rect x="10" y="5" width="20" height="20"/></g>',
    "use": '<defs><g id="u"><rect width="6" height="6" fill="teal"/></g></defs><use xlink:href="#u" x="5"/>'
           '<use href="#u" x="20" y="9"/>',
    "text": '<text x="2" y="20" font-size="14">Svg</text>',
    "bold": '<text x="2" y="20" font-size="12" font-family="serif" font-weight="bold" font-style="italic">Svg ä</text>',
    "families": "".join(f'<text x="1" y="{5 + 5 * at}" font-size="5" font-family="{name}">Svg</text>' for at, name in
                        enumerate(["Arial", "Helvetica", "Courier New", "sans-serif", "monospace"])),
    "styled": '<style>rect { fill: #123456 } .a { opacity: .3 }</style><rect width="9" height="9"/><rect class="a" '
              'x="10" width="9" height="9"/>',
    "image": f'<image width="16" height="16" xlink:href="{data_url(png((9, 200, 30)))}"/>',
    "jpeg": f'<image width="16" height="16" href="{data_url(png((9, 200, 30), kind="JPEG"), "image/jpeg")}"/>',
    "pattern": '<pattern id="p" width="5" height="5" patternUnits="userSpaceOnUse"><circle cx="2" cy="2" r="2"/>'
               '</pattern><rect width="40" height="30" fill="url(#p)"/>',
}


def judged(path, size):
    made = FOLDER / "judge.png"
    subprocess.run(["rsvg-convert", "-d", "96", "-p", "96", "-w", str(size[0]), "-h", str(size[1]), path, "-o", made],
                   check=True)
    return np.asarray(Image.open(made).convert("RGBA"))


def difference(one, other):
    """Returns the largest difference of a channel, with colours as they are seen: times alpha."""
    if one is None or one.shape != other.shape:
        return 999
    seen = [np.concatenate([p[..., :3] * (p[..., 3:] / 255), p[..., 3:]], -1) for p in (one.astype(float), other.astype(float))]
    return np.abs(seen[0] - seen[1]).max()


def test_pixels():
    for name, inside in PICTURES.items():
        path = write(f"{name}.svg", svg(inside))
        for way, options, size in [("default", {}, (40, 30)), ("all", {}, (40, 30)),
                                   ("default", dict(width=160, enlarge=1), (160, 120)), ("default", dict(width=20), (20, 15))]:
            got, expected = Shown(path, way, **options), judged(path, size)
            check(expected.any(), f"{name}: the judge draws nothing")
            check(difference(got.pixels, expected) <= 1.01,
                  f"{name}, {way} {options}: {difference(got.pixels, expected)} {got.message}")
    # A premultiplied colour is given as it is.
    got = shown(svg('<rect width="40" height="30" fill="rgb(200,100,50)" fill-opacity=".4"/>'))
    check(got.pixels is not None and (got.pixels == (200, 100, 50, 102)).all(), "alpha")


# ----------------------------------------------------------------------------------------- elsewhere

def test_elsewhere():
    """No picture shows, or asks for, what lies outside it. The same reference to what lies inside is drawn."""
    server = socket.create_server(("127.0.0.1", 0))
    server.setblocking(False)
    http = f"http://127.0.0.1:{server.getsockname()[1]}"
    red = write("secret.png", png())
    other = write("secret.svg", svg('<rect id="r" width="40" height="30" fill="red"/><linearGradient id="g">'
                                    '<stop stop-color="red"/></linearGradient>'))
    style = write("secret.css", "rect { fill: red }")
    secret = write("secret.txt", "secret")
    font = next(pathlib.Path("/usr/share/fonts").rglob("*.ttf"), secret)
    base = '<rect width="40" height="30" fill="#fff"/>'
    inside = svg(base + f'<image width="40" height="30" preserveAspectRatio="none" href="{data_url(png())}"/>')
    check((shown(inside, "all").pixels[..., 1] == 0).all(), "an image inside is not drawn")

    def image(url, attribute="xlink:href"):
        return svg(base + f'<image width="40" height="30" {attribute}="{url}"/>')

    pictures = {
        "image": image(f"file://{red}"), "image, href": image(f"file://{red}", "href"), "image, path": image(red),
        "image, relative": image("secret.png"), "image, http": image(f"{http}/a.png"),
        "image, svg": image(f"file://{other}"), "image, base": svg(base + '<image width="40" height="30" '
                                                                   'href="secret.png"/>', f'width="40" height="30" '
                                                                   f'xml:base="file://{FOLDER}/"'),
        "use": svg(base + f'<use xlink:href="file://{other}#r"/>'), "use, relative": svg(base + '<use href="secret.svg#r"/>'),
        "use, http": svg(base + f'<use href="{http}/a.svg#r"/>'),
        "fill": svg(f'{base}<rect width="40" height="30" fill="url(file://{other}#g) white"/>'),
        "import": svg(f'<style>@import url("file://{style}");</style><rect width="40" height="30" fill="#fff"/>'),
        "import, http": svg(f'<style>@import url("{http}/a.css");</style>' + base),
        "font": svg(f'<style>@font-face {{ font-family: x; src: url("file://{font}"), url("{http}/a.ttf") }}</style>' + base),
        "style sheet": svg(base, before=f'<?xml-stylesheet href="file://{style}" type="text/css"?>'),
        "style sheet, http": svg(base, before=f'<?xml-stylesheet href="{http}/a.css" type="text/css"?>'),
        "XInclude": svg(base + f'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="file://{other}"/>'),
        "XInclude, text": svg(base + '<text y="20" fill="red"><xi:include xmlns:xi="http://www.w3.org/2001/XInclude" '
                              f'href="file://{secret}" parse="text"/></text>'),
        "DTD": svg(base, before=f'<!DOCTYPE svg SYSTEM "{http}/a.dtd">'),
        "DTD, public": svg(base, before=f'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "{http}/svg11.dtd">'),
        "script": svg(base + "<script>document.documentElement.innerHTML = ''</script>"),
        "feImage": svg(base + f'<filter id="f"><feImage href="file://{red}"/></filter><rect width="40" height="30" '
                       'fill="#fff" filter="url(#f)"/>'),
    }
    for name, text in pictures.items():
        for way in ("all", "default"):
            got = shown(text, way)
            check(got.pixels is not None and (got.pixels == 255).all(), f"{name}, {way}: {got.message or 'it is drawn'}")
    entity = f'<!DOCTYPE svg [<!ENTITY x SYSTEM "file://{secret}">]>'
    for name, text in {
        "entity": svg(base + '<text y="20" fill="red">&x;</text>', before=entity),
        "parameter entity": svg(base, before=f'<!DOCTYPE svg [<!ENTITY % x SYSTEM "{http}/a.dtd"> %x;]>'),
        "an SVG inside": image(data_url(svg(base).encode(), "image/svg+xml")),
        "a GIF inside": image(data_url(png(kind="GIF"), "image/gif")), "text inside": image("data:image/png,abc"),
        "a hidden scheme": image("&#100;ata:image/png,abc"),
    }.items():
        got = shown(text, "all")
        check((got.status, got.detail) == (BAD, UNSUPPORTED), f"{name}: {got.status} {got.detail} {got.message}")
    try:
        server.accept()
        fail("a picture has asked a server")
    except BlockingIOError:
        pass


# --------------------------------------------------------------------------------------------- bombs

def uses(levels, width):
    groups = "".join(f'<g id="a{i}">' + f'<use xlink:href="#a{i - 1}"/>' * width + "</g>" for i in range(1, levels))
    return f'<defs><rect id="a0" width="9" height="9"/>{groups}</defs><use xlink:href="#a{levels - 1}"/>'


def chain():
    groups = "".join(f'<g id="a{i}">{"<g>" * 200}<use xlink:href="#a{i - 1}"/>{"</g>" * 200}</g>' for i in range(1, 400))
    return f'<defs><rect id="a0" width="9" height="9"/>{groups}</defs><use xlink:href="#a399"/>'


def filtered(primitives, attributes=""):
    return f'<filter id="f" {attributes}>{primitives}</filter><rect width="40" height="30" filter="url(#f)"/>'


def large_png(side):
    """Returns a PNG of one colour, of few bytes."""
    def chunk(name, data):
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
    rows = zlib.compress(bytes((side + 7) // 8 + 1) * 100, 9)
    head = side.to_bytes(4, "big") * 2 + bytes([1, 0, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def test_bombs():
    laughs = '<!ENTITY a "ha">' + "".join(f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "&a;"}">' for i in range(9))
    long = f'<!DOCTYPE svg [<!ENTITY a "{"ha" * 5000}">]>'
    for name, text, details in [
        ("laughs", svg("<text>&a8;</text>", before=f"<!DOCTYPE svg [{laughs}]>"), [UNSUPPORTED]),
        ("an entity with an element", svg("&a;", before='<!DOCTYPE svg [<!ENTITY a "<g/>">]>'), [UNSUPPORTED]),
        ("a long entity", svg("<text>" + "&a;" * 1000 + "</text>", before=long), [UNSUPPORTED]),
        # On a busy machine its time ends before librsvg has counted as many references as it follows.
        ("uses", svg(uses(20, 10)), [UNSUPPORTED, TOO_SLOW]), ("a chain of uses", svg(chain()), [DECODER, UNSUPPORTED]),
        ("depth", svg("<g>" * 256 + "</g>" * 256), [UNSUPPORTED]), ("less depth", svg("<g>" * 40 + "</g>" * 40), [0]),
        ("octaves", svg(filtered('<feTurbulence baseFrequency=".1" numOctaves="1000000000"/>')), [TOO_SLOW, 0]),
        ("a large image", svg(f'<image href="{data_url(large_png(60000))}"/>'), [TOO_MUCH]),
        ("a large pattern", svg('<pattern id="p" width="9e5" height="9e5" patternUnits="userSpaceOnUse"><g/></pattern>'
                                '<rect width="40" height="30" fill="url(#p)"/>'), [UNSUPPORTED, 0]),
        ("a blur", svg(filtered('<feGaussianBlur stdDeviation="1e5"/>', 'x="-999" y="-999" width="3000" height="3000"')), [0]),
        ("a morphology", svg(filtered('<feMorphology operator="dilate" radius="1e5"/>')), [TOO_SLOW, 0]),
        ("UTF-16", svg("", before='<?xml version="1.0" encoding="UTF-16"?>'), [UNSUPPORTED]),
        ("UTF-7", svg("", before="<?xml version='1.0' encoding='utf-7'?>"), [UNSUPPORTED]),
    ]:
        got = shown(text)
        check(got.detail in details, f"{name}: {got.status} {got.detail} {got.message}")
    got = shown(svg("<text>&a;</text>", before='<!DOCTYPE svg [<!ENTITY a "x">]>'))
    check(got.status == 0, f"an entity: {got.message}")


def test_damage():
    whole = svg(HALVES)
    for text, detail in [(whole[:-3], TRUNCATED), (whole[:60], TRUNCATED), (whole.replace("</svg>", "</g>"), CORRUPT),
                         (whole.replace("/>", ">", 1), TRUNCATED), (whole.replace('"20"', "20", 1), CORRUPT),
                         (whole + "<svg/>", CORRUPT)]:
        got = shown(text)
        check(got.detail == detail and got.message.endswith("(coder svg)."), f"{text}: {got.detail} {got.message}")


# ----------------------------------------------------------------------------------------- isolation

def test_isolation():
    path = write("isolated.svg", svg(HALVES))
    nowhere = dict(SDD_DECODER="/nowhere/sdd-decoder")
    for way, status in [("default", NO_RESOURCES), ("call", NO_RESOURCES), ("all", 0)]:
        got = Shown(path, way, **nowhere)
        check(got.status == status and got.detail == (NO_DECODER if status else 0),
              f"without the program, {way}: {got.status} {got.message}")
        check(status == 0 or "/nowhere/sdd-decoder" in got.message, f"without the program, {way}: {got.message}")
    got = Shown(path, "default", SDD_DECODER="relative")
    check(got.status == NO_RESOURCES and "absolute path" in got.message, f"SDD_DECODER: {got.status} {got.message}")
    # Other formats have no need of it.
    check(Shown(write("plain.png", png()), "default", **nowhere).status == 0, "a PNG without the program")
    # With the user's own settings the result is the same, and nothing of theirs is looked at.
    settings = write("fonts.conf", "<fontconfig><match><edit name='family'><string>none</string></edit></match></fontconfig>")
    text = write("isolated-text.svg", svg(PICTURES["text"]))
    got, own = Shown(text), Shown(text, FONTCONFIG_FILE=str(settings), HOME=str(FOLDER), XDG_CONFIG_HOME=str(FOLDER))
    check(got.pixels is not None and own.pixels is not None and (got.pixels == own.pixels).all(), "the user's fonts")


def test_privileges():
    if os.geteuid() != 0:
        print("skip set-uid: it needs root")
        return
    program = FOLDER / "show"
    shutil.copy(SHOW, program)
    path = write("privileged.svg", svg(HALVES))
    coders = pathlib.Path(SHOW).parent.parent / "lib" / "sdd"
    coders.mkdir()
    shutil.copytree(os.environ["SDD_CODER_PATH"], coders / "coders")
    try:
        for way in ("default", "all"):
            check(Shown(path, way, show=program).status == 0, f"the copied program, {way}")
        os.chown(program, 65534, -1)
        program.chmod(0o4755)
        for way in ("default", "all"):
            got = Shown(path, way, show=program)
            check(got.detail == 100102 and "no decoder for SVG" in got.message, f"set-uid, {way}: {got.message}")
    finally:
        shutil.rmtree(coders)


for name, test in list(globals().items()):
    if name.startswith("test_"):
        before = failures
        test()
        print(f"{'ok' if failures == before else 'FAILED'} {name[5:]}")
sys.exit(failures > 0)
