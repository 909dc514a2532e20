"""Sends the requests of the asynchronous client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from ._async_transport import AsyncResponse, AsyncTransport
from ._requests import Request, RequestMaker, Window, data_of, retry_delay
from .errors import AccountLinkError


class AsyncCaller:
    """Sends the requests of one key: in turn, and again after temporary failures."""

    def __init__(self, url: str, key: str | None, timeout: float, retry_for: float) -> None:
        self.maker = RequestMaker(url, key)
        self.timeout = timeout
        self.retry_for = retry_for
        self.transport = AsyncTransport()
        self._turn = asyncio.Lock()
        self._window = Window()

    async def call(
        self,
        route: str,
        values: Mapping[str, Any],
        *,
        missing: str | None = None,
        idempotency_key: str | None = None,
        retry_for: float | None = None,
    ) -> Any:
        headers = {} if idempotency_key is None else {"idempotency-key": idempotency_key}
        request = self.maker.make(route, values, self.timeout, headers)
        try:
            return await self._retrying(request, self._data, self.retry_for if retry_for is None else retry_for)
        except AccountLinkError as error:
            if error.code == missing:
                return None
            raise

    async def open(
        self, route: str, values: Mapping[str, Any], headers: Mapping[str, str], retry_for: float
    ) -> AsyncResponse:
        return await self._retrying(self.maker.make(route, values, self.timeout, headers), self._stream, retry_for)

    async def _data(self, request: Request) -> Any:
        response = await self._send(request)
        return data_of(request.route, response.status, response.headers, response.body or b"")

    async def _stream(self, request: Request) -> AsyncResponse:
        response = await self._send(request)
        if response.body is not None and response.status != 204:
            data_of(request.route, response.status, response.headers, response.body)
        return response

    async def _send(self, request: Request) -> AsyncResponse:
        if not request.is_paced:
            return await self.transport.send(request)
        async with self._turn:
            while (delay := self._window.delay()) > 0:
                await asyncio.sleep(min(delay, 0.1))
        headers: Mapping[str, str] = {}
        try:
            response = await self.transport.send(request)
            headers = response.headers
            return response
        finally:
            self._window.learn(headers)

    async def _retrying(self, request: Request, attempt: Any, retry_for: float) -> Any:
        end: float | None = None
        attempts = 0
        while True:
            try:
                return await attempt(request)
            except AccountLinkError as error:
                delay = retry_delay(error, attempts)
                end = time.monotonic() + retry_for if end is None else end
                if delay is None or time.monotonic() + delay > end:
                    raise
            await asyncio.sleep(delay)
            attempts += 1
