/**
 * v2 verification sessions.
 *
 * @example
 * ```ts
 * import { Schema } from "effect";
 *
 * const reads = [SessionsV2.getSession, SessionsV2.streamSession, SessionsV2.redirectSession];
 * reads.map(pathTemplate).every((path) => path.startsWith("/v2/sessions/{sid}")); // true
 * Object.keys(SessionsV2.createSession.parameters); // ["clientId", "guildId", "chatId", "redirect"]
 * SessionsV2.cancelSession.codes.has("CONFLICT"); // true
 * Schema.is(SessionEvents)("event: timeout\\ndata: {}"); // true
 * ```
 */
import { Schema } from "effect";
import { sid } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import {
  creation,
  creationExample,
  exampleSession,
  reading,
  readingExample,
  Session,
  SessionEvents,
  streamDescription,
  streamExample,
} from "../session.ts";
import { success } from "./envelope.ts";

const shared = {
  generation: "v2",
  access: "key",
  group: "session",
  keyAccess: ["verify"],
  traffic: "verify",
} as const;

export const createSession = defineRoute({
  ...shared,
  id: "createSession",
  method: "POST",
  path: "/v2/sessions",
  summary: "Create a verification session",
  description: "It lives 5 minutes. Send its user to `url`, and read how it ends in one of three ways.",
  parameters: creation,
  source: "body",
  isIdempotent: true,
  status: 201,
  success: success(Session, 201),
  example: creationExample,
});

export const getSession = defineRoute({
  ...shared,
  id: "getSession",
  method: "GET",
  path: "/v2/sessions/:sid",
  summary: "Read a verification session",
  description:
    "With `wait` it is a long poll: the answer comes when the state changes, or when the time is over. One read of a session is open at a time; a new one ends the older.",
  parameters: reading,
  source: "query",
  success: success(Session),
  example: readingExample,
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"],
});

export const streamSession = defineRoute({
  ...shared,
  id: "streamSession",
  method: "GET",
  path: "/v2/sessions/:sid/stream",
  summary: "Read a verification session as a stream of at most 30 seconds",
  description: streamDescription,
  parameters: { sid },
  source: "query",
  success: SessionEvents,
  isStream: true,
  example: streamExample,
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"],
});

export const redirectSession = defineRoute({
  id: "redirectSession",
  generation: "v2",
  method: "GET",
  path: "/v2/sessions/:sid/redirect",
  summary: "Redirect a user into the public verification flow",
  description: "Needs no key, and redirects whatever the sid is: the page of the flow says what is wrong.",
  parameters: { sid },
  source: "query",
  access: "redirect",
  group: null,
  success: Schema.Void,
  example: { values: { sid: exampleSession.sid }, answer: undefined },
});

export const cancelSession = defineRoute({
  ...shared,
  id: "cancelSession",
  method: "DELETE",
  path: "/v2/sessions/:sid",
  summary: "Cancel a verification session",
  description: "A session that is final is a `CONFLICT`.",
  parameters: { sid },
  source: "query",
  isIdempotent: true,
  success: success(Session),
  example: {
    values: { sid: exampleSession.sid },
    answer: { data: { ...exampleSession, state: "cancelled" } },
  },
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED", "CONFLICT"],
});
