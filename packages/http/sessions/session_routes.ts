import { type ApiKey, VerificationSessions } from "@accountlink/core";
import { type ReadSession, redirectProblems } from "@accountlink/core/sessions";
import { formatTimestamp, timeOrNull } from "@accountlink/core/timestamp";
import { type Session, SessionsV1, SessionsV2 } from "@accountlink/http-api";
import { Effect } from "effect";
import { makeWaitProblems } from "../pipeline/parameters.ts";
import type { Pipeline } from "../pipeline/pipeline.ts";
import { redirectIntoFlow } from "../pipeline/redirect_into_flow.ts";
import type { RequestContext } from "../request_context.ts";
import { HttpSettings } from "../settings.ts";
import { eventStream, lastEventId, noEvents } from "./event_stream.ts";

export const sessionRoutes = Effect.fnUntraced(function* ({ keyed, streamed, write, keyless }: Pipeline) {
  const { publicUrl } = yield* HttpSettings;
  const sessions = yield* VerificationSessions;
  const onRead = { findProblems: yield* makeWaitProblems };
  const toResponse = sessionResponse(publicUrl);

  const created = (session: ReadSession) => ({ status: 201 as const, data: toResponse(session) });

  const read = ({ key, values }: ReadInput<{ readonly wait: number }>) =>
    Effect.map(sessions.poll(key, values.sid, values.wait * 1_000), (session) => ({
      data: toResponse(session),
    }));

  const stream = ({ key, values, context }: ReadInput<{}>) =>
    Effect.map(sessions.stream(key, values.sid, lastEventId(context)), (events) =>
      events === null ? noEvents(context) : eventStream(context, events, toResponse),
    );

  const onCreation = {
    findProblems: ({ redirect = null }: { readonly redirect?: string | null }, key: ApiKey) =>
      redirectProblems(key, redirect),
  };

  return [
    write(
      SessionsV2.createSession,
      created,
      ({ key, values, once, context }) => logged(context, sessions.create(key, values, once)),
      onCreation,
    ),
    keyed(SessionsV2.getSession, read, onRead),
    streamed(SessionsV2.streamSession, stream),
    keyless(SessionsV2.redirectSession, ({ values, context }) =>
      Effect.succeed(
        redirectIntoFlow(publicUrl, context.requestId, `?sid=${encodeURIComponent(values.sid)}`),
      ),
    ),
    write(
      SessionsV2.cancelSession,
      (session: ReadSession) => ({ data: toResponse(session) }),
      ({ key, values, once }) => sessions.cancel(key, values.sid, once),
    ),
    keyed(
      SessionsV1.createSession,
      ({ key, values, context }) => Effect.map(logged(context, sessions.create(key, values)), created),
      onCreation,
    ),
    keyed(SessionsV1.getSession, read, onRead),
    streamed(SessionsV1.streamSession, stream),
  ];
});

const logged = <A, E>({ requestId }: RequestContext, create: Effect.Effect<A, E>) =>
  Effect.annotateLogs(create, { requestId });

interface ReadInput<Values> {
  readonly key: ApiKey;
  readonly values: Values & { readonly sid: string };
  readonly context: RequestContext;
}

/**
 * Converts a session for a response. The cast is necessary: the state decides which fields are null, but the type of
 * the record does not express this.
 */
const sessionResponse = (publicUrl: string) => (session: ReadSession) =>
  ({
    sid: session.sid,
    pid: session.pid,
    clientId: session.clientId,
    guildId: session.guildId,
    state: session.state,
    url: `${publicUrl}/verify?sid=${session.sid}`,
    code: session.code,
    codeUrl: `${publicUrl}/go`,
    chatId: session.chatId,
    gameId: session.gameId,
    linkChanged: session.linkChanged,
    previousGameId: session.previousGameId,
    proof: session.proof,
    error: session.error,
    createdAt: formatTimestamp(session.createdAt),
    expiresAt: formatTimestamp(session.expiresAt),
    completedAt: timeOrNull(session.completedAt),
    pollsRemaining: session.pollsRemaining,
  }) as typeof Session.Encoded;
