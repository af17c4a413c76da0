"""Messages of the library in `logging`."""

from __future__ import annotations

import gc
import logging

import pytest
from conftest import Run, Server, run_script

import sdd


def test_failures_are_logged(server: Server, run: Run, caplog: pytest.LogCaptureFixture) -> None:
    url = server.url("status/404")

    async def main() -> None:
        async with sdd.Downloader(log_level=logging.INFO) as downloader:
            with pytest.raises(sdd.ResponseError):
                await downloader.fetch(url)

    with caplog.at_level(logging.INFO, logger="sdd"):
        run(main())
    records = [record for record in caplog.records if record.name == "sdd"]
    assert any("404" in record.getMessage() and record.levelno == logging.INFO for record in records)
    assert any(getattr(record, "sdd_url", None) == url for record in records)


@pytest.mark.parametrize("is_async", [False, True])
def test_failures_of_batches_are_logged(
    server: Server, run: Run, caplog: pytest.LogCaptureFixture, is_async: bool
) -> None:
    """As they are taken, and without any other request."""
    urls = [server.url(f"status/404?{n}") for n in range(100)]

    async def main(batch: sdd.Batch[sdd.PictureItem]) -> int:
        return len(await batch)

    with caplog.at_level(logging.INFO, logger="sdd"), sdd.Downloader() as downloader:
        batch = downloader.fetch_many(urls)
        assert (run(main(batch)) if is_async else len(batch.wait())) == 100
        assert {getattr(record, "sdd_url", None) for record in caplog.records} >= set(urls)


def test_what_is_left_is_logged_at_the_end(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="sdd"):
        for url, has_close in ((server.url("status/404?close"), True), (server.url("status/404?collect"), False)):
            downloader = sdd.Downloader()
            batch = downloader.fetch_many_bytes([url])
            batch._signal.wait_sync()  # nothing is taken
            batch.close()
            if has_close:
                downloader.close()
            del batch, downloader
            gc.collect()
            assert url in [getattr(record, "sdd_url", None) for record in caplog.records]


def test_the_level_is_that_of_the_logger(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    for level, expected in ((logging.DEBUG, True), (logging.CRITICAL, False)):
        caplog.clear()
        with caplog.at_level(level, logger="sdd"), sdd.Downloader() as downloader:
            downloader.fetch_bytes_sync(server.url("file/page.html"))
        assert any(record.name == "sdd" for record in caplog.records) == expected


def test_a_handler_may_use_the_downloader(server: Server) -> None:
    seen: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if not seen:
                seen.append(record.getMessage())
                downloader.fetch_bytes_sync(server.url("file/page.html?handler"))

    handler, logger = Handler(), logging.getLogger("sdd")
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    try:
        with sdd.Downloader(log_level=logging.DEBUG) as downloader:
            downloader.fetch_bytes_sync(server.url("file/page.html"))
    finally:
        logger.removeHandler(handler)
        logger.setLevel(logging.NOTSET)
    assert seen


def test_sdd_log_still_writes_to_standard_error(server: Server) -> None:
    script = (
        "import os, sys; os.environ['SDD_LOG'] = 'debug'; import sdd\n"
        "with sdd.Downloader() as downloader: downloader.fetch_bytes_sync(sys.argv[1])"
    )
    done = run_script(script, server.url("file/page.html"))
    assert done.returncode == 0 and "page.html" in done.stderr
