#!/usr/bin/env python3
"""asyncio_gallery.py: libsdd inside an asyncio program, with no thread of Python's but the loop's.

    asyncio_gallery.py [-o SHEET] [-c CA_FILE] [-j COUNT] [-n ENOUGH] URL...

Downloads the pictures and puts them side by side on one sheet, the very one c/gallery.c makes; those of
the first row come first. With -n it ends when so many are there, and cancels the others. The library's
events wait behind a descriptor; the loop watches it and drains them into an array. A task that is
cancelled cancels its download. Exit status 0: all worked.
"""

import argparse
import asyncio
import ctypes
import sys
import weakref

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import check, status_name

CELL_WIDTH, CELL_HEIGHT, COLUMNS = 160, 120, 6


class DownloadError(Exception):
    """A download that failed: `status` is one of SDD_ERROR_."""

    def __init__(self, status, message):
        super().__init__(f"{status_name(status)}: {message}")
        self.status = status


class Image:
    """A picture. `pixels` is the library's own memory: height rows of `stride` bytes, RGBA, read-only."""

    def __init__(self, handle):
        """Takes over one reference to an sdd_image."""
        self.width, self.height = lib.sdd_image_width(handle), lib.sdd_image_height(handle)
        self.stride = lib.sdd_image_stride(handle)
        array = (ctypes.c_uint8 * (self.stride * self.height)).from_address(lib.sdd_image_pixels(handle))
        # Every memoryview of the pixels, and every slice of one, holds the array: when the last of
        # them is gone the array goes, and with it the reference. So no view can outlive the memory.
        weakref.finalize(array, lib.sdd_image_release, handle).atexit = False
        self.pixels = memoryview(array).cast("B").toreadonly()


class Client:
    """A downloader whose events the running loop takes. `async with Client() as c: image = await c.get(url)`.

    Belongs to one event loop, and to that loop's thread.
    """

    def __init__(self, ca_file=None, **config):
        self.network = sdd.NetworkOptions(ca_file=ca_file)
        self.config = sdd.DownloaderConfig(
            delivery=sdd.DELIVERY_APPLICATION, network=ctypes.pointer(self.network), **config)
        self.waiting = {}  # token -> (future, progress or None)
        self.events = (sdd.Event * 64)()
        self.events[0].struct_size = ctypes.sizeof(sdd.Event)  # of the first record: it counts for all

    async def __aenter__(self):
        self.downloader = sdd.Downloader()
        check(lib.sdd_downloader_create(self.config, self.downloader))
        self.loop = asyncio.get_running_loop()
        self.loop.add_reader(lib.sdd_event_fd(self.downloader), self._drain)
        return self

    async def __aexit__(self, *exception):
        self.loop.remove_reader(lib.sdd_event_fd(self.downloader))
        lib.sdd_downloader_destroy(self.downloader)
        for future, _ in self.waiting.values():
            future.cancel()
        self.waiting.clear()

    def set_header(self, name, value):
        check(lib.sdd_set_header(self.downloader, name.encode(), value.encode()))

    async def get(self, url, progress=None, **fields):
        """Downloads one picture. `progress(received, expected)` is called on the loop; expected may be -1.

        `fields` are further ones of an sdd_download_request: priority=sdd.PRIORITY_HIGH, referrer=b"...", total_timeout_ms=...
        """
        options = sdd.OPTION_PROGRESS_EVENTS if progress else 0
        # No callbacks: the events are drained.
        request = sdd.DownloadRequest(url=url.encode(), options=options, **fields)
        status = ctypes.c_int32()
        token = lib.sdd_downloader_submit(self.downloader, request, status)
        if token == 0:
            check(status.value)
        future = self.loop.create_future()
        self.waiting[token] = future, progress  # in time: events are taken on this thread only
        try:
            return await future
        except asyncio.CancelledError:
            lib.sdd_cancel(token)  # its terminal event comes all the same
            raise

    def _drain(self):
        """Takes the events that wait. The descriptor stays readable while there are more."""
        count = ctypes.c_size_t()
        check(lib.sdd_drain(self.downloader, self.events, len(self.events), count))
        for event in self.events[:count.value]:
            future, progress = self.waiting[event.token]
            if event.kind == sdd.EVENT_COMPLETED:
                del self.waiting[event.token]
                self._complete(event, future)
            elif progress and not future.done():
                progress(event.received_bytes, event.expected_bytes)

    @staticmethod
    def _complete(event, future):
        lib.sdd_bytes_release(event.bytes)  # each event comes with one reference to bytes and image
        image = Image(event.image) if event.image else None
        if future.done():  # cancelled by its task meanwhile: the image goes as it came
            return
        if event.error == sdd.OK:
            future.set_result(image)
        else:
            future.set_exception(DownloadError(event.error, event.result.contents.message.decode()))


def paste(sheet, sheet_width, number, image):
    """Makes the picture fit into its cell, by picking pixels, with what is transparent over the grey."""
    width, height = CELL_WIDTH, image.height * CELL_WIDTH // image.width
    if height > CELL_HEIGHT:
        width, height = image.width * CELL_HEIGHT // image.height, CELL_HEIGHT
    left, top = number % COLUMNS * CELL_WIDTH, number // COLUMNS * CELL_HEIGHT
    for y in range(height):
        start = y * image.height // height * image.stride
        row = image.pixels[start:start + image.width * 4]
        for x in range(width):
            pixel = x * image.width // width * 4
            alpha, to = row[pixel + 3], ((top + y) * sheet_width + left + x) * 3
            for i in range(3):
                sheet[to + i] = (row[pixel + i] * alpha + sheet[to + i] * (255 - alpha)) // 255


def write_sheet(path, images):
    width = min(len(images), COLUMNS) * CELL_WIDTH
    height = (len(images) + COLUMNS - 1) // COLUMNS * CELL_HEIGHT
    sheet = bytearray(b"\x80" * (width * height * 3))
    for number, image in enumerate(images):
        if isinstance(image, Image):
            paste(sheet, width, number, image)
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (width, height))
        file.write(sheet)


async def fetch(client, url, priority):
    def show(received, expected):
        if sys.stderr.isatty():
            print(f"\r\033[K{url[-60:]} {received} of {expected}", end="", file=sys.stderr, flush=True)

    image = await client.get(url, show, priority=priority)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    print(f"{url} {image.width} x {image.height}", flush=True)
    return image


async def fetch_all(client, urls, enough):
    """The pictures in the order of the URLs, an exception in place of each that failed or came to be cancelled."""
    tasks = [asyncio.create_task(fetch(client, url, sdd.PRIORITY_HIGH if number < COLUMNS else sdd.PRIORITY_LOW))
             for number, url in enumerate(urls)]
    waiting, pictures = set(tasks), 0
    while waiting and pictures < enough:
        ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        pictures += sum(task.exception() is None for task in ended)
    for task in waiting:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


async def main():
    parser = argparse.ArgumentParser(description="Downloads pictures and puts them side by side on one sheet.")
    parser.add_argument("-o", metavar="SHEET", default="gallery.ppm", help="a PPM file")
    parser.add_argument("-c", metavar="CA_FILE", help="certificates to trust, in place of the system's")
    parser.add_argument("-j", metavar="COUNT", type=int, default=6, help="how many at a time")
    parser.add_argument("-n", metavar="ENOUGH", type=int, help="how many pictures will do")
    parser.add_argument("url", nargs="+")
    arguments = parser.parse_args()
    ca_file = arguments.c.encode() if arguments.c else None
    async with Client(max_concurrent_downloads=arguments.j, ca_file=ca_file) as client:
        images = await fetch_all(client, arguments.url, arguments.n or len(arguments.url))
    failures = [(url, image) for url, image in zip(arguments.url, images) if isinstance(image, BaseException)]
    for url, failure in failures:
        print(f"{url} {'cancelled' if isinstance(failure, asyncio.CancelledError) else failure}")
    write_sheet(arguments.o, images)
    return 0 if len(images) - len(failures) >= (arguments.n or len(images)) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
