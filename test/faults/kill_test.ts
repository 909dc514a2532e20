/**
 * Kills servers on the embedded storage with `kill -9` during writes, and checks what they stored. In the gate, only
 * during writes of links.
 */
import { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import { StorageSql } from "@accountlink/sql";
import { isProof } from "@accountlink/test-servers";
import { expect, onTestFinished, test } from "vitest";
import { chatKey, interactionOf, signed } from "../support/chat.ts";
import { guild, makeFixtures } from "../support/fixtures.ts";
import { useFolder } from "../support/folder.ts";
import { type RunningServer, startServer, startServerHere } from "../support/server.ts";
import { countOf, fragile, startCountingClients } from "./counting_clients.ts";
import * as dying from "./dying.ts";

const [writing, deleting, blocking, pressing] = [useFolder(), useFolder(), useFolder(), useFolder()];

test("every answered write survives kill -9, and a write with an Idempotency-Key happens once", async () => {
  const [rounds, most] = isProof ? [50, 300] : [1, 60];
  const fixtures = makeFixtures();
  const key = fixtures.key({ account: "writers" });
  const options = { fixture: fixtures.fixture, dataFolder: writing, env: dying.env };
  let killed = await startServer(options);
  let server: RunningServer = killed;
  onTestFinished(async () => void (await server.stop()));
  const target = fragile("the one", (line, request) => server.send(line, request));
  const clients = startCountingClients({
    key,
    count: 12,
    targetsOf: () => [target],
    isNamed: (client) => client % 2 === 0,
    pause: () => 0,
  });
  for (let round = 0; round < rounds; round++) {
    const answered = countOf(clients.attempts, "answered");
    const wanted = 1 + Math.floor(Math.random() * most);
    while (countOf(clients.attempts, "answered") < answered + wanted) await setTimeout(1);
    await setTimeout(Math.random() * 8);
    // The server stores this write, but kills itself before it answers. Then the same write must get its answer from
    // the restarted server.
    const headers = { "idempotency-key": `owed-${round}` };
    const owed = { key, headers, body: { chatId: "100040", gameId: String(1 + (round % 9)) } };
    await dying.expectNoAnswer(
      server.send("PATCH /v2/game", { ...owed, headers: { ...headers, ...dying.header } }),
    );
    await killed.kill();
    // Only a server that is killed needs a process of its own.
    server = round === rounds - 1 ? await startServerHere(options) : (killed = await startServer(options));
    const again = await server.send("PATCH /v2/game", owed);
    expect([again.text, again.headers["idempotent-replayed"]]).toEqual([again.text, "true"]);
    expect(again.body.data).toMatchObject({ updated: true });
  }
  const writes = await clients.stop();
  const unanswered = countOf(clients.attempts, "broken");
  console.log({ rounds, writes, unanswered });
  expect(Math.min(writes, unanswered)).toBeGreaterThan(rounds);

  const database = new DatabaseSync(StorageSql.databaseFile(writing), { readOnly: true });
  const valueOf = (query: string) => Object.values(database.prepare(query).get() ?? {})[0];
  expect(valueOf("PRAGMA integrity_check")).toBe("ok");
  expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  const changes = valueOf("SELECT SUM(link_version) FROM links");
  expect(valueOf("SELECT COUNT(*) FROM journal WHERE actor_type IS NOT NULL AND action = 'link.set'")).toBe(
    changes,
  );
  expect(valueOf("SELECT COUNT(*) FROM journal WHERE event_id IS NOT NULL AND action = 'link.set'")).toBe(
    changes,
  );
  database.close();
});

test.runIf(isProof)(
  "a deletion that kill -9 interrupts has an audit entry for its deleted links",
  async () => {
    const all = 100_000;
    const fixtures = makeFixtures();
    const key = fixtures.key({ account: "deleter" });
    const options = { fixture: fixtures.fixture, dataFolder: deleting };
    const deleteAll = { key, body: { confirm: true } };

    const killed = await startServer(options);
    let server: RunningServer = killed;
    const database = new DatabaseSync(StorageSql.databaseFile(deleting), { timeout: 30_000 });
    onTestFinished(async () => {
      database.close();
      await server.stop();
    });
    database.exec(`
    INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${all})
    SELECT pid, CAST(100000 + i AS TEXT), CAST(i * 7919 % 1000003 AS TEXT), 1, 1, 1 FROM numbers, scopes
    WHERE account = 'deleter'`);
    const linksLeft = () => Number(database.prepare("SELECT COUNT(*) AS count FROM links").get()?.["count"]);
    const entries = () =>
      database
        .prepare(
          "SELECT details FROM journal WHERE actor_type IS NOT NULL AND action = 'scope.deleted' ORDER BY sequence",
        )
        .all()
        .map(({ details }) => JSON.parse(String(details)) as unknown);

    const unanswered = server.send("DELETE /v2/data", deleteAll).catch(() => null);
    while (linksLeft() > 0.9 * all) await new Promise(setImmediate);
    await killed.kill();
    expect(await unanswered).toBeNull();
    const left = linksLeft();
    expect(left).toBeGreaterThan(0);
    expect(entries()).toEqual([{ deletedRecords: all - left }]);

    server = await startServerHere(options);
    const { body } = await server.send("DELETE /v2/data", deleteAll);
    expect(body["data"]).toMatchObject({ deletedRecords: left });
    expect(linksLeft()).toBe(0);
    expect(entries()).toEqual([{ deletedRecords: all - left }, { deletedRecords: left }]);
  },
);

test.runIf(isProof)(
  "a file of blocks that kill -9 interrupts has blocked its first users, and goes on when it is sent again",
  async () => {
    const all = 500;
    const chatIds = Array.from({ length: all }, (_, index) => String(200_001 + index));
    const fixtures = makeFixtures();
    const links = Object.fromEntries(chatIds.map((chatId) => [chatId, "1"]));
    const key = fixtures.key({ account: "blocker", access: "manage", links });
    const options = { fixture: fixtures.fixture, dataFolder: blocking };
    const csv = ["chatId,reason", ...chatIds.map((chatId) => `${chatId},Raid`)].join("\n");

    const killed = await startServer(options);
    let server: RunningServer = killed;
    const database = new DatabaseSync(StorageSql.databaseFile(blocking), { timeout: 30_000 });
    onTestFinished(async () => {
      database.close();
      await server.stop();
    });
    const idsIn = (query: string) =>
      database
        .prepare(query)
        .all()
        .map(({ id }) => id);
    const blocked = () => idsIn("SELECT chat_id AS id FROM blocks ORDER BY chat_id");
    const linked = () => idsIn("SELECT chat_id AS id FROM links WHERE game_id IS NOT NULL ORDER BY chat_id");
    const send = () => server.send("POST /dashboard/api/blocks/import", { key, body: { csv } });

    const unanswered = send().catch(() => null);
    while (blocked().length < 50) await setTimeout(1);
    await killed.kill();
    expect(await unanswered).toBeNull();
    const done = blocked().length;
    expect(done).toBeLessThan(all);
    expect([blocked(), linked()]).toEqual([chatIds.slice(0, done), chatIds.slice(done)]);

    server = await startServerHere(options);
    expect((await send()).body.data).toEqual({ imported: all - done, kept: done, wrong: 0, left: 0 });
    expect((await send()).body.data).toEqual({ imported: 0, kept: all, wrong: 0, left: 0 });
    expect([blocked(), linked()]).toEqual([chatIds, []]);
    expect(idsIn("SELECT COUNT(*) AS id FROM journal WHERE action = 'block.set'")).toEqual([all]);
  },
);

test.runIf(isProof)("a press in chat acts once, though kill -9 ends what the process remembers", async () => {
  const fixtures = makeFixtures();
  const [linked, unlinked] = ["100001", "100002"];
  const key = fixtures.key({ account: "club", guildId: guild, links: { [linked]: "1" } });
  fixtures.plan({ account: "club", guildId: guild, rules: [], state: "on" });
  const env = { ACCOUNTLINK_CHAT_PUBLIC_KEY: chatKey };
  const options = { fixture: fixtures.fixture, dataFolder: pressing, env };
  const killed = await startServer(options);
  let server: RunningServer = killed;
  onTestFinished(async () => void (await server.stop()));
  const presses = [linked, unlinked].map((chatId) => {
    const data = { custom_id: "unlink:yes" };
    const body = JSON.stringify(interactionOf({ type: 3, data, message: { id: "1" } }, { chatId }));
    return { body, headers: signed(body) };
  });
  const pressAll = async () => {
    const answers = presses.map((press) => server.send("POST /chat/interactions", press));
    return (await Promise.all(answers)).map(({ status, text }) => ({ status, text }));
  };
  const first = await pressAll();
  expect(first.map(({ status }) => status)).toEqual([200, 200]);
  for (const chatId of [linked, unlinked]) {
    const body = { chatId, gameId: "2", guildId: guild };
    expect((await server.send("PATCH /v2/game", { key, body })).body.data).toMatchObject({
      previousGameId: null,
    });
  }
  await killed.kill();
  server = await startServerHere(options);
  expect(await pressAll()).toEqual(first);
  const left = await server.send(`GET /v2/game?gameId=2&guildId=${guild}`, { key });
  expect(left.body.data).toMatchObject({ count: 2 });
});
