import { ChatId, GameId, LinkStore } from "@accountlink/core";
import { dayMs } from "@accountlink/core/timestamp";
import { Effect, Exit } from "effect";
import { expect } from "vitest";
import { origin, refuseWritesTo, scope, Tampering, test } from "../sqlite/test_tampering.ts";

const { pid } = scope;
const chatId = ChatId.make("10001");
const otherChatId = ChatId.make("10002");
const gameId = GameId.make("1");
const otherGameId = GameId.make("2");
const write = { ...origin, pid, chatId, at: 1 };

const unavailable = <A, R>(operation: string, effect: Effect.Effect<A, unknown, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    expect(error).toMatchObject({ _tag: "StoreUnavailable", operation, cause: { _tag: "UnreadableRow" } });
  });

type Links = LinkStore["Service"];

test.each(["'one'", "''", "CAST(x'31ff' AS TEXT)", "'1' || char(0)", "'\u0661'"])(
  "a link is refused when its row has %s",
  function* (damaged) {
    const { tamper } = yield* Tampering;
    const links = yield* LinkStore;
    yield* links.setGame({ ...write, gameId });
    tamper(`UPDATE links SET game_id = ${damaged}`);
    yield* unavailable("LinkStore.findByChatId", links.findByChatId(pid, chatId));
    yield* unavailable("LinkStore.findByChatIds", links.findByChatIds(pid, [chatId]));
    yield* unavailable("LinkStore.findGamesByChatIds", links.findGamesByChatIds(pid, [chatId]));
    yield* unavailable("LinkStore.exportPage", links.exportPage(pid, null, 10));
    yield* unavailable("LinkStore.removeGame", links.removeGame(write));
    yield* unavailable("LinkStore.setGame", links.setGame({ ...write, gameId }));
    tamper(`UPDATE links SET game_id = '1', chat_id = ${damaged}`);
    yield* unavailable("LinkStore.findByGameIds", links.findByGameIds(pid, [gameId]));
  },
);

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
});

const line = { chatId, gameId: otherGameId, lastVerifiedAt: 9 };
const newLine = { chatId: otherChatId, gameId, lastVerifiedAt: 9 };
const batch = {
  ...origin,
  pid,
  at: 1,
  links: [line, newLine],
  existing: "replace",
  proof: "import",
  progress: { source: "file", position: 2 },
} as const;

test.each([
  ["setGame", (links: Links) => links.setGame({ ...write, gameId: otherGameId })],
  ["moveChat", (links: Links) => links.moveChat({ ...write, oldChatId: chatId, newChatId: otherChatId })],
  ["removeGame", (links: Links) => links.removeGame(write)],
  ["deleteScope", (links: Links) => links.deleteScope(write)],
  ["importBatch", (links: Links) => links.importBatch(batch)],
] as const)("a write of links rolls back if its last statement fails: %s", function* ([, attempt]) {
  const { tamper } = yield* Tampering;
  const links = yield* LinkStore;
  yield* links.setGame({ ...write, gameId });
  const before = yield* links.findByChatIds(pid, [chatId, otherChatId]);
  tamper(refuseWritesTo("audit_log"));
  expect(Exit.isFailure(yield* Effect.exit<unknown, unknown, never>(attempt(links)))).toBe(true);
  expect(yield* links.findByChatIds(pid, [chatId, otherChatId])).toEqual(before);
  expect(yield* links.importPosition(batch.progress.source)).toBe(0);
});
