/**
 * The session handlers of both generations.
 */
import {
  type ApiKey,
  InvalidParameter,
  type NewSession,
  type ReadSession,
  SessionSettings,
  VerificationSessions,
} from "@accountlink/core";
import { SessionsV1, SessionsV2 } from "@accountlink/http-api";
import { Effect } from "effect";
import { isoTime } from "./envelope.ts";
import { eventStream, noEvents } from "./event_stream.ts";
import type { Exchange } from "./exchange.ts";
import { type BoundRoute, type Pipeline, redirectIntoFlow } from "./pipeline.ts";
import { HttpSettings } from "./settings.ts";

export const sessionRoutes = Effect.fnUntraced(function* ({ keyed, open }: Pipeline) {
  const { publicUrl } = yield* HttpSettings;
  const sessions = yield* VerificationSessions;
  const { longPollMax } = yield* SessionSettings;
  const shown = shownAt(publicUrl);

  const create = ({ key, values }: { readonly key: ApiKey; readonly values: NewSession }) =>
    Effect.map(sessions.create(key, values), (session) => ({ status: 201 as const, data: shown(session) }));

  const read = ({ key, values }: ReadInput<{ readonly wait: number }>) =>
    Effect.map(sessions.poll(key, values.sid, values.wait * 1_000), (session) => ({ data: shown(session) }));

  const checkWait = ({ wait }: { readonly wait: number }) =>
    longPollMax === 0 || wait * 1_000 <= longPollMax
      ? Effect.void
      : Effect.fail(
          InvalidParameter.one("wait", `expected at most ${Math.floor(longPollMax / 1_000)} seconds`),
        );

  const stream = ({ key, values, exchange }: ReadInput<{}>) =>
    Effect.map(sessions.stream(key, values.sid, lastEventId(exchange)), (events) =>
      events === null ? noEvents(exchange) : eventStream(exchange, events, shown),
    );

  const routes: ReadonlyArray<BoundRoute> = [
    keyed(SessionsV2.createSession, create),
    keyed(SessionsV2.getSession, read, checkWait),
    keyed(SessionsV2.streamSession, stream),
    open(SessionsV2.redirectSession, ({ values, exchange }) =>
      Effect.succeed(redirectIntoFlow(publicUrl, exchange, `?sid=${encodeURIComponent(values.sid)}`)),
    ),
    keyed(SessionsV2.cancelSession, ({ key, values }) =>
      Effect.map(sessions.cancel(key, values.sid), (session) => ({ data: shown(session) })),
    ),
    keyed(SessionsV1.createSession, create),
    keyed(SessionsV1.getSession, read, checkWait),
    keyed(SessionsV1.streamSession, stream),
  ];
  return routes;
});

interface ReadInput<Values> {
  readonly key: ApiKey;
  readonly values: Values & { readonly sid: string };
  readonly exchange: Exchange;
}

const lastEventId = ({ request }: Exchange): string | null => {
  const id = request.headers["last-event-id"] ?? "";
  return id === "" ? null : id;
};

/** Writes a session as clients see it. */
const shownAt = (publicUrl: string) => (session: ReadSession) => ({
  sid: session.sid,
  pid: session.pid,
  clientId: session.clientId,
  guildId: session.guildId,
  state: session.state,
  url: `${publicUrl}/verify?sid=${session.sid}`,
  chatId: session.chatId,
  gameId: session.gameId,
  linkChanged: session.linkChanged,
  previousGameId: session.previousGameId,
  error: session.error,
  createdAt: isoTime(session.createdAt),
  expiresAt: isoTime(session.expiresAt),
  completedAt: session.completedAt === null ? null : isoTime(session.completedAt),
  pollsRemaining: session.pollsRemaining,
});
