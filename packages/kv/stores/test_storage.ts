/** For tests: the storage of an engine, with an account and its scope. */
import { Pid, type StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Layer } from "effect";
import { encode, type Tuple } from "../keys.ts";
import { type Kv, layer } from "../mod.ts";

export const pid = Pid.make(`pid_${"1".repeat(32)}`);

export const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;

/** Runs an effect on a storage that starts on an engine. */
export const onStorage = <A, E>(kv: Kv, effect: Effect.Effect<A, E, StoragePorts>) =>
  Effect.provide(effect, Layer.fresh(layer(Effect.succeed(kv))));

/** Makes the account acme, which has the number 1, and its global scope. */
export const makeScope = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  return yield* keys.ensureScope("acme", { kind: "global" }, pid);
});

/** The scope of `makeScope`, as records of earlier releases named it. */
export const scopeRef = { pid, account: 1, target: { kind: "global" } } as const;

/** Stores values under keys, as an earlier release did, and returns the names of their tables. */
export const storeEarlier = (kv: Kv, records: ReadonlyArray<readonly [key: Tuple, value: unknown]>) =>
  Effect.as(
    kv.commit(
      [],
      records.map(([key, value]) => ({ key: encode(key), value: JSON.stringify(value) })),
    ),
    new Set(records.map(([[name]]) => tableOf(String(name)))),
  );

const tableOf = (key: string) => /^\w*/.exec(key)?.[0] ?? "";

export const keysLeft = (kv: Kv, tables: ReadonlySet<string>) =>
  Effect.map(kv.list({ start: "", end: "~" }, { limit: 1_000, reverse: false }), (left) =>
    left.map(({ key }) => key).filter((key) => tables.has(tableOf(key))),
  );
