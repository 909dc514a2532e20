import { Context } from "effect";
import type { StoreEffect } from "../errors.ts";
import type { KeyId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { KeyUsage, UsagePeriod } from "./usage.ts";

/** The counts of a meter since its previous batch. */
export interface UsageBatch {
  readonly meter: string;
  /** The batch's number, which is higher than the numbers of the meter's earlier batches. */
  readonly sequence: number;
  /** The start of the UTC day on which all requests of the batch were answered. */
  readonly day: Millis;
  /** One entry for each key and group of routes. */
  readonly counts: ReadonlyArray<KeyUsage>;
  readonly uses: ReadonlyArray<KeyUse>;
}

/** A key's stored last use is updated only if the new one is this much later, in milliseconds. @internal */
export const lastUsePrecision = 30_000;

export interface KeyUse {
  readonly key: KeyId;
  readonly at: Millis;
}

/** Selects the usage to read: of one key, or of all keys of an account, including revoked keys. */
export type UsageOwner = { readonly account: string } | { readonly key: KeyId };

/** Stores the usage of API keys per UTC day. */
export class UsageStore extends Context.Service<
  UsageStore,
  {
    /**
     * Adds a batch to its day and stores the last uses, all or nothing. Adding the same batch again changes nothing, so
     * a batch with an unknown outcome can be repeated.
     */
    readonly add: (batch: UsageBatch) => StoreEffect<void>;

    /**
     * Returns the usage of the UTC days that start at `from` or later, sorted by day and group. Days without usage are
     * left out.
     */
    readonly days: (owner: UsageOwner, from: Millis) => StoreEffect<ReadonlyArray<UsagePeriod>>;

    /** Like `days`, for each key of an account, including revoked ones. Omits keys without usage in these days. */
    readonly daysByKey: (
      account: string,
      from: Millis,
    ) => StoreEffect<ReadonlyMap<KeyId, ReadonlyArray<UsagePeriod>>>;

    /**
     * Deletes the usage of days that started before `before`, and the sequence numbers of meters without a later batch.
     * Works in small atomic steps.
     */
    readonly forget: (before: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/UsageStore") {}
