/** For tests: stores that fail from some write on, as in a crash or an outage. */
import { Connection } from "@accountlink/conformance";
import type { StoragePorts } from "@accountlink/core";
import { Effect, Layer } from "effect";
import { StorageKv } from "./mod.ts";
import type { KeyValueStore, SingleKeyStore } from "./storage_kv.ts";

/** @param mayWrite asked before each write */
export const breakingSingleKeys = (store: SingleKeyStore, mayWrite: () => boolean): SingleKeyStore => ({
  ...store,
  set: async (key, value) => {
    if (!mayWrite()) throw new Error("The store is broken");
    await store.set(key, value);
  },
  remove: async (key) => {
    if (!mayWrite()) throw new Error("The store is broken");
    await store.remove(key);
  },
});

/** The ports on a store whose connection can break. */
export const layerBreaking = (open: () => Promise<KeyValueStore>): Layer.Layer<StoragePorts | Connection> => {
  let isBroken = false;
  const whole =
    <Args extends ReadonlyArray<unknown>, A>(call: (...args: Args) => Promise<A>) =>
    async (...args: Args): Promise<A> => {
      if (isBroken) throw new Error("The store is broken");
      return call(...args);
    };
  const breaking = async () => {
    const store = await open();
    return { ...store, get: whole(store.get), list: whole(store.list), commit: whole(store.commit) };
  };
  const connection = Layer.succeed(
    Connection,
    Connection.of({
      break: Effect.sync(() => {
        isBroken = true;
      }),
      restore: Effect.sync(() => {
        isBroken = false;
      }),
    }),
  );
  return Layer.merge(Layer.orDie(StorageKv.layer(breaking)), connection);
};
