/**
 * How nodes share a cache of link records without ever showing an old one: what a read finds there is what the store held
 * at that moment. docs/consistency.md says why.
 */
import { Context, Effect, Fiber, Layer, Option, type Scope } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import { keepLease, knownAfter, leaseMs } from "../internal/cache_lease.ts";
import { ScopeClosures } from "../internal/scope_closures.ts";
import { WriteEnclosures } from "../internal/write_enclosures.ts";
import type { LinkRecord } from "../link.ts";
import { CacheAgreement } from "../ports/cache_agreement.ts";
import { type CachedRecord, type CacheLease, LinkCache, type RecordName } from "../ports/link_cache.ts";

/** How long a record stays in the cache, in milliseconds. */
const entryMs = 2_000;

/**
 * How long whoever missed a record may take to look it up and leave it there, in milliseconds; and within which a record
 * that is asked for twice is worth it.
 */
const tokenMs = 2_000;

/** What is added to a time by one clock that has to outlast one by another, in milliseconds. */
const margin = 1_000;

type Found = Effect.Effect<Option.Option<LinkRecord>, StoreUnavailable>;

/** A read of the cache that has begun. */
export type BegunRead = Fiber.Fiber<BegunRecord>;

interface BegunRecord {
  readonly lease: CacheLease;
  readonly cached: CachedRecord;
}

/** Reads and writes of links past the cache. */
export class SharedLinks extends Context.Service<
  SharedLinks,
  {
    /** Begins to read a record from the cache, at once; null when there is nothing to be read. */
    readonly begin: (name: RecordName) => Effect.Effect<BegunRead | null>;

    /** Ends a read: gives what was in the cache, else looks it up and leaves it there for the others. */
    readonly end: (name: RecordName, begun: BegunRead | null, lookUp: Found) => Found;

    /** Runs a write that changes records of some chat users, fenced. */
    readonly changing: <A, E>(
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
      write: Effect.Effect<A, E>,
    ) => Effect.Effect<A, E | StoreUnavailable>;

    /** Runs a write that may change every record of some scopes, which nobody caches meanwhile. */
    readonly changingScopes: <A, E>(
      pids: ReadonlyArray<Pid>,
      write: Effect.Effect<A, E>,
    ) => Effect.Effect<A, E | StoreUnavailable>;
  }
>()("@accountlink/core/SharedLinks") {
  /** It asks for leave to use the cache until the scope of the layer closes. */
  static readonly layer: Layer.Layer<SharedLinks, never, LinkCache | CacheAgreement> = Layer.effect(
    SharedLinks,
    Effect.gen(function* () {
      const cache = yield* LinkCache;
      const agreement = yield* CacheAgreement;
      const { longestWrite } = agreement;
      const fenceMs = longestWrite.ofRecord + margin;
      const closures = new ScopeClosures(agreement, { knownAfter, entriesGoneAfter: entryMs + margin });
      const leases = yield* keepLease(cache, agreement, closures, leaseMs + fenceMs + entryMs + margin);
      const writes = new WriteEnclosures({ cache, leases, closures, longestWrite, fenceMs });

      const scope = yield* Effect.scope;
      return SharedLinks.of({
        begin: (name) =>
          Effect.suspend(() => {
            const held = leases.forReads(name.pid);
            return held === null
              ? Effect.succeed(null)
              : Effect.forkChild(readUnder(cache, held, name), atOnce);
          }),
        end: (name, begun, lookUp) =>
          begun === null
            ? lookUp
            : Effect.flatMap(Fiber.join(begun), (read) => endOf(cache, scope, name, read, lookUp)),
        changing: (pid, chatIds, write) => {
          const records = chatIds.map((chatId) => ({ pid, chatId }));
          return writes.aroundRecords(pid, records, write);
        },
        changingScopes: (pids, write) => writes.aroundScopes(pids, write),
      });
    }),
  );
}

const atOnce = { startImmediately: true } as const;

const missed: CachedRecord = { _tag: "Miss", token: null };

const readUnder = (
  cache: LinkCache["Service"],
  lease: CacheLease,
  name: RecordName,
): Effect.Effect<BegunRecord> =>
  cache.read(lease, name, tokenMs).pipe(
    Effect.catch(() => Effect.succeed(missed)),
    Effect.map((cached) => ({ lease, cached })),
  );

const endOf = (
  cache: LinkCache["Service"],
  scope: Scope.Scope,
  name: RecordName,
  { lease, cached }: BegunRecord,
  lookUp: Found,
): Found => {
  if (cached._tag === "Hit") return Effect.succeed(Option.fromNullOr(cached.record));
  const { token } = cached;
  if (token === null) return lookUp;
  return Effect.tap(lookUp, (found) => {
    const entry = { token, record: Option.getOrNull(found), entryMs };
    // Nobody waits for it. One that is lost is one miss more.
    return Effect.forkIn(Effect.ignore(cache.put(lease, name, entry)), scope, atOnce);
  });
};
