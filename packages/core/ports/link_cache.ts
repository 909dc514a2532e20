/**
 * The port for a cache of link records that nodes share. It says what was true when it was asked, and never more: how its
 * operations are put together so that this holds is `SharedLinks`; why it holds, docs/consistency.md.
 */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { LinkRecord, Millis } from "../link.ts";

/** The cache as it is found: as long as `run` stays the same it has forgotten no fence before its time. */
export interface CacheRun {
  readonly run: string;
  /** The time by the cache's own clock, the only one that it goes by. */
  readonly time: Millis;
}

/** Leave to use one run of the cache. What arrives when it is over is refused by the cache itself. */
export interface CacheLease {
  readonly run: string;
  /** By the cache's clock. */
  readonly until: Millis;
}

/** Which record. */
export interface RecordName {
  readonly pid: Pid;
  readonly chatId: ChatId;
}

/**
 * `Hit`: the record, or null for a chat user without one. `Miss`: the record has to be looked up. Whoever was given a
 * token then puts the record into the cache. The first to miss a record is given none. Nobody is while a fence stands,
 * or when the lease is over.
 */
export type CachedRecord =
  | { readonly _tag: "Hit"; readonly record: LinkRecord | null }
  | { readonly _tag: "Miss"; readonly token: string | null };

/** One writer's fence around records. */
export interface Fence {
  readonly run: string;
  readonly records: ReadonlyArray<RecordName>;
  /** Tells it from the fences of other writers, which may stand at the same time. */
  readonly id: string;
}

/** Where records are cached. Every operation is one step. An entry may be gone at any time; a fence may not. */
export class LinkCache extends Context.Service<
  LinkCache,
  {
    /** Which run this is. */
    readonly look: Effect.Effect<CacheRun, StoreUnavailable>;

    /**
     * Finds a record. Who misses it first leaves a token, which lasts `tokenMs` and is given to who comes meanwhile: what
     * is asked for once need not be kept.
     */
    readonly read: (
      lease: CacheLease,
      name: RecordName,
      tokenMs: number,
    ) => Effect.Effect<CachedRecord, StoreUnavailable>;

    /** Puts a record in the place of its token for `entryMs`, if that is still there. */
    readonly put: (
      lease: CacheLease,
      name: RecordName,
      entry: { readonly token: string; readonly record: LinkRecord | null; readonly entryMs: number },
    ) => Effect.Effect<void, StoreUnavailable>;

    /**
     * Sets up a fence, which stands for `fenceMs` unless it is lifted: what the cache has of the records is gone, tokens
     * as well, and nothing is filled in. False, and nothing is done, when the lease is over.
     */
    readonly fence: (
      lease: CacheLease,
      fence: Fence,
      fenceMs: number,
    ) => Effect.Effect<boolean, StoreUnavailable>;

    /** Lifts a fence, and no other. False when it did not stand any more, around every one of its records. */
    readonly lift: (fence: Fence) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("@accountlink/core/LinkCache") {}
