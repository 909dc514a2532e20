/** For tests: embedded stores with a database that can be closed and reopened. */

import type { StoragePorts } from "@accountlink/core";
import { Connection } from "@accountlink/testing/conformance";
import { Context, Effect, Exit, Layer, Scope } from "effect";
import { layerEmbedded } from "./embedded.ts";
import { makeTempFolder } from "./test_folder.ts";

export const layerReopening: Layer.Layer<StoragePorts | Connection> = Layer.effectContext(
  Effect.gen(function* () {
    const stores = layerEmbedded({ folder: yield* makeTempFolder });
    const open = Effect.gen(function* () {
      const scope = yield* Scope.make();
      return { scope, ports: yield* Layer.buildWithScope(stores, scope) };
    }).pipe(Effect.orDie);

    let opened = yield* open;
    const close = Effect.suspend(() => Scope.close(opened.scope, Exit.void));
    yield* Effect.addFinalizer(() => close);
    const restore = Effect.map(open, (next) => {
      opened = next;
    });

    const ports = Array.from(
      opened.ports.mapUnsafe.keys(),
      (key) => [key, forwarding(() => opened.ports.mapUnsafe.get(key) as object)] as const,
    );
    return Context.merge(
      Context.makeUnsafe<StoragePorts>(new Map(ports)),
      Context.make(Connection, { break: close, restore }),
    );
  }),
);

type Operation = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>;

const forwarding = <Port extends object>(current: () => Port): Port =>
  new Proxy(current(), {
    get:
      (_, name): Operation =>
      (...args) =>
        Effect.suspend(() => (Reflect.get(current(), name) as Operation)(...args)),
  });
