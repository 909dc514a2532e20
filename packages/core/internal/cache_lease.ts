/** This node's leave to use the shared cache, renewed over and over. */
import { Effect, Latch, type Scope } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import type { CacheAgreement, CacheTerms } from "../ports/cache_agreement.ts";
import type { CacheLease, LinkCache } from "../ports/link_cache.ts";
import type { ScopeClosures } from "./scope_closures.ts";
import { warnOnce } from "./warn_once.ts";

/** How long a lease lasts, in milliseconds. By then every node knows what was agreed on, or does without the cache. */
export const leaseMs = 1_000;

/** How long until every node knows, by whatever clock, in milliseconds. */
export const knownAfter = 1.5 * leaseMs;

const renewedEvery = "300 millis";

/** What this node may use at present. Whether a lease is over is for the cache to say. */
export class HeldLease {
  #forWrites: CacheLease | null = null;
  #forReads: CacheLease | null = null;
  #closed: ReadonlySet<Pid> = new Set();
  readonly #renewed = Latch.makeUnsafe();

  /** For fences, which may be set up before anybody reads. One that is over is renewed as soon as the store answers. */
  get forWrites(): CacheLease | null {
    return this.#forWrites;
  }

  /** For reads of a scope, or null when it is not to be cached. */
  forReads(pid: Pid): CacheLease | null {
    return this.#closed.has(pid) ? null : this.#forReads;
  }

  /** Waits until there is a lease for fences, and another one than was tried. */
  next(tried: CacheLease | null): Effect.Effect<CacheLease> {
    return Effect.suspend(() =>
      this.#forWrites === null || this.#forWrites === tried
        ? Effect.andThen(this.#renewed.await, this.next(tried))
        : Effect.succeed(this.#forWrites),
    );
  }

  hold(lease: CacheLease, { isOpen, closed }: CacheTerms): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.#forWrites = lease;
      this.#forReads = isOpen ? lease : null;
      this.#closed = closed;
      return Effect.asVoid(this.#renewed.release);
    });
  }

  /** The cache does not answer, or is not used. */
  drop(): void {
    this.#forWrites = null;
    this.#forReads = null;
  }
}

/**
 * Asks for a lease, and for the next one until the scope closes.
 *
 * @param closedMs how long the cache is not used after its run has changed
 */
export const keepLease = (
  cache: LinkCache["Service"],
  agreement: CacheAgreement["Service"],
  closures: ScopeClosures,
  closedMs: number,
): Effect.Effect<HeldLease, never, Scope.Scope> => {
  const held = new HeldLease();

  const renew: Effect.Effect<void, StoreUnavailable> = Effect.gen(function* () {
    const asked = yield* monotonicMillis;
    // The terms are read after the cache was asked for the time: they held at least that long.
    const { run, time } = yield* Effect.tapError(cache.look, () => Effect.sync(() => held.drop()));
    const terms = yield* agreement.read;
    if (terms.run !== run) {
      held.drop();
      if (terms.run !== null) yield* Effect.logWarning(changed);
      yield* closures.adopt(run, closedMs);
      return;
    }
    // Until then another node may read from the run before, where a fence in this one is not seen.
    if (terms.adoptedMsAgo < knownAfter) return held.drop();
    // What the store was asked for before it stood still is over when it answers.
    if ((yield* monotonicMillis) - asked >= leaseMs) return yield* Effect.suspend(() => renew);
    yield* held.hold({ run, until: time + leaseMs }, terms);
  });

  return Effect.gen(function* () {
    const renewed = yield* warnOnce("Links are not cached", renew);
    yield* renewed;
    yield* Effect.forkScoped(Effect.forever(Effect.delay(renewed, renewedEvery)));
    return held;
  });
};

const changed =
  "Links are not cached for a while: the cache was started again, or another one took its place";
