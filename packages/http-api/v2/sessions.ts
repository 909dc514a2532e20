/**
 * v2 routes that create, read and cancel verification sessions, and redirect users into the verification flow.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const reads = [SessionsV2.getSession, SessionsV2.streamSession, SessionsV2.redirectSession];
 * reads.map(pathTemplate).every((path) => path.startsWith("/v2/sessions/{sid}")); // true
 * Object.keys(SessionsV2.createSession.parameters); // ["clientId", "guildId", "chatId", "gameId", "redirect"]
 * SessionsV2.cancelSession.codes.has("CONFLICT"); // true
 * Schema.is(SessionEvents)("event: timeout\\ndata: {}"); // true
 * ```
 */
import { Schema } from "effect";
import { sid } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { creating, exampleSid, ofOneSession, reading, Session, streaming } from "../session.ts";
import { success } from "./envelope.ts";

export const createSession = defineRoute({
  ...creating,
  id: "createSession",
  generation: "v2",
  path: "/v2/sessions",
  description:
    "A session expires after 5 minutes. Send its user to `url`, and read the result in one of three ways.",
  isIdempotent: true,
  success: success(Session, 201),
});

export const getSession = defineRoute({
  ...reading,
  id: "getSession",
  generation: "v2",
  path: "/v2/sessions/:sid",
  description:
    "With `wait` it is a long poll: the response comes when the state changes, or when the time is " +
    "over. A new read of a session ends an earlier one that is still open.",
  success: success(Session),
});

export const streamSession = defineRoute({
  ...streaming,
  id: "streamSession",
  generation: "v2",
  path: "/v2/sessions/:sid/stream",
  description:
    "Server-sent events: `session` with the session at once and on each change; its final state as " +
    "one event of that name (`completed`, `failed`, `cancelled`, `expired`), or `timeout`, ends " +
    "the stream. The id of an event is the change of the session; with a Last-Event-ID that is " +
    "up to date the first event is the next change. A comment every 10 seconds keeps the connection open.",
});

export const redirectSession = defineRoute({
  id: "redirectSession",
  generation: "v2",
  method: "GET",
  path: "/v2/sessions/:sid/redirect",
  summary: "Redirect a user into the public verification flow",
  description:
    "Needs no key, and redirects even for an invalid sid: the page of the flow explains the problem.",
  parameters: { sid },
  source: "query",
  access: "redirect",
  group: null,
  success: Schema.Void,
  example: exampleSid,
});

export const cancelSession = defineRoute({
  ...ofOneSession,
  id: "cancelSession",
  generation: "v2",
  method: "DELETE",
  path: "/v2/sessions/:sid",
  summary: "Cancel a verification session",
  description: "A session in a final state fails with `CONFLICT`.",
  parameters: { sid },
  source: "query",
  isIdempotent: true,
  success: success(Session),
  example: exampleSid,
  refuses: ["session_completed", "session_failed", "session_cancelled"],
});
