/** Limits failed authentications of an address, and lets accepted keys pass. */
import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { Cache } from "../cache.ts";
import { SharedIpRateLimited } from "../errors.ts";
import { type CounterRule, type CounterState, Counters } from "../limits/counters.ts";
import { Limits } from "../limits/quota.ts";
import { secondsUntil } from "../limits/request_limits.ts";
import { Secrets } from "../secrets/secrets.ts";
import type { Millis } from "../timestamp.ts";

/** How long a key passes the throttle after it was accepted, in milliseconds. */
export const acceptedFor = 3_600_000;

/**
 * How often a node shares that it accepts a key, in milliseconds. Other nodes let a key pass up to
 * this much longer.
 */
export const shareInterval = 600_000;

const failureWindow = 60_000;

/** The throttle of known addresses. Nodes that share counters and cache share failures and accepted keys. */
export const makeAuthThrottle = Effect.gen(function* () {
  const counters = yield* Counters;
  const cache = yield* Cache;
  const secrets = yield* Secrets;
  const limit = (yield* Limits).address.authFailures;
  const scope = yield* Effect.scope;

  const ruleOf = (address: ClientAddress): Effect.Effect<CounterRule> =>
    Effect.map(secrets.addressName(address), (name) => ({
      key: `auth:${name}`,
      limit,
      durationMs: failureWindow,
    }));

  const refusalOf = ({ resetsAt }: CounterState, now: Millis) => {
    const retryAfter = secondsUntil(resetsAt, now, failureWindow);
    return new SharedIpRateLimited({ bucket: "ip_auth", limit, resetsAt, retryAfter });
  };

  const wasAccepted = (keyHash: string, now: Millis): Effect.Effect<boolean> =>
    Effect.match(cache.get(acceptedEntry(keyHash), now), {
      onSuccess: Option.isSome,
      onFailure: () => false,
    });

  return {
    /**
     * Refuses an address with too many failures, unless some node accepted the key within the last
     * hour.
     *
     * @param keyHash the stored hash of the key; null without a key
     */
    check: Effect.fnUntraced(function* (address: ClientAddress | null, keyHash: string | null) {
      if (limit === 0 || address === null) return;
      const now = yield* Clock.currentTimeMillis;
      const [state] = yield* counters.read([yield* ruleOf(address)], now);
      if (state === undefined || state.count < limit) return;
      if (keyHash === null || !(yield* wasAccepted(keyHash, now))) return yield* refusalOf(state, now);
    }),

    /** Counts failures of one request. Refuses the address if it already has too many, by concurrent ones too. */
    countFailures: Effect.fnUntraced(function* (address: ClientAddress | null, failures: number) {
      if (limit === 0 || address === null) return;
      const now = yield* Clock.currentTimeMillis;
      const count = counters.admit([yield* ruleOf(address)], now);
      // At once, so that of racing requests no more are answered than of requests in turn.
      const counts = yield* Effect.all(
        Array.from({ length: failures }, () => count),
        { concurrency: "unbounded" },
      );
      const [first] = counts;
      if (first === undefined || counts.some(({ admitted }) => admitted)) return;
      return yield* refusalOf(first.states[0] as CounterState, now);
    }),

    /** Shares that the store knows the key, with other nodes and with this one after a restart. */
    shareAccepted: (keyHash: string, now: Millis): Effect.Effect<void> => {
      if (limit === 0) return Effect.void;
      const shared = cache.set(acceptedEntry(keyHash), "", now + acceptedFor + shareInterval, now);
      // The request does not wait. A failed write is repeated after `shareInterval`.
      return Effect.asVoid(Effect.forkIn(Effect.ignore(shared), scope, { startImmediately: true }));
    },
  };
});

const acceptedEntry = (keyHash: string): string => `accepted:${keyHash}`;
