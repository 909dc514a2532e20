/**
 * Kills the server in the middle of its writes, starts it on the same data folder, and looks whether everything that
 * was answered is there.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AuditEntry } from "@accountlink/core";
import { expect } from "vitest";
import { type RunningServer, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import { entriesAfter, play, type Replay, stateOf } from "./audit_replay.ts";
import {
  type Client,
  contested,
  gameUserCount,
  type Write,
  type WriteAnswer,
  wandering,
  writeUntilGone,
} from "./writers.ts";

/** What all rounds together came to. */
export interface KillCounts {
  rounds: number;
  /** Writes that were answered 200; every one of them was found again. */
  answered: number;
  /** Writes that were refused, and have left nothing. */
  refused: number;
  /** Writes that were cut off. */
  unanswered: number;
  /** Those of them that were stored all the same. */
  recovered: number;
}

/** The kill comes a few milliseconds after one of so many answers. */
const mostAnswers = 150;
const longestDelay = 8;

const account = "writers";

/** Runs the rounds on one data folder. Fails at the first thing that is not as it was promised. */
export const runKillRounds = async (rounds: number): Promise<KillCounts> => {
  const folder = await mkdtemp(join(tmpdir(), "accountlink-kill-"));
  const world = makeWorld();
  const key = world.key({ account });
  const gameUsers = Array.from({ length: gameUserCount }, (_, index) => ({ id: String(index + 1) }));
  const fixture = { ...world.fixture, platform: { ...world.fixture.platform, gameUsers } };
  const start = () => startServer({ fixture, dataFolder: folder });
  const counts: KillCounts = { rounds: 0, answered: 0, refused: 0, unanswered: 0, recovered: 0 };
  const replay: Replay = new Map();

  let server = await start();
  try {
    let sequence = (await entriesAfter(folder, account, 0)).at(-1)?.sequence ?? 0;
    for (; counts.rounds < rounds; counts.rounds++) {
      const clients = await writeAndKill(server, key);
      server = await start();
      const entries = await entriesAfter(folder, account, sequence);
      sequence = entries.at(-1)?.sequence ?? sequence;
      count(counts, checkEntries(clients, entries), clients);
      for (const entry of entries) play(replay, entry);
      await checkLinks(server, key, replay);
      checkDatabase(folder);
    }
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
  return counts;
};

/** Not before the first answer, and then at a moment that nobody has chosen. */
const writeAndKill = async (server: RunningServer, key: string): Promise<ReadonlyArray<Client>> => {
  const lastAnswer = 1 + Math.floor(Math.random() * mostAnswers);
  const killed = Promise.withResolvers<void>();
  const clients = await writeUntilGone(server.send, key, (answers) => {
    if (answers !== lastAnswer) return;
    setTimeout(() => killed.resolve(server.kill()), Math.random() * longestDelay);
  });
  await killed.promise;
  return clients;
};

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

/** Every answered write that changed something has its entry, in the order of its client; the rest was asked for. */
const checkEntries = (clients: ReadonlyArray<Client>, entries: ReadonlyArray<AuditEntry>): number => {
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

const count = (counts: KillCounts, recovered: number, clients: ReadonlyArray<Client>): void => {
  counts.recovered += recovered;
  for (const { action, answer } of clients.flat()) {
    if (answer === null) counts.unanswered++;
    else if (answer.status === 200) counts.answered++;
    else {
      // What is moved or removed can be gone, and the place that it is moved to be taken. Nothing else is refused.
      expect(action).not.toBe("link.set");
      expect([404, 409]).toContain(answer.status);
      counts.refused++;
    }
  }
};

/** What the server says of every chat user is what the audit log tells. */
const checkLinks = async ({ send }: RunningServer, key: string, replay: Replay): Promise<void> => {
  for (const chatId of [...contested, ...wandering]) {
    const { gameId, version } = stateOf(replay, chatId);
    const { body } = await send(`GET /v2/verifications/chat?chatId=${chatId}`, { key });
    const linked = gameId !== null;
    expect(body["data"]).toMatchObject({ chatId, linked, gameId, linkVersion: linked ? version : null });
    if (!linked) continue;
    const reverse = await send(`GET /v2/game?gameId=${gameId}`, { key });
    expect(reverse.body["data"]?.["chatIds"]).toContain(chatId);
  }
};

const checkDatabase = (folder: string): void => {
  const database = new DatabaseSync(join(folder, "accountlink.db"), { readOnly: true });
  try {
    expect(database.prepare("PRAGMA integrity_check").all()).toMatchObject([{ integrity_check: "ok" }]);
    expect(database.prepare("PRAGMA foreign_key_check").all()).toEqual([]);
  } finally {
    database.close();
  }
};
