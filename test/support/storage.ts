/**
 * The storage of servers in tests, one for each server. The test chooses the kind, unless the project in
 * `vitest.config.ts` does.
 */
import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { AuditLog } from "@accountlink/core";
import { StorageRedis } from "@accountlink/redis";
import { storageAt } from "@accountlink/server/test_command_line";
import { StorageSql } from "@accountlink/sql";
import * as StoragePostgres from "@accountlink/sql/postgres";
import {
  askRedis,
  makePostgresDatabase,
  type PostgresDatabase,
  redisUrl,
  whyNoPostgresDatabase,
  whyNoRedisUrl,
} from "@accountlink/test-servers";
import { Effect, Exit, Layer, Redacted, Scope } from "effect";

export interface TestStorage {
  readonly env: Readonly<Record<string, string>>;
  /** Reads the audit log directly, without the server. */
  readonly auditLog: Layer.Layer<AuditLog, unknown>;
  /**
   * Returns all stored data as texts: the files of an embedded storage, the rows of Postgres or the values
   * of Redis. Storage in memory gives
   * none.
   */
  readonly contents: () => Promise<ReadonlyArray<string>>;
  readonly remove: () => Promise<void>;
}

/**
 * `postgres` has a Redis as its cache, as many nodes need it. It is for tests whose outcome the storage decides. Without
 * these servers, such a test runs on an embedded storage.
 */
export type StorageKind = "embedded" | "memory" | "postgres" | "redis";

const chosen = process.env["ACCOUNTLINK_TEST_STORAGE"] as StorageKind | undefined;

/** Null if tests can read the storage directly, else the reason why not, for titles of skipped tests. */
export const whyHidden: string | null =
  chosen === "memory" ? "since only the server can read its memory" : null;

/**
 * @param folder the folder of an embedded storage
 * @param usual the kind of storage if the test project chooses none
 */
export const makeStorage = async (folder: string, usual: StorageKind): Promise<TestStorage> => {
  const kind = chosen ?? usual;
  if (kind === "memory") return memoryStorage;
  if (kind === "redis") return redisStorage(await sharedRedis());
  if (kind === "postgres" && (await hasServers())) return makePostgresStorage(await sharedRedis());
  return embeddedStorage(folder);
};

const hasServers = async (): Promise<boolean> =>
  (await whyNoPostgresDatabase()) === null && (await whyNoRedisUrl()) === null;

let startedRedis: Promise<string> | undefined;

/** Starts one Redis for all tests of a worker. It runs until the worker ends. */
const sharedRedis = (): Promise<string> =>
  (startedRedis ??= Effect.runPromise(Scope.provide(redisUrl, Scope.makeUnsafe())));

const memoryStorage: TestStorage = {
  env: { ACCOUNTLINK_STORAGE: "memory" },
  auditLog: Layer.effect(AuditLog, Effect.fail("Only the server can read its memory")),
  contents: () => Promise.resolve([]),
  remove: () => Promise.resolve(),
};

/** A storage in a data folder that the caller removes. */
export const embeddedStorage = (folder: string): TestStorage => ({
  env: { ACCOUNTLINK_STORAGE: "embedded", ACCOUNTLINK_DATA_DIR: folder },
  auditLog: StorageSql.layerEmbedded({ folder, exclusive: false }),
  contents: async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")));
  },
  remove: () => Promise.resolve(),
});

const makePostgresStorage = async (cacheUrl: string): Promise<TestStorage> => {
  const scope = Scope.makeUnsafe();
  const database = await Effect.runPromise(Scope.provide(makePostgresDatabase(), scope));
  return {
    env: {
      ...storageAt(database.url),
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: cacheUrl,
      ACCOUNTLINK_REDIS_PREFIX: `test-${randomUUID()}:`,
    },
    auditLog: StoragePostgres.layerPostgres({ url: Redacted.make(database.url) }),
    contents: () => Effect.runPromise(rowsOf(database)),
    remove: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  };
};

const allValues = "return table.concat(redis.call('HVALS', KEYS[1]), '\\n')";

/** A storage with a prefix of its own in the shared Redis, which is also the cache. */
const redisStorage = (url: string): TestStorage => {
  const prefix = `test-${randomUUID()}:`;
  const port = Number(new URL(url).port);
  return {
    env: {
      ...storageAt(url),
      ACCOUNTLINK_CACHE: "redis",
      ACCOUNTLINK_REDIS_URL: url,
      ACCOUNTLINK_REDIS_PREFIX: prefix,
    },
    auditLog: StorageRedis.layer({ url: Redacted.make(url), prefix }),
    contents: async () => [
      await askRedis({ port, tls: false }, ["EVAL", allValues, "1", `${prefix}store:values`]),
    ],
    remove: () => Promise.resolve(),
  };
};

const rowsOf = Effect.fnUntraced(function* ({ query }: PostgresDatabase) {
  const tables = yield* query(
    "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'",
  );
  const rows = yield* Effect.forEach(tables, ({ table_name: name }) =>
    query(`SELECT * FROM "${String(name)}"`),
  );
  return rows.flat().map((row) => JSON.stringify(row));
});
