#!/usr/bin/env python3
"""asyncio_gallery.py: downloads in tasks of asyncio, some before others, and cancels those that are not needed.

    asyncio_gallery.py [-o SHEET] [-c CA_FILE] [-j COUNT] [-n ENOUGH] URL...

Puts the pictures side by side on one sheet, the very one that c/gallery.c makes; those of the first row come first.
With -n it ends when so many are there, and cancels the others. Exit status 0: all worked.
"""

import argparse
import asyncio
import sys

import sdd

CELL_WIDTH, CELL_HEIGHT, COLUMNS = 160, 120, 6


def paste(sheet, sheet_width, number, image):
    """Makes the picture fit into its cell, by picking pixels, with what is transparent over the grey."""
    width, height = CELL_WIDTH, image.height * CELL_WIDTH // image.width
    if height > CELL_HEIGHT:
        width, height = image.width * CELL_HEIGHT // image.height, CELL_HEIGHT
    left, top = number % COLUMNS * CELL_WIDTH, number // COLUMNS * CELL_HEIGHT
    pixels, columns, stride = image.memoryview(), image.width, image.stride  # the library's own memory: RGBA
    for y in range(height):
        row = pixels[y * image.height // height * stride:][:columns * 4]
        for x in range(width):
            pixel = x * columns // width * 4
            alpha, to = row[pixel + 3], ((top + y) * sheet_width + left + x) * 3
            for i in range(3):
                sheet[to + i] = (row[pixel + i] * alpha + sheet[to + i] * (255 - alpha)) // 255


def write_sheet(path, images):
    width = min(len(images), COLUMNS) * CELL_WIDTH
    height = (len(images) + COLUMNS - 1) // COLUMNS * CELL_HEIGHT
    sheet = bytearray(b"\x80" * (width * height * 3))
    for number, image in enumerate(images):
        if isinstance(image, sdd.Image):
            paste(sheet, width, number, image)
    with open(path, "wb") as file:
        file.write(b"P6\n%d %d\n255\n" % (width, height))
        file.write(sheet)


async def fetch(downloader, url, priority):
    image = (await downloader.fetch(url, priority=priority)).image
    print(f"{url} {image.width} x {image.height}", flush=True)
    return image


async def fetch_all(downloader, urls, enough):
    """The pictures in the order of the URLs, an exception in place of each that failed or came to be cancelled."""
    tasks = [asyncio.create_task(fetch(downloader, url, "high" if number < COLUMNS else "low"))
             for number, url in enumerate(urls)]
    waiting, pictures = set(tasks), 0
    while waiting and pictures < enough:
        ended, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        pictures += sum(task.exception() is None for task in ended)
    for task in waiting:
        task.cancel()  # which cancels its download
    return await asyncio.gather(*tasks, return_exceptions=True)


def why(failure):
    return f"{failure.name}: {failure}" if isinstance(failure, sdd.Error) else "cancelled"


async def main():
    parser = argparse.ArgumentParser(description="Downloads pictures and puts them side by side on one sheet.")
    parser.add_argument("-o", metavar="SHEET", default="gallery.ppm", help="a PPM file")
    parser.add_argument("-c", metavar="CA_FILE", help="certificates to trust, in place of the system's")
    parser.add_argument("-j", metavar="COUNT", type=int, default=6, help="how many at a time")
    parser.add_argument("-n", metavar="ENOUGH", type=int, help="how many pictures will do")
    parser.add_argument("url", nargs="+")
    arguments = parser.parse_args()
    async with sdd.Downloader(max_concurrent_downloads=arguments.j, ca_file=arguments.c) as downloader:
        images = await fetch_all(downloader, arguments.url, arguments.n or len(arguments.url))
    failures = [(url, image) for url, image in zip(arguments.url, images) if isinstance(image, BaseException)]
    for url, failure in failures:
        print(url, why(failure))
    write_sheet(arguments.o, images)
    return 0 if len(images) - len(failures) >= (arguments.n or len(images)) else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
