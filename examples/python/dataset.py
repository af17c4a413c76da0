#!/usr/bin/env python3
"""dataset.py: fills one NumPy array with pictures from a list of URLs, as a network that learns from them wants it.

    dataset.py [-i FILE] [-s WIDTHxHEIGHT] [--chw] [--ordered] [--fit fill|stretch|inside] [-j N] [-a N] [-o FILE]
               [URL...]

The array is uint8, [n, height, width, 3], or with --chw [n, 3, height, width]; picture i of the list is array[i], and
one that could not be had is all zero. The library downloads (-j at once, from one host too), decodes to size and writes
straight into the array; Python's lock is not held meanwhile, see `fill`. Each item is printed as it comes, with --ordered
in the order of the list; then the rate, what went wrong how often, and what each host gave. With -o the array is saved
for numpy.load(). Exit status 0: all worked.
"""

import argparse
import ctypes
import sys

import numpy as np

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import check, status_name

FITS = {"fill": sdd.TENSOR_FILL, "stretch": sdd.TENSOR_STRETCH, "inside": sdd.TENSOR_INSIDE}
RECORDS = 32  # items taken at a time


def tensor_of(array, chw, fit):
    """The array's memory, for the library to write to: it must stay where it is until the batch is destroyed."""
    height, width = array.shape[2:] if chw else array.shape[1:3]
    return sdd.Tensor(
        pixels=array.ctypes.data, slot_count=len(array), width=width, height=height, fit=fit,
        layout=sdd.TENSOR_CHW if chw else sdd.TENSOR_HWC)


def fill(array, urls, downloader=None, chw=False, ordered=False, fit=sdd.TENSOR_FILL, look_ahead=0, max_attempts=0):
    """Fills array[i] with the picture of urls[i]. Yields an sdd.BatchItem for each, and then the batch's counts.

    Only sdd_batch_wait() takes time, and ctypes lets other threads of Python run during the call.
    """
    texts = (ctypes.c_char_p * len(urls))(*(url.encode() for url in urls))
    tensor = tensor_of(array, chw, fit)
    config = sdd.BatchConfig(
        downloader=downloader, urls=texts, count=len(urls), tensor=ctypes.pointer(tensor), look_ahead=look_ahead,
        order=sdd.BATCH_ORDERED if ordered else sdd.BATCH_AS_COMPLETED, max_attempts=max_attempts)
    batch = sdd.Batch()
    check(lib.sdd_batch_create(config, batch))
    try:
        items, count = (sdd.BatchItem * RECORDS)(), ctypes.c_size_t()
        while True:
            items[0].struct_size = ctypes.sizeof(sdd.BatchItem)
            check(lib.sdd_batch_wait(batch, items, RECORDS, -1, count))
            if count.value == 0:
                break
            yield from items[:count.value]
        yield Counts(batch)
    finally:
        lib.sdd_batch_destroy(batch)  # nothing is written to the array any more


class Counts:
    """What became of a batch: of its items, by kind of end, and by host."""

    def __init__(self, batch):
        self.all = sdd.BatchStatistics()
        check(lib.sdd_batch_get_statistics(batch, self.all))
        self.statuses = list(self.each(lib.sdd_batch_get_status, sdd.BatchStatus, batch))
        self.hosts = list(self.each(lib.sdd_batch_get_host, sdd.BatchHost, batch))

    @staticmethod
    def each(function, record, batch):
        index, made = 0, record()
        while function(batch, index, made) == sdd.OK:
            yield made
            index, made = index + 1, record()


def line_of(url, item):
    if item.error == sdd.OK:
        return f"{item.index} {url}: {item.width} x {item.height}"
    return f"{item.index} {url}: {status_name(item.error)} (detail {item.detail}, HTTP {item.http_status})"


def report(counts):
    everything = counts.all
    print(f"{everything.succeeded} of {everything.items} pictures in {everything.elapsed_us / 1e6:.3f} s: "
          f"{everything.items_per_second:.1f} a second, {everything.bytes_per_second / 1e6:.2f} MB a second")
    for status in counts.statuses:
        if status.error != sdd.OK:
            print(f"{status.items:6} {status_name(status.error)} detail {status.detail} HTTP {status.http_status}")
    for host in counts.hosts:
        print(f"{host.items:6} of {host.host.decode(errors='replace') or '(no host)'}: {host.failed} failed, "
              f"{host.bytes} bytes, {host.time_us // max(host.items, 1) // 1000} ms each")


def main():
    parser = argparse.ArgumentParser(description="Fills one NumPy array with pictures from URLs.")
    parser.add_argument("-i", "--input", metavar="FILE", help="a list of URLs, one a line")
    parser.add_argument("-s", "--size", default="256x256", metavar="WIDTHxHEIGHT")
    parser.add_argument("--chw", action="store_true", help="channels first")
    parser.add_argument("--ordered", action="store_true", help="items in the order of the list")
    parser.add_argument("--fit", choices=FITS, default="fill")
    parser.add_argument("-j", "--jobs", type=int, default=16, metavar="N", help="downloads at once")
    parser.add_argument("-a", "--attempts", type=int, default=1, metavar="N", help="for one picture")
    parser.add_argument("-o", "--output", metavar="FILE", help="saves the array")
    parser.add_argument("urls", nargs="*", metavar="URL")
    arguments = parser.parse_args()
    urls = list(arguments.urls)
    if arguments.input:
        with open(arguments.input, encoding="utf-8") as file:
            urls += [line.strip() for line in file if line.strip()]
    if not urls:
        parser.error("no URLs")
    width, height = (int(side) for side in arguments.size.split("x"))
    shape = (3, height, width) if arguments.chw else (height, width, 3)
    array = np.empty((len(urls), *shape), np.uint8)
    downloader = sdd.Downloader()
    check(lib.sdd_downloader_create(
        sdd.DownloaderConfig(max_concurrent_downloads=arguments.jobs, max_concurrent_per_host=arguments.jobs), downloader))
    try:
        for item in fill(array, urls, downloader, arguments.chw, arguments.ordered, FITS[arguments.fit],
                         look_ahead=4 * arguments.jobs, max_attempts=arguments.attempts):
            if isinstance(item, Counts):
                counts = item
            else:
                print(line_of(urls[item.index], item))
    finally:
        lib.sdd_downloader_destroy(downloader)
    report(counts)
    if arguments.output:
        with open(arguments.output, "wb") as file:  # a name of its own, without .npy being added
            np.save(file, array)
    return 0 if counts.all.succeeded == len(urls) else 1


if __name__ == "__main__":
    sys.exit(main())
