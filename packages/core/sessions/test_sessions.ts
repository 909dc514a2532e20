/** Helpers for tests of verification sessions, with all services in memory. */
import { PlatformMemory } from "@accountlink/memory";
import { Clock, Effect, Fiber, Layer, Stream } from "effect";
import * as Metric from "effect/Metric";
import * as AccountLink from "../account_link.ts";
import type { Sid } from "../ids.ts";
import type { ApiKey } from "../keys/api_key.ts";
import { ApiKeys, type NewKey } from "../keys/api_keys.ts";
import { Counters } from "../limits/counters.ts";
import { Secrets } from "../secrets/secrets.ts";
import { operator, platform, services, stores } from "../test_services.ts";
import type { SessionEvent } from "./session_events.ts";
import { type SessionRules, SessionSettings } from "./session_settings.ts";
import { SessionStore } from "./session_store.ts";
import { readsOpen, SessionWatch } from "./session_watch.ts";
import { type NewSession, VerificationSessions } from "./verification_sessions.ts";

/** The redirect origin of the test keys. */
const origin = "https://client.example";

export const servicesWith = (rules: Partial<SessionRules>) =>
  Layer.unwrap(
    Effect.map(SessionSettings, (usual) =>
      Layer.fresh(services.pipe(Layer.provide(Layer.succeed(SessionSettings, { ...usual, ...rules })))),
    ),
  );

/** Makes services whose counters answer only after the effect `wait` has ended. */
export const servicesWithCountersAfter = (wait: Effect.Effect<unknown>) => {
  const counters = Layer.effect(
    Counters,
    Effect.map(Counters, ({ admit, read }) => ({
      admit: (rules, now) => Effect.andThen(wait, admit(rules, now)),
      read: (rules, now) => Effect.andThen(wait, read(rules, now)),
    })),
  );
  return AccountLink.layer.pipe(
    Layer.provide(counters),
    Layer.provideMerge(Layer.merge(stores, PlatformMemory.layer(platform))),
    Layer.fresh,
  );
};

export const newKey = (target: NewKey["target"] = { kind: "global" }) =>
  Effect.gen(function* () {
    const account = { name: crypto.randomUUID(), chatId: null, tier: "premium" } as const;
    const keys = yield* ApiKeys;
    return (yield* keys.create({ account, target, redirectOrigins: [origin] }, operator)).key;
  });

export const request: NewSession = {
  clientId: "client",
  guildId: null,
  chatId: null,
  gameId: null,
  redirect: null,
};

/** Creates a key and a session, and returns both with functions that read the session. */
export const setup = Effect.gen(function* () {
  const sessions = yield* VerificationSessions;
  const key = yield* newKey();
  const { sid } = yield* sessions.create(key, request);
  const poll = (wait = 0) => sessions.poll(key, sid, wait);
  /** Resumes a stream, and returns the session in its first event. */
  const resume = Effect.scoped(
    Effect.gen(function* () {
      const events = yield* sessions.stream(key, sid, "0");
      const [first] = yield* Stream.runCollect(Stream.take(events ?? Stream.empty, 1));
      if (first === undefined || !("session" in first))
        return yield* Effect.die("The first event has no session");
      return first.session;
    }),
  );
  return { sessions, key, sid, poll, resume };
});

export const sessionIdOf = (sid: Sid) => Secrets.use(({ sessionId }) => sessionId(sid));

/** Opens a session as the public flow does. */
export const open = Effect.fnUntraced(function* (sid: Sid) {
  const id = yield* sessionIdOf(sid);
  yield* (yield* SessionStore).advance({ id, to: "opened", at: yield* Clock.currentTimeMillis });
  yield* (yield* SessionWatch).announce([id]);
});

/** Reads a stream in the background, and returns its events so far. */
export const listenTo = Effect.fnUntraced(function* (
  key: ApiKey,
  sid: Sid,
  lastEventId: string | null = null,
) {
  const { stream } = yield* VerificationSessions;
  const events: Array<SessionEvent> = [];
  const reading = yield* Effect.scoped(
    Effect.flatMap(stream(key, sid, lastEventId), (source) =>
      Stream.runForEach(source ?? Stream.empty, (event) => Effect.sync(() => events.push(event))),
    ),
  ).pipe(Effect.forkChild({ startImmediately: true }));
  yield* Effect.repeat(turn, { until: () => events.length > 0 || hasEnded(reading) });
  yield* settle;
  return { events, reading, names: () => events.map(({ event }) => event) };
});

/** Waits for one iteration of the event loop, so that Web Crypto can answer. */
const turn = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve)));

/** Runs every fiber until it waits for the clock. */
export const settle = Effect.forEach(Array.from({ length: 40 }), () => Effect.yieldNow, { discard: true });

/** Forks an effect and runs it until it waits. */
export const start = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.tap(Effect.forkChild(effect, { startImmediately: true }), () => settle);

export const hasEnded = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.pollUnsafe() !== undefined;

/** The number of session reads of this process that wait for a change, including reads by other tests. */
export const countOpenReads = Effect.map(Metric.value(readsOpen), ({ value }) => value);
