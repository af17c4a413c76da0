#!/usr/bin/env python3
"""batch.py: decodes pictures straight into one array, as a network that looks at pictures wants them: N x 3 x H x W.

    batch.py [-s WIDTHxHEIGHT] [-o FILE] FILE...

The array is a bytearray here; with NumPy it is the same memory, np.frombuffer(batch, np.uint8).reshape(n, 3, h, w).
Each picture is made so large that it covers WIDTH x HEIGHT, and its middle is taken; nothing is copied on the way.
Prints the mean of red, green and blue of each, and with -o writes the array. Exit status 0: all worked.
"""

import argparse
import ctypes
import sys

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import status_name


def decode_into(batch, offset, name, width, height):
    """Three planes of a picture, to that place; raises RuntimeError or OSError."""
    size = 3 * width * height
    place = (ctypes.c_uint8 * size).from_buffer(batch, offset)
    options = sdd.DecodeOptions(
        pixel_format=sdd.PIXEL_FORMAT_RGB8_PLANAR, fit=sdd.FIT_FILL, target_width=width, target_height=height,
        allow_enlarging=1, pixels=ctypes.addressof(place), pixels_size=size)
    with open(name, "rb") as file:
        data = file.read()
    image, detail = sdd.Image(), ctypes.c_int32()
    status = lib.sdd_image_decode(data, len(data), options, image, detail)
    if status != sdd.OK:
        raise RuntimeError(f"{status_name(status)} (detail {detail.value})")
    # The pixels stay: they are in memory of our own.
    lib.sdd_image_release(image)


def main():
    parser = argparse.ArgumentParser(description="Decodes pictures into one array of planes.")
    parser.add_argument("-s", "--size", default="224x224", metavar="WIDTHxHEIGHT")
    parser.add_argument("-o", "--output", metavar="FILE")
    parser.add_argument("files", nargs="+", metavar="FILE")
    arguments = parser.parse_args()
    try:
        width, height = (int(side) for side in arguments.size.split("x"))
    except ValueError:
        parser.error("a size is like 224x224")
    if not (0 < width <= 4096 and 0 < height <= 4096):
        parser.error("a side is from 1 to 4096")
    plane = width * height
    batch = bytearray(len(arguments.files) * 3 * plane)
    failed = 0
    for number, name in enumerate(arguments.files):
        try:
            decode_into(batch, number * 3 * plane, name, width, height)
        except (OSError, RuntimeError) as error:
            failed += 1
            print(f"{name}: {error}")
            continue
        first = number * 3 * plane
        means = (sum(batch[first + i * plane:first + (i + 1) * plane]) / plane for i in range(3))
        print(f"{name}:", *(f"{mean:.1f}" for mean in means))
    if arguments.output:
        with open(arguments.output, "wb") as file:
            file.write(batch)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
