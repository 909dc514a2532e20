"""Sends requests with aiohttp."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from ._requests import Request, unanswered
from ._transport import LONGEST_SILENCE


class AsyncResponse:
    def __init__(self, raw: Any, body: bytes | None) -> None:
        self.status: int = raw.status
        self.headers: dict[str, str] = {name.lower(): value for name, value in raw.headers.items()}
        self.body = body
        """None while a stream arrives"""
        self._raw = raw

    async def lines(self) -> AsyncIterator[str]:
        """The lines of a stream, until it ends or its connection breaks."""
        import aiohttp

        try:
            while line := await asyncio.wait_for(self._raw.content.readline(), LONGEST_SILENCE):
                # The last line of a broken connection can end within a character.
                yield line.decode(errors="replace").rstrip("\r\n")
        except (OSError, asyncio.TimeoutError, aiohttp.ClientError):
            return

    async def close(self) -> None:
        self._raw.close()


class AsyncTransport:
    def __init__(self) -> None:
        try:
            import aiohttp
            import yarl
        except ImportError as error:
            raise ImportError("AsyncAccountLink needs aiohttp: pip install accountlink[async]") from error
        self._aiohttp: Any = aiohttp
        self._url: Any = yarl.URL
        self._session: Any = None

    async def send(self, request: Request) -> AsyncResponse:
        if self._session is None:
            self._session = self._aiohttp.ClientSession(timeout=self._aiohttp.ClientTimeout(total=None))
        try:
            return await asyncio.wait_for(self._receive(request), request.timeout)
        except asyncio.TimeoutError:
            raise unanswered(request.route, None) from None
        except (OSError, self._aiohttp.ClientError) as error:
            raise unanswered(request.route, error) from None

    async def _receive(self, request: Request) -> AsyncResponse:
        raw = await self._session.request(
            request.method,
            self._url(request.url, encoded=True),
            headers=request.headers,
            data=request.body,
            # Following a redirect would end at a page.
            allow_redirects=False,
        )
        if raw.content_type == "text/event-stream" and raw.status < 300:
            return AsyncResponse(raw, None)
        async with raw:
            return AsyncResponse(raw, await raw.read())

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
