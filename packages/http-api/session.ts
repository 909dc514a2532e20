/**
 * The verification session, which both generations share.
 */
import { ChatId, GameId, GuildId, Pid, Sid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { IsoTime } from "./iso_time.ts";
import { chatId, clientId, guildId, optional, redirect, sid, wait } from "./parameter.ts";

/**
 * A session in responses and events.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const [example] = routes.flatMap(({ id, example }) => (id === "createSession" ? [example?.answer] : []));
 * Schema.is(Session)((example as { data: unknown }).data); // true
 * ```
 */
export const Session = Schema.Struct({
  sid: Sid,
  pid: Pid,
  clientId: Schema.String.annotate({ description: "The client's own name for its user" }),
  guildId: Schema.NullOr(GuildId),
  state: Schema.Literals(["pending", "opened", "completed", "failed", "cancelled", "expired"]),
  url: Schema.String.annotate({ description: "Where the user verifies" }),
  code: Schema.String.annotate({
    description: "For a user who cannot open `url`, in a game for instance: to type at `codeUrl`",
  }),
  codeUrl: Schema.String.annotate({ description: "Where the user types `code`" }),
  chatId: Schema.NullOr(ChatId).annotate({
    description: "The only chat user who may finish it, or who did",
  }),
  gameId: Schema.NullOr(GameId).annotate({ description: "The game user that was linked" }),
  linkChanged: Schema.Boolean.annotate({ description: "Whether this session changed the stored link" }),
  previousGameId: Schema.NullOr(GameId),
  error: Schema.NullOr(Schema.Literal("link_removed")).annotate({ description: "Why it failed" }),
  createdAt: IsoTime,
  expiresAt: IsoTime,
  completedAt: Schema.NullOr(IsoTime),
  pollsRemaining: Schema.NullOr(Schema.Int).annotate({
    description: "How often it can still be read; null for any number of times",
  }),
}).annotate({ identifier: "VerificationSession" });

/** A new session, as the documentation shows it. */
export const exampleSession = {
  sid: "vs_0123456789abcdefghijABCDEFGHIJ0123456789_-A",
  pid: "pid_0123456789abcdefghij",
  clientId: "player-7",
  guildId: null,
  state: "pending",
  url: "http://127.0.0.1:8080/verify?sid=vs_0123456789abcdefghijABCDEFGHIJ0123456789_-A",
  code: "BCDF-2345",
  codeUrl: "http://127.0.0.1:8080/go",
  chatId: null,
  gameId: null,
  linkChanged: false,
  previousGameId: null,
  error: null,
  createdAt: "2026-01-05T12:00:00.000Z",
  expiresAt: "2026-01-05T12:05:00.000Z",
  completedAt: null,
  pollsRemaining: 150,
} as const;

const { sid: exampleSid } = exampleSession;

export const creationExample = { values: { clientId: "player-7" }, answer: { data: exampleSession } };

export const readingExample = {
  values: { sid: exampleSid },
  answer: { data: { ...exampleSession, pollsRemaining: 149 } },
};

/** The example of a stream whose time is over before anything happened. */
export const streamExample = {
  values: { sid: exampleSid },
  answer: `retry: 2000

id: 1
event: session
data: ${JSON.stringify(readingExample.answer.data)}

event: timeout
data: {}

`,
};

export const creation = {
  clientId,
  guildId: guildId(),
  chatId: optional(chatId("The only chat user who may finish it; with a guild, a member of it")),
  redirect,
};

export const reading = { sid, wait: wait() };

/** The stream of a session. */
export const SessionEvents = Schema.String;

export const streamDescription =
  "Server-sent events: `session` with the session at once and on each change; its final state as one event of that name (`completed`, `failed`, `cancelled`, `expired`), or `timeout`, ends the stream. The id of an event is the change of the session; with a Last-Event-ID that is up to date the first event is the next change. A comment every 10 seconds keeps the connection open.";
