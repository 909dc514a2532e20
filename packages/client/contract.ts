/** The contract of v2. Generated from the routes of @accountlink/http-api. */

/** ID of a user of the chat platform */
export type ChatId = string;

/** ID of a user of the game platform */
export type GameId = string;

export interface GameBadge {
  readonly id: number;
  readonly name: string | null;
  readonly description: string | null;
  /** URL */
  readonly imageUrl: string | null;
}

export interface GameGroup {
  readonly id: number;
  readonly name: string | null;
  readonly memberCount: number | null;
  readonly hasVerifiedBadge: boolean | null;
  readonly role: {
    readonly id: number;
    readonly name: string | null;
    readonly rank: number | null;
  } | null;
}

export interface GameProfile {
  readonly username: string | null;
  readonly displayName: string | null;
  readonly id: string;
  readonly description: string | null;
  /** ISO 8601 timestamp */
  readonly created: string | null;
  readonly isBanned: boolean | null;
  readonly hasVerifiedBadge: boolean | null;
  readonly avatar: {
    /** URL */
    readonly headshot: string | null;
    /** URL */
    readonly fullBody: string | null;
  } | null;
  readonly badges: ReadonlyArray<GameBadge> | null;
  readonly groups: ReadonlyArray<GameGroup> | null;
}

export interface GuildMember {
  readonly nickname: string | null;
  /** ISO 8601 timestamp */
  readonly joined: string | null;
  readonly roles: ReadonlyArray<{
    readonly id: string;
    readonly name: string | null;
  }>;
}

export interface ChatProfile {
  readonly id: string;
  readonly username: string | null;
  readonly displayName: string | null;
  /** URL */
  readonly avatar: string | null;
  /** URL */
  readonly banner: string | null;
  /** ISO 8601 timestamp */
  readonly created: string | null;
  readonly guild: GuildMember | null;
}

/** Profiles of both accounts. Each profile is null unless it was requested and is available */
export interface ResolvedProfiles {
  readonly game: GameProfile | null;
  readonly chat: ChatProfile | null;
}

export interface ChatLookup {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly resolved: ResolvedProfiles;
}

/** ISO 8601 timestamp */
export type Timestamp = string;

export interface RateLimit {
  readonly limit: number | null;
  readonly remaining: number | null;
  readonly resetAt: Timestamp | null;
  /** Seconds to wait before the next request; null unless a limit refused this request */
  readonly retryAfter: number | null;
  readonly scope: "api_key" | "ip" | null;
  readonly bucket?:
    | "day"
    | "second"
    | "verify_day"
    | "session_create"
    | "poll_interval"
    | "poll_count"
    | "event_readers"
    | "ip_day"
    | "ip_second"
    | "ip_verify_day"
    | "ip_auth";
}

export interface Meta {
  /** `req_` followed by a ULID. The response header `X-Request-Id` has the same value */
  readonly requestId: string;
  readonly version: "2.0.0";
  readonly rateLimit: RateLimit;
  /** The tier of the key */
  readonly tier?: "free" | "premium";
}

export interface InvalidParameters {
  readonly parameters: ReadonlyArray<{
    readonly name: string;
    readonly reason: string;
  }>;
}

export interface ItemReason {
  readonly reason: string;
}

export interface BulkItemError {
  readonly code: "INVALID_PARAMETER" | "FORBIDDEN" | "LINK_NOT_FOUND" | "INTERNAL_ERROR";
  readonly message: string;
  readonly details: InvalidParameters | ItemReason | null;
  readonly status: number;
}

export interface BulkMeta {
  /** `req_` followed by a ULID. The response header `X-Request-Id` has the same value */
  readonly requestId: string;
  readonly version: "2.0.0";
  readonly rateLimit: RateLimit;
  /** The tier of the key */
  readonly tier?: "free" | "premium";
  readonly bulk: {
    readonly uniqueInputs: number;
    readonly maxInputs: number;
  };
}

export interface GameLookup {
  readonly gameId: GameId;
  /** At most 1,000 chat users, newest link first. With `guildId`, the members of that guild among the newest 100 */
  readonly chatIds: ReadonlyArray<ChatId>;
  readonly count: number;
  readonly resolved: {
    readonly game: GameProfile | null;
    /** Profiles of the first 25 chatIds, in the same order */
    readonly chat: ReadonlyArray<ChatProfile | null> | null;
  };
}

export interface VerificationStatus {
  readonly linked: boolean;
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  readonly linkVersion: number | null;
  readonly linkHash: string | null;
  readonly lastVerifiedAt: Timestamp | null;
  readonly resolved: ResolvedProfiles;
}

/** ID of a guild of the chat platform */
export type GuildId = string;

export interface AltEvidence {
  readonly kind: "review" | "game" | "device" | "address";
  /** The weight of this evidence, 0 to 1, not rounded */
  readonly weight: number;
  /** When the candidate was last seen in the shared browser or at the shared address; null for other evidence */
  readonly lastSeenAt: Timestamp | null;
  /** How many chat users of the scope were seen in this browser or at this address; null for other evidence */
  readonly chatUsers: number | null;
  readonly gameId: GameId | null;
}

export interface AltMatch {
  readonly chatId: ChatId;
  readonly gameId: GameId | null;
  /** Present only with `explain`: the combined weight of the evidence, 0 to 1 */
  readonly weight?: number;
  /** Present only with `explain`: the evidence, strongest first */
  readonly evidence?: ReadonlyArray<AltEvidence>;
  readonly resolved?: ResolvedProfiles;
}

export interface AltDetection {
  readonly target: {
    readonly chatId: ChatId | null;
    readonly gameId: GameId | null;
    readonly guildId: GuildId | null;
  };
  /** At most 25, most recent first */
  readonly matches: ReadonlyArray<AltMatch>;
  readonly risk: {
    readonly score: number;
    readonly severity: "LOW" | "MEDIUM" | "HIGH" | "CRITICAL";
    readonly alt?: number;
    readonly vpn?: number;
    /** The greatest weight of an unlisted match, if it is greater than the weight of every listed match; otherwise 0 */
    readonly unlistedWeight?: number;
  };
  readonly summary: { readonly matchCount: number };
  readonly resolved: boolean;
}

/** Public id of an API key */
export type KeyId = string;

export interface AltReview {
  readonly chatId: ChatId;
  readonly otherChatId: ChatId;
  readonly verdict: "different" | "same";
  readonly note: string | null;
  readonly at: Timestamp;
  /** Null for a review made on the dashboard */
  readonly keyId: KeyId | null;
}

/** Public id of a data scope */
export type Pid = string;

/** ID of a user of the chat platform, or `[erased]` */
export type EventChatId = string;

/** ID of a user of the game platform, or `[erased]` */
export type EventGameId = string;

/**
 * The origin of the change. `api`: an API key. `flow`: a verification flow. `user`: the chat user's own page.
 * `dashboard`: members of the account. `operator`: people who run the service
 */
export type EventSource = "api" | "flow" | "user" | "dashboard" | "operator";

/** What all kinds of `FeedEvent` have. */
export interface FeedEventBase {
  /** `evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests */
  readonly id: string;
  readonly at: Timestamp;
}

export interface LinkSetEvent extends FeedEventBase {
  readonly type: "link.set";
  readonly data: {
    readonly chatId: EventChatId;
    readonly gameId: EventGameId;
    readonly previousGameId: EventGameId | null;
    readonly linkVersion: number;
    readonly lastVerifiedAt: Timestamp;
    readonly source: EventSource;
  };
}

export interface LinkMovedEvent extends FeedEventBase {
  readonly type: "link.moved";
  readonly data: {
    readonly chatId: EventChatId;
    readonly previousChatId: EventChatId;
    readonly gameId: EventGameId;
    readonly linkVersion: number;
    readonly lastVerifiedAt: Timestamp;
    readonly source: EventSource;
  };
}

export interface LinkRemovedEvent extends FeedEventBase {
  readonly type: "link.removed";
  readonly data: {
    readonly chatId: EventChatId;
    readonly gameId: null;
    readonly previousGameId: EventGameId;
    readonly linkVersion: number;
    readonly source: EventSource;
  };
}

export interface LinksImportedEvent extends FeedEventBase {
  readonly type: "links.imported";
  readonly data: {
    readonly count: number;
    readonly source: EventSource;
  };
}

export interface ScopeDeletedEvent extends FeedEventBase {
  readonly type: "scope.deleted";
  readonly data: {
    readonly deletedRecords: number;
    readonly source: EventSource;
  };
}

export interface UserErasedEvent extends FeedEventBase {
  readonly type: "user.erased";
  readonly data: { readonly chatId: EventChatId };
}

export interface SessionCompletedEvent extends FeedEventBase {
  readonly type: "session.completed";
  readonly data: {
    readonly clientId: string;
    readonly chatId: EventChatId | null;
    readonly gameId: EventGameId | null;
    readonly linkChanged: boolean;
    readonly previousGameId: EventGameId | null;
    readonly error: string | null;
  };
}

export interface SessionFailedEvent extends FeedEventBase {
  readonly type: "session.failed";
  readonly data: {
    readonly clientId: string;
    readonly chatId: EventChatId | null;
    readonly gameId: EventGameId | null;
    readonly linkChanged: boolean;
    readonly previousGameId: EventGameId | null;
    readonly error: string | null;
  };
}

export interface SessionCancelledEvent extends FeedEventBase {
  readonly type: "session.cancelled";
  readonly data: {
    readonly clientId: string;
    readonly chatId: EventChatId | null;
    readonly gameId: EventGameId | null;
    readonly linkChanged: boolean;
    readonly previousGameId: EventGameId | null;
    readonly error: string | null;
  };
}

export type FeedEvent =
  | LinkSetEvent
  | LinkMovedEvent
  | LinkRemovedEvent
  | LinksImportedEvent
  | ScopeDeletedEvent
  | UserErasedEvent
  | SessionCompletedEvent
  | SessionFailedEvent
  | SessionCancelledEvent;

/** Identifier of a verification session */
export type Sid = string;

/** What all kinds of `VerificationSession` have. */
export interface VerificationSessionBase {
  readonly sid: Sid;
  readonly pid: Pid;
  /** The user's name or ID in the system of the caller */
  readonly clientId: string;
  readonly guildId: GuildId | null;
  /** The URL where the user verifies */
  readonly url: string;
  /** The code to type at `codeUrl`, for a user who cannot open `url`, for example in a game */
  readonly code: string;
  /** The URL where the user types `code` */
  readonly codeUrl: string;
  readonly createdAt: Timestamp;
  readonly expiresAt: Timestamp;
  /** How many more times the session can be read; null if there is no limit */
  readonly pollsRemaining: number | null;
}

export interface UnlinkedSession extends VerificationSessionBase {
  readonly state: "pending" | "opened" | "cancelled" | "expired";
  /** The only chat user who may complete the session */
  readonly chatId: ChatId | null;
  readonly gameId: null;
  readonly linkChanged: false;
  readonly previousGameId: null;
  readonly completedAt: null;
  readonly error: null;
}

export interface CompletedSession extends VerificationSessionBase {
  readonly state: "completed";
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Whether this session changed the stored link */
  readonly linkChanged: boolean;
  readonly previousGameId: GameId | null;
  readonly completedAt: Timestamp;
  readonly error: null;
}

export interface FailedSession extends VerificationSessionBase {
  readonly state: "failed";
  /** The only chat user who may complete the session */
  readonly chatId: ChatId | null;
  readonly gameId: null;
  readonly linkChanged: false;
  readonly previousGameId: null;
  readonly completedAt: null;
  /** Why the session failed */
  readonly error: "link_removed";
}

export type VerificationSession = UnlinkedSession | CompletedSession | FailedSession;

/** The results of a bulk route, in the order of its inputs. */
export interface BulkResults<Input, Found> {
  readonly results: ReadonlyArray<
    | { readonly input: Input; readonly found: true; readonly data: Found; readonly error: null }
    | { readonly input: Input; readonly found: false; readonly data: null; readonly error: BulkItemError }
  >;
  readonly count: number;
  readonly foundCount: number;
  /** Number of results with LINK_NOT_FOUND */
  readonly notFoundCount: number;
  /** Number of results with another error */
  readonly errorCount: number;
  readonly resolved: boolean;
}

/** The parameters that several routes take. */
interface SharedParameters {
  /** Only events with this game user as `gameId` or `previousGameId` */
  readonly gameId?: GameId | null | undefined;
  /** Whether to add profiles of both accounts; needs a Premium key */
  readonly resolved?: boolean | null | undefined;
  /** Whether to add the evidence that the score is computed from */
  readonly explain?: boolean | null | undefined;
  /** The user's ID on the chat platform */
  readonly chatId: ChatId;
  /** ID of the other chat user of the pair, different from `chatId` */
  readonly otherChatId: ChatId;
  /** Where to resume: the `cursor` of an earlier response, or the value `events` in a response of `GET /v2/links` */
  readonly cursor?: string | null | undefined;
  /** Where to begin without a cursor: at the present, or at the oldest stored event */
  readonly from?: "now" | "oldest" | null | undefined;
  /** Only events of these types, separated by commas */
  readonly types?: string | null | undefined;
  /** Required with a guild-scoped key, and must then be the key's own guild; optional with a global key */
  readonly guildId?: GuildId | null | undefined;
  /** Identifier of the session, `vs_…` */
  readonly sid: string;
}

/** The parameters and the data of each route. */
export interface Routes {
  /** Game user of a chat user. `GET /v2/chat` */
  readonly getChat: {
    readonly parameters: Pick<SharedParameters, "chatId" | "guildId" | "resolved">;
    readonly data: ChatLookup;
  };
  /** Game users of up to 50 chat users. `POST /v2/chat/bulk` */
  readonly bulkChat: {
    readonly parameters: Pick<SharedParameters, "guildId" | "resolved"> & {
      /** 1 to 50 IDs of chat users; duplicates count */
      readonly chatIds: ReadonlyArray<string>;
    };
    readonly data: BulkResults<{ readonly chatId: string }, ChatLookup>;
  };
  /** Chat users of a game user. `GET /v2/game` */
  readonly getGame: {
    readonly parameters: Pick<SharedParameters, "guildId" | "resolved"> & {
      /** The user's ID on the game platform */
      readonly gameId: GameId;
    };
    readonly data: GameLookup;
  };
  /** Chat users of up to 50 game users. `POST /v2/game/bulk` */
  readonly bulkGame: {
    readonly parameters: Pick<SharedParameters, "guildId" | "resolved"> & {
      /** 1 to 50 IDs of game users; duplicates count */
      readonly gameIds: ReadonlyArray<string>;
    };
    readonly data: BulkResults<{ readonly gameId: string }, GameLookup>;
  };
  /** List all links of the key's scope. `GET /v2/links` */
  readonly listLinks: {
    readonly parameters: {
      /** How many to return at most, 1 to 1000 */
      readonly limit?: number | null | undefined;
      /** The cursor of the previous page */
      readonly cursor?: string | null | undefined;
      /** Optional with a guild-scoped key, and must then be the key's own guild; refused with a global key */
      readonly guildId?: GuildId | null | undefined;
    };
    readonly data: {
      readonly links: ReadonlyArray<{
        readonly chatId: ChatId;
        readonly gameId: GameId;
        readonly linkVersion: number;
        readonly lastVerifiedAt: Timestamp;
      }>;
      /** Null on the last page */
      readonly cursor: string | null;
      /** The cursor of the event feed at the time of the first page */
      readonly events: string;
    };
  };
  /** Verification status of a chat user. `GET /v2/verifications/chat` */
  readonly getVerification: {
    readonly parameters: Pick<SharedParameters, "chatId" | "guildId" | "resolved">;
    readonly data: VerificationStatus;
  };
  /** Accounts that may belong to the same person. `GET /v2/alts` */
  readonly getAlts: {
    readonly parameters: Pick<SharedParameters, "guildId" | "explain"> & {
      /** The user's ID on the chat platform */
      readonly chatId?: ChatId | null | undefined;
      /** The user's ID on the game platform */
      readonly gameId?: GameId | null | undefined;
      /** IPv4 or IPv6 address; all IPv6 addresses of a /64 match */
      readonly ip?: string | null | undefined;
      /** Whether to add profiles of both accounts to each match; needs a Premium key */
      readonly resolved?: boolean | null | undefined;
    };
    readonly data: AltDetection;
  };
  /** Accounts that may belong to the people behind up to 10 game users. `POST /v2/alts/bulk` */
  readonly bulkAlts: {
    readonly parameters: Pick<SharedParameters, "guildId" | "explain"> & {
      /** 1 to 10 IDs of game users; duplicates count */
      readonly gameIds: ReadonlyArray<string>;
      /** Whether to add profiles of both accounts to each match; needs a Premium key */
      readonly resolved?: boolean | null | undefined;
    };
    readonly data: BulkResults<{ readonly gameId: string }, AltDetection>;
  };
  /** Delete the review of two chat users. `DELETE /v2/alts/reviews` */
  readonly deleteAltReview: {
    readonly parameters: Pick<SharedParameters, "otherChatId" | "guildId"> & {
      /** ID of one chat user of the pair */
      readonly chatId: ChatId;
    };
    readonly data: {
      readonly chatId: ChatId;
      readonly otherChatId: ChatId;
      readonly deleted: boolean;
    };
  };
  /** Reviews of the pairs that a chat user is in. `GET /v2/alts/reviews` */
  readonly getAltReviews: {
    readonly parameters: Pick<SharedParameters, "chatId" | "guildId">;
    readonly data: {
      /** At most 100, newest first */
      readonly reviews: ReadonlyArray<AltReview>;
    };
  };
  /** Record whether two chat users are the same person. `PUT /v2/alts/reviews` */
  readonly putAltReview: {
    readonly parameters: Pick<SharedParameters, "otherChatId" | "guildId"> & {
      /** ID of one chat user of the pair */
      readonly chatId: ChatId;
      /** Whether the two users are different persons or the same one */
      readonly verdict: "different" | "same";
      /** At most 500 characters */
      readonly note?: string | null | undefined;
    };
    readonly data: { readonly review: AltReview };
  };
  /** Move a link to another chat user. `PATCH /v2/chat` */
  readonly patchChat: {
    readonly parameters: Pick<SharedParameters, "guildId"> & {
      /** ID of the chat user who has the link now */
      readonly oldChatId: ChatId;
      /** ID of the chat user who gets the link */
      readonly newChatId: ChatId;
    };
    readonly data: {
      readonly previousChatId: ChatId;
      readonly chatId: ChatId;
      readonly gameId: GameId;
      readonly updated: boolean;
    };
  };
  /** Delete all link data of the key's scope. `DELETE /v2/data` */
  readonly deleteData: {
    readonly parameters: {
      /** Must be true */
      readonly confirm: true;
      /** Required with a guild-scoped key, and must then be the key's own guild; refused with a global key */
      readonly guildId?: GuildId | null | undefined;
    };
    readonly data: {
      readonly deletedRecords: number;
      readonly scope: "global" | "guild";
      readonly pid: Pid;
      readonly collection: "links";
    };
  };
  /** Remove the game link of a chat user. `DELETE /v2/game` */
  readonly deleteGame: {
    readonly parameters: Pick<SharedParameters, "chatId" | "guildId">;
    readonly data: {
      readonly chatId: ChatId;
      readonly removedGameId: GameId;
      readonly deleted: true;
    };
  };
  /** Link a chat user to a game user. `PATCH /v2/game` */
  readonly patchGame: {
    readonly parameters: Pick<SharedParameters, "chatId" | "guildId"> & {
      /** The user's ID on the game platform */
      readonly gameId: GameId;
    };
    readonly data: {
      readonly chatId: ChatId;
      readonly gameId: GameId;
      readonly previousGameId: GameId | null;
      readonly updated: boolean;
    };
  };
  /** Apply the guild's role plan to a member now. `POST /v2/members/sync` */
  readonly syncMember: {
    readonly parameters: {
      /** ID of a member of the guild */
      readonly chatId: ChatId;
      /** The guild of the member; with a guild-scoped key, the key's own guild */
      readonly guildId: GuildId;
    };
    readonly data: {
      readonly chatId: ChatId;
      readonly added: ReadonlyArray<string>;
      readonly removed: ReadonlyArray<string>;
      readonly nickname: string | null;
    };
  };
  /** Read the changes in the key's scope. `GET /v2/events` */
  readonly getEvents: {
    readonly parameters: Pick<SharedParameters, "cursor" | "from" | "types" | "gameId"> & {
      /** How many to return at most, 1 to 100 */
      readonly limit?: number | null | undefined;
      /** Whole seconds to wait for an event, at most 25 */
      readonly wait?: number | null | undefined;
      /** Only events with this chat user as `chatId` or `previousChatId` */
      readonly chatId?: ChatId | null | undefined;
      /** Optional with a guild-scoped key, and must then be the key's own guild; refused with a global key */
      readonly guildId?: GuildId | null | undefined;
    };
    readonly data: {
      readonly events: ReadonlyArray<FeedEvent>;
      /** The position after these events */
      readonly cursor: string;
      /** Whether the feed may already have more events after the cursor */
      readonly more: boolean;
    };
  };
  /** Follow the changes in the key's scope as a stream of at most 30 seconds. `GET /v2/events/stream` */
  readonly streamEvents: {
    readonly parameters: Pick<SharedParameters, "cursor" | "from" | "types" | "gameId"> & {
      /** Only events with this chat user as `chatId` or `previousChatId` */
      readonly chatId?: ChatId | null | undefined;
      /** Optional with a guild-scoped key, and must then be the key's own guild; refused with a global key */
      readonly guildId?: GuildId | null | undefined;
    };
  };
  /** Report leaked keys. `POST /v2/keys/leaked` */
  readonly reportLeakedKey: {
    readonly parameters: {
      /** The complete key */
      readonly key: string;
    };
    readonly data: { readonly revoked: true };
  };
  /** Create a verification session. `POST /v2/sessions` */
  readonly createSession: {
    readonly parameters: Pick<SharedParameters, "guildId"> & {
      /** The user's name or ID in your own system; every response repeats it */
      readonly clientId: string;
      /** The only chat user who may complete the session; must be a member of the guild, if one is given */
      readonly chatId?: ChatId | null | undefined;
      /** Absolute http or https URL, of at most 2048 characters, whose origin is on the key's redirect list */
      readonly redirect?: string | null | undefined;
    };
    readonly data: VerificationSession;
  };
  /** Cancel a verification session. `DELETE /v2/sessions/:sid` */
  readonly cancelSession: {
    readonly parameters: Pick<SharedParameters, "sid">;
    readonly data: VerificationSession;
  };
  /** Read a verification session. `GET /v2/sessions/:sid` */
  readonly getSession: {
    readonly parameters: Pick<SharedParameters, "sid"> & {
      /** Whole seconds to wait for the next state, at most 25 */
      readonly wait?: number | null | undefined;
    };
    readonly data: VerificationSession;
  };
  /** Redirect a user into the public verification flow. `GET /v2/sessions/:sid/redirect` */
  readonly redirectSession: {
    readonly parameters: Pick<SharedParameters, "sid">;
  };
  /** Read a verification session as a stream of at most 30 seconds. `GET /v2/sessions/:sid/stream` */
  readonly streamSession: {
    readonly parameters: Pick<SharedParameters, "sid">;
  };
}

/** The ID of a route, such as `getChat`. */
export type RouteId = keyof Routes;

/** The type of `details` for each error code of the service. */
export interface RefusalDetails {
  /** An unreadable request, an unknown path or a wrong method */
  readonly BAD_REQUEST: null;
  /** Values are invalid, the game user does not exist, or `Service-Version` is unknown */
  readonly INVALID_PARAMETER: InvalidParameters;
  /** Required values are missing; `guildId` is required with a guild-scoped key */
  readonly MISSING_PARAMETER: { readonly parameters: ReadonlyArray<string> };
  /** The body is not the JSON that the route takes, is over 64 KiB (413) or is of another type (415) */
  readonly INVALID_BODY: { readonly reason: string };
  /** The key is missing, unknown, expired, revoked or disabled */
  readonly INVALID_API_KEY: null;
  /** The key, or the signed-in user, may not do this */
  readonly FORBIDDEN: {
    readonly reason:
      | "bot_not_in_guild"
      | "user_not_in_guild"
      | "new_user_not_in_guild"
      | "wrong_guild"
      | "ip_not_allowed"
      | "key_access"
      | "not_guild_manager";
  };
  /** The tier of the key does not include `resolved=true` or alt detection */
  readonly PREMIUM_REQUIRED: null;
  /** The scope of the key has no such link, or the chat user is not a member of the guild */
  readonly LINK_NOT_FOUND: null;
  /** The key has no such session, or its deadline was more than 24 hours ago */
  readonly SESSION_NOT_FOUND: null;
  /** The session has expired, possibly while a long poll waited */
  readonly SESSION_EXPIRED: null;
  /** The client's IP address sent too many requests, counted over all keys */
  readonly SHARED_IP_RATE_LIMITED: { readonly bucket: "ip_day" | "ip_second" | "ip_verify_day" | "ip_auth" };
  /** The key sent too many requests */
  readonly RATE_LIMITED: {
    readonly bucket:
      | "day"
      | "second"
      | "verify_day"
      | "session_create"
      | "poll_interval"
      | "poll_count"
      | "event_readers";
  };
  /** More than 50 inputs (10 for alt detection, 100 for leak reports); duplicates count */
  readonly BULK_LIMIT_EXCEEDED: {
    readonly limit: number;
    readonly received: number;
  };
  /** The request conflicts with what is stored, as its message says */
  readonly CONFLICT: {
    readonly reason:
      | "chat_already_linked"
      | "session_completed"
      | "session_failed"
      | "session_cancelled"
      | "idempotency_key_reused"
      | "idempotency_key_in_use"
      | "user_erased"
      | "cursor_expired"
      | "link_limit";
  };
  /** A store or a platform did not respond (503), or the service has a bug (500) */
  readonly INTERNAL_ERROR: null;
}

/** The value of the request header `Service-Version` for which these types are correct. */
export const serviceVersion = "2026-01-01";

/** The method and path of each route. `isIdempotent`: the route accepts an `Idempotency-Key`. */
export const routes = {
  getChat: { method: "GET", path: "/v2/chat" },
  bulkChat: { method: "POST", path: "/v2/chat/bulk" },
  getGame: { method: "GET", path: "/v2/game" },
  bulkGame: { method: "POST", path: "/v2/game/bulk" },
  listLinks: { method: "GET", path: "/v2/links" },
  getVerification: { method: "GET", path: "/v2/verifications/chat" },
  getAlts: { method: "GET", path: "/v2/alts" },
  bulkAlts: { method: "POST", path: "/v2/alts/bulk" },
  deleteAltReview: { method: "DELETE", path: "/v2/alts/reviews", isIdempotent: true },
  getAltReviews: { method: "GET", path: "/v2/alts/reviews" },
  putAltReview: { method: "PUT", path: "/v2/alts/reviews", isIdempotent: true },
  patchChat: { method: "PATCH", path: "/v2/chat", isIdempotent: true },
  deleteData: { method: "DELETE", path: "/v2/data", isIdempotent: true },
  deleteGame: { method: "DELETE", path: "/v2/game", isIdempotent: true },
  patchGame: { method: "PATCH", path: "/v2/game", isIdempotent: true },
  syncMember: { method: "POST", path: "/v2/members/sync" },
  getEvents: { method: "GET", path: "/v2/events" },
  streamEvents: { method: "GET", path: "/v2/events/stream" },
  reportLeakedKey: { method: "POST", path: "/v2/keys/leaked" },
  createSession: { method: "POST", path: "/v2/sessions", isIdempotent: true },
  cancelSession: { method: "DELETE", path: "/v2/sessions/:sid", isIdempotent: true },
  getSession: { method: "GET", path: "/v2/sessions/:sid" },
  redirectSession: { method: "GET", path: "/v2/sessions/:sid/redirect" },
  streamSession: { method: "GET", path: "/v2/sessions/:sid/stream" },
} as const;
