/** The port for the usage of API keys, per UTC day. */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { KeyUsage, UsagePeriod } from "./usage.ts";

/** What a meter counted since its previous batch. */
export interface UsageBatch {
  /** The meter that counted. */
  readonly meter: string;
  /** The number of the batch: higher than that of every earlier batch of the meter. */
  readonly sequence: number;
  /** The start of the UTC day of all of its requests. */
  readonly day: Millis;
  /** One for each key and group. */
  readonly counts: ReadonlyArray<KeyUsage>;
  /** The last use of each key. */
  readonly uses: ReadonlyArray<KeyUse>;
}

/** The last use of a key is stored when it is this much later than the stored one, in milliseconds. */
export const lastUsePrecision = 30_000;

export interface KeyUse {
  readonly key: KeyId;
  readonly at: Millis;
}

/** Whose usage is read: of all keys of an account, also revoked ones, or of one key. */
export type UsageOwner = { readonly account: string } | { readonly key: KeyId };

/**
 * Where usage is kept.
 *
 * @example
 * ```ts
 * import { KeyId } from "@accountlink/core";
 * import { StorageMemory } from "@accountlink/memory";
 * import { memoryWorld } from "@accountlink/testing";
 * import { Effect } from "effect";
 *
 * const world = await memoryWorld();
 * const { key } = await world.keys.create({ name: "bot" });
 * const counts = [{ key: key.id, group: "lookup", served: 3, refused: 0, errors: 0 }] as const;
 * const uses = [{ key: key.id, at: lastUsePrecision }];
 * const batch = { meter: "node-1", sequence: 1, day: 0, counts, uses };
 * const program = Effect.gen(function* () {
 *   const store = yield* UsageStore;
 *   yield* store.add(batch);
 *   yield* store.add(batch);
 *   return (yield* store.days({ key: key.id }, 0)).map(({ served }) => served);
 * });
 * await world.run(program); // [3]
 * await world.close();
 * ```
 */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Adds a batch to its day and stores the last uses, all or nothing. A batch that was added before
     * changes nothing, so that one whose outcome is unknown can be repeated.
     */
    readonly add: (batch: UsageBatch) => Effect.Effect<void, StoreUnavailable>;

    /** The usage of the UTC days that start at a time or later, in order, by group; without empty ones. */
    readonly days: (
      owner: UsageOwner,
      from: Millis,
    ) => Effect.Effect<ReadonlyArray<UsagePeriod>, StoreUnavailable>;

    /**
     * As `days`, of each key of an account, also of revoked ones. Keys without usage in these days are
     * left out.
     */
    readonly daysByKey: (
      account: string,
      from: Millis,
    ) => Effect.Effect<ReadonlyMap<KeyId, ReadonlyArray<UsagePeriod>>, StoreUnavailable>;

    /**
     * Deletes days that started before a time, and what is known of meters whose last batch is of such
     * a day. It works in small atomic steps.
     */
    readonly forget: (before: Millis) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/UsageStore") {}
