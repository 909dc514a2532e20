/**
 * The deployment's secret: one, or the new one and the old one while it is rotated.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { StorageSql } from "@accountlink/storage-sql";
import { Effect, Option, Redacted } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { InvalidConfig, missing } from "./config.ts";
import { prepareFolder, unusableFolder } from "./internal/prepare_folder.ts";
import { writeOnce } from "./internal/write_whole.ts";
import type { Plan } from "./plan.ts";
import { parseSecrets } from "./variables.ts";

/** A new secret. */
export const generate = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom;
  return Redacted.make(yield* random.randomBytes(32));
});

/** The file of a data folder that holds its secret, in the form of `ACCOUNTLINK_SECRET`. */
export const secretFile = (folder: string): string => join(folder, "secret");

/**
 * The configured secret. Without one, memory storage gets a new one, and a data folder the one that it holds; a folder
 * without a database yet is given one. A database whose secret is not known is refused: none of its keys would work.
 * Postgres holds none, since who can read the database must not be able to try keys.
 */
export const resolveSecrets = Effect.fn("resolveSecrets")(function* ({
  config,
  storage,
}: Pick<Plan, "config" | "storage">) {
  if (config.ACCOUNTLINK_SECRET !== null) return config.ACCOUNTLINK_SECRET;
  if (storage.kind === "memory") return [yield* generate] as const;
  if (storage.kind === "postgres") {
    return yield* missing("ACCOUNTLINK_SECRET", "ACCOUNTLINK_STORAGE is postgres; the same for every node");
  }
  const file = secretFile(storage.folder);
  if (existsSync(file)) return yield* readSecrets(file);
  if (StorageSql.hasDatabase(storage.folder)) {
    return yield* new InvalidConfig({
      problem: `ACCOUNTLINK_SECRET is not set and data folder "${storage.folder}" holds none, expected the secret that its database was made with`,
    });
  }
  const secret = yield* generate;
  yield* prepareFolder(config, storage.folder);
  yield* writeOnce(file, `${Base64.encode(Redacted.value(secret))}\n`).pipe(
    Effect.mapError((cause) => unusableFolder(config, cause)),
  );
  // It is another's, if that was made at the same moment.
  return yield* readSecrets(file);
});

/** Reads a secret file. */
export const readSecrets = Effect.fnUntraced(function* (file: string) {
  const content = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (cause) =>
      new InvalidConfig({ problem: `secret file "${file}" cannot be read: ${String(cause)}` }),
  });
  const secrets = parseSecrets(content);
  if (Option.isNone(secrets)) {
    return yield* new InvalidConfig({
      problem: `secret file "${file}" is damaged, expected 32 or more bytes in base64`,
    });
  }
  return secrets.value;
});
