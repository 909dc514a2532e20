import {
  type Millis,
  type SessionState,
  type SessionStep,
  SessionStore,
  type Sid,
  type VerificationSession,
} from "@accountlink/core";
import { Effect } from "effect";
import type { Cases } from "../../suite.ts";
import { ada, chess } from "../../world.ts";
import { expectEqual } from "../expect.ts";
import type { Storage } from "../storage.ts";
import { deadline, uniqueSid } from "../verification.ts";
import { newVerificationBench, type VerificationBench } from "../verification_bench.ts";

/** Takes a session of the bench to each state. */
export const inState = Effect.fnUntraced(function* (
  bench: VerificationBench,
  state: SessionState,
): Effect.fn.Return<VerificationSession, unknown> {
  const { sid } = yield* bench.create({ chatId: ada });
  if (state !== "pending") yield* bench.advance(sid, "opened");
  if (state === "cancelled") yield* bench.advance(sid, "cancelled");
  if (state === "expired") yield* bench.advance(sid, "expired", deadline);
  if (state === "completed") yield* bench.complete(yield* bench.proven(sid));
  if (state === "failed") {
    yield* bench.links.set(ada, chess);
    yield* bench.links.remove(ada);
  }
  const session = (yield* bench.find(sid)) as VerificationSession;
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

/** Those of the sids that changed since then. */
const changedOf = (sids: ReadonlyArray<Sid>, at: number) =>
  Effect.map(
    Effect.flatMap(SessionStore, (store) => store.changedSince(at, null)),
    (changed) => sids.filter((sid) => changed.includes(sid)),
  );

/** Forgets the sessions whose deadline is before that time, and no sighting. */
const sweepAt = (at: Millis, sessionsBefore: Millis) =>
  Effect.flatMap(SessionStore, (store) => store.sweep({ at, sessionsBefore, sightingsBefore: null }));

/** What happens to a session until it ends without a link. */
export const changes: Cases<Storage> = {
  "advance takes the steps that there are, each one change, and no other": Effect.gen(function* () {
    const taken: Array<string> = [];
    for (const state of states) {
      for (const to of steps) {
        for (const [when, at] of Object.entries(times)) {
          const bench = yield* newVerificationBench;
          const session = yield* inState(bench, state);
          const advanced = yield* bench.advance(session.sid, to, at);
          const changed = advanced?.changed === true;
          if (changed) taken.push(`${state} → ${to} ${when}`);
          const expected = changed ? { ...session, state: to, change: session.change + 1 } : session;
          expectEqual(advanced, { session: expected, changed });
          expectEqual(yield* bench.find(session.sid), expected);
        }
      }
    }
    expectEqual(new Set(taken), allowed);
  }),

  "advance of an unknown session gives none": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    for (const to of steps) expectEqual(yield* bench.advance(uniqueSid(), to), null);
  }),

  "changedSince gives what changed at or after a time, and not what was only created": Effect.gen(
    function* () {
      const bench = yield* newVerificationBench;
      const [idle, early, late, both] = yield* Effect.all(
        [1, 2, 3, 4].map((createdAt) => bench.create({ createdAt })),
      );
      const sids = [idle, early, late, both].map((session) => session?.sid as Sid);
      const [, second, third, fourth] = sids as [Sid, Sid, Sid, Sid];
      yield* bench.advance(second, "opened", 1_000);
      yield* bench.advance(second, "opened", 3_000);
      yield* bench.advance(third, "cancelled", 2_000);
      yield* bench.advance(fourth, "opened", 500);
      yield* bench.advance(fourth, "expired", deadline);
      expectEqual(yield* changedOf(sids, 0), [second, third, fourth]);
      expectEqual(yield* changedOf(sids, 1_000), [second, third, fourth]);
      expectEqual(yield* changedOf(sids, 1_001), [third, fourth]);
      expectEqual(yield* changedOf(sids, 2_001), [fourth]);
      expectEqual(yield* changedOf(sids, deadline + 1), []);
    },
  ),

  "changedSince among some sessions gives no other": Effect.gen(function* () {
    const store = yield* SessionStore;
    const bench = yield* newVerificationBench;
    const [changed, other, idle] = [yield* bench.create(), yield* bench.create(), yield* bench.create()];
    yield* bench.advance(changed.sid, "opened", 1_000);
    yield* bench.advance(other.sid, "opened", 1_000);
    const among = [changed.sid, idle.sid, uniqueSid()];
    expectEqual(yield* store.changedSince(1_000, among), [changed.sid]);
    expectEqual(yield* store.changedSince(1_001, among), []);
    expectEqual(yield* store.changedSince(0, []), []);
  }),

  "sweep expires what is unfinished at its deadline, and says which": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [pending, opened] = [yield* inState(bench, "pending"), yield* inState(bench, "opened")];
    const cancelled = yield* inState(bench, "cancelled");
    const later = yield* bench.create({ expiresAt: deadline + 1 });
    const own = [pending, opened, cancelled, later].map(({ sid }) => sid);
    const sweep = (at: number) =>
      Effect.map(sweepAt(at, 0), (swept) => own.filter((sid) => swept.includes(sid)));

    expectEqual(yield* sweep(deadline - 1), []);
    expectEqual(yield* sweep(deadline), [pending.sid, opened.sid]);
    expectEqual(yield* sweep(deadline), []);
    for (const session of [pending, opened]) {
      const expired = { ...session, state: "expired", change: session.change + 1 } as const;
      expectEqual(yield* bench.find(session.sid), expired);
    }
    expectEqual(yield* changedOf(own, deadline), [pending.sid, opened.sid]);
    expectEqual(yield* bench.find(cancelled.sid), cancelled);
    expectEqual(yield* bench.find(later.sid), later);
  }),

  "sweep forgets sessions whose deadline is before a time": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const { sid } = yield* bench.create();
    yield* sweepAt(deadline + 1_000, deadline);
    expectEqual((yield* bench.find(sid))?.state, "expired");
    yield* sweepAt(deadline + 1_000, deadline + 1);
    expectEqual(yield* bench.find(sid), null);
    expectEqual(yield* changedOf([sid], 0), []);
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
