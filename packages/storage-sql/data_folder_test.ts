import { join } from "node:path";
import { expect, it } from "@effect/vitest";
import { Effect } from "effect";
import { makeTempFolder } from "./internal/temp_folder.ts";
import { StorageSql } from "./mod.ts";

it.effect("a folder has its database once the stores were opened in it", () =>
  Effect.gen(function* () {
    const folder = yield* makeTempFolder;
    expect(StorageSql.databaseFile(folder)).toBe(join(folder, "accountlink.db"));
    expect(StorageSql.hasDatabase(folder)).toBe(false);
    yield* StorageSql.migrateEmbedded({ folder });
    expect(StorageSql.hasDatabase(folder)).toBe(true);
  }),
);
