import { expect, it } from "vitest";
import type { AuditEntry } from "../audit/audit.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import { importsBetween } from "./import_history.ts";

const chatId = "1" as ChatId;

const entry = (
  sequence: number,
  action: AuditEntry["action"],
  details: AuditEntry["details"] = {},
): AuditEntry => ({
  sequence,
  at: sequence,
  actor: { type: "operator", id: "ada" },
  requestId: null,
  account: "acme",
  pid: "pid" as Pid,
  action,
  details,
});

const set = (sequence: number, gameId: string, previousGameId: string | null) =>
  entry(sequence, "link.set", { chatId, gameId, previousGameId });

const imports = [8, 6, 4, 2].map((sequence) => entry(sequence, "links.imported"));

const shown = (gameId: string | null, ...entries: ReadonlyArray<AuditEntry>) =>
  importsBetween({ chatId, gameId: gameId as GameId | null }, entries, imports, true).map(
    ({ sequence }) => sequence,
  );

it("imports between two entries of a link that do not follow each other may have changed it", () => {
  expect(shown("1", set(5, "1", null))).toEqual([]);
  expect(shown("2", set(5, "1", null))).toEqual([8, 6]);
  expect(shown("3", set(7, "3", "2"), set(3, "1", null))).toEqual([6, 4]);
  expect(shown(null, entry(5, "link.removed", { chatId, removedGameId: "1" }))).toEqual([4, 2]);
  expect(shown("1", entry(9, "block.set", { chatId }))).toEqual([8, 6, 4, 2]);
  const moved = { chatId: "2", newChatId: chatId, gameId: "1" };
  expect(shown("1", entry(5, "link.moved", moved))).toEqual([]);
});
