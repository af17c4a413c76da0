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
