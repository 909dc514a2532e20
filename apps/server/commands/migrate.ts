import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { answer, Json } from "../cli/output.ts";
import { loggingLayer } from "../telemetry/logging.ts";
import { describe } from "./command.ts";
import { openStorage } from "./management_layer.ts";

export const migrateCommand = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    const { config, storage, location } = yield* openStorage("make");
    const startTimeout = config.ACCOUNTLINK_DATABASE_START_TIMEOUT;
    const steps = yield* storage.kind === "embedded"
      ? StorageSql.migrateEmbedded({ ...storage, exclusive: false })
      : StoragePostgres.migratePostgres({ ...storage, startTimeout }).pipe(
          Effect.provide(loggingLayer(config)),
        );
    yield* answer(
      { ...location.json, steps },
      steps.length === 0
        ? `The schema in ${location.text} is up to date`
        : steps.map((step) => `Ran step ${step}`).join("\n"),
    );
  }),
).pipe(
  Command.withGlobalFlags([Json]),
  describe(
    "Bring the schema of the database up to date and print the steps that were taken. A server does the same when it starts.",
  ),
);
