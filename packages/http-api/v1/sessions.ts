/**
 * v1 routes that create and read verification sessions.
 *
 * @example
 * ```ts
 * const reads = [SessionsV1.getSession, SessionsV1.streamSession];
 * [SessionsV1.createSession, ...reads].every(({ generation }) => generation === "v1"); // true
 * reads.map(pathTemplate); // ["/api/v1/verify/session/{sid}", "/api/v1/verify/session/{sid}/stream"]
 * ```
 */
import { defineRoute } from "../route.ts";
import { creating, reading, Session, streaming } from "../session.ts";
import { verifySuccess } from "./envelope.ts";

export const createSession = defineRoute({
  ...creating,
  id: "createVerifySession",
  generation: "v1",
  path: "/api/v1/verify/session",
  description: "A session expires after 5 minutes. Send its user to `url`, and read the result.",
  success: verifySuccess(Session, 201),
});

export const getSession = defineRoute({
  ...reading,
  id: "getVerifySession",
  generation: "v1",
  path: "/api/v1/verify/session/:sid",
  description:
    "With `wait` it is a long poll: the response comes when the state changes, or when the time is over.",
  success: verifySuccess(Session),
});

export const streamSession = defineRoute({
  ...streaming,
  id: "streamVerifySession",
  generation: "v1",
  path: "/api/v1/verify/session/:sid/stream",
  description: "Works like GET /v2/sessions/{sid}/stream.",
});
