/** What tests of verification sessions share, over the whole service in memory. */
import { PlatformMemory } from "@accountlink/platform-memory";
import { Clock, Effect, Fiber, Layer, Option, Stream } from "effect";
import * as Metric from "effect/Metric";
import * as AccountLink from "../account_link.ts";
import type { ApiKey } from "../api_key.ts";
import type { FlowId, SessionId, Sid } from "../ids.ts";
import { Counters } from "../ports/counters.ts";
import { FlowStore } from "../ports/flow_store.ts";
import { SessionStore } from "../ports/session_store.ts";
import { ApiKeys, type NewKey } from "../services/api_keys.ts";
import { Secrets } from "../services/secrets.ts";
import { readsOpen, SessionWatch } from "../services/session_watch.ts";
import {
  type NewSession,
  type SessionEvent,
  VerificationSessions,
} from "../services/verification_sessions.ts";
import { type SessionRules, SessionSettings } from "../session_settings.ts";
import { chatId, gameId, guildId, operator, platform, stores, world } from "./test_world.ts";

/** Where the keys of these tests may send users. */
export const origin = "https://client.example";

/** A world with other rules than the usual ones. */
export const worldWith = (rules: Partial<SessionRules>) =>
  Layer.unwrap(
    Effect.map(SessionSettings, (usual) =>
      Layer.fresh(world.pipe(Layer.provide(Layer.succeed(SessionSettings, { ...usual, ...rules })))),
    ),
  );

const slowCounters = Layer.effect(
  Counters,
  Effect.map(Counters, ({ admit, read }) => ({
    admit: (rules, now) => Effect.andThen(settle, admit(rules, now)),
    read: (rules, now) => Effect.andThen(settle, read(rules, now)),
  })),
);

/** A world in which others have their turn before a counter answers. */
export const worldWithSlowCounters = AccountLink.layer.pipe(
  Layer.provide(slowCounters),
  Layer.provideMerge(Layer.merge(stores, PlatformMemory.layer(platform))),
  Layer.fresh,
);

/** A new key of an account of its own. */
export const newKey = (target: NewKey["target"] = { kind: "global" }) =>
  Effect.gen(function* () {
    const account = { name: crypto.randomUUID(), chatId: null, tier: "premium" } as const;
    const keys = yield* ApiKeys;
    return (yield* keys.create({ account, target, redirectOrigins: [origin] }, operator)).key;
  });

export const newGuildKey = newKey({ kind: "guild", guildId });

/** What a client asks for that asks for nothing in particular. */
export const request: NewSession = { clientId: "client", guildId: null, chatId: null, redirect: null };

/** The service, and a key with one session. */
export const setup = Effect.gen(function* () {
  const sessions = yield* VerificationSessions;
  const key = yield* newKey();
  const { sid } = yield* sessions.create(key, request);
  const poll = (wait = 0) => sessions.poll(key, sid, wait);
  /** Resumes a stream, and gives the session that it begins with. */
  const resume = Effect.scoped(
    Effect.gen(function* () {
      const events = yield* sessions.stream(key, sid, "0");
      const [first] = yield* Stream.runCollect(Stream.take(events ?? Stream.empty, 1));
      if (first === undefined || !("session" in first))
        return yield* Effect.die("The stream told no session");
      return first.session;
    }),
  );
  return { sessions, key, sid, poll, resume };
});

/** What a session is stored under. */
export const sessionIdOf = (sid: Sid) => Effect.flatMap(Secrets, ({ sessionId }) => sessionId(sid));

/** Takes a session on, as the public flow does, and tells it. */
export const open = Effect.fnUntraced(function* (sid: Sid) {
  const id = yield* sessionIdOf(sid);
  yield* (yield* SessionStore).advance({ id, to: "opened", at: yield* Clock.currentTimeMillis });
  yield* (yield* SessionWatch).announce([id]);
});

/** Completes a session with a link of its own, as the public flow does, and tells it. */
export const complete = Effect.fnUntraced(function* (key: ApiKey, sid: Sid, chat = chatId("10001")) {
  const session = yield* sessionIdOf(sid);
  const flow = yield* prove(key, session, chat);
  const completed = yield* (yield* SessionStore).complete({
    flow,
    pid: key.scope.pid,
    chatId: chat,
    gameId: gameId("1"),
    address: null,
    at: yield* Clock.currentTimeMillis,
    ...operator,
  });
  yield* (yield* SessionWatch).announce([session]);
  return completed;
});

const newId = () => crypto.randomUUID() as string as FlowId;

/** A flow that holds both proofs. */
const prove = Effect.fnUntraced(function* (key: ApiKey, session: SessionId, chat = chatId("10001")) {
  const flows = yield* FlowStore;
  const at = yield* Clock.currentTimeMillis;
  const { expiresAt } = Option.getOrThrow(yield* (yield* SessionStore).find(session));
  const ids = [newId(), newId(), newId()] as const;
  const scope = { session, pid: key.scope.pid, guildId: null, redirect: null, expiresAt };
  yield* flows.begin({ id: ids[0], ...scope, chatId: null, gameId: null, seenVersion: null });
  yield* flows.prove(ids[0], { step: "chat", chatId: chat }, at, ids[1]);
  yield* flows.prove(ids[1], { step: "game", gameId: gameId("1") }, at, ids[2]);
  return ids[2];
});

/** Starts to read a stream, and gives what it has told so far. */
export const listenTo = Effect.fnUntraced(function* (
  key: ApiKey,
  sid: Sid,
  lastEventId: string | null = null,
) {
  const { stream } = yield* VerificationSessions;
  const told: Array<SessionEvent> = [];
  const reading = yield* Effect.scoped(
    Effect.flatMap(stream(key, sid, lastEventId), (events) =>
      Stream.runForEach(events ?? Stream.empty, (event) => Effect.sync(() => told.push(event))),
    ),
  ).pipe(Effect.forkChild({ startImmediately: true }));
  yield* settle;
  return { told, reading, names: () => told.map(({ event }) => event) };
});

/** Lets everything run that does not wait for the clock. */
const settle = Effect.forEach(Array.from({ length: 20 }), () => Effect.yieldNow, { discard: true });

/** Starts an effect, and lets it run until it waits. */
export const start = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.tap(Effect.forkChild(effect, { startImmediately: true }), () => settle);

/** Whether a fiber has ended. */
export const hasEnded = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.pollUnsafe() !== undefined;

/** How many reads are open, in this world and any other of the process. */
export const countOpenReads = Effect.map(Metric.value(readsOpen), ({ value }) => value);
