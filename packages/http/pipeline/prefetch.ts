/**
 * Reads the record of a lone lookup while its limits are counted: on Postgres and Redis the request then waits once,
 * not twice. Concurrent lookups read after their limits, so that they share a statement. A refused request has wasted
 * its read, so the next request does not prefetch.
 */
import * as Immediate from "@accountlink/core/immediate";
import type { LimitDecision } from "@accountlink/core/limits";
import { Effect } from "effect";
import type { RequestContext } from "../request_context.ts";

/** Whether a lookup reads only the store, and calls no platform for guilds, members or profiles. */
const asksStoreAlone = ({ query }: RequestContext): boolean =>
  query["guildId"] === undefined && query["resolved"] === undefined;

/** Predicts from the node's previous lookup whether the next one runs alone. */
export class Prefetch {
  #previous: Turn = { hasCompany: false, isRefused: false };

  /**
   * Counts the limits, and reads in parallel if the lookup runs alone. Returns the decision and the rest of the work.
   *
   * @param context a lookup that calls a platform never prefetches
   */
  meanwhile<E, B, E2, R>(
    context: RequestContext,
    counting: Effect.Effect<LimitDecision, E>,
    rest: Effect.Effect<B, E2, R>,
  ): Effect.Effect<readonly [LimitDecision, Effect.Effect<B, E2, R>], E, R> {
    const previous = this.#previous;
    const hasCompany = previous.isRefused === null;
    if (hasCompany) previous.hasCompany = true;
    const isAlone = !previous.hasCompany && previous.isRefused === false;
    const turn: Turn = { hasCompany, isRefused: null };
    this.#previous = turn;
    const counted =
      isAlone && asksStoreAlone(context)
        ? Immediate.meanwhile(counting, rest)
        : Effect.map(counting, (decision) => [decision, rest] as const);
    return Immediate.map(counted, (result) => {
      turn.isRefused = result[0].refusal !== null;
      return result;
    });
  }
}

interface Turn {
  /** Whether another lookup was waiting for its limits at the same time. */
  hasCompany: boolean;
  /** Null while its limits are being counted. */
  isRefused: boolean | null;
}
