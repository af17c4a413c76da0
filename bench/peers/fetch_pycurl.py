"""Fetches URLs with pycurl's multi interface: one thread, and handles and connections that are reused."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Iterator

import pycurl

from program import Program


@dataclasses.dataclass
class Transfer:
    index: int
    body: io.BytesIO


class Fetching:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._is_http2 = program.arguments.workload == "W8"
        self._indexes: Iterator[int] = iter(range(len(program.urls)))
        self._running: dict[pycurl.Curl, Transfer] = {}
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, program.arguments.inflight)
        if self._is_http2:
            self._multi.setopt(pycurl.M_PIPELINING, pycurl.PIPE_MULTIPLEX)

    def _make_handle(self) -> pycurl.Curl:
        handle = pycurl.Curl()
        handle.setopt(pycurl.NOSIGNAL, 1)
        handle.setopt(pycurl.PROXY, "")
        handle.setopt(pycurl.BUFFERSIZE, 512 * 1024)
        if self._program.arguments.cacert:
            handle.setopt(pycurl.CAINFO, self._program.arguments.cacert)
        if self._is_http2:
            handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
            handle.setopt(pycurl.PIPEWAIT, 1)
        else:
            handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
        return handle

    def _start(self, handle: pycurl.Curl) -> None:
        """Starts the next transfer, if one is left."""
        index = next(self._indexes, None)
        if index is None:
            return
        transfer = Transfer(index, io.BytesIO())
        handle.setopt(pycurl.URL, self._program.urls[index])
        handle.setopt(pycurl.WRITEDATA, transfer.body)
        self._running[handle] = transfer
        self._multi.add_handle(handle)

    def _end(self, handle: pycurl.Curl, error: str | None) -> None:
        self._multi.remove_handle(handle)
        transfer = self._running.pop(handle)
        status = handle.getinfo(pycurl.RESPONSE_CODE)
        if error is not None or status != 200:
            self._program.failed(transfer.index, error or f"status {status}")
        else:
            self._program.body(transfer.index, transfer.body.getvalue())
        self._start(handle)

    def run(self) -> None:
        for _ in range(self._program.arguments.inflight):
            self._start(self._make_handle())
        while self._running:
            self._multi.perform()
            left = 1
            while left:
                left, done, failed = self._multi.info_read()
                for handle in done:
                    self._end(handle, None)
                for handle, _, error in failed:
                    self._end(handle, error)
            if self._running:
                due_ms = self._multi.timeout()
                self._multi.select(min(due_ms / 1000, 1.0) if due_ms >= 0 else 1.0)
        self._multi.close()


def fetch(program: Program) -> None:
    Fetching(program).run()
