"""Colour profiles (ICC.1), made here: no two systems have the same ones installed."""

import struct

D50 = (0.9642, 1.0, 0.8249)
# Primaries and white, as x and y.
SPACES = {
    "srgb": ((0.64, 0.33), (0.30, 0.60), (0.15, 0.06), (0.3127, 0.3290)),
    "p3": ((0.68, 0.32), (0.265, 0.69), (0.15, 0.06), (0.3127, 0.3290)),
    "adobe": ((0.64, 0.33), (0.21, 0.71), (0.15, 0.06), (0.3127, 0.3290)),
    "rec2020": ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), (0.3127, 0.3290)),
    "prophoto": ((0.734699, 0.265301), (0.159597, 0.840403), (0.036598, 0.000105), (0.345704, 0.358540)),
    # Red and green of sRGB, exchanged.
    "swapped": ((0.30, 0.60), (0.64, 0.33), (0.15, 0.06), (0.3127, 0.3290)),
}


def fixed(*numbers: float) -> bytes:
    return b"".join(struct.pack(">i", round(number * 65536)) for number in numbers)


def multiply(a: list[list[float]], b: list[list[float]]) -> list[list[float]]:
    return [[sum(a[i][k] * b[k][j] for k in range(3)) for j in range(len(b[0]))] for i in range(3)]


def inverse(m: list[list[float]]) -> list[list[float]]:
    (a, b, c), (d, e, f), (g, h, i) = m
    det = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    rows = [
        [e * i - f * h, c * h - b * i, b * f - c * e],
        [f * g - d * i, a * i - c * g, c * d - a * f],
        [d * h - e * g, b * g - a * h, a * e - b * d],
    ]
    return [[x / det for x in row] for row in rows]


def to_xyz(space: str) -> list[list[float]]:
    """The matrix from linear light to XYZ with the white D50."""

    def point(xy: tuple[float, float]) -> list[float]:
        return [xy[0] / xy[1], 1.0, (1 - xy[0] - xy[1]) / xy[1]]

    red, green, blue, white = (point(xy) for xy in SPACES[space])
    primaries = [list(row) for row in zip(red, green, blue)]
    scale = multiply(inverse(primaries), [[x] for x in white])
    matrix = [[primaries[i][j] * scale[j][0] for j in range(3)] for i in range(3)]
    cones = [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
    before, after = multiply(cones, [[x] for x in white]), multiply(cones, [[x] for x in D50])
    scales = [[after[i][0] / before[i][0] if i == j else 0.0 for j in range(3)] for i in range(3)]
    return multiply(multiply(multiply(inverse(cones), scales), cones), matrix)


# Curves: what they are called, and their bytes.
def gamma(exponent: float) -> bytes:
    return b"curv" + struct.pack(">IIH", 0, 1, round(exponent * 256))


def parametric(kind: int, *numbers: float) -> bytes:
    return b"para" + struct.pack(">IHH", 0, kind, 0) + fixed(*numbers)


def table(function, count: int = 1024) -> bytes:
    values = [round(65535 * min(max(function(i / (count - 1)), 0), 1)) for i in range(count)]
    return b"curv" + struct.pack(">II", 0, count) + b"".join(struct.pack(">H", value) for value in values)


def srgb_light(x: float) -> float:
    return x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4


SRGB = parametric(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)


def description(text: str, version: int) -> bytes:
    if version == 4:
        units = text.encode("utf-16-be")
        return b"mluc" + struct.pack(">III2s2sII", 0, 1, 12, b"en", b"US", len(units), 28) + units
    letters = text.encode() + b"\0"
    return b"desc" + struct.pack(">II", 0, len(letters)) + letters + bytes(78)


def profile(space: bytes, tags: list[tuple[bytes, bytes]], version: int = 4, connection: bytes = b"XYZ ") -> bytes:
    """A profile with these tags."""
    offset, table_, data = 132 + 12 * len(tags), b"", b""
    for name, content in tags:
        content += bytes(-len(content) % 4)
        table_ += struct.pack(">4sII", name, offset + len(data), len(content))
        data += content
    body = struct.pack(">I", len(tags)) + table_ + data
    header = struct.pack(">II", 128 + len(body), 0) + bytes([version, 0x30 if version == 4 else 0x10, 0, 0])
    header += b"mntr" + space + connection + struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp"
    header += bytes(28) + fixed(*D50)
    return header + bytes(128 - len(header)) + body


def matrix_profile(space: str, curve: bytes, name: str, version: int = 4) -> bytes:
    columns = list(zip(*to_xyz(space)))
    tags = [(b"desc", description(name, version)), (b"cprt", description("public domain", 4) if version == 4
            else b"text" + bytes(4) + b"public domain\0"), (b"wtpt", b"XYZ " + bytes(4) + fixed(*D50))]
    for letter, column in zip("rgb", columns):
        tags.append((f"{letter}XYZ".encode(), b"XYZ " + bytes(4) + fixed(*column)))
    tags += [(f"{letter}TRC".encode(), curve) for letter in "rgb"]
    return profile(b"RGB ", tags, version)


def grey_profile(curve: bytes, name: str) -> bytes:
    return profile(b"GRAY", [(b"desc", description(name, 2)), (b"cprt", b"text" + bytes(4) + b"public domain\0"),
                             (b"wtpt", b"XYZ " + bytes(4) + fixed(*D50)), (b"kTRC", curve)], 2)


def lab_of(colour: tuple[float, float, float]) -> tuple[float, float, float]:
    """L*a*b* with the white D50 of a colour in sRGB, each from 0 to 1."""
    light = [[srgb_light(x)] for x in colour]
    xyz = [row[0] / white for row, white in zip(multiply(to_xyz("srgb"), light), D50)]
    f = [x ** (1 / 3) if x > 216 / 24389 else (24389 / 27 * x + 16) / 116 for x in xyz]
    return 116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])


def table_profile(space: bytes, channels: int, grid: int, function, name: str) -> bytes:
    """A profile with a table (lut16Type, ICC.1:2022, 10.10) whose colours are those of `function`, in sRGB."""
    identity = struct.pack(">2H", 0, 65535)
    nodes = b""
    for number in range(grid**channels):
        place = [number // grid ** (channels - 1 - i) % grid / (grid - 1) for i in range(channels)]
        lightness, a, b = lab_of(function(*place))
        encoded = (lightness * 652.8, (a + 128) * 256, (b + 128) * 256)
        nodes += struct.pack(">3H", *(min(max(round(x), 0), 65535) for x in encoded))
    content = b"mft2" + struct.pack(">I4B", 0, channels, 3, grid, 0) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1)
    content += struct.pack(">HH", 2, 2) + identity * channels + nodes + identity * 3
    tags = [(b"desc", description(name, 2)), (b"cprt", b"text" + bytes(4) + b"public domain\0"),
            (b"wtpt", b"XYZ " + bytes(4) + fixed(*D50)), (b"A2B0", content)]  # fmt: skip
    return profile(space, tags, 2, b"Lab ")


def with_floats(icc: bytes, steps: int) -> bytes:
    """Adds a table of floating-point numbers (D2B0, multiProcessElementsType) that makes all colours black: one matrix,
    named as many times as there are steps."""
    matrix = b"matf" + struct.pack(">IHH", 0, 3, 3) + struct.pack(">12f", *[0.01] * 9, 0, 0, 0)
    place = struct.pack(">II", 16 + 8 * steps, len(matrix))
    element = b"mpet" + struct.pack(">IHHI", 0, 3, 3, steps) + place * steps + matrix
    count = struct.unpack(">I", icc[128:132])[0]
    tags = []
    for index in range(count):
        name, offset, size = struct.unpack(">4sII", icc[132 + 12 * index : 144 + 12 * index])
        tags.append((name, icc[offset : offset + size]))
    return profile(icc[16:20], [*tags, (b"D2B0", element)], 4, icc[20:24])


def faded(red: float, green: float, blue: float) -> tuple[float, float, float]:
    """Colours with little contrast and a tint, as on old film."""
    grey = 0.3 * red + 0.59 * green + 0.11 * blue
    return tuple(0.1 + 0.75 * (0.7 * x**1.3 + 0.3 * grey) + tint for x, tint in zip((red, green, blue), (0.06, 0, -0.04)))


def printed(cyan: float, magenta: float, yellow: float, black: float) -> tuple[float, float, float]:
    """The colours of four inks on paper, roughly those of a press."""
    paper, inks = (0.98, 0.97, 0.95), ((0, 0.62, 0.88), (0.9, 0.1, 0.5), (1, 0.93, 0.1), (0.14, 0.13, 0.14))
    colour = list(paper)
    for amount, ink in zip((cyan, magenta, yellow, black), inks):
        colour = [x * (1 - amount + amount * y) for x, y in zip(colour, ink)]
    return tuple(colour)
