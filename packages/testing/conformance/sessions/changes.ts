import type { StoragePorts, VerificationSession } from "@accountlink/core";
import type { SessionState, SessionStep } from "@accountlink/core/sessions";
import { Effect } from "effect";
import { deadline } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { ada, chess } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { newVerificationSteps, type VerificationSteps } from "./verification_steps.ts";

const inState = Effect.fnUntraced(function* (
  steps: VerificationSteps,
  state: SessionState,
): Effect.fn.Return<VerificationSession, unknown> {
  const { id } = yield* steps.create({ chatId: ada });
  if (state !== "pending") yield* steps.advance(id, "opened");
  if (state === "cancelled") yield* steps.advance(id, "cancelled");
  if (state === "expired") yield* steps.advance(id, "expired", deadline);
  if (state === "completed") yield* steps.complete(yield* steps.proven(id));
  if (state === "failed") {
    yield* steps.links.set(ada, chess);
    yield* steps.links.remove(ada);
  }
  const session = (yield* steps.find(id)) as VerificationSession;
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
const nextStates: ReadonlyArray<SessionStep> = ["opened", "cancelled", "expired"];
const times = { before: deadline - 1, at: deadline };

const allowed = new Set([
  "pending → opened before",
  "pending → cancelled before",
  "opened → cancelled before",
  "pending → expired at",
  "opened → expired at",
]);

export const changes: Cases<StoragePorts> = {
  "advance makes exactly the allowed transitions, and each increments the change number once": function* () {
    const taken: Array<string> = [];
    for (const state of states) {
      for (const to of nextStates) {
        for (const [when, at] of Object.entries(times)) {
          const steps = yield* newVerificationSteps;
          const session = yield* inState(steps, state);
          const advanced = yield* steps.advance(session.id, to, at);
          const changed = advanced?.changed === true;
          if (changed) taken.push(`${state} → ${to} ${when}`);
          const expected = changed ? { ...session, state: to, change: session.change + 1 } : session;
          expectEqual(advanced, { session: expected, changed });
          expectEqual(yield* steps.find(session.id), expected);
        }
      }
    }
    expectEqual(new Set(taken), allowed);
  },
};
