/**
 * Kills the server in the middle of its writes, starts it on the same data folder, and looks whether everything that
 * was answered is there.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StorageSql } from "@accountlink/storage-sql";
import { expect } from "vitest";
import { type ServerProcess, startServer } from "../support/server.ts";
import { makeWorld } from "../support/world.ts";
import { checkEntries } from "./audit_check.ts";
import { entriesAfter, play, type Replay, stateOf } from "./audit_replay.ts";
import { type Client, contested, gameUserCount, wandering, writeUntilGone } from "./writers.ts";

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
  const stores = StorageSql.layerEmbedded({ folder, exclusive: false });
  const counts: KillCounts = { rounds: 0, answered: 0, refused: 0, unanswered: 0, recovered: 0 };
  const replay: Replay = new Map();

  let server = await start();
  try {
    let sequence = (await entriesAfter(stores, account, 0)).at(-1)?.sequence ?? 0;
    for (; counts.rounds < rounds; counts.rounds++) {
      const clients = await writeAndKill(server, key);
      server = await start();
      const entries = await entriesAfter(stores, account, sequence);
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
const writeAndKill = async (server: ServerProcess, key: string): Promise<ReadonlyArray<Client>> => {
  const lastAnswer = 1 + Math.floor(Math.random() * mostAnswers);
  const killed = Promise.withResolvers<void>();
  const clients = await writeUntilGone(server.send, key, (answers) => {
    if (answers !== lastAnswer) return;
    setTimeout(() => killed.resolve(server.kill()), Math.random() * longestDelay);
  });
  await killed.promise;
  return clients;
};

const count = (counts: KillCounts, recovered: number, clients: ReadonlyArray<Client>): void => {
  counts.recovered += recovered;
  for (const { action, answer } of clients.flat()) {
    if (answer === null) counts.unanswered++;
    else if (answer.status === 200) counts.answered++;
    else {
      // What is moved or removed can be gone, and the place that it is moved to be taken. Before a link is set, the
      // platform is asked, which on a busy machine does not answer in time. Nothing else is refused.
      expect(action === "link.set" ? [503] : [404, 409]).toContain(answer.status);
      counts.refused++;
    }
  }
};

/** What the server says of every chat user is what the audit log tells. */
const checkLinks = async ({ send }: ServerProcess, key: string, replay: Replay): Promise<void> => {
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
