"""The contract of v2. Generated from the routes of @accountlink/http-api."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Id = Union[str, int]
"""An ID that a method takes: digits, as text or as an integer"""


class GameBadge(TypedDict):
    id: int
    name: str | None
    description: str | None
    imageUrl: str | None
    """URL"""


class GameGroupRole(TypedDict):
    id: int
    name: str | None
    rank: int | None


class GameGroup(TypedDict):
    id: int
    name: str | None
    memberCount: int | None
    hasVerifiedBadge: bool | None
    role: GameGroupRole | None


class GameProfileAvatar(TypedDict):
    headshot: str | None
    """URL"""
    fullBody: str | None
    """URL"""


class GameProfile(TypedDict):
    username: str | None
    displayName: str | None
    id: str
    description: str | None
    created: str | None
    """ISO 8601 timestamp"""
    isBanned: bool | None
    hasVerifiedBadge: bool | None
    avatar: GameProfileAvatar | None
    badges: list[GameBadge] | None
    groups: list[GameGroup] | None


class GuildMemberRolesItem(TypedDict):
    id: str
    name: str | None


class GuildMember(TypedDict):
    nickname: str | None
    joined: str | None
    """ISO 8601 timestamp"""
    roles: list[GuildMemberRolesItem]


class ChatProfile(TypedDict):
    id: str
    username: str | None
    displayName: str | None
    avatar: str | None
    """URL"""
    banner: str | None
    """URL"""
    created: str | None
    """ISO 8601 timestamp"""
    guild: GuildMember | None


class ResolvedProfiles(TypedDict):
    """Profiles of both accounts. Each profile is None unless it was requested and is available"""
    game: GameProfile | None
    chat: ChatProfile | None


class ChatLookup(TypedDict):
    chatId: ChatId
    gameId: GameId
    resolved: ResolvedProfiles


class RateLimit(TypedDict):
    limit: int | None
    remaining: int | None
    resetAt: Timestamp | None
    retryAfter: int | None
    """Seconds to wait before the next request; None unless a limit refused this request"""
    scope: Literal["api_key", "ip"] | None
    bucket: NotRequired[Literal["day", "second", "verify_day", "session_create", "poll_interval", "poll_count", "event_readers", "platform_refusals", "sweeps", "dashboard_day", "ip_day", "ip_verify_day", "ip_auth", "ip_second"]]


class Meta(TypedDict):
    requestId: str
    """`req_` followed by a ULID. The response header `X-Request-Id` has the same value"""
    version: Literal["2.0.0"]
    rateLimit: RateLimit
    tier: NotRequired[Literal["free", "premium"]]
    """The tier of the key"""


class InvalidParametersParametersItem(TypedDict):
    name: str
    reason: str


class InvalidParameters(TypedDict):
    parameters: list[InvalidParametersParametersItem]


class ItemReason(TypedDict):
    reason: str


class BulkItemError(TypedDict):
    code: Literal["INVALID_PARAMETER", "FORBIDDEN", "LINK_NOT_FOUND", "INTERNAL_ERROR"]
    message: str
    details: InvalidParameters | ItemReason | None
    status: int


class BulkMetaBulk(TypedDict):
    uniqueInputs: int
    maxInputs: int


class BulkMeta(TypedDict):
    requestId: str
    """`req_` followed by a ULID. The response header `X-Request-Id` has the same value"""
    version: Literal["2.0.0"]
    rateLimit: RateLimit
    tier: NotRequired[Literal["free", "premium"]]
    """The tier of the key"""
    bulk: BulkMetaBulk


class GameLookupResolved(TypedDict):
    game: GameProfile | None
    chat: list[ChatProfile | None] | None
    """Profiles of the first 25 chatIds, in the same order"""


class GameLookup(TypedDict):
    gameId: GameId
    chatIds: list[ChatId]
    """At most 1,000 chat users, newest link first. With `guildId`, the newest 100 members of that guild among them"""
    count: int
    resolved: GameLookupResolved


class VerificationStatus(TypedDict):
    linked: bool
    chatId: ChatId
    gameId: GameId | None
    linkVersion: int | None
    linkHash: str | None
    lastVerifiedAt: Timestamp | None
    resolved: ResolvedProfiles


class AltEvidence(TypedDict):
    kind: Literal["review", "game", "device", "address"]
    weight: float
    """The weight of this evidence, 0 to 1, not rounded"""
    lastSeenAt: Timestamp | None
    """When the candidate was last seen in the shared browser or at the shared address; None for other evidence"""
    chatUsers: int | None
    """How many chat users of the scope were seen in this browser or at this address; None for other evidence"""
    gameId: GameId | None


class AltMatch(TypedDict):
    chatId: ChatId
    gameId: GameId | None
    weight: NotRequired[float]
    """Present only with `explain`: the combined weight of the evidence, 0 to 1"""
    evidence: NotRequired[list[AltEvidence]]
    """Present only with `explain`: the evidence, strongest first"""
    resolved: NotRequired[ResolvedProfiles]


class AltDetectionTarget(TypedDict):
    chatId: ChatId | None
    gameId: GameId | None
    guildId: GuildId | None


class AltDetectionRisk(TypedDict):
    score: int
    severity: Literal["LOW", "MEDIUM", "HIGH", "CRITICAL"]
    alt: NotRequired[int]
    vpn: NotRequired[int]
    unlistedWeight: NotRequired[float]
    """The greatest weight of an unlisted match, if it is greater than the weight of every listed match; otherwise 0"""


class AltDetectionSummary(TypedDict):
    matchCount: int


class AltDetection(TypedDict):
    target: AltDetectionTarget
    matches: list[AltMatch]
    """At most 25, most recent first"""
    risk: AltDetectionRisk
    summary: AltDetectionSummary
    resolved: bool


class AltReview(TypedDict):
    chatId: ChatId
    otherChatId: ChatId
    verdict: Literal["different", "same"]
    note: str | None
    at: Timestamp
    keyId: KeyId | None
    """None for a review made on the dashboard"""


class LinkSetEventData(TypedDict):
    chatId: EventChatId
    gameId: EventGameId
    previousGameId: EventGameId | None
    linkVersion: int
    lastVerifiedAt: Timestamp
    source: EventSource


class LinkSetEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["link.set"]
    at: Timestamp
    data: LinkSetEventData


class LinkMovedEventData(TypedDict):
    chatId: EventChatId
    previousChatId: EventChatId
    gameId: EventGameId
    linkVersion: int
    lastVerifiedAt: Timestamp
    source: EventSource


class LinkMovedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["link.moved"]
    at: Timestamp
    data: LinkMovedEventData


class LinkRemovedEventData(TypedDict):
    chatId: EventChatId
    gameId: None
    previousGameId: EventGameId
    linkVersion: int
    source: EventSource


class LinkRemovedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["link.removed"]
    at: Timestamp
    data: LinkRemovedEventData


class LinksImportedEventData(TypedDict):
    count: int
    source: EventSource


class LinksImportedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["links.imported"]
    at: Timestamp
    data: LinksImportedEventData


class ScopeDeletedEventData(TypedDict):
    deletedRecords: int
    source: EventSource


class ScopeDeletedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["scope.deleted"]
    at: Timestamp
    data: ScopeDeletedEventData


class UserErasedEventData(TypedDict):
    chatId: EventChatId


class UserErasedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["user.erased"]
    at: Timestamp
    data: UserErasedEventData


class SessionCompletedEventData(TypedDict):
    clientId: str
    chatId: EventChatId | None
    gameId: EventGameId | None
    linkChanged: bool
    previousGameId: EventGameId | None
    error: str | None
    proof: GameProof | None
    """None if the user kept the account that was linked before"""


class SessionCompletedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["session.completed"]
    at: Timestamp
    data: SessionCompletedEventData


class SessionFailedEventData(TypedDict):
    clientId: str
    chatId: EventChatId | None
    gameId: EventGameId | None
    linkChanged: bool
    previousGameId: EventGameId | None
    error: str | None


class SessionFailedEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["session.failed"]
    at: Timestamp
    data: SessionFailedEventData


class SessionCancelledEventData(TypedDict):
    clientId: str
    chatId: EventChatId | None
    gameId: EventGameId | None
    linkChanged: bool
    previousGameId: EventGameId | None
    error: str | None


class SessionCancelledEvent(TypedDict):
    id: str
    """`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests"""
    type: Literal["session.cancelled"]
    at: Timestamp
    data: SessionCancelledEventData


class UnlinkedSession(TypedDict):
    sid: Sid
    pid: Pid
    clientId: str
    """The user's name or ID in the system of the caller"""
    guildId: GuildId | None
    url: str
    """The URL where the user verifies"""
    code: str
    """The code to type at `codeUrl`, for a user who cannot open `url`, for example in a game"""
    codeUrl: str
    """The URL where the user types `code`"""
    createdAt: Timestamp
    expiresAt: Timestamp
    pollsRemaining: int | None
    """How many more times the session can be read; None if there is no limit"""
    state: Literal["pending", "opened", "cancelled", "expired"]
    chatId: ChatId | None
    """The only chat user who may complete the session"""
    gameId: GameId | None
    """The only game user that the session may link"""
    linkChanged: Literal[False]
    previousGameId: None
    proof: None
    completedAt: None
    error: None


class CompletedSession(TypedDict):
    sid: Sid
    pid: Pid
    clientId: str
    """The user's name or ID in the system of the caller"""
    guildId: GuildId | None
    url: str
    """The URL where the user verifies"""
    code: str
    """The code to type at `codeUrl`, for a user who cannot open `url`, for example in a game"""
    codeUrl: str
    """The URL where the user types `code`"""
    createdAt: Timestamp
    expiresAt: Timestamp
    pollsRemaining: int | None
    """How many more times the session can be read; None if there is no limit"""
    state: Literal["completed"]
    chatId: ChatId
    gameId: GameId
    linkChanged: bool
    """Whether this session changed the stored link"""
    previousGameId: GameId | None
    proof: GameProof | None
    """None if the user kept the account that was linked before"""
    completedAt: Timestamp
    error: None


class FailedSession(TypedDict):
    sid: Sid
    pid: Pid
    clientId: str
    """The user's name or ID in the system of the caller"""
    guildId: GuildId | None
    url: str
    """The URL where the user verifies"""
    code: str
    """The code to type at `codeUrl`, for a user who cannot open `url`, for example in a game"""
    codeUrl: str
    """The URL where the user types `code`"""
    createdAt: Timestamp
    expiresAt: Timestamp
    pollsRemaining: int | None
    """How many more times the session can be read; None if there is no limit"""
    state: Literal["failed"]
    chatId: ChatId | None
    """The only chat user who may complete the session"""
    gameId: GameId | None
    """The only game user that the session may link"""
    linkChanged: Literal[False]
    previousGameId: None
    proof: None
    completedAt: None
    error: Literal["link_removed"]
    """Why the session failed"""


class BulkChatDataResultsItemInput(TypedDict):
    chatId: str


class BulkChatDataResultsItem(TypedDict):
    input: BulkChatDataResultsItemInput
    found: Literal[True]
    data: ChatLookup
    error: None


class BulkChatDataResultsItem2Input(TypedDict):
    chatId: str


class BulkChatDataResultsItem2(TypedDict):
    input: BulkChatDataResultsItem2Input
    found: Literal[False]
    data: None
    error: BulkItemError


class BulkChatData(TypedDict):
    results: list[BulkChatDataResultsItem | BulkChatDataResultsItem2]
    count: int
    foundCount: int
    notFoundCount: int
    """Number of results with LINK_NOT_FOUND"""
    errorCount: int
    """Number of results with another error"""
    resolved: bool


class BulkGameDataResultsItemInput(TypedDict):
    gameId: str


class BulkGameDataResultsItem(TypedDict):
    input: BulkGameDataResultsItemInput
    found: Literal[True]
    data: GameLookup
    error: None


class BulkGameDataResultsItem2Input(TypedDict):
    gameId: str


class BulkGameDataResultsItem2(TypedDict):
    input: BulkGameDataResultsItem2Input
    found: Literal[False]
    data: None
    error: BulkItemError


class BulkGameData(TypedDict):
    results: list[BulkGameDataResultsItem | BulkGameDataResultsItem2]
    count: int
    foundCount: int
    notFoundCount: int
    """Number of results with LINK_NOT_FOUND"""
    errorCount: int
    """Number of results with another error"""
    resolved: bool


class ListLinksDataLinksItem(TypedDict):
    chatId: ChatId
    gameId: GameId
    linkVersion: int
    lastVerifiedAt: Timestamp


class ListLinksData(TypedDict):
    links: list[ListLinksDataLinksItem]
    cursor: str | None
    """None on the last page"""
    events: str
    """The cursor of the event feed at the time of the first page"""


class BulkAltsDataResultsItemInput(TypedDict):
    gameId: str


class BulkAltsDataResultsItem(TypedDict):
    input: BulkAltsDataResultsItemInput
    found: Literal[True]
    data: AltDetection
    error: None


class BulkAltsDataResultsItem2Input(TypedDict):
    gameId: str


class BulkAltsDataResultsItem2(TypedDict):
    input: BulkAltsDataResultsItem2Input
    found: Literal[False]
    data: None
    error: BulkItemError


class BulkAltsData(TypedDict):
    results: list[BulkAltsDataResultsItem | BulkAltsDataResultsItem2]
    count: int
    foundCount: int
    notFoundCount: int
    """Number of results with LINK_NOT_FOUND"""
    errorCount: int
    """Number of results with another error"""
    resolved: bool


class DeleteAltReviewData(TypedDict):
    chatId: ChatId
    otherChatId: ChatId
    deleted: bool


class GetAltReviewsData(TypedDict):
    reviews: list[AltReview]
    """At most 100, newest first"""


class PutAltReviewData(TypedDict):
    review: AltReview


class PatchChatData(TypedDict):
    previousChatId: ChatId
    chatId: ChatId
    gameId: GameId
    updated: bool


class DeleteDataData(TypedDict):
    deletedRecords: int
    scope: Literal["global", "guild"]
    pid: Pid
    collection: Literal["links"]


class DeleteGameData(TypedDict):
    chatId: ChatId
    removedGameId: GameId
    deleted: Literal[True]


class PatchGameData(TypedDict):
    chatId: ChatId
    gameId: GameId
    previousGameId: GameId | None
    updated: bool


class SyncMemberData(TypedDict):
    chatId: ChatId
    added: list[str]
    removed: list[str]
    nickname: str | None


class GetEventsData(TypedDict):
    events: list[FeedEvent]
    cursor: str
    """The position after these events"""
    more: bool
    """Whether the feed may already have more events after the cursor"""


class ReportLeakedKeyData(TypedDict):
    revoked: Literal[True]


class MissingParameterDetails(TypedDict):
    parameters: list[str]


class InvalidBodyDetails(TypedDict):
    reason: str


class ForbiddenDetails(TypedDict):
    reason: Literal["bot_not_in_guild", "user_not_in_guild", "new_user_not_in_guild", "wrong_guild", "ip_not_allowed", "key_access", "not_guild_manager"]


class SharedIpRateLimitedDetails(TypedDict):
    bucket: Literal["ip_day", "ip_verify_day", "ip_auth", "ip_second"]


class RateLimitedDetails(TypedDict):
    bucket: Literal["day", "second", "verify_day", "session_create", "poll_interval", "poll_count", "event_readers", "platform_refusals", "sweeps", "dashboard_day"]


class BulkLimitExceededDetails(TypedDict):
    limit: int
    received: int


class ConflictDetails(TypedDict):
    reason: Literal["chat_already_linked", "session_cancelled", "session_completed", "session_failed", "idempotency_key_reused", "idempotency_key_in_use", "user_erased", "cursor_expired", "link_limit", "blocked", "game_taken", "review_limit"]


ChatId = str
"""ID of a user of the chat platform"""

GameId = str
"""ID of a user of the game platform"""

Timestamp = str
"""ISO 8601 timestamp"""

GuildId = str
"""ID of a guild of the chat platform"""

KeyId = str
"""Public id of an API key"""

Pid = str
"""Public id of a data scope"""

EventChatId = str
"""ID of a user of the chat platform, or `[erased]`"""

EventGameId = str
"""ID of a user of the game platform, or `[erased]`"""

EventSource = Literal["api", "flow", "user", "dashboard", "operator"]
"""The origin of the change. `api`: an API key. `flow`: a verification flow. `user`: the chat user, on the own page or by a command in chat. `dashboard`: members of the account. `operator`: people who run the service"""

GameProof = Literal["connection", "oauth", "words", "session", "known"]
"""How the game account was proven. `connection`: the chat platform knows it. `oauth`: by a sign-in at the game platform. `words`: by words in its public description. `session`: the session named its player. `known`: proven to another community before"""

FeedEvent = LinkSetEvent | LinkMovedEvent | LinkRemovedEvent | LinksImportedEvent | ScopeDeletedEvent | UserErasedEvent | SessionCompletedEvent | SessionFailedEvent | SessionCancelledEvent

Sid = str
"""Identifier of a verification session"""

VerificationSession = UnlinkedSession | CompletedSession | FailedSession

ServiceCode = Literal[
    "BAD_REQUEST",  # An unreadable request, an unknown path or a wrong method
    "INVALID_PARAMETER",  # Values are invalid, the game user does not exist, or `Service-Version` is unknown
    "MISSING_PARAMETER",  # Required values are missing; `guildId` is required with a guild-scoped key
    "INVALID_BODY",  # The body is not the JSON that the route takes, is over 64 KiB (413) or is of another type (415)
    "INVALID_API_KEY",  # The key is missing, unknown, expired, revoked or disabled
    "FORBIDDEN",  # The key, or the signed-in user, may not do this
    "PREMIUM_REQUIRED",  # The tier of the key does not include `resolved=true` or alt detection
    "LINK_NOT_FOUND",  # The scope of the key has no such link, or the chat user is not a member of the guild
    "SESSION_NOT_FOUND",  # The key has no such session, or its deadline was more than 24 hours ago
    "SESSION_EXPIRED",  # The session has expired, possibly while a long poll waited
    "SHARED_IP_RATE_LIMITED",  # The client's IP address sent too many requests, counted over all keys
    "RATE_LIMITED",  # The key sent too many requests
    "BULK_LIMIT_EXCEEDED",  # More than 50 inputs (10 for alt detection, 100 for leak reports); duplicates count
    "CONFLICT",  # The request conflicts with what is stored, as its message says
    "INTERNAL_ERROR",  # A store or a platform did not respond (503), or the service has a bug (500)
]
"""The codes with which the service refuses a request"""

SERVICE_VERSION = "2026-01-01"
"""The dated contract that these types follow"""


class Route(NamedTuple):
    method: str
    path: str
    is_idempotent: bool
    parameters: tuple[str, ...]


ROUTES: dict[str, Route] = {
    "getChat": Route("GET", "/v2/chat", False, ("chatId", "guildId", "resolved",)),
    "bulkChat": Route("POST", "/v2/chat/bulk", False, ("chatIds", "guildId", "resolved",)),
    "getGame": Route("GET", "/v2/game", False, ("gameId", "guildId", "resolved",)),
    "bulkGame": Route("POST", "/v2/game/bulk", False, ("gameIds", "guildId", "resolved",)),
    "listLinks": Route("GET", "/v2/links", False, ("limit", "cursor", "guildId",)),
    "getVerification": Route("GET", "/v2/verifications/chat", False, ("chatId", "guildId", "resolved",)),
    "getAlts": Route("GET", "/v2/alts", False, ("chatId", "gameId", "ip", "guildId", "resolved", "explain",)),
    "bulkAlts": Route("POST", "/v2/alts/bulk", False, ("gameIds", "guildId", "resolved", "explain",)),
    "deleteAltReview": Route("DELETE", "/v2/alts/reviews", True, ("chatId", "otherChatId", "guildId",)),
    "getAltReviews": Route("GET", "/v2/alts/reviews", False, ("chatId", "guildId",)),
    "putAltReview": Route("PUT", "/v2/alts/reviews", True, ("chatId", "otherChatId", "verdict", "note", "guildId",)),
    "patchChat": Route("PATCH", "/v2/chat", True, ("oldChatId", "newChatId", "guildId",)),
    "deleteData": Route("DELETE", "/v2/data", True, ("confirm", "guildId",)),
    "deleteGame": Route("DELETE", "/v2/game", True, ("chatId", "guildId",)),
    "patchGame": Route("PATCH", "/v2/game", True, ("chatId", "gameId", "guildId",)),
    "syncMember": Route("POST", "/v2/members/sync", False, ("chatId", "guildId",)),
    "getEvents": Route("GET", "/v2/events", False, ("cursor", "from", "limit", "wait", "types", "chatId", "gameId", "guildId",)),
    "streamEvents": Route("GET", "/v2/events/stream", False, ("cursor", "from", "types", "chatId", "gameId", "guildId",)),
    "reportLeakedKey": Route("POST", "/v2/keys/leaked", False, ("key",)),
    "createSession": Route("POST", "/v2/sessions", True, ("clientId", "guildId", "chatId", "gameId", "redirect",)),
    "cancelSession": Route("DELETE", "/v2/sessions/:sid", True, ("sid",)),
    "getSession": Route("GET", "/v2/sessions/:sid", False, ("sid", "wait",)),
    "redirectSession": Route("GET", "/v2/sessions/:sid/redirect", False, ("sid",)),
    "streamSession": Route("GET", "/v2/sessions/:sid/stream", False, ("sid",)),
}
