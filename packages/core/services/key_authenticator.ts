/**
 * Authentication of requests by API key.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { type ApiKey, isAccepted, keyIdOf } from "../api_key.ts";
import type { ClientAddress } from "../client_address.ts";
import { InvalidApiKey, SharedIpRateLimited, type StoreUnavailable } from "../errors.ts";
import { hearSignals } from "../internal/hear_signals.ts";
import type { Millis } from "../link.ts";
import { type CounterRule, Counters } from "../ports/counters.ts";
import { KeyStore, type PresentedKey } from "../ports/key_store.ts";
import { Limits, type Quota, quotaOf } from "../quota.ts";
import { secondsUntil } from "./request_limits.ts";
import { Secrets } from "./secrets.ts";

/** A key that was accepted, with the quota in force for it. */
export interface AuthenticatedKey {
  readonly key: ApiKey;
  readonly quota: Quota;
  /** When the presented secret ends, or null for never. */
  readonly endsAt: Millis | null;
}

/** Keys whose status or secrets changed are published here, by id. */
export const keyChanges = "key-changes";

/** How long a key that was read is trusted without a look at the store, in milliseconds. A revocation holds after. */
export const keyFreshness = 750;

/** How long an accepted key passes the failed-authentication throttle of its address, in milliseconds. */
export const acceptedFor = 3_600_000;

const failureWindow = 60_000;
const rememberedKeys = 10_000;

interface Remembered extends AuthenticatedKey {
  freshUntil: Millis;
  acceptedUntil: Millis;
}

/** Tells whose key a request presents. */
export class KeyAuthenticator extends Context.Service<
  KeyAuthenticator,
  {
    /**
     * Accepts a key that is known, active and not over. From an address with too many failed authentications, only a
     * key that was accepted in the last hour passes; anything else is refused without a look-up.
     *
     * @param token the text after `Bearer `, or null when there is none
     */
    readonly authenticate: (
      token: string | null,
      address: ClientAddress,
    ) => Effect.Effect<AuthenticatedKey, InvalidApiKey | SharedIpRateLimited | StoreUnavailable>;

    /** Refuses an address with too many failed authentications. */
    readonly checkThrottle: (
      address: ClientAddress,
    ) => Effect.Effect<void, SharedIpRateLimited | StoreUnavailable>;

    /** Counts a failed authentication of the address. */
    readonly countFailure: (address: ClientAddress) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/KeyAuthenticator") {
  static readonly layer = Layer.effect(
    KeyAuthenticator,
    Effect.gen(function* () {
      const store = yield* KeyStore;
      const counters = yield* Counters;
      const secrets = yield* Secrets;
      const limits = yield* Limits;
      const remembered = new Map<string, Remembered>();
      yield* forgetOnChange(remembered);

      const failureRule = (address: ClientAddress): Effect.Effect<CounterRule> =>
        Effect.map(secrets.addressName(address), (name) => ({
          key: `auth:${name}`,
          limit: limits.address.authFailures,
          durationMs: failureWindow,
        }));

      const checkThrottle = Effect.fnUntraced(function* (address: ClientAddress) {
        const limit = limits.address.authFailures;
        if (limit === 0) return;
        const now = yield* Clock.currentTimeMillis;
        const [state] = yield* counters.read([yield* failureRule(address)], now);
        if (state !== undefined && state.count >= limit) {
          const retryAfter = secondsUntil(state.resetsAt, now);
          return yield* new SharedIpRateLimited({
            bucket: "ip_auth",
            limit,
            resetsAt: state.resetsAt,
            retryAfter,
          });
        }
      });

      const countFailure = Effect.fnUntraced(function* (address: ClientAddress) {
        if (limits.address.authFailures === 0) return;
        yield* counters.admit([yield* failureRule(address)], yield* Clock.currentTimeMillis);
      });

      const refuseWrong = (token: string, address: ClientAddress) => {
        remembered.delete(token);
        return Effect.andThen(countFailure(address), Effect.fail(new InvalidApiKey({ problem: "wrong" })));
      };

      const remember = (token: string, presented: PresentedKey, now: Millis): Remembered => {
        const known: Remembered = {
          ...presented,
          quota: quotaOf(presented.key.limits, limits[presented.key.tier]),
          freshUntil: now + keyFreshness,
          acceptedUntil: now + acceptedFor,
        };
        remembered.delete(token);
        if (remembered.size >= rememberedKeys) remembered.delete(remembered.keys().next().value as string);
        remembered.set(token, known);
        return known;
      };

      const lookUp = Effect.fnUntraced(function* (token: string, address: ClientAddress) {
        if (keyIdOf(token) === null) return yield* refuseWrong(token, address);
        const found = yield* store.findByHash(yield* secrets.keyHash(token));
        const now = yield* Clock.currentTimeMillis;
        if (Option.isNone(found) || !isUsable(found.value, now)) return yield* refuseWrong(token, address);
        return remember(token, found.value, now);
      });

      const authenticateByLookUp = Effect.fnUntraced(function* (
        token: string | null,
        address: ClientAddress,
      ) {
        const known = token === null ? undefined : remembered.get(token);
        if (known === undefined || known.acceptedUntil <= (yield* Clock.currentTimeMillis)) {
          yield* checkThrottle(address);
        }
        if (token === null) return yield* new InvalidApiKey({ problem: "missing" });
        return yield* lookUp(token, address);
      });

      return KeyAuthenticator.of({
        checkThrottle,
        countFailure,
        authenticate: (token, address) =>
          Clock.clockWith((clock) => {
            const now = clock.currentTimeMillisUnsafe();
            const known = token === null ? undefined : remembered.get(token);
            if (known === undefined || known.freshUntil <= now || !isBefore(now, known.endsAt)) {
              return authenticateByLookUp(token, address);
            }
            known.acceptedUntil = now + acceptedFor;
            return Effect.succeed(known);
          }),
      });
    }),
  );
}

const isBefore = (now: Millis, end: Millis | null): boolean => end === null || now < end;

const isUsable = ({ key, endsAt }: PresentedKey, now: Millis): boolean =>
  isAccepted(key, now) && isBefore(now, endsAt);

// The signal is what makes a revocation hold at once. Without it the freshness of a key does within a second.
const forgetOnChange = (remembered: Map<string, Remembered>) =>
  hearSignals(keyChanges, (id) => {
    for (const known of remembered.values()) if (known.key.id === id) known.freshUntil = 0;
  });
