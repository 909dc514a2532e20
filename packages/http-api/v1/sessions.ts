/**
 * v1 verification sessions.
 *
 * @example
 * ```ts
 * const reads = [SessionsV1.getSession, SessionsV1.streamSession];
 * [SessionsV1.createSession, ...reads].every(({ generation }) => generation === "v1"); // true
 * reads.map(pathTemplate); // ["/api/v1/verify/session/{sid}", "/api/v1/verify/session/{sid}/stream"]
 * ```
 */
import { sid } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import {
  creation,
  creationExample,
  reading,
  readingExample,
  Session,
  SessionEvents,
  streamExample,
} from "../session.ts";
import { verifySuccess } from "./envelope.ts";

const shared = {
  generation: "v1",
  access: "key",
  group: "session",
  keyAccess: ["verify"],
  traffic: "verify",
} as const;

export const createSession = defineRoute({
  ...shared,
  id: "createVerifySession",
  method: "POST",
  path: "/api/v1/verify/session",
  summary: "Create a verification session",
  description: "It lives 5 minutes. Send its user to `url`, and read how it ends.",
  parameters: creation,
  source: "body",
  status: 201,
  success: verifySuccess(Session, 201),
  example: creationExample,
});

export const getSession = defineRoute({
  ...shared,
  id: "getVerifySession",
  method: "GET",
  path: "/api/v1/verify/session/:sid",
  summary: "Read a verification session",
  description:
    "With `wait` it is a long poll: the answer comes when the state changes, or when the time is over.",
  parameters: reading,
  source: "query",
  success: verifySuccess(Session),
  example: readingExample,
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"],
});

export const streamSession = defineRoute({
  ...shared,
  id: "streamVerifySession",
  method: "GET",
  path: "/api/v1/verify/session/:sid/stream",
  summary: "Read a verification session as a stream of at most 30 seconds",
  description: "As GET /v2/sessions/{sid}/stream.",
  parameters: { sid },
  source: "query",
  success: SessionEvents,
  isStream: true,
  example: streamExample,
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"],
});
