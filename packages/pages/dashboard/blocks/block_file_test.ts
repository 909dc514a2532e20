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
