import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  ChatId,
  GameId,
  LinkStore,
  StorageFault,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import { ImportStore, UploadStore } from "@accountlink/core/imports";
import { RolePlanStore } from "@accountlink/core/roles";
import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Exit, Layer, Option } from "effect";
import { vi } from "vitest";
import { StorageSql } from "../mod.ts";
import { origin, scope, storeScope } from "../test_scope.ts";
import { makeTempFolder } from "./test_folder.ts";

const { pid } = scope;
const chatIds = Array.from({ length: 3_000 }, (_, i) => ChatId.make(`${10_000 + i}`));
const gameId = GameId.make("7");

const fill = Effect.gen(function* () {
  const imports = yield* ImportStore;
  yield* storeScope;
  yield* imports.importBatch({
    ...origin,
    pid,
    at: 1,
    links: chatIds.map((chatId) => ({ chatId, gameId, lastVerifiedAt: 1 })),
    existing: "keep",
    proof: null,
    progress: null,
  });
});

const databaseOf = (folder: string): string => join(folder, "accountlink.db");

/** Runs an effect on the stores of a folder, then closes them. */
const on = <A>(folder: string, effect: Effect.Effect<A, StoreUnavailable, StoragePorts>) =>
  Effect.provide(effect, StorageSql.layerEmbedded({ folder }), { local: true });

const refusal = (folder: string) => Effect.orDie(Effect.flip(on(folder, Effect.void)));

/** Overwrites pages of a database file. */
const damage = (path: string, fromPage: number, toPage: number): void => {
  const bytes = readFileSync(path);
  // Leave the first 100 bytes unchanged, because they are the header of the database file.
  bytes.fill(0xff, Math.max(100, Math.floor(fromPage) * 4_096), Math.floor(toPage) * 4_096);
  writeFileSync(path, bytes);
};

const remakeAsFolder = (path: string): void => {
  rmSync(path);
  mkdirSync(path);
};

const remakeAsForeign = (path: string): void => {
  rmSync(path);
  const db = new DatabaseSync(path);
  db.exec("CREATE TABLE accounts (id INTEGER)");
  db.close();
};

test("a new data folder can be read only by its owner", function* () {
  const folder = join(yield* makeTempFolder, "deep", "data");
  yield* on(folder, Effect.void);
  expect(existsSync(databaseOf(folder))).toBe(true);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

test.each([
  [
    "holds something else",
    "file is not a database",
    (path: string) => writeFileSync(path, "links ".repeat(1_000)),
  ],
  ["is a folder", "unable to open database file", remakeAsFolder],
  ["belongs to another program", "table accounts already exists", remakeAsForeign],
  ["has lost its schema", "database disk image is malformed", (path: string) => damage(path, 0, 1)],
  ["has been cut off", "database disk image is malformed", (path: string) => truncateSync(path, 4_096)],
] as const)("the start fails with the reason if the database file %s", function* ([, reason, spoil]) {
  const folder = yield* makeTempFolder;
  const path = databaseOf(folder);
  yield* on(folder, fill);
  spoil(path);

  const error = yield* refusal(folder);

  expect(error._tag).toBe("DatabaseUnusable");
  expect(error.message).toBe(`Cannot use database "${path}": ${reason}`);
});

test("a store with a damaged file never answers wrongly", function* () {
  const folder = yield* makeTempFolder;
  const path = databaseOf(folder);
  const records = yield* on(
    folder,
    Effect.andThen(
      fill,
      LinkStore.use((links) => links.findByChatIds(pid, chatIds)),
    ),
  );
  const pages = statSync(path).size / 4_096;
  damage(path, pages * 0.6, pages);

  const exits = yield* on(
    folder,
    LinkStore.use((links) =>
      Effect.forEach(chatIds, (chatId) => Effect.exit(links.findByChatId(pid, chatId))),
    ),
  );

  for (const [i, exit] of exits.entries()) {
    if (Exit.isSuccess(exit)) expect(exit.value).toEqual(Option.some(records.get(chatIds[i] as ChatId)));
    else expect(Exit.findErrorOption(exit)).toMatchObject({ value: { _tag: "StoreUnavailable" } });
  }
  const failures = exits.filter(Exit.isFailure).length;
  expect(failures).toBeGreaterThan(0);
  expect(failures).toBeLessThan(chatIds.length);
});

test.each([
  ["deleted", (path: string) => rmSync(path)],
  [
    "replaced",
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
] as const)("a database file that was %s since the start is a fault of the storage", function* ([, change]) {
  const folder = yield* makeTempFolder;
  const faults = Effect.gen(function* () {
    const fault = yield* StorageFault;
    const before = yield* fault;
    change(databaseOf(folder));
    return [before, yield* fault];
  });
  expect(yield* on(folder, faults)).toEqual([null, "its file was replaced or deleted since the start"]);
});

test("a runtime without SQLite is named in place of a raw error", function* () {
  const folder = yield* makeTempFolder;
  const missing = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
  const opened = Effect.scoped(Layer.build(StorageSql.layerEmbedded({ folder })));
  const refused = yield* Effect.ensuring(
    Effect.flip(opened),
    Effect.sync(() => missing.mockRestore()),
  );
  expect(refused).toMatchObject({ _tag: "DatabaseUnusable", code: "DATABASE_UNUSABLE" });
  expect(refused.message).toContain("has no SQLite, expected 22.13 or newer, Deno or Bun");
});

test("a server takes over at once what a killed one held, whose clock was an hour ahead", function* () {
  const folder = yield* makeTempFolder;
  const [at, until] = [1, 3_600_000];
  const begin = UploadStore.use((uploads) =>
    uploads.begin({ id: crypto.randomUUID(), account: "acme", node: "any", room: 1_000, at, until }),
  );
  const live = RolePlanStore.use((plans) => plans.firstNode("gateway:", at));
  const held = Effect.gen(function* () {
    const hold = { node: "gateway:1", at, until, limit: 0 };
    yield* RolePlanStore.use((plans) => plans.hold(hold));
    return [yield* begin, yield* begin, Option.isSome(yield* live)];
  });
  expect(yield* on(folder, held)).toEqual([true, false, true]);
  const command = StorageSql.layerEmbedded({ folder, exclusive: false });
  expect(Option.isSome(yield* Effect.provide(live, command, { local: true }))).toBe(true);
  expect(yield* on(folder, Effect.all([live, begin]))).toEqual([Option.none(), true]);
});
