import { Clock, Effect } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { SharedIpRateLimited } from "../errors.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Millis } from "../timestamp.ts";
import { type CounterRule, type CounterState, Counters } from "./counters.ts";
import { secondsUntil } from "./request_limits.ts";

const durationMs = 60_000;

/**
 * Limits how often client addresses may fail in a minute, as with wrong keys or wrong codes. Nodes that share counters
 * share the failures. Unknown addresses have no limit.
 *
 * @param name prefix of the counters
 * @param limit failures of an address in a minute; 0 for no limit
 */
export const makeFailureLimit = Effect.fnUntraced(function* (name: string, limit: number) {
  const counters = yield* Counters;
  const secrets = yield* Secrets;

  const ruleOf = (address: ClientAddress): Effect.Effect<CounterRule> =>
    Effect.map(secrets.addressName(address), (hashed) => ({ key: `${name}:${hashed}`, limit, durationMs }));

  const refusalOf = ({ resetsAt }: CounterState, now: Millis) => {
    const retryAfter = secondsUntil(resetsAt, now, durationMs);
    return new SharedIpRateLimited({ bucket: "ip_auth", limit, resetsAt, retryAfter });
  };

  return {
    /** Returns the refusal of an address with too many failures; null for others. */
    refusal: Effect.fnUntraced(function* (address: ClientAddress | null) {
      if (limit === 0 || address === null) return null;
      const now = yield* Clock.currentTimeMillis;
      const [state] = yield* counters.read([yield* ruleOf(address)], now);
      return state !== undefined && state.count >= limit ? refusalOf(state, now) : null;
    }),

    /**
     * Counts the failures of one request. Refuses the address if it already has too many, including failures of
     * concurrent requests.
     */
    count: Effect.fnUntraced(function* (address: ClientAddress | null, failures: number) {
      if (limit === 0 || address === null) return;
      const now = yield* Clock.currentTimeMillis;
      const count = counters.admit([yield* ruleOf(address)], now);
      // Count all failures at once. Counted one by one, the failures of concurrent requests would alternate, and fewer
      // of these requests would be refused.
      const counts = yield* Effect.all(
        Array.from({ length: failures }, () => count),
        { concurrency: "unbounded" },
      );
      const [first] = counts;
      if (first === undefined || counts.some(({ admitted }) => admitted)) return;
      return yield* refusalOf(first.states[0] as CounterState, now);
    }),
  };
});
