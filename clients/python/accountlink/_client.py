# Written from _async_client.py.
"""The synchronous client."""

from __future__ import annotations

import time
import copy
import json
import time
from collections.abc import Iterator, Iterable, Mapping
from typing import Any, Literal, cast

from ._caller import Caller
from ._methods import (
    AltsMethods,
    EventsMethods,
    KeysMethods,
    LinksMethods,
    MembersMethods,
    SessionsMethods,
)
from ._transport import Response
from ._requests import EventParser, FollowedEvent, ServerEvent
from .contract import Id, ListLinksData, VerificationSession
from .errors import AccountLinkError

_INTERVAL = 2.0
"""Seconds from the beginning of a read of a session to the next one, and until a broken feed is opened again"""

_DELAY = 0.1
"""The service counts the interval from when a read reaches it, which takes longer for some reads than for others"""


def _events_of(response: Response) -> Iterator[ServerEvent]:
    parser = EventParser()
    for line in response.lines():
        event = parser.next(line)
        if event is not None:
            yield event


class Links(LinksMethods):
    """Links, in both directions. With a guild-scoped key each method except the listings needs its `guild_id`."""

    def pages(self, *, limit: int = 1000) -> Iterator[ListLinksData]:
        """All links, page by page. Follow the events from `events` of a page on to keep the list up to date."""
        page: ListLinksData = self.list(limit=limit)
        yield page
        while page["cursor"] is not None:
            page = self.list(limit=limit, cursor=page["cursor"])
            yield page


class Events(EventsMethods):
    """Changes in the key's scope."""

    def follow(
        self,
        *,
        cursor: str | None = None,
        from_: Literal["now", "oldest"] = "now",
        types: Iterable[str] = (),
        chat_id: Id | None = None,
        game_id: Id | None = None,
        guild_id: Id | None = None,
    ) -> Iterator[FollowedEvent]:
        """Follows events from a cursor on, or from now on without one. `GET /v2/events/stream`

        It has no end: it connects again after restarts, rate limits and ended streams. Raises CONFLICT when the
        service no longer keeps events as old as the cursor.
        """
        cursor = cursor or None
        values: dict[str, Any] = {
            "cursor": cursor,
            "from": None if cursor is not None else from_,
            "types": ",".join(types) or None,
            "chatId": chat_id,
            "gameId": game_id,
            "guildId": guild_id,
        }
        endless = float("inf")
        if cursor is None and from_ == "now":
            # A stream that breaks before its first event does not say where it began.
            page = self._caller.call("getEvents", {**values, "limit": 1}, retry_for=endless)
            values = {**values, "cursor": page["cursor"], "from": None}
        while True:
            response = self._caller.open("streamEvents", values, {}, endless)
            is_over = False
            try:
                for event in _events_of(response):
                    values = {**values, "cursor": event.id, "from": None}
                    is_over = event.event == "timeout"
                    if is_over:
                        break
                    yield FollowedEvent(json.loads(event.data), event.id)
            finally:
                response.close()
            if not is_over:
                time.sleep(_INTERVAL)


def _is_final(session: VerificationSession) -> bool:
    return session["state"] not in ("pending", "opened")


class Sessions(SessionsMethods):
    """Verification sessions: send the user to `url` of a new one."""

    def poll(self, sid: str, *, wait: int = 25) -> Iterator[VerificationSession]:
        """The session at each change, by long poll. The last one is final."""
        state = ""
        while True:
            begun = time.monotonic()
            session: VerificationSession = self._caller.call("getSession", {"sid": sid, "wait": wait})
            if session["state"] != state:
                yield session
            if _is_final(session):
                return
            state = session["state"]
            time.sleep(max(0.0, begun + _INTERVAL + _DELAY - time.monotonic()))

    def wait(self, sid: str) -> VerificationSession:
        """Waits until a session is completed, failed or cancelled; raises SESSION_EXPIRED when it expires."""
        for session in self.poll(sid):
            if _is_final(session):
                return session
        raise RuntimeError("A session is polled up to its final state")

    def watch(self, sid: str) -> Iterator[VerificationSession]:
        """The current session and each change, by stream, up to the final state. `GET /v2/sessions/:sid/stream`"""
        last = ""
        session: VerificationSession | None = None
        while True:
            headers = {"last-event-id": last} if last else {}
            try:
                response = self._caller.open("streamSession", {"sid": sid}, headers, self._caller.retry_for)
            except AccountLinkError as error:
                if session is None or error.code != "SESSION_EXPIRED":
                    raise
                # The session expired between two streams.
                yield cast("VerificationSession", {**session, "state": "expired"})
                return
            begun = time.monotonic()
            try:
                # The service answers 204 if the final state was already sent.
                if response.status == 204:
                    return
                for event in _events_of(response):
                    last = event.id or last
                    if event.event == "timeout":
                        break
                    session = cast("VerificationSession", json.loads(event.data))
                    yield session
                    if _is_final(session):
                        return
            finally:
                response.close()
            # Two readers of a session end each other's streams: the pause after such a short stream slows them down.
            time.sleep(max(0.0, begun + _INTERVAL - time.monotonic()))

    def redirect_url(self, sid: str) -> str:
        """A URL that redirects a browser into the session. `GET /v2/sessions/:sid/redirect`"""
        return self._caller.maker.url("redirectSession", {"sid": sid})


class AccountLink:
    """A client of one service, with one key.

    `timeout`: seconds for one attempt; a long poll has its `wait` in addition. `retry_for`: seconds from the first
    failed attempt within which another may begin; 0 for one attempt.
    """

    def __init__(self, url: str, key: str | None = None, *, timeout: float = 15.0, retry_for: float = 30.0) -> None:
        self._bind(Caller(url, key, timeout, retry_for))

    def _bind(self, caller: Caller) -> None:
        self._caller = caller
        self.links = Links(caller)
        self.alts = AltsMethods(caller)
        self.events = Events(caller)
        self.keys = KeysMethods(caller)
        self.members = MembersMethods(caller)
        self.sessions = Sessions(caller)

    def with_options(self, *, timeout: float | None = None, retry_for: float | None = None) -> AccountLink:
        """The same client, with other times. Both keep one pace and close together."""
        caller, client = copy.copy(self._caller), copy.copy(self)
        caller.timeout = self._caller.timeout if timeout is None else timeout
        caller.retry_for = self._caller.retry_for if retry_for is None else retry_for
        client._bind(caller)
        return client

    def close(self) -> None:
        self._caller.transport.close()

    def __enter__(self) -> AccountLink:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
