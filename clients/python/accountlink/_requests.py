"""What both clients do without waiting: requests, answers, retries, pace and events."""

from __future__ import annotations

import json
import random
import re
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, cast
from urllib.parse import quote, urlencode

from .contract import ROUTES, SERVICE_VERSION, FeedEvent
from .errors import AccountLinkError

OMITTED: Any = object()
"""The default of an optional value. A None in a body is sent: the service refuses to delete with a guild of None,
whereas leaving the guild out would delete a whole global scope."""


_LONGEST_TIMER = 2_000_000.0
"""Seconds. Python raises OverflowError for longer ones, such as infinity."""


class _Hidden(str):
    """Text that tracebacks with local variables do not show."""

    def __repr__(self) -> str:
        return "…"


class Request(NamedTuple):
    route: str
    method: str
    url: str
    headers: dict[str, str]
    body: bytes | None
    timeout: float
    is_paced: bool


class RequestMaker:
    def __init__(self, url: str, key: str | None) -> None:
        if not re.match(r"https?://", url):
            raise ValueError(f'Cannot create a client: the url is "{url}", expected https://… or http://…')
        # Checked here, because the error for an invalid header would show the key.
        if key is not None and not re.fullmatch(r"[!-~]+", key):
            raise ValueError("Cannot create a client: the key is empty or has characters that no key has")
        self._base = url.rstrip("/")
        self._headers = {"service-version": SERVICE_VERSION, "user-agent": "accountlink-python"}
        if key is not None:
            self._headers["authorization"] = _Hidden(f"Bearer {key}")

    def url(self, route: str, values: Mapping[str, Any]) -> str:
        return self._base + re.sub(r":(\w+)", lambda name: quote(str(values[name[1]]), safe=""), ROUTES[route].path)

    def make(
        self, route: str, values: Mapping[str, Any], timeout: float, headers: Mapping[str, str] | None = None
    ) -> Request:
        method, path, is_idempotent, _ = ROUTES[route]
        given = {
            name: _ids_text(route, name, value) if re.search("ids?$", name, re.IGNORECASE) else value
            for name, value in values.items()
            if value is not OMITTED
        }
        sent = {name: value for name, value in given.items() if f":{name}" not in path}
        url, body = self.url(route, given), None
        all_headers = {**self._headers, **(headers or {})}
        if is_idempotent:
            key = all_headers.setdefault("idempotency-key", secrets.token_urlsafe(16))
            if not re.fullmatch("[!-~]{1,255}", key):
                raise _invalid(route, "Idempotency-Key", "expected 1 to 255 visible ASCII characters")
        if method == "GET":
            query = {name: _query_text(value) for name, value in sent.items() if value is not None}
            url += "?" + urlencode(query) if query else ""
        elif sent:
            body = json.dumps(sent).encode()
            all_headers["content-type"] = "application/json"
        # The limits of a key apply neither to sessions nor to leak reports.
        is_paced = re.search("sessions|leaked", path) is None
        within = min(timeout + float(given.get("wait") or 0), _LONGEST_TIMER)
        return Request(route, method, url, all_headers, body, within, is_paced)


def _query_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _ids_text(route: str, name: str, value: Any) -> Any:
    if not name.endswith("s"):
        return _id_text(route, name, value)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_id_text(route, name, each) for each in cast("Iterable[Any]", value)]
    raise _invalid(route, name, f"is of type {type(value).__name__}, expected a list of IDs")


def _id_text(route: str, name: str, value: Any) -> str | None:
    """Refuses floats, which have lost digits."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise _invalid(route, name, f"is of type {type(value).__name__}, expected digits, as text or as an integer")


def _invalid(route: str, name: str, reason: str) -> AccountLinkError:
    details = {"parameters": [{"name": name, "reason": reason}]}
    return AccountLinkError("INVALID_PARAMETER", f"Invalid parameter: {name} ({reason})", route=route, details=details)


def data_of(route: str, status: int, headers: Mapping[str, str], body: bytes) -> Any:
    """The data of an answer; raises its refusal."""
    try:
        envelope = _object(json.loads(body))
    except ValueError:
        envelope = {}
    if 200 <= status < 300 and "data" in envelope:
        return envelope["data"]
    error, meta = (_object(envelope.get(name)) for name in ("error", "meta"))
    # The error of a proxy may have a number as its code.
    if not all(isinstance(error.get(name), str) for name in ("code", "message")):
        error = {}
    raise AccountLinkError(
        error.get("code", "UNEXPECTED_RESPONSE"),
        error.get("message", f"The answer with status {status} is not one of the service"),
        route=route,
        details=_object(error.get("details")) or None,
        status=status,
        request_id=meta.get("requestId", headers.get("x-request-id")),
        retry_after=_seconds(headers.get("retry-after")),
    )


def _object(value: Any) -> dict[str, Any]:
    """Other answers, such as those of proxies, may have other types here."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _seconds(retry_after: str | None) -> float | None:
    """Seconds from the service, or a date from a proxy; None for anything else, which tells nothing."""
    if retry_after is None:
        return None
    if re.fullmatch(r"\d+(\.\d+)?", retry_after, re.ASCII):
        return float(retry_after)
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def unanswered(route: str, reason: object) -> AccountLinkError:
    """Raise it from None, because the frames of its reason hold the key. Without a reason, the answer is late."""
    if reason is None:
        return AccountLinkError("TIMEOUT", "The service did not answer in time", route=route)
    return AccountLinkError("NETWORK_ERROR", f"The service cannot be reached: {reason}", route=route)


def retry_delay(error: AccountLinkError, attempts: int) -> float | None:
    """Seconds until the next attempt, no sooner than the service allows; None if another cannot help."""
    is_in_use = error.code == "CONFLICT" and (error.details or {}).get("reason") == "idempotency_key_in_use"
    # Proxies have statuses of their own, such as 520 to 524 of Cloudflare.
    is_temporary = error.status == 429 or (error.status or 0) >= 502
    if not (is_in_use or is_temporary or error.code in ("NETWORK_ERROR", "TIMEOUT")):
        return None
    # With jitter, so that clients that were refused together do not come back together.
    backoff = min(0.25 * 2 ** min(attempts, 5), 5.0) * random.uniform(0.5, 1.0)
    return (1.0 if is_in_use else min(error.retry_after or 0.0, _LONGEST_TIMER)) + backoff


LONGEST_WAIT = 30.0
"""Seconds. If the window opens later, such as at midnight, the request is sent at once and the service refuses it."""


class Window:
    """The pace of a key, as the headers RateLimit and RateLimit-Policy say: how many requests may go now."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._quota, self._width = 1.0, 2.0
        self._left, self._opens_at = 1.0, time.monotonic() + self._width
        self._in_flight = 0
        self._is_known = False

    def delay(self) -> float:
        """Seconds to wait; 0 when a request may go, which then counts."""
        with self._lock:
            wait = self._opens_at - time.monotonic()
            if self._left < 1 and 0 < wait <= LONGEST_WAIT:
                return wait
            if wait <= 0:
                self._left, self._opens_at = self._quota, time.monotonic() + self._width
            self._left -= 1
            self._in_flight += 1
            return 0.0

    def learn(self, headers: Mapping[str, str]) -> None:
        with self._lock:
            self._in_flight -= 1
            limit = re.search(r'"(\w+)";r=(\d+);t=(\d+)', headers.get("ratelimit", ""))
            if limit is None:
                if not self._is_known:
                    self._left = self._quota = float("inf")
                return
            policy = re.search(rf'"{limit[1]}";q=(\d+);w=(\d+)', headers.get("ratelimit-policy", ""))
            self._is_known = True
            self._quota, self._width = (float(policy[1]), float(policy[2])) if policy else (1.0, 1.0)
            self._left = float(limit[2]) - self._in_flight
            self._opens_at = time.monotonic() + float(limit[3])


class ServerEvent(NamedTuple):
    event: str
    data: str
    id: str
    """The ID of the last event that had one; empty before the first"""


class FollowedEvent(NamedTuple):
    event: FeedEvent
    cursor: str
    """The cursor after the event: save it once you have handled the event"""


class EventParser:
    """Takes the lines of a stream, and returns an event at the line that completes it."""

    def __init__(self) -> None:
        self._event = self._id = ""
        self._data: list[str] = []

    def next(self, line: str) -> ServerEvent | None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id":
            self._id = value
        if line or not self._data:
            return None
        event = ServerEvent(self._event or "message", "\n".join(self._data), self._id)
        self._event, self._data = "", []
        return event
