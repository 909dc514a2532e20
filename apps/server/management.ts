/**
 * What the commands beside `serve` work with. All of it can be used beside a running server.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CacheMemory } from "@accountlink/cache-memory";
import { ApiKeys, Limits, Secrets } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import { Effect, Layer } from "effect";
import { InvalidConfig, readConfig } from "./config.ts";
import { cryptoLayer } from "./internal/crypto.ts";
import { CommandFailed } from "./internal/report.ts";
import { limitsOf, storageOf } from "./plan.ts";
import { resolveSecret } from "./secret.ts";

/** The data folder that `serve` would use under the same environment. */
export const dataFolder = Effect.gen(function* () {
  const config = yield* readConfig(process.env);
  const storage = storageOf(config);
  return storage.kind === "embedded"
    ? { config, storage, folder: storage.folder }
    : yield* new InvalidConfig({
        problem: 'ACCOUNTLINK_STORAGE is "memory", which lives and ends with its server, expected embedded',
      });
});

/**
 * The stores and `ApiKeys` on the data folder.
 *
 * @param whenNew whether a folder without a database is given one, as `serve` does, or is refused
 */
export const managementLayer = (whenNew: "make" | "refuse") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { config, storage, folder } = yield* dataFolder;
      if (whenNew === "refuse" && !existsSync(join(folder, "accountlink.db"))) {
        return yield* new CommandFailed({
          problem: `Cannot open the database: data folder "${folder}" holds none, expected the folder of a server (ACCOUNTLINK_STORAGE, ACCOUNTLINK_FIXTURE and ACCOUNTLINK_DATA_DIR tell which, as for serve)`,
        });
      }
      // First of all, since a database is not opened again without the secret that it was made with.
      const secret = yield* resolveSecret({ config, storage });
      return ApiKeys.layer.pipe(
        Layer.provideMerge(
          Layer.mergeAll(StorageSql.layerEmbedded({ folder, exclusive: false }), Secrets.layer(secret)),
        ),
        Layer.provide(
          Layer.mergeAll(CacheMemory.layer, cryptoLayer, Layer.succeed(Limits, limitsOf(config))),
        ),
      );
    }),
  );
