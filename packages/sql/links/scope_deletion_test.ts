import { ChatId, EventStore, GameId, GuildId, LinkStore, Pid } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Effect, Fiber, Option } from "effect";
import { expect } from "vitest";
import { origin, scope, Tampering, test } from "../sqlite/test_tampering.ts";

const { pid, account } = scope;
const write = { ...origin, pid, at: 1 };
const count = 10_000;

const manyLinks = `
  INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
  WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${count})
  SELECT '${pid}', CAST(100000 + i AS TEXT), '1', 1, 1, 1 FROM numbers`;

const entriesOf = `SELECT details FROM journal WHERE actor_type IS NOT NULL AND action = 'scope.deleted' ORDER BY sequence`;
const deleted = (...numbers: ReadonlyArray<number>) =>
  numbers.map((deletedRecords) => ({ details: JSON.stringify({ deletedRecords }) }));

const deleteAll = LinkStore.use((links) => links.deleteScope(write));

test("other reads and writes run during the deletion of a scope, which writes one audit entry", function* () {
  const { tamper, look } = yield* Tampering;
  const [links, keys] = [yield* LinkStore, yield* KeyStore];
  const other = Pid.make("pid_other00000000000");
  yield* keys.ensureScope(account, { kind: "guild", guildId: GuildId.make("700000000000000001") }, other);
  tamper(manyLinks);
  const deletion = yield* Effect.forkChild(deleteAll);
  let writes = 0;
  while (deletion.pollUnsafe() === undefined) {
    const link = { chatId: ChatId.make("10001"), gameId: GameId.make(String(++writes)) };
    yield* links.setGame({ ...write, ...link, pid: other });
    expect(yield* links.findByChatId(other, link.chatId)).toMatchObject({ value: link });
    yield* Effect.yieldNow;
  }
  expect(yield* Fiber.join(deletion)).toMatchObject({ records: count });
  expect(writes).toBeGreaterThan(5);
  expect(look(entriesOf)).toEqual(deleted(count));
  expect(look("SELECT pid FROM links")).toEqual([{ pid: other }]);
});

test("the deletion of a scope deletes its recorded sightings of addresses in batches", function* () {
  const { tamper, look } = yield* Tampering;
  tamper(`
          INSERT INTO sightings (pid, chat_id, place_hash, address_key_id, sealed_address, seen_at)
          WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 1200)
          SELECT '${pid}', CAST(100000 + i AS TEXT), CAST(i AS TEXT), 'k', 'x', 1 FROM numbers`);
  expect(yield* deleteAll).toMatchObject({ records: 0 });
  expect(look("SELECT 1 FROM sightings UNION ALL SELECT 1 FROM place_users")).toEqual([]);
  expect(look(entriesOf)).toEqual(deleted(0));
  const events = Option.getOrThrow(yield* (yield* EventStore).read(pid, 0, 100));
  expect(events.length).toBe(2);
});
