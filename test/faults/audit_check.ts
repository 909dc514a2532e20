/**
 * Whether the audit log and the answers tell the same story.
 */
import type { AuditEntry } from "@accountlink/core/audit";
import { expect } from "vitest";
import type { Client, Write, WriteAnswer } from "./writers.ts";

const detailsOf = ({ action, body }: Write, { data }: WriteAnswer): AuditEntry["details"] => {
  const { chatId, gameId, previousGameId, removedGameId } = data as Record<string, unknown>;
  const details = {
    "link.set": { chatId, gameId, previousGameId },
    "link.moved": { chatId: body["oldChatId"], newChatId: chatId, gameId },
    "link.removed": { chatId, removedGameId },
  }[action];
  return details as AuditEntry["details"];
};

/** Whether the chat user was linked to that game user already. */
const isConfirmation = ({ data }: WriteAnswer): boolean =>
  (data as Record<string, unknown>)["updated"] === false;

/** Whether an entry can come from a write of which no answer is known. */
const canComeFrom = ({ action, details }: AuditEntry, { action: asked, body }: Write): boolean =>
  action === asked &&
  (action === "link.moved"
    ? details["chatId"] === body["oldChatId"] && details["newChatId"] === body["newChatId"]
    : details["chatId"] === body["chatId"] &&
      (action === "link.removed" || details["gameId"] === body["gameId"]));

/**
 * Every answered write that changed something has its entry, in the order of its client; every other entry was asked
 * for by a write without an answer. Gives how many of those there are.
 */
export const checkEntries = (clients: ReadonlyArray<Client>, entries: ReadonlyArray<AuditEntry>): number => {
  const byRequest = new Map(entries.map((entry) => [entry.requestId, entry]));
  expect(byRequest.size).toBe(entries.length);

  for (const client of clients) {
    const sequences: Array<number> = [];
    for (const write of client) {
      if (write.answer?.status !== 200) continue;
      const entry = byRequest.get(write.answer.requestId);
      if (isConfirmation(write.answer)) {
        expect(entry).toBeUndefined();
        continue;
      }
      expect(entry).toMatchObject({ action: write.action, details: detailsOf(write, write.answer) });
      byRequest.delete(write.answer.requestId);
      sequences.push(entry?.sequence ?? 0);
    }
    expect(sequences).toEqual(sequences.toSorted((one, other) => one - other));
  }

  const unanswered = clients.flatMap((client) => client.filter(({ answer }) => answer === null));
  for (const entry of byRequest.values()) {
    const source = unanswered.findIndex((write) => canComeFrom(entry, write));
    expect(source, `a write that asked for ${JSON.stringify(entry)}`).not.toBe(-1);
    unanswered.splice(source, 1);
  }
  return byRequest.size;
};
