import { Context, Option, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import { type RecordOf, recordStore, recordType } from "../records/mod.ts";

/** @internal */
export const upgrades = recordType({
  name: "upgrades",
  fields: { name: Schema.String, rounds: Schema.Int, at: Schema.Int },
  key: ["name"],
  indexes: {},
});

/** A change of stored data that a release makes once: how many rounds of it ended, and when the last one did. */
export interface Upgrade extends RecordOf<typeof upgrades> {}

/** Stores which changes of stored data have been made. Every operation is atomic. */
export class UpgradeStore extends Context.Service<
  UpgradeStore,
  {
    /** Returns the state of an upgrade; none before its first round has ended. */
    readonly find: (name: string) => StoreEffect<Option.Option<Upgrade>>;

    readonly put: (upgrade: Upgrade) => StoreEffect<void>;
  }
>()("@accountlink/core/UpgradeStore") {}

/** Stores upgrades in any storage. @internal */
export const storedUpgrades = recordStore(UpgradeStore, ({ read, write }) => ({
  find: (name) =>
    read("find", function* (tx) {
      return Option.fromUndefinedOr(yield* tx.get(upgrades, name));
    }),
  put: (upgrade) => write("put", upgrade.name, (tx) => tx.put(upgrades, upgrade)),
}));
