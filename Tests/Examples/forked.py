"""Runs a Python process pool: it forks a process that has used the library, and its workers use it, too.

    python3 Tests/Examples/forked.py URL...

The shared objects of the low layer are used in the parent before and after, and in each worker. Prints how many pictures
each loads.
"""

import multiprocessing
import os
import sys

from sdd.lowlevel import ffi, lib


def check(status):
    assert status == lib.SDD_OK, ffi.string(lib.sdd_last_error_message())


def load(urls):
    """Loads pictures with the shared loader and returns how many succeeded."""
    widths = []

    @ffi.callback("sdd_result_fn")
    def completed(result, user_data):
        if result.failure.status != lib.SDD_OK:
            print(f"{os.getpid()}: {ffi.string(result.url)}: {ffi.string(result.failure.message)}", file=sys.stderr)
        else:
            widths.append(lib.sdd_image_width(result.image))

    for url in urls:
        lib.sdd_load(ffi.NULL, url.encode(), 0, ffi.NULL, completed, ffi.NULL)
    check(lib.sdd_downloader_idle_wait(ffi.NULL, 60000))
    check(lib.sdd_cache_flush_wait(ffi.NULL, 10000))
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
