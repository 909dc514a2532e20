import {
  isProof,
  makePostgresDatabase,
  startPostgres,
  startProxy,
  whyNoPostgres,
} from "@accountlink/test-servers";
import { Connection, storageOutageSuite } from "@accountlink/testing/conformance";
import { Effect, Layer, Redacted } from "effect";
import * as test from "vitest";
import { layerPostgres } from "./postgres.ts";

const missing = await whyNoPostgres();

interface Outage {
  readonly connectionOf: (parts: Parts) => Connection["Service"];
  /** Whether connections stay open but nothing answers, so that operations fail only after their timeout. */
  readonly isSilent?: true;
}

/** Outages of the server and of the network. `break` begins an outage, and `restore` ends it. */
const outages: Readonly<Record<string, Outage>> = {
  "is killed": { connectionOf: ({ server }) => ({ break: server.kill, restore: server.restart }) },
  "is stopped": { connectionOf: ({ server }) => ({ break: server.stop, restore: server.restart }) },
  "is frozen": {
    connectionOf: ({ server }) => ({ break: server.freeze, restore: server.thaw }),
    isSilent: true,
  },
  "refuses connections": { connectionOf: ({ proxy }) => ({ break: proxy.cut, restore: proxy.restore }) },
  "falls silent": {
    connectionOf: ({ proxy }) => ({ break: proxy.silence, restore: proxy.restore }),
    isSilent: true,
  },
};

/**
 * Silent outages have short timeouts, because every case waits until one expires. While the database works, even a busy
 * machine does not reach these timeouts.
 */
const timeoutsOf = ({ isSilent }: Outage) =>
  isSilent ? ({ connectTimeout: "1.5 seconds", statementTimeout: "1 second" } as const) : {};

interface Parts {
  readonly server: Effect.Success<ReturnType<typeof startPostgres>>;
  readonly proxy: Effect.Success<ReturnType<typeof startProxy>>;
}

const layerOf = (outage: Outage) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const server = yield* startPostgres();
      const proxy = yield* startProxy(server.port);
      const { url } = yield* makePostgresDatabase(server);
      const throughProxy = new URL(url);
      throughProxy.port = `${proxy.port}`;
      return layerPostgres({ url: Redacted.make(throughProxy.href), ...timeoutsOf(outage) }).pipe(
        Layer.merge(Layer.succeed(Connection, outage.connectionOf({ server, proxy }))),
      );
    }),
  );

test.describe.skipIf(missing !== null)(`Postgres ${missing ?? "when its server"}`, () => {
  for (const [name, outage] of Object.entries(outages)) {
    // A node notices the others like this one, or a silence, which session_test.ts has.
    if (isProof || name === "is killed") storageOutageSuite({ name, layer: layerOf(outage), test });
  }
});
