import type { StoragePorts, VerificationSession } from "@accountlink/core";
import type { SessionId } from "@accountlink/core/ids";
import { type SessionState, type SessionStep, SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { deadline, uniqueSessionId } from "@accountlink/testing";
import { Effect } from "effect";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, chess } from "../world.ts";
import { newVerificationBench, type VerificationBench } from "./verification_bench.ts";

/** Creates a session in the state. */
export const inState = Effect.fnUntraced(function* (
  bench: VerificationBench,
  state: SessionState,
): Effect.fn.Return<VerificationSession, unknown> {
  const { id } = yield* bench.create({ chatId: ada });
  if (state !== "pending") yield* bench.advance(id, "opened");
  if (state === "cancelled") yield* bench.advance(id, "cancelled");
  if (state === "expired") yield* bench.advance(id, "expired", deadline);
  if (state === "completed") yield* bench.complete(yield* bench.proven(id));
  if (state === "failed") {
    yield* bench.links.set(ada, chess);
    yield* bench.links.remove(ada);
  }
  const session = (yield* bench.find(id)) as VerificationSession;
  expectEqual(session.state, state);
  return session;
});

const states: ReadonlyArray<SessionState> = [
  "pending",
  "opened",
  "cancelled",
  "expired",
  "completed",
  "failed",
];
const steps: ReadonlyArray<SessionStep> = ["opened", "cancelled", "expired"];
const times = { before: deadline - 1, at: deadline };

/** The allowed transitions. */
const allowed = new Set([
  "pending → opened before",
  "pending → cancelled before",
  "opened → cancelled before",
  "pending → expired at",
  "opened → expired at",
]);

/** Those of the IDs that changed since the time. */
const changedOf = (ids: ReadonlyArray<SessionId>, at: number) =>
  Effect.map(
    Effect.flatMap(SessionStore, (store) => store.changedSince(at, null)),
    (changed) => ids.filter((id) => changed.includes(id)),
  );

/** Sweeps sessions with a deadline before the time, and no sightings. */
const sweepAt = (at: Millis, sessionsBefore: Millis) =>
  Effect.flatMap(SessionStore, (store) => store.sweep({ at, sessionsBefore, sightingsBefore: 0 }));

/** Transitions and sweeps of sessions. */
export const changes: Cases<StoragePorts> = {
  "advance makes exactly the allowed transitions, each one change": Effect.gen(function* () {
    const taken: Array<string> = [];
    for (const state of states) {
      for (const to of steps) {
        for (const [when, at] of Object.entries(times)) {
          const bench = yield* newVerificationBench;
          const session = yield* inState(bench, state);
          const advanced = yield* bench.advance(session.id, to, at);
          const changed = advanced?.changed === true;
          if (changed) taken.push(`${state} → ${to} ${when}`);
          const expected = changed ? { ...session, state: to, change: session.change + 1 } : session;
          expectEqual(advanced, { session: expected, changed });
          expectEqual(yield* bench.find(session.id), expected);
        }
      }
    }
    expectEqual(new Set(taken), allowed);
  }),

  "advance of an unknown session returns none": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    for (const to of steps) expectEqual(yield* bench.advance(uniqueSessionId(), to), null);
  }),

  "changedSince returns sessions that changed at or after a time, not those that were only created":
    Effect.gen(function* () {
      const bench = yield* newVerificationBench;
      const [idle, early, late, both] = yield* Effect.all(
        [1, 2, 3, 4].map((createdAt) => bench.create({ createdAt })),
      );
      const ids = [idle, early, late, both].map((session) => session?.id as SessionId);
      const [, second, third, fourth] = ids as [SessionId, SessionId, SessionId, SessionId];
      yield* bench.advance(second, "opened", 1_000);
      yield* bench.advance(second, "opened", 3_000);
      yield* bench.advance(third, "cancelled", 2_000);
      yield* bench.advance(fourth, "opened", 500);
      yield* bench.advance(fourth, "expired", deadline);
      expectEqual(yield* changedOf(ids, 0), [second, third, fourth]);
      expectEqual(yield* changedOf(ids, 1_000), [second, third, fourth]);
      expectEqual(yield* changedOf(ids, 1_001), [third, fourth]);
      expectEqual(yield* changedOf(ids, 2_001), [fourth]);
      expectEqual(yield* changedOf(ids, deadline + 1), []);
    }),

  "changedSince among some sessions returns no others": Effect.gen(function* () {
    const store = yield* SessionStore;
    const bench = yield* newVerificationBench;
    const [changed, other, idle] = [yield* bench.create(), yield* bench.create(), yield* bench.create()];
    yield* bench.advance(changed.id, "opened", 1_000);
    yield* bench.advance(other.id, "opened", 1_000);
    const among = [changed.id, idle.id, uniqueSessionId()];
    expectEqual(yield* store.changedSince(1_000, among), [changed.id]);
    expectEqual(yield* store.changedSince(1_001, among), []);
    expectEqual(yield* store.changedSince(0, []), []);
  }),

  "sweep expires unfinished sessions at their deadline, and returns them": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [pending, opened] = [yield* inState(bench, "pending"), yield* inState(bench, "opened")];
    const cancelled = yield* inState(bench, "cancelled");
    const later = yield* bench.create({ expiresAt: deadline + 1 });
    const own = [pending, opened, cancelled, later].map(({ id }) => id);
    const sweep = (at: number) =>
      Effect.map(sweepAt(at, 0), (swept) => own.filter((id) => swept.includes(id)));

    expectEqual(yield* sweep(deadline - 1), []);
    expectEqual(yield* sweep(deadline), [pending.id, opened.id]);
    expectEqual(yield* sweep(deadline), []);
    for (const session of [pending, opened]) {
      const expired = { ...session, state: "expired", change: session.change + 1 } as const;
      expectEqual(yield* bench.find(session.id), expired);
    }
    expectEqual(yield* changedOf(own, deadline), [pending.id, opened.id]);
    expectEqual(yield* bench.find(cancelled.id), cancelled);
    expectEqual(yield* bench.find(later.id), later);
  }),

  "sweep deletes sessions with a deadline before a time": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { id } = yield* bench.create();
    yield* sweepAt(deadline + 1_000, deadline);
    expectEqual((yield* bench.find(id))?.state, "expired");
    yield* sweepAt(deadline + 1_000, deadline + 1);
    expectEqual(yield* bench.find(id), null);
    expectEqual(yield* changedOf([id], 0), []);
  }),

  "sweep deletes expired flows with their challenges, and no others": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [over, alive] = [yield* bench.begin(), yield* bench.begin(null, { expiresAt: deadline + 1 })];
    yield* bench.challenge(over, `${over} state`, deadline * 2);
    yield* bench.challenge(alive, `${alive} state`, deadline * 2);
    yield* sweepAt(deadline - 1, 0);
    expectEqual((yield* bench.findFlow(over))?.id, over);
    yield* sweepAt(deadline, 0);
    expectEqual(yield* bench.findFlow(over), null);
    yield* bench.begin(null, { id: over });
    expectEqual(yield* bench.takeChallenge(over, `${over} state`), null);
    expectEqual((yield* bench.takeChallenge(alive, `${alive} state`))?.flow, alive);
  }),
};
