import { expect, test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { parse, problemsOf, reasonsOf, unreadable } from "./test_parsing.ts";

test("a reader leaves out rows whose IDs are deeply nested values", function* () {
  const deep = `${"[".repeat(30_000)}${"]".repeat(30_000)}`;
  const rows = `{"discordId":${deep},"robloxId":1}\n{"discordId":"10002","robloxId":"2"}`;
  expect(reasonsOf(yield* parse(rows))).toEqual(["chat_id", "10002 2"]);
});

test("a reader refuses files with more than 1,000 columns, and rows with other numbers of cells", function* () {
  expect(yield* unreadable(`chatId,gameId${",a".repeat(999)}\n`)).toContain("at most 1000 columns");
  const rows = yield* parse(`chatId,gameId\n10001${",1".repeat(2_000)}\n10002${',"2"'.repeat(2_000)}\n`);
  const problem = "the line has more than 1000 cells, expected 2";
  expect(problemsOf(rows)).toEqual([`2: ${problem}`, `3: ${problem}`]);
});

test("a reader leaves out rows with a time more than a day ahead", function* () {
  const rows = yield* parse(
    "chatId,gameId,lastVerifiedAt\n10001,1,2027-01-02\n10002,2,2027-01-02T00:00:01Z\n10003,3,4102444800\n",
  );
  expect(reasonsOf(rows)).toEqual(["10001 1", "future", "future"]);
  expect(problemsOf(rows)).toEqual([
    '3: the time is "2027-01-02T00:00:01Z", expected one that is at most a day ahead',
    '4: the time is "4102444800", expected one that is at most a day ahead',
  ]);
});

test("a reader does not report a JSON column as unread if any row is read by it", function* () {
  const row = '{"_id":"10002","discordId":"10002","robloxId":"2","note":1}';
  for (const rows of [`[{"_id":"10001","robloxId":"1"},${row}]`, `[${row},{"_id":"10001","robloxId":"1"}]`]) {
    const unreadColumns = new Set<string>();
    expect(yield* parse(rows, "auto", 1_000, { unreadColumns })).toHaveLength(2);
    expect([...unreadColumns]).toEqual(["note"]);
  }
});

test("a reader does not call an ID with a sign a destroyed number", () =>
  Effect.map(parse("chatId,gameId\n-5,1\n10001,-5\n"), (rows) =>
    expect(reasonsOf(rows)).toEqual(["chat_id", "game_id"]),
  ));
