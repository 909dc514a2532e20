import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "@accountlink/test-servers/effect";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Effect, Redacted } from "effect";
import { SecureRandom } from "effect/crypto";
import { makeFolder } from "../commands/test_folder.ts";
import { readConfig } from "../config/config.ts";
import { resolveConfig } from "../config/resolved_config.ts";
import { resolveSecrets } from "./deployment_secret.ts";

const secretUnder = Effect.fnUntraced(
  function* (environment: Readonly<Record<string, string>>) {
    const config = yield* readConfig({ ACCOUNTLINK_PLATFORM: "dev", ...environment });
    const [secret] = yield* resolveSecrets(yield* resolveConfig(config));
    return Redacted.value(secret);
  },
  Effect.provide([SecureRandom.layerWebCrypto, NodeServices.layer]),
);

const embedded = (folder: string) => ({ ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: folder });

test("resolveSecrets returns the configured secret, and does not store it", function* () {
  const folder = join(yield* makeFolder, "data");
  const configured = Buffer.alloc(32, 5).toString("base64");
  expect(yield* secretUnder({ ...embedded(folder), ACCOUNTLINK_SECRET: configured })).toEqual(
    new Uint8Array(32).fill(5),
  );
  expect(existsSync(folder)).toBe(false);
});

test("concurrent first calls of resolveSecrets return the same secret", function* () {
  const folder = join(yield* makeFolder, "data");
  const secrets = yield* Effect.replicateEffect(secretUnder(embedded(folder)), 8, {
    concurrency: "unbounded",
  });
  const stored = readFileSync(join(folder, "secret"), "utf8").trim();
  expect(secrets.map((bytes) => Buffer.from(bytes).toString("base64"))).toEqual(
    Array.from({ length: 8 }, () => stored),
  );
  expect(readdirSync(folder)).toEqual(["new", "secret"]);
});

test("each server on memory storage generates a secret", function* () {
  const memory = { ACCOUNTLINK_STORAGE: "memory" };
  expect(yield* secretUnder(memory)).not.toEqual(yield* secretUnder(memory));
});

test("no secret is generated for Postgres, since every server needs the same one", function* () {
  const postgres = { ACCOUNTLINK_STORAGE: "postgres", ACCOUNTLINK_DATABASE_URL: "postgres://db/links" };
  expect((yield* Effect.flip(secretUnder(postgres))).message).toBe(
    "ACCOUNTLINK_SECRET is not set, expected 32 or more bytes in base64, or new,old while it is rotated (ACCOUNTLINK_STORAGE is postgres; the same for every node)",
  );
});

test("a damaged or unreadable secret file is refused", function* () {
  const folder = yield* makeFolder;
  writeFileSync(join(folder, "secret"), "c2hvcnQ=\n");
  const damaged = yield* Effect.flip(secretUnder(embedded(folder)));
  expect(damaged.message).toContain("is damaged, expected 32 or more bytes in base64");
  expect(damaged.message).not.toContain("c2hvcnQ");
  const other = yield* makeFolder;
  mkdirSync(join(other, "secret"));
  expect((yield* Effect.flip(secretUnder(embedded(other)))).message).toContain("cannot be read");
});
