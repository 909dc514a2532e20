/**
 * `accountlink migrate`
 */
import { StorageSql } from "@accountlink/storage-sql";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { answer, Json } from "../internal/output.ts";
import { loggingLayer } from "../logging.ts";
import { openStorage } from "../management.ts";

export const migrateCommand = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    const { config, storage, place } = yield* openStorage("make");
    const startTimeout = config.ACCOUNTLINK_DATABASE_START_TIMEOUT;
    const steps = yield* storage.kind === "embedded"
      ? StorageSql.migrateEmbedded({ ...storage, exclusive: false })
      : StorageSql.migratePostgres({ ...storage, startTimeout }).pipe(
          Effect.provide(loggingLayer(config.ACCOUNTLINK_LOG_LEVEL)),
        );
    yield* answer(
      { ...place.json, steps },
      steps.length === 0
        ? `The schema in ${place.text} is up to date`
        : steps.map((step) => `Ran step ${step}`).join("\n"),
    );
  }),
).pipe(
  Command.withGlobalFlags([Json]),
  Command.withDescription(
    "Bring the schema of the database up to date and print the steps that were taken. A server does the same when it starts.",
  ),
  Command.withShortDescription("Bring the schema of the database up to date"),
);
