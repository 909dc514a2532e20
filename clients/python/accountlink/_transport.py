"""Sends requests with the standard library."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

from ._requests import Request, unanswered

LONGEST_SILENCE = 25.0
"""Seconds. The service sends a comment every 10, so longer silence means a broken connection."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Following a redirect would end at a page."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class Response:
    def __init__(self, raw: Any, body: bytes | None) -> None:
        self.status: int = raw.status
        self.headers: dict[str, str] = {name.lower(): value for name, value in raw.headers.items()}
        self.body = body
        """None while a stream arrives"""
        self._raw = raw

    def lines(self) -> Iterator[str]:
        """The lines of a stream, until it ends or its connection breaks."""
        try:
            while line := self._raw.readline():
                # The last line of a broken connection can end within a character.
                yield line.decode(errors="replace").rstrip("\r\n")
        except (OSError, http.client.HTTPException):
            return

    def close(self) -> None:
        self._raw.close()


def _body_of(raw: Any, deadline: float) -> bytes:
    """The whole body. The timeout of the socket begins anew with each byte that arrives."""
    parts: list[bytes] = []
    while part := raw.read1(65536):
        parts.append(part)
        if time.monotonic() > deadline:
            raise TimeoutError
    if raw.length:
        raise http.client.IncompleteRead(b"", raw.length)
    return b"".join(parts)


class Transport:
    def __init__(self) -> None:
        self._opener = urllib.request.build_opener(_NoRedirects)

    def send(self, request: Request) -> Response:
        deadline = time.monotonic() + request.timeout
        outgoing = urllib.request.Request(request.url, request.body, request.headers, method=request.method)
        try:
            try:
                raw: Any = self._opener.open(outgoing, timeout=request.timeout)
                if raw.headers.get_content_type() == "text/event-stream":
                    # urllib has no other way to the socket.
                    raw.fp.raw._sock.settimeout(LONGEST_SILENCE)
                    return Response(raw, None)
            except urllib.error.HTTPError as refusal:
                raw = refusal
            with raw:
                return Response(raw, _body_of(raw, deadline))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise unanswered(request.route, None if isinstance(reason, TimeoutError) else reason) from None

    def close(self) -> None:
        """Nothing stays open."""
