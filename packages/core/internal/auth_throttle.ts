/** How often an address may bring a wrong key, and which keys pass after that. */
import { Clock, Effect, Option } from "effect";
import type { ClientAddress } from "../client_address.ts";
import { SharedIpRateLimited } from "../errors.ts";
import type { Millis } from "../link.ts";
import { Cache } from "../ports/cache.ts";
import { type CounterRule, type CounterState, Counters } from "../ports/counters.ts";
import { Limits } from "../quota.ts";
import { secondsUntil } from "../services/request_limits.ts";
import { Secrets } from "../services/secrets.ts";

/** How long an accepted key passes the throttle of its address, in milliseconds. */
export const acceptedFor = 3_600_000;

/**
 * How often a process notes that it goes on accepting a key, in milliseconds. On the other nodes, which see the notes
 * alone, a key passes up to this much longer.
 */
export const notedEvery = 600_000;

const failureWindow = 60_000;

/** Makes the throttle. What it counts and notes is for all nodes, as far as they share the counters and the cache. */
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

  // A cache that does not answer knows of no key.
  const isNoted = (keyHash: string, now: Millis): Effect.Effect<boolean> =>
    Effect.match(cache.get(noteOf(keyHash), now), { onSuccess: Option.isSome, onFailure: () => false });

  return {
    /**
     * Refuses an address with too many failures, unless the key was noted in the last hour.
     *
     * @param keyHash what the key is stored under, or null for no key
     */
    check: Effect.fnUntraced(function* (address: ClientAddress, keyHash: string | null) {
      if (limit === 0) return;
      const now = yield* Clock.currentTimeMillis;
      const [state] = yield* counters.read([yield* ruleOf(address)], now);
      if (state === undefined || state.count < limit) return;
      if (keyHash === null || !(yield* isNoted(keyHash, now))) return yield* refusalOf(state, now);
    }),

    /** Counts a failure. It refuses the address when others have used up its room, were they under way at once. */
    countFailure: Effect.fnUntraced(function* (address: ClientAddress) {
      if (limit === 0) return;
      const now = yield* Clock.currentTimeMillis;
      const { admitted, states } = yield* counters.admit([yield* ruleOf(address)], now);
      if (!admitted) return yield* refusalOf(states[0] as CounterState, now);
    }),

    /** Notes for the other nodes, and for this one when it has started again, that the store knows the key. */
    noteAccepted: (keyHash: string, now: Millis): Effect.Effect<void> => {
      if (limit === 0) return Effect.void;
      const noted = cache.set(noteOf(keyHash), "", now + acceptedFor + notedEvery, now);
      // The request does not wait for it. A note that is lost is made again at the next turn.
      return Effect.asVoid(Effect.forkIn(Effect.ignore(noted), scope, { startImmediately: true }));
    },
  };
});

const noteOf = (keyHash: string): string => `accepted:${keyHash}`;
