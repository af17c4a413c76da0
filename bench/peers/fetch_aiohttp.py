"""Fetches URLs with aiohttp: one session, and as many tasks as requests may be in flight."""

from __future__ import annotations

import asyncio
import ssl

import aiohttp

from program import Program


async def fetch_all(program: Program) -> None:
    arguments = program.arguments
    context = ssl.create_default_context(cafile=arguments.cacert) if arguments.cacert else True
    connector = aiohttp.TCPConnector(limit=arguments.inflight, ssl=context)
    indexes = iter(range(len(program.urls)))
    async with aiohttp.ClientSession(connector=connector) as session:

        async def fetch_some() -> None:
            for index in indexes:
                try:
                    async with session.get(program.urls[index]) as response:
                        response.raise_for_status()
                        data = await response.read()
                except aiohttp.ClientError as error:
                    program.failed(index, error)
                else:
                    program.body(index, data)

        await asyncio.gather(*(fetch_some() for _ in range(arguments.inflight)))


def fetch(program: Program) -> None:
    asyncio.run(fetch_all(program))
