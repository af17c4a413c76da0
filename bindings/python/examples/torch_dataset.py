#!/usr/bin/env python3
"""An IterableDataset of PyTorch that downloads pictures and decodes them straight into the tensors of its batches.

torch_dataset.py [-b ROWS] [-s SIDE] [-w WORKERS] FILE

FILE has one URL a line. Without PyTorch the same class yields NumPy arrays, and WORKERS is not used. Each worker
process takes every WORKERS-th URL, and makes its own downloader: objects of the package do not cross processes.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sdd

try:
    import torch  # pyright: ignore[reportMissingImports]
    from torch.utils.data import (  # pyright: ignore[reportMissingImports]
        DataLoader,
        IterableDataset,
        get_worker_info,
    )
except ImportError:
    torch = DataLoader = get_worker_info = None
    IterableDataset = object


class Pictures(IterableDataset):  # type: ignore[misc]
    """Yields (pixels, indexes): uint8 of shape (rows, 3, side, side), and the indexes of the URLs of these rows.

    Pictures that say that they are in other colours are converted to sRGB. A picture that cannot be had is left out, so
    that a batch may have fewer rows.
    """

    def __init__(self, urls: list[str], rows: int = 32, side: int = 224) -> None:
        super().__init__()
        self._urls, self._rows, self._side = urls, rows, side

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        first, step = 0, 1
        worker = get_worker_info() if get_worker_info else None
        if worker is not None:
            first, step = worker.id, worker.num_workers
        indexes = iter(range(first, len(self._urls), step))
        with sdd.Downloader(max_concurrent_downloads=16, max_concurrent_per_host=16, max_attempts=3) as downloader:
            while True:
                chosen = list(itertools.islice(indexes, self._rows))
                if not chosen:
                    return
                yield self._batch(downloader, chosen)

    def _batch(self, downloader: sdd.Downloader, indexes: list[int]) -> tuple[Any, Any]:
        pixels = np.empty((len(indexes), 3, self._side, self._side), np.uint8)
        urls = [self._urls[index] for index in indexes]
        rows = sdd.batch(urls, out=pixels, layout="chw", colour="srgb", downloader=downloader).wait()
        good = [row.index for row in rows if row.ok]
        pixels, kept = pixels[good] if len(good) < len(indexes) else pixels, np.array(indexes)[good]
        return (torch.from_numpy(pixels), torch.from_numpy(kept)) if torch else (pixels, kept)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("-b", "--rows", type=int, default=32)
    parser.add_argument("-s", "--side", type=int, default=224)
    parser.add_argument("-w", "--workers", type=int, default=0)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    pictures: Any = Pictures(arguments.file.read_text().split(), arguments.rows, arguments.side)
    if DataLoader:
        # spawn: a worker that is forked cannot know which locks other threads held at that moment
        context = "spawn" if arguments.workers else None
        pictures = DataLoader(pictures, None, num_workers=arguments.workers, multiprocessing_context=context)
    total = 0
    for pixels, indexes in pictures:
        total += len(indexes)
        print(tuple(pixels.shape), indexes.tolist())
    print(f"{total} pictures")
    return 0


if __name__ == "__main__":
    sys.exit(main())
