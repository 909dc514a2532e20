/**
 * Reads the record of a lone lookup while its limits are counted: on Postgres and Redis the request then waits once, not
 * twice. A crowd reads after its limits, so that its lookups share a statement. A refused request has read for nothing,
 * so the request after it does not prefetch.
 */
import * as Immediate from "@accountlink/core/immediate";
import type { LimitDecision } from "@accountlink/core/limits";
import { Effect } from "effect";
import type { RequestContext } from "../request_context.ts";

/** Whether a lookup asks the store, and no platform for guilds, members or profiles. */
const asksStoreAlone = ({ query }: RequestContext): boolean =>
  query["guildId"] === undefined && query["resolved"] === undefined;

/** Decides from the previous lookup of the node whether the next one is alone. */
export class Prefetch {
  #previous: Turn = { hasCompany: false, isRefused: false };

  /**
   * Counts the limits, and reads meanwhile if the lookup is alone. Returns the decision and the rest of the work.
   *
   * @param context a lookup that asks a platform never reads ahead
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
  /** Whether another lookup waited for its limits when this one came, or came while this one waited. */
  hasCompany: boolean;
  /** Null while its limits are being counted. */
  isRefused: boolean | null;
}
