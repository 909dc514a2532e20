# Written from _async_caller.py.
"""Sends the requests of the synchronous client."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from ._transport import Response, Transport
from ._requests import Request, RequestMaker, Window, data_of, retry_delay
from .errors import AccountLinkError


class Caller:
    """Sends the requests of one key: in turn, and again after temporary failures."""

    def __init__(self, url: str, key: str | None, timeout: float, retry_for: float) -> None:
        self.maker = RequestMaker(url, key)
        self.timeout = timeout
        self.retry_for = retry_for
        self.transport = Transport()
        self._turn = threading.Lock()
        self._window = Window()

    def call(
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
            return self._retrying(request, self._data, self.retry_for if retry_for is None else retry_for)
        except AccountLinkError as error:
            if error.code == missing:
                return None
            raise

    def open(
        self, route: str, values: Mapping[str, Any], headers: Mapping[str, str], retry_for: float
    ) -> Response:
        return self._retrying(self.maker.make(route, values, self.timeout, headers), self._stream, retry_for)

    def _data(self, request: Request) -> Any:
        response = self._send(request)
        return data_of(request.route, response.status, response.headers, response.body or b"")

    def _stream(self, request: Request) -> Response:
        response = self._send(request)
        if response.body is not None and response.status != 204:
            data_of(request.route, response.status, response.headers, response.body)
        return response

    def _send(self, request: Request) -> Response:
        if not request.is_paced:
            return self.transport.send(request)
        with self._turn:
            while (delay := self._window.delay()) > 0:
                time.sleep(min(delay, 0.1))
        headers: Mapping[str, str] = {}
        try:
            response = self.transport.send(request)
            headers = response.headers
            return response
        finally:
            self._window.learn(headers)

    def _retrying(self, request: Request, attempt: Any, retry_for: float) -> Any:
        end: float | None = None
        attempts = 0
        while True:
            try:
                return attempt(request)
            except AccountLinkError as error:
                delay = retry_delay(error, attempts)
                end = time.monotonic() + retry_for if end is None else end
                if delay is None or time.monotonic() + delay > end:
                    raise
            time.sleep(delay)
            attempts += 1
