#!/usr/bin/env python3
"""get.py: downloads pictures, all at once, and writes the pixels of each into a file.

    get.py [-o DIR] [-H "Name: value"]... URL...

Does what c/get.c does, in asyncio: picture N goes to DIR/N-NAME.ppm, or, if it is not opaque, to DIR/N-NAME.pam.
Exit status 0: all worked.
"""

import argparse
import asyncio
import os
import re
import sys

import sdd


def name_of(url):
    """The last part of the URL's path, with nothing in it that a file name or a terminal could mind."""
    last = re.split(r"[?#]", url)[0].rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "_", last)[:47]


def write_picture(stem, image):
    pixels = image.tobytes()  # RGBA, unless another pixel_format is asked for
    opaque = not pixels[3::4].strip(b"\xff")
    header = b"P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" % image.size
    if opaque:
        header, rgba = b"P6\n%d %d\n255\n" % image.size, pixels
        pixels = bytearray(len(rgba) // 4 * 3)
        for channel in range(3):
            pixels[channel::3] = rgba[channel::4]
    with open(stem + (".ppm" if opaque else ".pam"), "wb") as file:
        file.write(header + pixels)


class Run:
    """The downloads of one run, all on the thread of the event loop."""

    def __init__(self, urls, directory):
        self.urls, self.directory = urls, directory
        self.parts = [0.0] * len(urls)  # of each picture, what has arrived, 0 to 1
        self.finished = 0

    def show(self, line):
        """Replaces the bar on the terminal."""
        if sys.stderr.isatty():
            print("\r\033[K" + line, end="", file=sys.stderr, flush=True)

    async def get(self, downloader, index):
        def progress(received, expected):
            if expected:  # else it is not known, or not yet
                self.parts[index] = received / expected
            bar = "=" * int(sum(self.parts) / len(self.parts) * 40)
            self.show(f"[{bar:40}] {self.finished} of {len(self.urls)}")

        name, failed = name_of(self.urls[index]), False
        try:
            result = await downloader.fetch(self.urls[index], progress=progress)
            write_picture(os.path.join(self.directory, f"{index + 1}-{name}"), result.image)
            line = (f"{result.image.width:5} x {result.image.height:<5} {len(result.data):9} bytes "
                    f"{int(result.metrics.total * 1000):6} ms  HTTP {result.http_status}")
        except sdd.Error as error:
            failed, line = True, f"{error.name}: {error}"
        except OSError as error:
            failed, line = True, error
        self.parts[index] = 1.0
        self.finished += 1
        self.show("")
        print(f"{name:20} {line}", flush=True)
        return not failed


async def main():
    parser = argparse.ArgumentParser(description="Downloads pictures and writes their pixels into files.")
    parser.add_argument("-o", metavar="DIR", default=".", help="where the files go")
    parser.add_argument("-H", metavar="'NAME: VALUE'", action="append", default=[], help="sets a header field")
    parser.add_argument("url", nargs="+")
    arguments = parser.parse_args()
    fields = (field.partition(":") for field in arguments.H)
    run = Run(arguments.url, arguments.o)
    async with sdd.Downloader(headers={name: value.strip() for name, _, value in fields}) as downloader:
        worked = await asyncio.gather(*(run.get(downloader, index) for index in range(len(run.urls))))
    return 0 if all(worked) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
