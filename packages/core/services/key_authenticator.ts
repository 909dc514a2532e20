/**
 * Authentication of requests by API key.
 */
import { Clock, Context, Effect, Layer, Option } from "effect";
import { type ApiKey, isAccepted, keyIdOf } from "../api_key.ts";
import type { ClientAddress } from "../client_address.ts";
import { InvalidApiKey, type SharedIpRateLimited, type StoreUnavailable } from "../errors.ts";
import { acceptedFor, makeAuthThrottle, notedEvery } from "../internal/auth_throttle.ts";
import { hearSignals } from "../internal/hear_signals.ts";
import type { Millis } from "../link.ts";
import { KeyStore, type PresentedKey } from "../ports/key_store.ts";
import { Limits, type Quota, quotaOf } from "../quota.ts";
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

/**
 * How long a key is trusted without a look at the store, in milliseconds from when the store was asked. A revocation
 * holds after.
 */
export const keyFreshness = 750;

/** 1.2 kB each. A key that was forgotten asks the throttle of its address first, which is a round trip more. */
const rememberedKeys = 100_000;

interface Remembered extends AuthenticatedKey {
  freshUntil: Millis;
  acceptedUntil: Millis;
  /** When the other nodes are to hear of it again. */
  noteAt: Millis;
}

/** Tells whose key a request presents. */
export class KeyAuthenticator extends Context.Service<
  KeyAuthenticator,
  {
    /**
     * Accepts a key that is known, active and not over. From an address with too many failed authentications, only a
     * key that some node accepted in the last hour passes; anything else is refused without a look-up.
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

    /** Counts a failed authentication of the address, which is refused when it has had too many by then. */
    readonly countFailure: (
      address: ClientAddress,
    ) => Effect.Effect<void, SharedIpRateLimited | StoreUnavailable>;
  }
>()("@accountlink/core/KeyAuthenticator") {
  static readonly layer = Layer.effect(
    KeyAuthenticator,
    Effect.gen(function* () {
      const store = yield* KeyStore;
      const secrets = yield* Secrets;
      const limits = yield* Limits;
      const throttle = yield* makeAuthThrottle;
      const remembered = new Map<string, Remembered>();
      let changes = 0;
      // The signal is what makes a revocation hold at once. Without it the freshness of a key does within a second.
      yield* hearSignals(keyChanges, (id) => {
        changes++;
        for (const known of remembered.values()) if (known.key.id === id) known.freshUntil = 0;
      });

      const refuseWrong = (token: string, address: ClientAddress) => {
        remembered.delete(token);
        return Effect.andThen(
          throttle.countFailure(address),
          Effect.fail(new InvalidApiKey({ problem: "wrong" })),
        );
      };

      const remember = (
        token: string,
        presented: PresentedKey,
        { freshUntil, now }: { readonly freshUntil: Millis; readonly now: Millis },
      ): Remembered => {
        const known: Remembered = {
          ...presented,
          quota: quotaOf(presented.key.limits, limits[presented.key.tier]),
          freshUntil,
          acceptedUntil: now + acceptedFor,
          noteAt: remembered.get(token)?.noteAt ?? now,
        };
        remembered.delete(token);
        if (remembered.size >= rememberedKeys) remembered.delete(remembered.keys().next().value as string);
        remembered.set(token, known);
        return known;
      };

      const lookUp = Effect.fnUntraced(function* (token: string, keyHash: string, address: ClientAddress) {
        const asked = yield* Clock.currentTimeMillis;
        const changesBefore = changes;
        const found = yield* store.findByHash(keyHash);
        const now = yield* Clock.currentTimeMillis;
        if (Option.isNone(found) || !isUsable(found.value, now)) return yield* refuseWrong(token, address);
        // What was read while a key changed may be what it was before: it is good for this request alone.
        const freshUntil = changes === changesBefore ? asked + keyFreshness : 0;
        const known = remember(token, found.value, { freshUntil, now });
        if (known.noteAt <= now) {
          known.noteAt = now + notedEvery;
          yield* throttle.noteAccepted(keyHash, now);
        }
        return known;
      });

      const authenticateByLookUp = Effect.fnUntraced(function* (
        token: string | null,
        address: ClientAddress,
      ) {
        const known = token === null ? undefined : remembered.get(token);
        const keyHash = token === null || keyIdOf(token) === null ? null : yield* secrets.keyHash(token);
        if (known === undefined || known.acceptedUntil <= (yield* Clock.currentTimeMillis)) {
          yield* throttle.check(address, keyHash);
        }
        if (token === null) return yield* new InvalidApiKey({ problem: "missing" });
        return yield* keyHash === null ? refuseWrong(token, address) : lookUp(token, keyHash, address);
      });

      return KeyAuthenticator.of({
        checkThrottle: (address) => throttle.check(address, null),
        countFailure: throttle.countFailure,
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
