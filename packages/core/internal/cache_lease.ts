/** This node's leave to use the shared cache, renewed over and over. */
import { Effect, type Scope } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import type { CacheAgreement, CacheTerms } from "../ports/cache_agreement.ts";
import type { CacheLease, LinkCache } from "../ports/link_cache.ts";
import type { ScopeClosures } from "./scope_closures.ts";

/** How long a lease lasts, in milliseconds. By then every node knows what was agreed on, or does without the cache. */
export const leaseMs = 1_000;

/** How long until every node knows, by whatever clock, in milliseconds. */
export const knownAfter = 1.5 * leaseMs;

const renewedEvery = "300 millis";

/** What this node may use at present. Whether a lease is over is for the cache to say. */
export class HeldLease {
  /** For fences, which may be set up before anybody reads. */
  forWrites: CacheLease | null = null;
  #forReads: CacheLease | null = null;
  #closed: ReadonlySet<Pid> = new Set();

  /** For reads of a scope, or null when it is not to be cached. */
  forReads(pid: Pid): CacheLease | null {
    return this.#closed.has(pid) ? null : this.#forReads;
  }

  hold(lease: CacheLease, { isOpen, closed }: CacheTerms): void {
    this.forWrites = lease;
    this.#forReads = isOpen ? lease : null;
    this.#closed = closed;
  }

  drop(): void {
    this.forWrites = null;
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
    // The terms are read after the cache was asked for the time: they held at least that long.
    const { run, time } = yield* cache.look;
    const terms = yield* agreement.read;
    if (terms.run !== run) {
      held.drop();
      if (terms.run !== null) yield* Effect.logWarning(changed);
      return yield* closures.adopt(run, closedMs, terms.run === null);
    }
    // Until then another node may read from the run before, where a fence in this one is not seen.
    if (terms.adoptedMsAgo >= knownAfter) held.hold({ run, until: time + leaseMs }, terms);
    else held.drop();
  });

  const renewed = renew.pipe(Effect.catch(() => Effect.sync(() => held.drop())));
  return renewed.pipe(
    Effect.andThen(Effect.forkScoped(Effect.forever(Effect.delay(renewed, renewedEvery)))),
    Effect.as(held),
  );
};

const changed =
  "Links are not cached for a while: the cache was started again, or another one took its place";
