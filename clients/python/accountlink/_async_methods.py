"""A method for each route of v2. Generated from the routes of @accountlink/http-api."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ._async_caller import AsyncCaller
from ._requests import OMITTED
from .contract import (
    Id,
    ChatLookup,
    GameLookup,
    VerificationStatus,
    AltDetection,
    AltReview,
    VerificationSession,
    BulkChatData,
    BulkGameData,
    ListLinksData,
    BulkAltsData,
    DeleteAltReviewData,
    PatchChatData,
    DeleteDataData,
    DeleteGameData,
    PatchGameData,
    SyncMemberData,
    GetEventsData,
    ReportLeakedKeyData,
)


class AsyncLinksMethods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def list(
        self,
        *,
        limit: int | None = OMITTED,
        cursor: str | None = OMITTED,
        guild_id: Id | None = OMITTED,
    ) -> ListLinksData:
        """List all links of the key's scope. `GET /v2/links`"""
        return await self._caller.call(
            "listLinks",
            {"limit": limit, "cursor": cursor, "guildId": guild_id},
        )

    async def get(
        self,
        chat_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
    ) -> ChatLookup | None:
        """Game user of a chat user; None if there is none. `GET /v2/chat`"""
        return await self._caller.call(
            "getChat",
            {"chatId": chat_id, "guildId": guild_id, "resolved": resolved},
            missing="LINK_NOT_FOUND",
        )

    async def get_many(
        self,
        chat_ids: Iterable[Id],
        *,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
    ) -> BulkChatData:
        """Game users of up to 50 chat users. `POST /v2/chat/bulk`"""
        return await self._caller.call(
            "bulkChat",
            {"chatIds": chat_ids, "guildId": guild_id, "resolved": resolved},
        )

    async def by_game(
        self,
        game_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
    ) -> GameLookup | None:
        """Chat users of a game user; None if there is none. `GET /v2/game`"""
        return await self._caller.call(
            "getGame",
            {"gameId": game_id, "guildId": guild_id, "resolved": resolved},
            missing="LINK_NOT_FOUND",
        )

    async def by_game_many(
        self,
        game_ids: Iterable[Id],
        *,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
    ) -> BulkGameData:
        """Chat users of up to 50 game users. `POST /v2/game/bulk`"""
        return await self._caller.call(
            "bulkGame",
            {"gameIds": game_ids, "guildId": guild_id, "resolved": resolved},
        )

    async def verification(
        self,
        chat_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
    ) -> VerificationStatus:
        """Verification status of a chat user. `GET /v2/verifications/chat`"""
        return await self._caller.call(
            "getVerification",
            {"chatId": chat_id, "guildId": guild_id, "resolved": resolved},
        )

    async def set(
        self,
        chat_id: Id,
        game_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> PatchGameData:
        """Link a chat user to a game user. `PATCH /v2/game`"""
        return await self._caller.call(
            "patchGame",
            {"chatId": chat_id, "gameId": game_id, "guildId": guild_id},
            idempotency_key=idempotency_key,
        )

    async def move(
        self,
        old_chat_id: Id,
        new_chat_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> PatchChatData:
        """Move a link to another chat user. `PATCH /v2/chat`"""
        return await self._caller.call(
            "patchChat",
            {"oldChatId": old_chat_id, "newChatId": new_chat_id, "guildId": guild_id},
            idempotency_key=idempotency_key,
        )

    async def delete(
        self,
        chat_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> DeleteGameData:
        """Remove the game link of a chat user. `DELETE /v2/game`"""
        return await self._caller.call(
            "deleteGame",
            {"chatId": chat_id, "guildId": guild_id},
            idempotency_key=idempotency_key,
        )

    async def delete_all(
        self,
        *,
        confirm: Literal[True],
        guild_id: Id | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> DeleteDataData:
        """Delete all link data of the key's scope. `DELETE /v2/data`"""
        return await self._caller.call(
            "deleteData",
            {"confirm": confirm, "guildId": guild_id},
            idempotency_key=idempotency_key,
        )


class AsyncMembersMethods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def sync(
        self,
        chat_id: Id,
        guild_id: Id,
    ) -> SyncMemberData:
        """Apply the guild's role plan to a member now. `POST /v2/members/sync`"""
        return await self._caller.call(
            "syncMember",
            {"chatId": chat_id, "guildId": guild_id},
        )


class AsyncAltsMethods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def find(
        self,
        *,
        chat_id: Id | None = OMITTED,
        game_id: Id | None = OMITTED,
        ip: str | None = OMITTED,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
        explain: bool | None = OMITTED,
    ) -> AltDetection:
        """Accounts that may belong to the same person. `GET /v2/alts`"""
        return await self._caller.call(
            "getAlts",
            {"chatId": chat_id, "gameId": game_id, "ip": ip, "guildId": guild_id, "resolved": resolved, "explain": explain},
        )

    async def find_many(
        self,
        game_ids: Iterable[Id],
        *,
        guild_id: Id | None = OMITTED,
        resolved: bool | None = OMITTED,
        explain: bool | None = OMITTED,
    ) -> BulkAltsData:
        """Accounts that may belong to the people behind up to 10 game users. `POST /v2/alts/bulk`"""
        return await self._caller.call(
            "bulkAlts",
            {"gameIds": game_ids, "guildId": guild_id, "resolved": resolved, "explain": explain},
        )

    async def review(
        self,
        chat_id: Id,
        other_chat_id: Id,
        verdict: Literal["different", "same"],
        *,
        note: str | None = OMITTED,
        guild_id: Id | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> AltReview:
        """Record whether two chat users are the same person. `PUT /v2/alts/reviews`"""
        return (await self._caller.call(
            "putAltReview",
            {"chatId": chat_id, "otherChatId": other_chat_id, "verdict": verdict, "note": note, "guildId": guild_id},
            idempotency_key=idempotency_key,
        ))["review"]

    async def reviews(
        self,
        chat_id: Id,
        *,
        guild_id: Id | None = OMITTED,
    ) -> list[AltReview]:
        """Reviews of the pairs that a chat user is in. `GET /v2/alts/reviews`"""
        return (await self._caller.call(
            "getAltReviews",
            {"chatId": chat_id, "guildId": guild_id},
        ))["reviews"]

    async def delete_review(
        self,
        chat_id: Id,
        other_chat_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> DeleteAltReviewData:
        """Delete the review of two chat users. `DELETE /v2/alts/reviews`"""
        return await self._caller.call(
            "deleteAltReview",
            {"chatId": chat_id, "otherChatId": other_chat_id, "guildId": guild_id},
            idempotency_key=idempotency_key,
        )


class AsyncEventsMethods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def read(
        self,
        *,
        cursor: str | None = OMITTED,
        from_: Literal["now", "oldest"] | None = OMITTED,
        limit: int | None = OMITTED,
        wait: int | None = OMITTED,
        types: str | None = OMITTED,
        chat_id: Id | None = OMITTED,
        game_id: Id | None = OMITTED,
        guild_id: Id | None = OMITTED,
    ) -> GetEventsData:
        """Read the changes in the key's scope. `GET /v2/events`"""
        return await self._caller.call(
            "getEvents",
            {"cursor": cursor, "from": from_, "limit": limit, "wait": wait, "types": types, "chatId": chat_id, "gameId": game_id, "guildId": guild_id},
        )


class AsyncKeysMethods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def report_leaked(
        self,
        key: str,
    ) -> ReportLeakedKeyData:
        """Report leaked keys. `POST /v2/keys/leaked`"""
        return await self._caller.call(
            "reportLeakedKey",
            {"key": key},
        )


class AsyncSessionsMethods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self,
        client_id: Id,
        *,
        guild_id: Id | None = OMITTED,
        chat_id: Id | None = OMITTED,
        game_id: Id | None = OMITTED,
        redirect: str | None = OMITTED,
        idempotency_key: str | None = None,
    ) -> VerificationSession:
        """Create a verification session. `POST /v2/sessions`"""
        return await self._caller.call(
            "createSession",
            {"clientId": client_id, "guildId": guild_id, "chatId": chat_id, "gameId": game_id, "redirect": redirect},
            idempotency_key=idempotency_key,
        )

    async def get(
        self,
        sid: str,
        *,
        wait: int | None = OMITTED,
    ) -> VerificationSession | None:
        """Read a verification session; None if there is none. `GET /v2/sessions/:sid`"""
        return await self._caller.call(
            "getSession",
            {"sid": sid, "wait": wait},
            missing="SESSION_NOT_FOUND",
        )

    async def cancel(
        self,
        sid: str,
        *,
        idempotency_key: str | None = None,
    ) -> VerificationSession:
        """Cancel a verification session. `DELETE /v2/sessions/:sid`"""
        return await self._caller.call(
            "cancelSession",
            {"sid": sid},
            idempotency_key=idempotency_key,
        )
