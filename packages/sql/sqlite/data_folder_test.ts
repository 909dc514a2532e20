import { join } from "node:path";
import { expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { StorageSql } from "../mod.ts";
import { makeTempFolder } from "./test_folder.ts";

it.effect("a folder has a database after its stores were opened", () =>
  Effect.gen(function* () {
    const folder = yield* makeTempFolder;
    expect(StorageSql.databaseFile(folder)).toBe(join(folder, "accountlink.db"));
    expect(StorageSql.hasDatabase(folder)).toBe(false);
    yield* StorageSql.migrateEmbedded({ folder });
    expect(StorageSql.hasDatabase(folder)).toBe(true);
  }),
);
