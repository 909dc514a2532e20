import { ChatId, GameId, LinkStore } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect, Exit } from "effect";
import { expect } from "vitest";
import { origin, scope, Tampering, test } from "../sqlite/test_tampering.ts";

const { pid } = scope;
const chatId = ChatId.make("10001");
const gameId = GameId.make("1");
const write = { ...origin, pid, chatId, at: 1 };

test("the lookup of a link with invalid numbers fails", function* () {
  const { tamper } = yield* Tampering;
  const links = yield* LinkStore;
  yield* links.setGame({ ...write, gameId });
  tamper("UPDATE links SET linked_at = 9007199254740993");
  const exit = yield* Effect.exit(links.findByChatId(pid, chatId));
  expect(Exit.hasDies(exit)).toBe(true);
});

test("the process serves others before it answers a page of an export", function* () {
  const { exportPage, setGame } = yield* LinkStore;
  yield* setGame({ ...write, gameId });
  for (let page = 1; page <= 3; page++) {
    let others = 0;
    setImmediate(() => others++);
    yield* exportPage(pid, null, 10);
    expect(others).toBe(1);
  }
});

test("every link is counted once, even if many links have the same verification time", function* () {
  const { tamper } = yield* Tampering;
  const links = yield* LinkStore;
  // Each of the first 50,000 links has its own time; all others share one.
  tamper(`
          INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
          WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 89999)
          SELECT '${pid}', CAST(100000 + i AS TEXT), '1', 1, 0, min(i, 50000) FROM numbers`);
  tamper("UPDATE links SET game_id = NULL WHERE chat_id IN ('100001', '150001')");
  const countOf = (from: number, before: number) => links.countLinks(pid, { verified: { from, before } });
  expect(yield* links.countLinks(pid)).toBe(89_998);
  expect(yield* links.countLinks(pid, { enough: 70_000 })).toBe(70_000);
  expect(yield* countOf(0, dayMs)).toBe(89_998);
  expect(yield* countOf(0, 50_000)).toBe(49_999);
  expect(yield* countOf(50_000, dayMs)).toBe(39_999);
  expect(yield* countOf(40_000, 50_001)).toBe(49_999);
  expect(yield* countOf(20_000, 40_000)).toBe(20_000);
  expect(yield* countOf(dayMs, 2 * dayMs)).toBe(0);
  expect(yield* links.countWays(pid, 50_000)).toEqual([{ proof: null, links: 89_998, recent: 39_999 }]);
});
