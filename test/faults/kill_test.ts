/**
 * A few rounds of `kill -9`; `kill_proof.ts` has many.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageSql } from "@accountlink/storage-sql";
import { expect, onTestFinished, test } from "vitest";
import { startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import { runKillRounds } from "./kill_rounds.ts";

test("a write that was answered survives kill -9", async () => {
  const counts = await runKillRounds(2);
  console.log(counts);
  expect(counts.rounds).toBe(2);
  expect(counts.answered).toBeGreaterThan(0);
});

test("a deletion of 100,000 links that kill -9 cuts off is in the audit log as far as it came", async () => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-kill-"));
  const world = makeWorld();
  const key = world.key({ account: "deleter" });
  const start = () => startServer({ fixture: world.fixture, dataFolder: folder });
  const deleteAll = { key, body: { confirm: true } };

  let server = await start();
  const database = new DatabaseSync(StorageSql.databaseFile(folder));
  onTestFinished(async () => {
    database.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  database.exec(`
    INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 100000)
    SELECT pid, CAST(100000 + i AS TEXT), CAST(i * 7919 % 1000003 AS TEXT), 1, 1, 1 FROM numbers, scopes
    WHERE account = 'deleter'`);
  const linksLeft = () => Number(database.prepare("SELECT COUNT(*) AS count FROM links").get()?.["count"]);
  const entries = () =>
    database
      .prepare("SELECT details FROM audit_log WHERE action = 'scope.deleted' ORDER BY sequence")
      .all()
      .map(({ details }) => JSON.parse(String(details)) as unknown);

  const unanswered = server.send("DELETE /v2/data", deleteAll).catch(() => null);
  while (linksLeft() > 90_000) await new Promise(setImmediate);
  await server.kill();
  expect(await unanswered).toBeNull();
  const left = linksLeft();
  expect(left).toBeGreaterThan(0);
  expect(entries()).toEqual([{ deletedRecords: 100_000 - left }]);

  server = await start();
  const { body } = await server.send("DELETE /v2/data", deleteAll);
  expect(body["data"]).toMatchObject({ deletedRecords: left });
  expect(linksLeft()).toBe(0);
  expect(entries()).toEqual([{ deletedRecords: 100_000 - left }, { deletedRecords: left }]);
});
