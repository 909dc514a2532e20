/**
 * v2 routes that read the feed of events.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const reads = [EventsV2.getEvents, EventsV2.streamEvents];
 * reads.every(({ codes, keyAccess }) => !codes.has("MISSING_PARAMETER") && keyAccess?.includes("read")); // true
 * Schema.is(EventsV2.Event)({ type: "link.set" }); // false
 * Schema.is(EventsV2.EventStream)("event: timeout\\ndata: {}"); // true
 * ```
 */
import { type EventType, eventTypes } from "@accountlink/core/events";
import { Schema } from "effect";
import { IsoTime } from "../iso_time.ts";
import {
  chatId,
  countUpTo,
  gameId,
  guildId,
  optional,
  pageCursor,
  required,
  wait,
  withFallback,
} from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { proof } from "../session.ts";
import { reading, successOf } from "./envelope.ts";

const EventChatId = Schema.String.annotate({
  identifier: "EventChatId",
  description: "ID of a user of the chat platform, or `[erased]`",
});

const EventGameId = Schema.String.annotate({
  identifier: "EventGameId",
  description: "ID of a user of the game platform, or `[erased]`",
});

const source = Schema.Literals(["api", "flow", "user", "dashboard", "operator"]).annotate({
  identifier: "EventSource",
  description:
    "The origin of the change. `api`: an API key. `flow`: a verification flow. `user`: the chat user, on the own page " +
    "or by a command in chat. `dashboard`: members of the account. `operator`: people who run the service",
});

const linkVersion = Schema.Int;
const lastVerifiedAt = IsoTime;

const eventOf = <Type extends EventType, Fields extends Schema.Struct.Fields>(type: Type, data: Fields) =>
  Schema.Struct({
    id: Schema.String.annotate({
      description:
        "`evt_` followed by a ULID. An event has the same ID in the feed, in streams and in webhook requests",
    }),
    type: Schema.Literal(type),
    at: IsoTime,
    data: Schema.Struct(data),
  }).annotate({ identifier: `${eventName(type)}Event` });

/** Converts `link.set` to `LinkSet`. @internal */
export const eventName = (type: string): string =>
  type
    .split(".")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

const sessionEnd = {
  clientId: Schema.String,
  chatId: Schema.NullOr(EventChatId),
  gameId: Schema.NullOr(EventGameId),
  linkChanged: Schema.Boolean,
  previousGameId: Schema.NullOr(EventGameId),
  error: Schema.NullOr(Schema.String),
};

export const Event = Schema.Union([
  eventOf("link.set", {
    chatId: EventChatId,
    gameId: EventGameId,
    previousGameId: Schema.NullOr(EventGameId),
    linkVersion,
    lastVerifiedAt,
    source,
  }),
  eventOf("link.moved", {
    chatId: EventChatId,
    previousChatId: EventChatId,
    gameId: EventGameId,
    linkVersion,
    lastVerifiedAt,
    source,
  }),
  eventOf("link.removed", {
    chatId: EventChatId,
    gameId: Schema.Null,
    previousGameId: EventGameId,
    linkVersion,
    source,
  }),
  eventOf("links.imported", { count: Schema.Int, source }),
  eventOf("scope.deleted", { deletedRecords: Schema.Int, source }),
  eventOf("user.erased", { chatId: EventChatId }),
  eventOf("session.completed", { ...sessionEnd, proof }),
  eventOf("session.failed", sessionEnd),
  eventOf("session.cancelled", sessionEnd),
]).annotate({ identifier: "FeedEvent" });

const anyOfTypes = eventTypes.map((type) => type.replace(".", "\\.")).join("|");

const shared = { ...reading, group: "lookup" } as const;

const start = {
  cursor: pageCursor(
    "Where to resume: the `cursor` of an earlier response, or the value `events` in a response of `GET /v2/links`",
  ),
  from: withFallback(
    required(
      Schema.Literals(["now", "oldest"]),
      "expected now or oldest",
      "Where to begin without a cursor: at the present, or at the oldest stored event",
    ),
    "now" as const,
  ),
};

const filters = {
  types: optional(
    required(
      Schema.String.check(Schema.isPattern(new RegExp(`^(?:${anyOfTypes})(?:,(?:${anyOfTypes}))*$`, "u"))),
      "expected types of events, separated by commas",
      "Only events of these types, separated by commas",
    ),
  ),
  chatId: optional(chatId("Only events with this chat user as `chatId` or `previousChatId`")),
  gameId: optional(gameId("Only events with this game user as `gameId` or `previousGameId`")),
  guildId: guildId({ guildKeys: "optional", globalKeys: "refused" }),
};

export const getEvents = defineRoute({
  ...shared,
  id: "getEvents",
  path: "/v2/events",
  summary: "Read the changes in the key's scope",
  description:
    "Oldest first. Read on with the `cursor` of each answer: none is missed and none comes twice. " +
    "With `wait` the answer comes when there is an event, or when the time is over. A cursor " +
    "that is older than the events that are kept is a `CONFLICT` `cursor_expired`: list the links anew.",
  parameters: { ...start, limit: countUpTo(100, 50), wait: wait("an event"), ...filters },
  success: successOf({
    events: Schema.Array(Event),
    cursor: Schema.String.annotate({ description: "The position after these events" }),
    more: Schema.Boolean.annotate({
      description: "Whether the feed may already have more events after the cursor",
    }),
  }),
  example: { from: "oldest", types: "link.set" },
  refuses: ["cursor_expired", "event_readers"],
});

export const EventStream = Schema.String;

export const streamEvents = defineRoute({
  ...shared,
  id: "streamEvents",
  path: "/v2/events/stream",
  summary: "Follow the changes in the key's scope as a stream of at most 30 seconds",
  description:
    "Server-sent events, each named as its type, with the event as data, and the cursor after it as " +
    "id; `timeout` ends the stream. A `Last-Event-ID` is a cursor, and wins over `cursor`. A " +
    "comment every 10 seconds keeps the connection open.",
  parameters: { ...start, ...filters },
  success: EventStream,
  isStream: true,
  example: { from: "oldest", types: "link.set" },
  refuses: ["cursor_expired", "event_readers"],
});
