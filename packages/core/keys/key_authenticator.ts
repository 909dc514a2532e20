import { Clock, Context, Effect, Layer, Option } from "effect";
import type { ClientAddress } from "../addresses/client_address.ts";
import { SecurityLog } from "../audit/security_log.ts";
import { Cache } from "../cache.ts";
import { InvalidApiKey, type SharedIpRateLimited, type StoreEffect } from "../errors.ts";
import { makeFailureLimit } from "../limits/failure_limit.ts";
import { Limits, type Quota, quotaOf } from "../limits/quota.ts";
import { Secrets } from "../secrets/secrets.ts";
import { hourMs, type Millis } from "../timestamp.ts";
import { type ApiKey, isAccepted, keyIdOf } from "./api_key.ts";
import { KeyChanges } from "./key_changes.ts";
import { KeyStore, type PresentedKey } from "./key_store.ts";

export interface AuthenticatedKey {
  readonly key: ApiKey;
  readonly quota: Quota;
  readonly endsAt: Millis | null;
}

/**
 * How long a key is accepted without reading the store again, in milliseconds since the last read began. So a
 * revocation takes effect within this time, even if the signal that announces it is lost. @internal
 */
export const keyFreshness = 750;

/**
 * A cached key takes 1.2 kB. After a key is evicted, the next request with it takes an extra round trip to check the
 * throttle.
 */
const maxCachedKeys = 100_000;

interface CachedKey extends AuthenticatedKey {
  readonly keyHash: string;
  /** When the store was last asked for the key; null if it must be asked again. */
  askedAt: Moment | null;
  acceptedUntil: Millis;
  /** When to tell other nodes again that the key is accepted. */
  shareAt: Millis;
  /**
   * The address of the last request with this key. A request from the same address need not tell `SecurityLog` again.
   */
  lastAddress: string | undefined;
}

/**
 * A time by two clocks: `wall` can be set back, and `monotonicNanos` may stand still while the machine is suspended.
 */
interface Moment {
  readonly wall: Millis;
  readonly monotonicNanos: bigint;
}

const momentOf = (clock: Clock.Clock): Moment => ({
  wall: clock.currentTimeMillisUnsafe(),
  monotonicNanos: clock.monotonicTimeNanosUnsafe(),
});

const freshNanos = BigInt(keyFreshness) * 1_000_000n;

/** Returns whether the store was asked for the key within `keyFreshness`, by both clocks. */
const isFresh = ({ askedAt }: CachedKey, clock: Clock.Clock): boolean =>
  askedAt !== null &&
  clock.currentTimeMillisUnsafe() - askedAt.wall < keyFreshness &&
  clock.monotonicTimeNanosUnsafe() - askedAt.monotonicNanos < freshNanos;

/** Authenticates requests by their API key. Each node caches the keys that it accepted. */
export class KeyAuthenticator extends Context.Service<
  KeyAuthenticator,
  {
    /**
     * Accepts a key that exists, is active and has not expired. From an address with too many failed authentications,
     * it accepts only keys that some node accepted within the last hour, and refuses others without a lookup. Tells
     * `SecurityLog` of accepted keys.
     *
     * @param token the text after `Bearer `, or null
     * @param address unknown addresses (null) are never throttled
     */
    readonly authenticate: (
      token: string | null,
      address: ClientAddress | null,
    ) => StoreEffect<AuthenticatedKey, InvalidApiKey | SharedIpRateLimited>;

    /** Refuses an address with too many failed authentications. */
    readonly checkThrottle: (address: ClientAddress | null) => StoreEffect<void, SharedIpRateLimited>;

    /** Counts the failed authentications of one request. Refuses the address if it already has too many failures. */
    readonly countFailures: (
      address: ClientAddress | null,
      failures: number,
    ) => StoreEffect<void, SharedIpRateLimited>;
  }
>()("@accountlink/core/KeyAuthenticator") {
  static readonly layer = Effect.gen(function* () {
    const store = yield* KeyStore;
    const keyChanges = yield* KeyChanges;
    const secrets = yield* Secrets;
    const security = yield* SecurityLog;
    const limits = yield* Limits;
    const throttle = yield* makeAuthThrottle;
    const cache = new Map<string, CachedKey>();
    let changes = 0;
    // A changed key is read from the store again at its next use. If the signal of the change is lost, the key is
    // read again after `keyFreshness`.
    yield* keyChanges.subscribe((id) => {
      changes++;
      for (const cached of cache.values()) if (cached.key.id === id) cached.askedAt = null;
    });

    const refuseWrong = (token: string, address: ClientAddress | null) => {
      cache.delete(token);
      return Effect.andThen(throttle.countFailures(address, 1), new InvalidApiKey({ problem: "wrong" }));
    };

    const addToCache = (
      token: string,
      presented: PresentedKey,
      { keyHash, askedAt, now }: Pick<CachedKey, "keyHash" | "askedAt"> & { readonly now: Millis },
    ): CachedKey => {
      const { key, endsAt } = presented;
      const cached: CachedKey = {
        key: key.kind === "normal" ? key : { ...key, scope: { ...key.scope, namesAnyGuild: true } },
        endsAt,
        keyHash,
        quota: quotaOf(key.limits, limits[key.tier]),
        askedAt,
        acceptedUntil: now + acceptedFor,
        // A key that is read again is shared no sooner.
        shareAt: cache.get(token)?.shareAt ?? now,
        lastAddress: undefined,
      };
      cache.delete(token);
      if (cache.size >= maxCachedKeys) cache.delete(cache.keys().next().value as string);
      cache.set(token, cached);
      return cached;
    };

    const readKey = Effect.fnUntraced(function* (
      token: string,
      keyHash: string,
      address: ClientAddress | null,
    ) {
      const askedAt = yield* Effect.map(Clock.Clock, momentOf);
      const changesBefore = changes;
      const found = yield* store.findByHash(keyHash, keyIdOf(token) ?? undefined);
      const now = yield* Clock.currentTimeMillis;
      if (Option.isNone(found) || !isUsable(found.value, now)) return yield* refuseWrong(token, address);
      // A key that changed during the read may be outdated, so it is used for this request only.
      const isCurrent = changes === changesBefore;
      const cached = addToCache(token, found.value, { keyHash, askedAt: isCurrent ? askedAt : null, now });
      if (cached.shareAt <= now) {
        cached.shareAt = now + shareInterval;
        yield* throttle.shareAccepted(keyHash, now);
      }
      return yield* noteUse(cached, address);
    });

    const noteUse = (cached: CachedKey, address: ClientAddress | null): Effect.Effect<CachedKey> => {
      cached.lastAddress = address?.countedAs;
      return Effect.as(security.noteUse(cached.key.id, address), cached);
    };

    const hashOf = (token: string | null) =>
      token === null || keyIdOf(token) === null ? Effect.succeed(null) : secrets.keyHash(token);

    const authenticateAnew = Effect.fnUntraced(function* (
      token: string | null,
      cached: CachedKey | undefined,
      address: ClientAddress | null,
    ) {
      const keyHash = cached?.keyHash ?? (yield* hashOf(token));
      if (cached === undefined || cached.acceptedUntil <= (yield* Clock.currentTimeMillis)) {
        yield* throttle.check(address, keyHash);
      }
      if (token === null) return yield* new InvalidApiKey({ problem: "missing" });
      return yield* keyHash === null ? refuseWrong(token, address) : readKey(token, keyHash, address);
    });

    return KeyAuthenticator.of({
      checkThrottle: (address) => throttle.check(address, null),
      countFailures: throttle.countFailures,
      authenticate: (token, address) =>
        Effect.withFiber((fiber) => {
          const clock = fiber.getRef(Clock.Clock);
          const now = clock.currentTimeMillisUnsafe();
          const cached = token === null ? undefined : cache.get(token);
          if (cached === undefined || !isFresh(cached, clock) || !hasNotEnded(cached, now)) {
            return authenticateAnew(token, cached, address);
          }
          // Each accepted request lets its key pass the throttle for another hour.
          cached.acceptedUntil = now + acceptedFor;
          return cached.lastAddress === address?.countedAs
            ? Effect.succeed(cached)
            : noteUse(cached, address);
        }),
    });
  }).pipe(Layer.effect(KeyAuthenticator), Layer.provide(KeyChanges.layer));
}

const isUsable = (presented: PresentedKey, now: Millis): boolean =>
  isAccepted(presented.key, now) && hasNotEnded(presented, now);

const hasNotEnded = ({ endsAt }: Pick<PresentedKey, "endsAt">, now: Millis): boolean =>
  endsAt === null || now < endsAt;

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
const makeAuthThrottle = Effect.gen(function* () {
  const cache = yield* Cache;
  const limit = (yield* Limits).address.authFailures;
  const failures = yield* makeFailureLimit("auth", limit);
  const scope = yield* Effect.scope;

  const wasAccepted = (keyHash: string, now: Millis): Effect.Effect<boolean> =>
    Effect.orElseSucceed(Effect.map(cache.get(acceptedEntry(keyHash), now), Option.isSome), () => false);

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
