/** Limits failed authentications per address, and lets accepted keys pass. */
import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { Cache } from "../cache.ts";
import { makeFailureLimit } from "../limits/failure_limit.ts";
import { Limits } from "../limits/quota.ts";
import { hourMs, type Millis } from "../timestamp.ts";

/** How long an accepted key passes the throttle, in milliseconds. */
export const acceptedFor = hourMs;

/**
 * How often a node tells other nodes that it accepts a key, in milliseconds. On other nodes, a key may therefore pass
 * the throttle for up to `acceptedFor` plus this interval after its last use.
 */
export const shareInterval = 600_000;

/**
 * Throttles client addresses with too many failed authentications. Unknown addresses are never throttled. Nodes that
 * use the same counters and cache share the failures and the accepted keys.
 */
export const makeAuthThrottle = Effect.gen(function* () {
  const cache = yield* Cache;
  const limit = (yield* Limits).address.authFailures;
  const failures = yield* makeFailureLimit("auth", limit);
  const scope = yield* Effect.scope;

  const wasAccepted = (keyHash: string, now: Millis): Effect.Effect<boolean> =>
    Effect.match(cache.get(acceptedEntry(keyHash), now), {
      onSuccess: Option.isSome,
      onFailure: () => false,
    });

  return {
    /**
     * Refuses an address with too many failures, unless some node accepted the key within the last hour.
     *
     * @param keyHash the stored hash of the key; null without a key
     */
    check: Effect.fnUntraced(function* (address: ClientAddress | null, keyHash: string | null) {
      const refusal = yield* failures.refusal(address);
      if (refusal === null) return;
      const now = yield* Clock.currentTimeMillis;
      if (keyHash === null || !(yield* wasAccepted(keyHash, now))) return yield* refusal;
    }),

    countFailures: failures.count,

    /** Records in the cache that the key is accepted, for other nodes and for this node after a restart. */
    shareAccepted: (keyHash: string, now: Millis): Effect.Effect<void> => {
      if (limit === 0) return Effect.void;
      const shared = cache.set(acceptedEntry(keyHash), "", now + acceptedFor + shareInterval, now);
      // The write runs in the background, so that the request does not wait. A failed write is repeated after
      // `shareInterval`.
      return Effect.asVoid(Effect.forkIn(Effect.ignore(shared), scope, { startImmediately: true }));
    },
  };
});

const acceptedEntry = (keyHash: string): string => `accepted:${keyHash}`;
