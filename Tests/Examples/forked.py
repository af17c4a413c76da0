"""Runs a Python process pool: it forks a process that has used the library, and its workers use it, too.

    python3 Tests/Examples/forked.py URL...

The shared objects are used in the parent before and after, and in each worker. Prints how many pictures each loads.
"""

import multiprocessing
import os
import sys

import sdd_ctypes as sdd
from sdd_ctypes import lib
from sdd_helpers import check


def load(urls):
    """Loads pictures with the shared loader and returns how many succeeded."""
    widths = []

    @sdd.CompletedFn
    def completed(pointer, user_data):
        result = pointer.contents
        if result.error != sdd.OK:
            print(f"{os.getpid()}: {result.url.decode()}: {result.message.decode()}", file=sys.stderr)
        else:
            widths.append(lib.sdd_image_width(result.image))

    for url in urls:
        lib.sdd_load(None, url.encode(), 0, sdd.ProgressFn(), completed, None)
    check(lib.sdd_wait_idle(None, 60000))
    check(lib.sdd_cache_flush(None, 10000))
    return len(widths)


def main():
    # Most loads are new, because the query makes a new URL.
    lists = [[f"{url}?{worker}-{i}" for i in range(100 // len(sys.argv[1:])) for url in sys.argv[1:]]
             for worker in range(4)]
    before = load(lists[0])
    with multiprocessing.get_context("fork").Pool(2) as pool:
        loaded = pool.map_async(load, lists).get(120)
    print(before, *loaded, load(lists[3]))


main()
