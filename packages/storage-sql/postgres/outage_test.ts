import { Connection, storageOutageSuite } from "@accountlink/conformance";
import { makePostgresDatabase, startPostgres, startProxy, whyNoPostgres } from "@accountlink/test-servers";
import { Effect, Layer, Redacted } from "effect";
import * as test from "vitest";
import { layerPostgres } from "./postgres.ts";

const missing = await whyNoPostgres();

/** Short, since most cases wait for them. */
const timeouts = { connectTimeout: "750 millis", statementTimeout: "500 millis" } as const;

/** Outages of the server and of the network, and their ends. */
const outages: Readonly<Record<string, (parts: Parts) => Connection["Service"]>> = {
  "is killed": ({ server }) => ({ break: server.kill, restore: server.restart }),
  "is stopped": ({ server }) => ({ break: server.stop, restore: server.restart }),
  "is frozen": ({ server }) => ({ break: server.freeze, restore: server.thaw }),
  "refuses connections": ({ proxy }) => ({ break: proxy.cut, restore: proxy.restore }),
  "falls silent": ({ proxy }) => ({ break: proxy.silence, restore: proxy.restore }),
};

interface Parts {
  readonly server: Effect.Success<ReturnType<typeof startPostgres>>;
  readonly proxy: Effect.Success<ReturnType<typeof startProxy>>;
}

const layerOf = (connectionOf: (parts: Parts) => Connection["Service"]) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = yield* startPostgres();
      const proxy = yield* startProxy(server.port);
      const { url } = yield* makePostgresDatabase(server);
      const throughProxy = new URL(url);
      throughProxy.port = `${proxy.port}`;
      return layerPostgres({ url: Redacted.make(throughProxy.href), ...timeouts }).pipe(
        Layer.merge(Layer.succeed(Connection, connectionOf({ server, proxy }))),
      );
    }),
  );

test.describe.skipIf(missing !== null)(`Postgres ${missing ?? "when its server"}`, () => {
  for (const [name, connectionOf] of Object.entries(outages)) {
    storageOutageSuite({ name, layer: layerOf(connectionOf), test });
  }
});
