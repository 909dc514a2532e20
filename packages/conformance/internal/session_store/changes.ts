import {
  type Millis,
  type SessionId,
  type SessionState,
  type SessionStep,
  SessionStore,
  type StoragePorts,
  type VerificationSession,
} from "@accountlink/core";
import { Effect } from "effect";
import type { Cases } from "../../suite.ts";
import { ada, chess } from "../../world.ts";
import { expectEqual } from "../expect.ts";
import { deadline, uniqueSessionId } from "../verification.ts";
import { newVerificationBench, type VerificationBench } from "../verification_bench.ts";

/** Takes a session of the bench to each state. */
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

/** Every step that there is; any other changes nothing. */
const allowed = new Set([
  "pending → opened before",
  "pending → cancelled before",
  "opened → cancelled before",
  "pending → expired at",
  "opened → expired at",
]);

/** Those of the ids that changed since then. */
const changedOf = (ids: ReadonlyArray<SessionId>, at: number) =>
  Effect.map(
    Effect.flatMap(SessionStore, (store) => store.changedSince(at, null)),
    (changed) => ids.filter((id) => changed.includes(id)),
  );

/** Forgets the sessions whose deadline is before that time, and no sighting. */
const sweepAt = (at: Millis, sessionsBefore: Millis) =>
  Effect.flatMap(SessionStore, (store) => store.sweep({ at, sessionsBefore, sightingsBefore: 0 }));

/** What happens to a session until it ends without a link. */
export const changes: Cases<StoragePorts> = {
  "advance takes the steps that there are, each one change, and no other": Effect.gen(function* () {
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

  "advance of an unknown session gives none": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    for (const to of steps) expectEqual(yield* bench.advance(uniqueSessionId(), to), null);
  }),

  "changedSince gives what changed at or after a time, and not what was only created": Effect.gen(
    function* () {
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
    },
  ),

  "changedSince among some sessions gives no other": Effect.gen(function* () {
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

  "sweep expires what is unfinished at its deadline, and says which": Effect.gen(function* () {
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

  "sweep forgets sessions whose deadline is before a time": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { id } = yield* bench.create();
    yield* sweepAt(deadline + 1_000, deadline);
    expectEqual((yield* bench.find(id))?.state, "expired");
    yield* sweepAt(deadline + 1_000, deadline + 1);
    expectEqual(yield* bench.find(id), null);
    expectEqual(yield* changedOf([id], 0), []);
  }),

  "sweep removes flows that are over, with their challenges, and no other": Effect.gen(function* () {
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
