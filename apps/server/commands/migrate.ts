/**
 * `accountlink migrate`
 */
import { StorageSql } from "@accountlink/storage-sql";
import { Effect } from "effect";
import { Command } from "effect/cli";
import { answer, Json } from "../internal/output.ts";
import { openFolder } from "../management.ts";

export const migrateCommand = Command.make("migrate", {}, () =>
  Effect.gen(function* () {
    const { folder } = yield* openFolder("make");
    const steps = yield* StorageSql.migrateEmbedded({ folder, exclusive: false });
    yield* answer(
      { folder, steps },
      steps.length === 0
        ? `The schema in "${folder}" is up to date`
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
