/**
 * What the commands beside `serve` work with. All of it can be used beside a running server.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { ApiKeys, Limits, Secrets } from "@accountlink/core";
import { StorageSql } from "@accountlink/storage-sql";
import { Context, Effect, Layer } from "effect";
import { InvalidConfig, readConfig } from "./config.ts";
import { cryptoLayer } from "./internal/crypto.ts";
import { prepareFolder } from "./internal/prepare_folder.ts";
import { CommandFailed } from "./internal/report.ts";
import { isDemo, limitsOf, storageOf } from "./plan.ts";
import { resolveSecret } from "./secret.ts";

/** The path of the data folder that a command works on, so that what it prints can name it. */
export class DataFolder extends Context.Service<DataFolder, string>()("@accountlink/server/DataFolder") {}

/**
 * The data folder that `serve` would use under the same environment, with its secret.
 *
 * @param whenNew whether a folder without a database is made ready for one, as `serve` does, or is refused
 */
export const openFolder = Effect.fnUntraced(function* (whenNew: "make" | "refuse") {
  const config = yield* readConfig(process.env);
  const storage = storageOf(config);
  if (storage.kind === "memory") {
    return yield* new InvalidConfig({
      problem: 'ACCOUNTLINK_STORAGE is "memory", which lives and ends with its server, expected embedded',
    });
  }
  const { folder } = storage;
  if (!StorageSql.hasDatabase(folder)) {
    if (whenNew === "refuse") return yield* nothingIn(folder);
    if (isDemo(config)) return yield* demoIsNotMade(folder);
    yield* prepareFolder(config, folder);
  }
  // First of all, since a database is not opened again without the secret that it was made with.
  const secret = yield* resolveSecret({ config, storage });
  return { config, folder, secret };
});

const nothingIn = (folder: string) =>
  new CommandFailed({
    problem: `Cannot open the database: data folder "${folder}" holds none, expected the folder of a server (ACCOUNTLINK_STORAGE, ACCOUNTLINK_FIXTURE and ACCOUNTLINK_DATA_DIR tell which, as for serve)`,
  });

// Whoever forgot a variable would find what they stored in the demo, and not in their server.
const demoIsNotMade = (folder: string) =>
  new CommandFailed({
    problem: `Cannot make data folder "${folder}": it is the demo's, which only serve makes, expected ACCOUNTLINK_STORAGE=embedded for data of your own`,
  });

/**
 * The stores and `ApiKeys` on the data folder.
 *
 * @param whenNew whether a folder without a database is given one, as `serve` does, or is refused
 */
export const managementLayer = (whenNew: "make" | "refuse") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { config, folder, secret } = yield* openFolder(whenNew);
      return ApiKeys.layer.pipe(
        Layer.provideMerge(
          Layer.mergeAll(
            StorageSql.layerEmbedded({ folder, exclusive: false }),
            Secrets.layer(secret),
            Layer.succeed(DataFolder, folder),
          ),
        ),
        Layer.provide(
          Layer.mergeAll(CacheMemory.layer, cryptoLayer, Layer.succeed(Limits, limitsOf(config))),
        ),
      );
    }),
  );
