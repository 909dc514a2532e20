/**
 * The verification session of both generations.
 */
import { ChatId, GameId, GuildId, Pid, Sid } from "@accountlink/core/ids";
import { Schema } from "effect";
import { HttpApiSchema } from "effect/http-api";
import { chatId, clientId, guildId, optional, redirect, sid, wait } from "./parameter.ts";

const IsoTime = Schema.String.annotate({ description: "ISO 8601 timestamp" });

/** A session as answers and events carry it. */
export const Session = Schema.Struct({
  sid: Sid,
  pid: Pid,
  clientId: Schema.String.annotate({ description: "The client's own name for its user" }),
  guildId: Schema.NullOr(GuildId),
  state: Schema.Literals(["pending", "opened", "completed", "failed", "cancelled", "expired"]),
  url: Schema.String.annotate({ description: "Where the user verifies" }),
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

/** What a session is created with. */
export const creation = {
  clientId: clientId(),
  guildId: guildId(),
  chatId: optional(chatId("The only chat user who may finish it; with a guild, a member of it")),
  redirect: redirect(),
};

/** What a session is read with. */
export const reading = { sid: sid(), wait: wait() };

/** The events of a session, as text. */
export const SessionEvents = Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/event-stream" }));

/** What a stream says, as the documentation tells it. */
export const streamDescription =
  "Server-sent events: `session` with the session at once and on each change; its final state as one event of that name (`completed`, `failed`, `cancelled`, `expired`), or `timeout`, ends the stream. The id of an event is the change of the session; with a Last-Event-ID that is up to date the first event is the next change. A comment every 10 seconds keeps the connection open.";
