import type { StoragePorts, VerificationSession } from "@accountlink/core";
import { type SessionState, type SessionStep, SessionStore } from "@accountlink/core/sessions";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { deadline, uniqueSessionId } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, chess } from "../world.ts";
import { newVerificationBench, type VerificationBench } from "./verification_bench.ts";

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

const allowed = new Set([
  "pending → opened before",
  "pending → cancelled before",
  "opened → cancelled before",
  "pending → expired at",
  "opened → expired at",
]);

/** Sweeps flows, no sessions and no sightings. */
const sweepAt = (at: Millis) =>
  Effect.flatMap(SessionStore, (store) => store.sweep({ at, sessionsBefore: 0, sightingsBefore: 0 }));

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

  "sweep deletes expired flows with their challenges, and no others": Effect.gen(function* () {
    const bench = yield* newVerificationBench;
    const [over, alive] = [yield* bench.begin(), yield* bench.begin(null, { expiresAt: deadline + 1 })];
    yield* bench.challenge(over, `${over} state`, deadline * 2);
    yield* bench.challenge(alive, `${alive} state`, deadline * 2);
    yield* sweepAt(deadline - 1);
    expectEqual((yield* bench.findFlow(over))?.id, over);
    yield* sweepAt(deadline);
    expectEqual(yield* bench.findFlow(over), null);
    yield* bench.begin(null, { id: over });
    expectEqual(yield* bench.takeChallenge(over, `${over} state`), null);
    expectEqual((yield* bench.takeChallenge(alive, `${alive} state`))?.flow, alive);
  }),
};
