/**
 * The deployment's secret.
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Option, Redacted } from "effect";
import { SecureRandom } from "effect/crypto";
import { Base64 } from "effect/encoding";
import { InvalidConfig } from "./config.ts";
import type { Plan } from "./plan.ts";
import { secretBytes } from "./variables.ts";

const generate = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom;
  return Redacted.make(yield* random.randomBytes(32));
});

/**
 * The configured secret. Without one, memory storage gets a new one, and a data folder the one that it holds; a folder
 * without a database yet is given one. A database whose secret is not known is refused: none of its keys would work.
 */
export const resolveSecret = Effect.fn("resolveSecret")(function* ({
  config,
  storage,
}: Pick<Plan, "config" | "storage">) {
  if (config.ACCOUNTLINK_SECRET !== null) return config.ACCOUNTLINK_SECRET;
  if (storage.kind === "memory") return yield* generate;
  const file = join(storage.folder, "secret");
  if (existsSync(file)) return yield* readSecret(file);
  if (existsSync(join(storage.folder, "accountlink.db"))) {
    return yield* new InvalidConfig({
      problem: `ACCOUNTLINK_SECRET is not set and data folder "${storage.folder}" holds none, expected the secret that its database was made with`,
    });
  }
  const secret = yield* generate;
  yield* Effect.tryPromise({
    try: async () => {
      await mkdir(storage.folder, { recursive: true, mode: 0o700 });
      await writeFile(file, `${Base64.encode(Redacted.value(secret))}\n`, { mode: 0o600, flag: "wx" });
    },
    catch: (cause) =>
      new InvalidConfig({ problem: `secret file "${file}" cannot be written: ${String(cause)}` }),
  });
  return secret;
});

const readSecret = Effect.fnUntraced(function* (file: string) {
  const content = yield* Effect.tryPromise({
    try: () => readFile(file, "utf8"),
    catch: (cause) =>
      new InvalidConfig({ problem: `secret file "${file}" cannot be read: ${String(cause)}` }),
  });
  const bytes = secretBytes(content.trim());
  if (Option.isNone(bytes)) {
    return yield* new InvalidConfig({
      problem: `secret file "${file}" is damaged, expected 32 or more bytes in base64`,
    });
  }
  return Redacted.make(bytes.value);
});
