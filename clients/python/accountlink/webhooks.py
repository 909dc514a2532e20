"""Verifies webhook requests, as Standard Webhooks 1.0 says."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from typing import Any, TypedDict, cast

_TOLERANCE = 300
"""The largest accepted difference between the clocks of both sides, in seconds"""


class WebhookScope(TypedDict):
    pid: str
    guildId: str | None


class WebhookEvent(TypedDict):
    id: str
    """The same in every attempt: skip events that you have seen"""
    type: str
    """As in the feed, or `test`"""
    timestamp: str
    """When the event happened, ISO 8601"""
    data: dict[str, Any]
    """As in the feed: `LinkSetEventData` and the like of `accountlink.contract`"""
    scope: WebhookScope


class InvalidWebhook(Exception):
    """The request does not come from the service, or is too old, so answer it with 400; or its secret is none.

    The message says which.
    """


_SECRET = re.compile(r"(?:whsec_)?((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)")
"""Base64 of at least 24 bytes, with or without its padding"""


def _key_of(secret: str) -> bytes:
    found = _SECRET.fullmatch(secret)
    if found is None:
        raise InvalidWebhook(
            'Cannot verify a webhook: its secret is none, expected "whsec_" and base64 as it was shown'
        )
    text = found.group(1)
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _bytes_of(text: str) -> bytes:
    """aiohttp gives bytes of a header that are no UTF-8 as surrogates, which `encode` refuses otherwise."""
    return text.encode(errors="surrogatepass")


def _event_of(event_id: str, raw: bytes) -> WebhookEvent:
    try:
        event = json.loads(raw)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise InvalidWebhook("Cannot read a webhook: its body is no JSON object")
    return cast(WebhookEvent, {**event, "id": event_id})


def verify_webhook(headers: Mapping[str, str], body: bytes | str, secret: str) -> WebhookEvent:
    """Returns the event of a request that is signed with the secret; raises InvalidWebhook for any other.

    `body` is the body as received, and `secret` is `whsec_…`, as shown when the webhook was created.
    """
    given = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    raw = _bytes_of(body) if isinstance(body, str) else body
    key = _key_of(secret)
    digest = hmac.new(key, _bytes_of(f"{event_id}.{timestamp}.") + raw, hashlib.sha256).digest()
    own = b"v1," + base64.b64encode(digest)
    is_signed = any(hmac.compare_digest(own, _bytes_of(each)) for each in signatures.split(" "))
    # The signature does not tell where the timestamp ends.
    if not is_signed or not timestamp.isdecimal():
        raise InvalidWebhook("The request is not signed with the secret")
    off = abs(round(time.time()) - int(timestamp))
    if off > _TOLERANCE:
        raise InvalidWebhook(
            f"The request is signed, but its time is {off} seconds off this clock, expected at most {_TOLERANCE}"
        )
    return _event_of(event_id, raw)
