import type { ChatId } from "@accountlink/core";
import { Effect, Fiber } from "effect";
import { expect, it } from "vitest";
import { firstOf, readBlockFile } from "./block_file.ts";

const read = (text: string) => Effect.runPromise(readBlockFile(text));

it.each([
  [null, 500],
  ["漢".repeat(500), 7],
])("a form sends as many blocks of a file as it has room for", async (reason, count) => {
  const listed = Array.from({ length: 600 }, (_, index) => ({
    user: { chatId: String(100_000 + index) as ChatId, gameId: null },
    reason,
  }));
  const { sent, csv } = firstOf(listed);
  expect(sent).toEqual(listed.slice(0, count));
  expect(await read(csv)).toEqual({ listed: sent, wrong: 0, rounded: 0 });
});

it("a misplaced quote, an end of line of any kind and an ID that is none cost no other row of a file", async () => {
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
    expect(await read(["chatId,gameId,reason", ...rows, ""].join(end))).toEqual({
      listed: [
        { user: { chatId: "100001", gameId: null }, reason: 'he said "no' },
        { user: { chatId: "100002", gameId: null }, reason: '"open' },
        { user: { chatId: "100003", gameId: null }, reason: "two\nlines" },
        // Such an ID can be blocked, so it is in downloaded files.
        { user: { chatId: "0100004", gameId: null }, reason: null },
        { user: { chatId: null, gameId: "5" }, reason: null },
      ],
      wrong: 2,
      rounded: 0,
    });
});

it.each([
  ["of rows", "5\n"],
  ["of empty rows", "\n"],
  ["of one row", ","],
  ["of quotes that close no cell", '"",'],
])("other fibers run while a long file %s is read", (_, part) =>
  Effect.gen(function* () {
    let turns = 0;
    const turn = Effect.andThen(
      Effect.sync(() => turns++),
      Effect.yieldNow,
    );
    const others = yield* Effect.forkChild(Effect.forever(turn));
    yield* readBlockFile(`gameId\n${part.repeat(100_000)}`);
    yield* Fiber.interrupt(others);
    expect(turns).toBeGreaterThan(40);
  }).pipe(Effect.runPromise),
);
