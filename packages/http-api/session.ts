/** The verification session, which is the same in v1 and v2. */
import { ChatId, GameId, GuildId, Pid, Sid } from "@accountlink/core/ids";
import { gameProofs } from "@accountlink/core/links";
import { Schema } from "effect";
import { IsoTime } from "./iso_time.ts";
import { chatId, clientId, gameId, guildId, optional, redirect, sid, wait } from "./parameter.ts";

const fields = {
  sid: Sid,
  pid: Pid,
  clientId: Schema.String.annotate({ description: "The user's name or ID in the system of the caller" }),
  guildId: Schema.NullOr(GuildId),
  url: Schema.String.annotate({ description: "The URL where the user verifies" }),
  code: Schema.String.annotate({
    description: "The code to type at `codeUrl`, for a user who cannot open `url`, for example in a game",
  }),
  codeUrl: Schema.String.annotate({ description: "The URL where the user types `code`" }),
  createdAt: IsoTime,
  expiresAt: IsoTime,
  pollsRemaining: Schema.NullOr(Schema.Int).annotate({
    description: "How many more times the session can be read; null if there is no limit",
  }),
};

const onlyUser = Schema.NullOr(ChatId).annotate({
  description: "The only chat user who may complete the session",
});

const onlyPlayer = Schema.NullOr(GameId).annotate({
  description: "The only game user that the session may link",
});

const withoutLink = {
  chatId: onlyUser,
  gameId: onlyPlayer,
  linkChanged: Schema.Literal(false),
  previousGameId: Schema.Null,
  proof: Schema.Null,
  completedAt: Schema.Null,
};

/** How a game account was proven. */
export const proof = Schema.NullOr(
  Schema.Literals(gameProofs).annotate({
    identifier: "GameProof",
    description:
      "How the game account was proven. `connection`: the chat platform knows it. `oauth`: by a " +
      "sign-in at the game platform. `words`: by words in its public description. `session`: the session named its player. " +
      "`known`: proven to another community before",
  }),
).annotate({ description: "Null if the user kept the account that was linked before" });

/**
 * A session in responses and events. Its `state` decides which fields are null.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * Schema.is(Session)({ state: "pending" }); // false
 * ```
 */
export const Session = Schema.Union([
  Schema.Struct({
    ...fields,
    state: Schema.Literals(["pending", "opened", "cancelled", "expired"]),
    ...withoutLink,
    error: Schema.Null,
  }).annotate({ identifier: "UnlinkedSession" }),
  Schema.Struct({
    ...fields,
    state: Schema.Literal("completed"),
    chatId: ChatId,
    gameId: GameId,
    linkChanged: Schema.Boolean.annotate({ description: "Whether this session changed the stored link" }),
    previousGameId: Schema.NullOr(GameId),
    proof,
    completedAt: IsoTime,
    error: Schema.Null,
  }).annotate({ identifier: "CompletedSession" }),
  Schema.Struct({
    ...fields,
    state: Schema.Literal("failed"),
    ...withoutLink,
    error: Schema.Literal("link_removed").annotate({ description: "Why the session failed" }),
  }).annotate({ identifier: "FailedSession" }),
]).annotate({ identifier: "VerificationSession" });

/** The text of an event stream. */
export const SessionEvents = Schema.String;

const shared = {
  access: "key",
  group: "session",
  keyAccess: ["verify", "game"],
  traffic: "verify",
} as const;

export const ofOneSession = { ...shared, errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"] } as const;

export const exampleSid = { sid: "vs_0123456789abcdefghijABCDEFGHIJ0123456789_-A" };

export const creating = {
  ...shared,
  method: "POST",
  summary: "Create a verification session",
  parameters: {
    clientId,
    guildId: guildId(),
    chatId: optional(
      chatId(
        "The only chat user who may complete the session; must be a member of the guild, if one is given",
      ),
    ),
    gameId: optional(
      gameId(
        "The only game user that the session may link; only keys with access `full` or `game` may set it",
      ),
    ),
    redirect,
  },
  source: "body",
  status: 201,
  refuses: ["user_not_in_guild", "session_create"],
  example: { clientId: "player-7" },
} as const;

export const reading = {
  ...ofOneSession,
  method: "GET",
  summary: "Read a verification session",
  parameters: { sid, wait: wait() },
  source: "query",
  refuses: ["poll_interval", "poll_count"],
  example: exampleSid,
} as const;

/** What v1 and v2 share of `streamSession`. */
export const streaming = {
  ...ofOneSession,
  method: "GET",
  summary: "Read a verification session as a stream of at most 30 seconds",
  parameters: { sid },
  source: "query",
  refuses: ["poll_interval", "poll_count"],
  success: SessionEvents,
  isStream: true,
  example: exampleSid,
} as const;
