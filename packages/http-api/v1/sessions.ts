/**
 * v1 verification sessions.
 */
import { chatId, clientId, guildId, optional, redirect, sid, wait } from "../parameter.ts";
import { defineRoute } from "../route.ts";
import { Session, SessionEvents, streamDescription } from "../session.ts";
import { verifySuccess } from "./envelope.ts";

const shared = { generation: "v1", access: "key", traffic: "verify" } as const;

export const createSession = defineRoute({
  ...shared,
  id: "createVerifySession",
  method: "POST",
  path: "/api/v1/verify/session",
  summary: "Create a verification session",
  parameters: {
    clientId: clientId(),
    guildId: guildId(),
    chatId: optional(chatId("The only chat user who may finish it; with a guild, a member of it")),
    redirect: redirect(),
  },
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
  parameters: { sid: sid(), wait: wait() },
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
