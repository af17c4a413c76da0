#!/usr/bin/env python3
"""get.py: downloads pictures, all at once, and writes the pixels of each into a file.

    get.py [-o DIR] [-H "Name: value"]... URL...

Does what c/get.c does, with ctypes and the standard library alone: picture N goes to DIR/N-NAME.ppm,
or, if it is not opaque, to DIR/N-NAME.pam. Exit status 0: all worked.
"""

import argparse
import os
import re
import sys

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import check, pixels, status_name


def name_of(url):
    """The last part of the URL's path, with nothing in it that a file name or a terminal could mind."""
    last = re.split(rb"[?#]", os.fsencode(url))[0].rpartition(b"/")[2]
    return re.sub(rb"[^A-Za-z0-9._-]", b"_", last)[:47].decode()


def write_picture(stem, image):
    width, height = lib.sdd_image_width(image), lib.sdd_image_height(image)
    stride, memory = lib.sdd_image_stride(image), pixels(image)
    rows = [memory[y * stride:y * stride + width * 4] for y in range(height)]
    opaque = all(bytes(row[3::4]) == b"\xff" * width for row in rows)
    with open(stem + (".ppm" if opaque else ".pam"), "wb") as file:
        if not opaque:
            file.write(b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" % (width, height))
            file.writelines(rows)
            return
        file.write(b"P6\n%d %d\n255\n" % (width, height))
        for row in rows:
            line = bytearray(width * 3)
            for channel in range(3):
                line[channel::3] = row[channel::4]
            file.write(line)


class Get:
    """The downloads of one run.

    The callbacks come on one thread of the library, one after the other; the main thread looks at
    the counters only when sdd_wait_idle() has returned.
    """

    def __init__(self, urls, directory):
        self.urls, self.directory = urls, directory
        self.parts = [0.0] * len(urls)  # of each picture, what has arrived, 0 to 1
        self.finished = self.failed = 0
        self.on_terminal = sys.stderr.isatty()
        # Held here, since the library calls them until the last request has ended.
        self.progress = sdd.ProgressFn(self.on_progress)
        self.completed = sdd.CompletedFn(self.on_completed)

    def run(self):
        for number, url in enumerate(self.urls, 1):  # as user data: 0 would be NULL, which arrives as None
            if not lib.sdd_download(None, os.fsencode(url), 0, self.progress, self.completed, number):
                sys.exit("get.py: cannot start")
        check(lib.sdd_wait_idle(None, -1))
        return self.failed == 0

    def on_progress(self, token, received, expected, url, number):
        if expected > 0:  # else it is not known, or not yet
            self.parts[number - 1] = received / expected
        if self.on_terminal:
            bar = "=" * int(sum(self.parts) / len(self.parts) * 40)
            print(f"\r\033[K[{bar:40}] {self.finished} of {len(self.urls)}", end="", file=sys.stderr, flush=True)

    def on_completed(self, pointer, number):
        self.parts[number - 1] = 1.0
        self.finished += 1
        try:
            line = self.keep(pointer.contents, number)
        except Exception as error:  # ctypes would print it and go on
            self.failed += 1
            line = f"{name_of(self.urls[number - 1]):20} {error}"
        if self.on_terminal:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
        print(line, flush=True)

    def keep(self, result, number):
        """Writes the picture and returns its line. The image is lent: valid until the callback returns."""
        if result.error != sdd.OK:
            raise RuntimeError(f"{status_name(result.error)}: {result.message.decode()}")
        name, image = name_of(self.urls[number - 1]), result.image
        write_picture(os.path.join(self.directory, f"{number}-{name}"), image)
        return (f"{name:20} {lib.sdd_image_width(image):5} x {lib.sdd_image_height(image):<5} "
                f"{lib.sdd_bytes_size(result.bytes):9} bytes {result.timings.contents.total_us // 1000:6} ms  "
                f"HTTP {result.http_status}")


def main():
    parser = argparse.ArgumentParser(description="Downloads pictures and writes their pixels into files.")
    parser.add_argument("-o", metavar="DIR", default=".", help="where the files go")
    parser.add_argument("-H", metavar="'NAME: VALUE'", action="append", default=[], help="sets a header field")
    parser.add_argument("url", nargs="+")
    arguments = parser.parse_args()
    for field in arguments.H:
        name, _, value = field.partition(":")
        check(lib.sdd_set_header(None, name.encode(), value.strip().encode()))
    return 0 if Get(arguments.url, arguments.o).run() else 1


if __name__ == "__main__":
    sys.exit(main())
