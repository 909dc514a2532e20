/** Keeps every node from caching a scope. */
import { Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { Pid } from "../ids.ts";
import type { Millis } from "../link.ts";
import { monotonicMillis } from "../monotonic_millis.ts";
import type { CacheAgreement } from "../ports/cache_agreement.ts";

/** A closure that this node has asked for, in its own monotonic time. */
interface Closure {
  /** From then on nobody reads under what was agreed on before. */
  readonly quietFrom: Millis;
  /** Until then nobody reads, and when they begin the entries of before are gone. */
  readonly until: Millis;
}

/** What is known of closures, in milliseconds. */
export interface ClosureTimes {
  /** Until every node knows of one. */
  readonly knownAfter: number;
  /** Until the entries that there may be are gone. */
  readonly entriesGoneAfter: number;
}

/** How much longer than it has to a closure lasts, so that the next write need not ask for another. */
const spare = 2_000;

/** What this node has closed. */
export class ScopeClosures {
  readonly #agreement: CacheAgreement["Service"];
  readonly #times: ClosureTimes;
  /** Those that were renewed last are at the end. */
  readonly #ofScopes = new Map<Pid, Closure>();
  #ofAll: Closure | undefined;

  constructor(agreement: CacheAgreement["Service"], times: ClosureTimes) {
    this.#agreement = agreement;
    this.#times = times;
  }

  /** Makes a run the one that is used, later, and closes the cache until then. */
  adopt(run: string, closedMs: number): Effect.Effect<void, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const asked = yield* monotonicMillis;
      if (!(yield* this.#agreement.adopt(run, closedMs))) return;
      const { knownAfter, entriesGoneAfter } = this.#times;
      const quietFrom = (yield* monotonicMillis) + knownAfter;
      this.#ofAll = { quietFrom, until: asked + closedMs - entriesGoneAfter };
    });
  }

  /**
   * Comes back when no node reads the scope from the cache, and none will for `forMs` from when it was called, at least.
   * Gives until when, in the monotonic time of this node.
   */
  ensure(pid: Pid, forMs: number): Effect.Effect<Millis, StoreUnavailable> {
    return Effect.gen({ self: this }, function* () {
      const asked = yield* monotonicMillis;
      let closure = this.#find(pid, asked + forMs);
      if (closure === undefined) {
        const { knownAfter, entriesGoneAfter } = this.#times;
        const lasting = knownAfter + forMs + spare;
        yield* this.#agreement.close(pid, lasting + entriesGoneAfter);
        closure = this.#note(pid, yield* monotonicMillis, asked + lasting);
      }
      const wait = closure.quietFrom - (yield* monotonicMillis);
      if (wait > 0) yield* Effect.sleep(wait);
      return closure.until;
    });
  }

  /** What keeps the scope closed until then, and has done so for longest. */
  #find(pid: Pid, until: Millis): Closure | undefined {
    return [this.#ofScopes.get(pid), this.#ofAll]
      .filter((closure): closure is Closure => closure !== undefined && closure.until >= until)
      .toSorted((one, other) => one.quietFrom - other.quietFrom)[0];
  }

  #note(pid: Pid, done: Millis, until: Millis): Closure {
    // It goes on without a gap.
    const quietFrom = this.#find(pid, done)?.quietFrom ?? done + this.#times.knownAfter;
    const closure = { quietFrom, until };
    this.#ofScopes.delete(pid);
    for (const [other, { until: ended }] of this.#ofScopes) {
      if (done < ended) break;
      this.#ofScopes.delete(other);
    }
    this.#ofScopes.set(pid, closure);
    return closure;
  }
}
