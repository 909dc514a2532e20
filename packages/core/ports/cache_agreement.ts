/**
 * The port for what all nodes agree on about a shared cache. It is kept where the links are, so that whoever can write
 * links can also say that the cache is not to be used.
 */
import { Context, Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";

/** What is agreed on. */
export interface CacheTerms {
  /** The run of the cache that is used, or null when none was adopted. */
  readonly run: string | null;
  /** How long ago it was adopted. */
  readonly adoptedMsAgo: number;
  /**
   * Whether the cache is used at all: not for a while after its run has changed, and not while a write may still take
   * effect that began longer than `longestWrite` ago.
   */
  readonly isOpen: boolean;
  /** Scopes that are not cached at present. */
  readonly closed: ReadonlySet<Pid>;
}

/**
 * Whether a write may still be committed. A store asks right before it does so, and the write takes effect no later than
 * half of `longestWrite` after that, or the cache is not open until it has. So nothing takes effect late because its node
 * stood still.
 */
export const MayCommit = Context.Reference<Effect.Effect<boolean>>("@accountlink/core/MayCommit", {
  defaultValue: () => Effect.succeed(true),
});

/**
 * Where the agreement is kept. Times are lengths, in milliseconds, measured by the clock of the store: those of the nodes
 * differ.
 */
export class CacheAgreement extends Context.Service<
  CacheAgreement,
  {
    /**
     * How long after it began a write may still take effect while the cache is open, whatever becomes of the node that
     * asked for it.
     */
    readonly longestWrite: { readonly ofRecord: number; readonly ofScope: number };

    readonly read: Effect.Effect<CacheTerms, StoreUnavailable>;

    /** From now on this run is used, and not before `closedMs` have passed. False, and no change, when it is already. */
    readonly adopt: (run: string, closedMs: number) => Effect.Effect<boolean, StoreUnavailable>;

    /** The scope is not cached for so long, at least: of several closures the one that ends last counts. */
    readonly close: (pid: Pid, closedMs: number) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/CacheAgreement") {}
