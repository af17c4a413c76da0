#!/usr/bin/env python3
"""dataset.py: fills one NumPy array with pictures from a list of URLs, as a network that learns from them wants it.

    dataset.py [-i FILE] [-s WIDTHxHEIGHT] [--chw] [--ordered] [--fit fill|stretch|inside] [-j N] [-a N] [-o FILE]
               [URL...]

The array is uint8, [n, height, width, 3], or with --chw [n, 3, height, width]; picture i of the list is array[i], and
one that could not be had is all zero. URLs may be those of files. The library downloads (-j at once, from one host
too), decodes to size and writes straight into the array; Python's lock is not held meanwhile. Each item is printed as
it comes, with --ordered in the order of the list; then the rate, what went wrong how often, and what each host gave.
With -o the array is saved for numpy.load(). Exit status 0: all worked.
"""

import argparse
import collections
import sys

import numpy as np
import sdd


def show(item, failures):
    if item.ok:
        print(f"{item.index} {item.url}: {item.size[0]} x {item.size[1]}")
        return
    error = item.error
    print(f"{item.index} {item.url}: {error.name} (detail {error.detail:d}, HTTP {error.http_status})")
    failures[f"{error.name} detail {error.detail:d} HTTP {error.http_status}"] += 1


def report(counts, failures, hosts):
    print(f"{counts['succeeded']} of {counts['items']} pictures in {counts['elapsed_us'] / 1e6:.3f} s: "
          f"{counts['items_per_second']:.1f} a second, {counts['bytes_per_second'] / 1e6:.2f} MB a second")
    for failure, number in failures.most_common():
        print(f"{number:6} {failure}")
    for name, host in hosts.items():
        print(f"{host['items']:6} of {name or '(no host)'}: {host['failed']} failed, {host['bytes']} bytes, "
              f"{host['time_us'] // max(host['items'], 1) // 1000} ms each")


def main():
    parser = argparse.ArgumentParser(description="Fills one NumPy array with pictures from URLs.")
    parser.add_argument("-i", "--input", metavar="FILE", help="a list of URLs, one a line")
    parser.add_argument("-s", "--size", default="256x256", metavar="WIDTHxHEIGHT")
    parser.add_argument("--chw", action="store_true", help="channels first")
    parser.add_argument("--ordered", action="store_true", help="items in the order of the list")
    parser.add_argument("--fit", choices=("fill", "stretch", "inside"), default="fill")
    parser.add_argument("-j", "--jobs", type=int, default=16, metavar="N", help="downloads at once")
    parser.add_argument("-a", "--attempts", type=int, default=1, metavar="N", help="for one picture")
    parser.add_argument("-o", "--output", metavar="FILE", help="saves the array")
    parser.add_argument("urls", nargs="*", metavar="URL")
    arguments = parser.parse_args()
    urls, jobs = list(arguments.urls), arguments.jobs
    if arguments.input:
        with open(arguments.input, encoding="utf-8") as file:
            urls += [line.strip() for line in file if line.strip()]
    if not urls:
        parser.error("no URLs")
    width, height = (int(side) for side in arguments.size.split("x"))
    array = np.empty((len(urls), *((3, height, width) if arguments.chw else (height, width, 3))), np.uint8)
    failures = collections.Counter()
    options = {"max_concurrent_downloads": jobs, "max_concurrent_per_host": jobs, "max_attempts": arguments.attempts}
    with sdd.Downloader(allow_file_urls=True, **options) as downloader, \
            sdd.batch(urls, array, layout="chw" if arguments.chw else "hwc", fit=arguments.fit, downloader=downloader,
                      ordered=arguments.ordered, look_ahead=4 * jobs) as batch:
        for item in batch:
            show(item, failures)
        report(batch.statistics(), failures, batch.hosts())
    if arguments.output:
        with open(arguments.output, "wb") as file:  # a name of its own, without .npy being added
            np.save(file, array)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
