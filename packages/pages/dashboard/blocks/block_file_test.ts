import type { ChatId } from "@accountlink/core";
import { expect, it } from "vitest";
import { firstOf, readBlockFile } from "./block_file.ts";

it.each([
  [null, 500],
  ["漢".repeat(500), 7],
])("a form sends as many blocks of a file as it has room for", (reason, count) => {
  const listed = Array.from({ length: 600 }, (_, index) => ({
    user: { chatId: String(100_000 + index) as ChatId, gameId: null },
    reason,
  }));
  const { sent, csv } = firstOf(listed);
  expect(sent).toEqual(listed.slice(0, count));
  expect(readBlockFile(csv)).toEqual({ listed: sent, wrong: 0 });
});

it("a misplaced quote, an end of line of any kind and an ID that is none cost no other row of a file", () => {
  const rows = [
    '100001,,he said "no',
    '100002,,"open',
    '100003,,"two\nlines"',
    "0100004,,",
    ",,",
    "1000,,",
    ",0x5,",
    ",5,",
  ];
  for (const end of ["\n", "\r\n", "\r"])
    expect(readBlockFile(["chatId,gameId,reason", ...rows, ""].join(end))).toEqual({
      listed: [
        { user: { chatId: "100001", gameId: null }, reason: 'he said "no' },
        { user: { chatId: "100002", gameId: null }, reason: '"open' },
        { user: { chatId: "100003", gameId: null }, reason: "two\nlines" },
        // Such an ID can be blocked, so it is in downloaded files.
        { user: { chatId: "0100004", gameId: null }, reason: null },
        { user: { chatId: null, gameId: "5" }, reason: null },
      ],
      wrong: 2,
    });
});
