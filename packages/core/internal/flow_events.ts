/**
 * What operators see of verification flows: each step as a log line, and counts of them by outcome.
 */
import { Effect, Metric, Schema } from "effect";
import type { SharedIpRateLimited, StoreUnavailable } from "../errors.ts";
import type { FlowEntry, FlowRefused } from "../flow_refusal.ts";
import { type SessionId, Sid } from "../ids.ts";
import { Secrets } from "../services/secrets.ts";
import type { ProofStep } from "../verification_flow.ts";

/** Steps of verification flows. */
export const flowSteps = Metric.counter("accountlink_flow_steps_total", {
  description: "Steps of verification flows by outcome",
  incremental: true,
});

/** What a browser did, or was refused to do. */
export type FlowEvent =
  | "entered"
  | `${ProofStep}_started`
  | `${ProofStep}_proven`
  | "completed"
  | "cancelled";

type FlowFailure = FlowRefused | SharedIpRateLimited | StoreUnavailable;

/**
 * Makes what observes a step. A line names the session by `session`, the start of the hash that it is stored under; the
 * request id is for the caller to annotate.
 */
export const flowObserver = Effect.map(Secrets, ({ sessionId }) => {
  const sessionIn = (entry: FlowEntry | null): Effect.Effect<string | null> =>
    entry !== null && "sid" in entry && isSid(entry.sid)
      ? Effect.map(sessionId(entry.sid), shortName)
      : Effect.succeed(null);

  const note = Effect.fnUntraced(function* (step: FlowEvent, outcome: string, entry: FlowEntry | null) {
    yield* Metric.update(Metric.withAttributes(flowSteps, { step, outcome }), 1);
    yield* Effect.annotateLogs(Effect.logInfo(outcome === "ok" ? "Flow step" : "Flow step refused"), {
      step,
      outcome,
      session: yield* sessionIn(entry),
    });
  });

  /** @param isEvent whether a success is worth telling; a page is also only looked at again */
  return <A extends { readonly entry: FlowEntry }, E extends FlowFailure, R>(
    step: FlowEvent,
    taken: Effect.Effect<A, E, R>,
    isEvent: (result: A) => boolean = () => true,
  ): Effect.Effect<A, E, R> =>
    taken.pipe(
      Effect.tap((result) => (isEvent(result) ? note(step, "ok", result.entry) : Effect.void)),
      Effect.tapError((error) => note(step, outcomeOf(error), "entry" in error ? error.entry : null)),
    );
});

const isSid = Schema.is(Sid);

const shortName = (id: SessionId): string => id.slice("vs_".length, "vs_".length + 8);

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
