"""A client of accountlink, for Python 3.10 and newer.

    from accountlink import AccountLink

    client = AccountLink("https://links.example", key)
    link = client.links.get("100001")

`AccountLink` needs the standard library only, `AsyncAccountLink` needs aiohttp. Types of the answers are in
`accountlink.contract`.
"""

from ._async_client import AsyncAccountLink
from ._client import AccountLink
from ._requests import FollowedEvent
from .errors import AccountLinkError, ErrorCode
from .webhooks import InvalidWebhook, WebhookEvent, verify_webhook

__all__ = [
    "AccountLink",
    "AccountLinkError",
    "AsyncAccountLink",
    "ErrorCode",
    "FollowedEvent",
    "InvalidWebhook",
    "WebhookEvent",
    "verify_webhook",
]
