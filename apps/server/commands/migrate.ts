import type { StorageRefused } from "@accountlink/core";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import { Effect, Layer } from "effect";
import { answer } from "../cli/output.ts";
import { storageLayer } from "../layers/store_layers.ts";
import { checked } from "../secrets/deployment_secret.ts";
import { loggingLayer } from "../telemetry/logging.ts";
import { describe, single } from "./command.ts";
import { type OpenedStorage, openStorage } from "./management_layer.ts";

const migrate = (
  opened: OpenedStorage,
  startTimeout: number,
): Effect.Effect<ReadonlyArray<string>, Layer.Error<ReturnType<typeof storageLayer>> | StorageRefused> => {
  const { storage } = opened;
  switch (storage.kind) {
    case "embedded":
      return StorageSql.migrateEmbedded({ ...storage, exclusive: false });
    case "postgres":
      return StoragePostgres.migratePostgres({ ...storage, startTimeout });
    case "redis":
      // Redis has no schema: its records are JSON, and its keys are made with them.
      return Effect.as(
        Effect.scoped(Layer.build(storageLayer(opened, { exclusive: false, startTimeout }))),
        [],
      );
  }
};

export const migrateCommand = single("migrate", {}, function* () {
  const opened = yield* openStorage("make");
  const { config, location } = opened;
  const startTimeout = config.ACCOUNTLINK_DATABASE_START_TIMEOUT;
  const steps = yield* migrate(opened, startTimeout).pipe(
    checked(opened),
    Effect.provide(loggingLayer(config)),
  );
  yield* answer(
    { ...location.json, steps },
    steps.length === 0
      ? `The schema in ${location.text} is up to date`
      : steps.map((step) => `Ran step ${step}`).join("\n"),
  );
}).pipe(
  describe(
    "Bring the schema of the database up to date and print the steps that were taken. A server does the same when it starts.",
  ),
);
