/**
 * v1 verification sessions.
 */
import { sid } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { creation, reading, Session, SessionEvents, streamDescription } from "../session.ts";
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
  parameters: creation,
  source: "body",
  success: verifySuccess(Session, 201),
  errors: [],
});

export const getSession = defineRoute({
  ...shared,
  id: "getVerifySession",
  method: "GET",
  path: "/api/v1/verify/session/:sid",
  summary: "Read a verification session",
  parameters: reading,
  source: "query",
  success: verifySuccess(Session),
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"],
});

export const streamSession = defineRoute({
  ...shared,
  id: "streamVerifySession",
  method: "GET",
  path: "/api/v1/verify/session/:sid/stream",
  summary: "Read a verification session as a stream of at most 30 seconds",
  description: streamDescription,
  parameters: { sid: sid() },
  source: "query",
  success: SessionEvents,
  isStream: true,
  errors: ["SESSION_NOT_FOUND", "SESSION_EXPIRED"],
});
