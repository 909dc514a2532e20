import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "@accountlink/test-servers/effect";
import { StorageSql } from "../mod.ts";
import { makeTempFolder } from "./test_folder.ts";

const { inspectEmbedded, migrateEmbedded } = StorageSql;

const change = (folder: string, statement: string): void => {
  const database = new DatabaseSync(join(folder, "accountlink.db"));
  database.exec(statement);
  database.close();
};

test("the inspection reports a current, a newer and a missing schema version", function* () {
  const folder = yield* makeTempFolder;
  yield* migrateEmbedded({ folder });
  const state = yield* inspectEmbedded(folder);
  const newest = state?.schema.newest;
  expect(state).toEqual({
    path: join(folder, "accountlink.db"),
    schema: { version: newest, newest },
    rest: null,
    tables: expect.arrayContaining(["journal"]) as unknown,
    rootKey: null,
    damage: [],
  });
  change(folder, "INSERT INTO schema_migrations (migration_id, name) VALUES (999, 'later')");
  expect((yield* inspectEmbedded(folder))?.schema).toEqual({ version: 999, newest });
  change(folder, "DROP TABLE schema_migrations");
  expect((yield* inspectEmbedded(folder))?.schema).toEqual({ version: 0, newest });
});

test("the inspection reports damage", function* () {
  const folder = yield* makeTempFolder;
  yield* migrateEmbedded({ folder });
  const path = join(folder, "accountlink.db");
  change(
    folder,
    `PRAGMA foreign_keys = OFF;
        INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
        VALUES ('pid', '10001', '77777777', 1, 0, 0)`,
  );
  // Make the table and its index disagree about the game user.
  const bytes = readFileSync(path);
  bytes.write("77777778", bytes.indexOf("77777777"));
  writeFileSync(path, bytes);
  expect((yield* inspectEmbedded(folder))?.damage.join()).toContain("links_by_game");
});
