/** Keeps writes from being missed by whoever reads the cache. */
import { Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import type { Millis } from "../link.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import { type CacheAgreement, MayCommit } from "../ports/cache_agreement.ts";
import type { CacheLease, Fence, LinkCache, RecordName } from "../ports/link_cache.ts";
import type { HeldLease } from "./cache_lease.ts";
import type { ScopeClosures } from "./scope_closures.ts";

/** What goes around a write: a fence, or a closed scope when there is none. */
interface Enclosure {
  readonly fence: Fence | null;
  /** How long it surely lasts, in the monotonic time of this node. */
  readonly until: Millis;
}

/** How long a write waits for a lease that is over to be renewed before it closes its scope, in milliseconds. */
const renewalMs = 300;

/** What is used by a write. */
export interface WriteParts {
  readonly cache: LinkCache["Service"];
  readonly leases: HeldLease;
  readonly closures: ScopeClosures;
  readonly longestWrite: CacheAgreement["Service"]["longestWrite"];
  /** How long a fence stands, in milliseconds by the clock of the cache; longer than a write may take. */
  readonly fenceMs: number;
}

/** Runs writes, each within an enclosure. */
export class WriteEnclosures {
  readonly #parts: WriteParts;

  constructor(parts: WriteParts) {
    this.#parts = parts;
  }

  /** Runs a write that changes these records of a scope. */
  aroundRecords<A, E>(
    pid: Pid,
    records: ReadonlyArray<RecordName>,
    write: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | StoreUnavailable> {
    const { ofRecord } = this.#parts.longestWrite;
    return Effect.flatMap(this.#fenceOrClose(pid, records), (enclosure) =>
      this.#runWithin(enclosure, [pid], ofRecord, write),
    );
  }

  /** Runs a write that may change every record of some scopes. */
  aroundScopes<A, E>(
    pids: ReadonlyArray<Pid>,
    write: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | StoreUnavailable> {
    const { ofScope } = this.#parts.longestWrite;
    return Effect.flatMap(this.#close(pids, ofScope), (enclosure) =>
      this.#runWithin(enclosure, pids, ofScope, write),
    );
  }

  #fenceOrClose(pid: Pid, records: ReadonlyArray<RecordName>): Effect.Effect<Enclosure, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { leases, longestWrite } = this.#parts;
      const held = leases.forWrites;
      const fenced = held === null ? null : yield* this.#fence(held, records);
      if (fenced !== null) return fenced;
      // Closing a scope keeps it out of the cache for long, so a lease that may yet be renewed is waited for first.
      const pause = leases.forWrites === null ? 0 : renewalMs;
      const closed = Effect.delay(this.#close([pid], longestWrite.ofRecord), pause);
      return yield* Effect.raceFirst(this.#fenceLater(held, records), closed);
    });
  }

  /** Sets up a fence as soon as there is another lease than was tried. */
  #fenceLater(tried: CacheLease | null, records: ReadonlyArray<RecordName>): Effect.Effect<Enclosure> {
    return Effect.flatMap(this.#parts.leases.next(tried), (lease) =>
      Effect.flatMap(this.#fence(lease, records), (fenced) =>
        fenced === null ? this.#fenceLater(lease, records) : Effect.succeed(fenced),
      ),
    );
  }

  #fence(lease: CacheLease, records: ReadonlyArray<RecordName>): Effect.Effect<Enclosure | null> {
    return Effect.gen({ self: this }, function* () {
      const { cache, leases, longestWrite, fenceMs } = this.#parts;
      const fence = { run: lease.run, records, id: crypto.randomUUID() };
      const asked = yield* monotonicMillis;
      const stands = yield* cache.fence(lease, fence, fenceMs).pipe(
        Effect.catch(() => {
          leases.drop();
          return Effect.succeed(false);
        }),
      );
      return stands ? { fence, until: asked + longestWrite.ofRecord } : null;
    });
  }

  #close(pids: ReadonlyArray<Pid>, forMs: number): Effect.Effect<Enclosure, StoreUnavailable> {
    return Effect.map(this.#ensure(pids, forMs), (untils) => ({ fence: null, until: Math.min(...untils) }));
  }

  #ensure(pids: ReadonlyArray<Pid>, forMs: number): Effect.Effect<ReadonlyArray<Millis>, StoreUnavailable> {
    const { closures } = this.#parts;
    return Effect.forEach(pids, (pid) => closures.ensure(pid, forMs), { concurrency: 10 });
  }

  #runWithin<A, E>(
    { fence, until }: Enclosure,
    pids: ReadonlyArray<Pid>,
    longest: number,
    write: Effect.Effect<A, E>,
  ): Effect.Effect<A, E | StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const { cache } = this.#parts;
      const mayCommit = Effect.map(monotonicMillis, (now) => now < until - longest / 2);
      // A write that failed may yet take effect, so its fence is left to end by itself.
      const written = yield* Effect.provideService(write, MayCommit, mayCommit);
      const stood =
        fence !== null && (yield* cache.lift(fence).pipe(Effect.catch(() => Effect.succeed(false))));
      // A scope that is closed is found so, unless the write took longer than anybody thought.
      if (!stood) yield* this.#ensure(pids, 0);
      return written;
    });
  }
}
