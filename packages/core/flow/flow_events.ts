import { Effect, Metric } from "effect";
import type { SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import { isSid, type SessionId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { FlowRefused } from "./flow_refusal.ts";
import type { FlowEntry } from "./flow_view.ts";
import type { ProofStep } from "./verification_flow.ts";

export const stepsTotal = Metric.counter("accountlink_flow_steps_total", {
  description: "Steps of verification flows by outcome",
  incremental: true,
});

export type FlowEvent =
  | "entered"
  | "code_entered"
  | `${ProofStep}_started`
  | `${ProofStep}_proven`
  | "completed"
  | "cancelled";

type FlowFailure = FlowRefused | SharedIpRateLimited | StoreUnavailable;

/**
 * Makes a function that logs and counts a step of a flow. The log annotation `session` is the start of the session's
 * stored id. The caller adds the annotation of the request id.
 */
export const makeFlowObserver = Effect.map(Secrets, ({ sessionId }) => {
  const sessionIn = (entry: FlowEntry | null): Effect.Effect<string | null> =>
    entry !== null && "sid" in entry && isSid(entry.sid)
      ? Effect.map(sessionId(entry.sid), shortId)
      : Effect.succeed(null);

  const record = Effect.fnUntraced(function* (step: FlowEvent, outcome: string, entry: FlowEntry | null) {
    yield* Metric.update(Metric.withAttributes(stepsTotal, { step, outcome }), 1);
    yield* Effect.annotateLogs(Effect.logInfo(outcome === "ok" ? "Flow step" : "Flow step refused"), {
      step,
      outcome,
      session: yield* sessionIn(entry),
    });
  });

  /** @param isEvent returns false for a success that is not recorded as a step, such as the reload of a page */
  return <A extends { readonly entry: FlowEntry }, E extends FlowFailure, R>(
    step: FlowEvent,
    effect: Effect.Effect<A, E, R>,
    isEvent: (result: A) => boolean = () => true,
  ): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.tap((result) => (isEvent(result) ? record(step, "ok", result.entry) : Effect.void)),
      Effect.tapError((error) => record(step, outcomeOf(error), "entry" in error ? error.entry : null)),
    );
});

const shortId = (id: SessionId): string => id.slice("vs_".length, "vs_".length + 8);

const outcomeOf = (error: FlowFailure): string => {
  switch (error._tag) {
    case "FlowRefused":
      return error.state ?? error.reason;
    case "SharedIpRateLimited":
      return "too_many";
    case "StoreUnavailable":
      return "store_down";
  }
};
