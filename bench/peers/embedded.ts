/**
 * The store of the embedded deployment: node:sqlite, and counts in the process.
 */
import { DatabaseSync } from "node:sqlite";
import { chatIdOf, fixture, ranges } from "../fixture.ts";
import { hashOf, type Key, keyFreshness, keyOf, pid } from "./keys.ts";
import { addressLimits, midnightAfter, tooMany } from "./limits.ts";
import type { KeyWindows, LinkWrite, OpenStore } from "./ports.ts";

const schema = `
  CREATE TABLE IF NOT EXISTS keys (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL, pid TEXT NOT NULL, tier TEXT NOT NULL, status TEXT NOT NULL,
    expires_at INTEGER, limits TEXT NOT NULL, allow_ips TEXT NOT NULL, deny_ips TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS links (
    pid TEXT NOT NULL, chat_id TEXT NOT NULL, game_id TEXT, previous_game_id TEXT, link_version INTEGER NOT NULL,
    linked_at INTEGER NOT NULL, last_verified_at INTEGER NOT NULL, PRIMARY KEY (pid, chat_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL;
  CREATE TABLE IF NOT EXISTS audit_log (
    sequence INTEGER PRIMARY KEY, at INTEGER NOT NULL, account TEXT NOT NULL, pid TEXT, actor_type TEXT NOT NULL,
    actor_id TEXT NOT NULL, request_id TEXT, action TEXT NOT NULL, details TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS audit_log_by_account ON audit_log (account, sequence);
`;

const fill = (db: DatabaseSync) => {
  const { keys, links } = fixture();
  const insertKey = db.prepare("INSERT INTO keys VALUES (?, ?, ?, ?, 'active', NULL, ?, '[]', '[]')");
  const insertLink = db.prepare("INSERT INTO links VALUES (?, ?, ?, NULL, 1, ?, ?)");
  const removeLink = db.prepare(
    "UPDATE links SET game_id = NULL, link_version = 2 WHERE pid = ? AND chat_id = ?",
  );
  db.exec("BEGIN");
  for (const { key, tier, limits } of keys) {
    insertKey.run(hashOf(key), key.slice(4, 16), pid, tier, JSON.stringify(limits));
  }
  for (const { chatId, gameId, lastVerifiedAt } of links) {
    const at = Date.parse(lastVerifiedAt);
    insertLink.run(pid, chatId, gameId, at, at);
  }
  for (let index = ranges.changing; index < ranges.unlinked; index++) removeLink.run(pid, chatIdOf(index));
  db.exec("COMMIT");
};

interface Rule {
  readonly bucket: string;
  readonly name: string;
  readonly limit: number;
  readonly endsAt: number;
}

interface Counted {
  count: number;
  readonly resetsAt: number;
}

const windows = new Map<string, Counted>();

const windowOf = ({ name, endsAt }: Rule, now: number): Counted => {
  let window = windows.get(name);
  if (window === undefined || window.resetsAt <= now) {
    window = { count: 0, resetsAt: endsAt };
    windows.set(name, window);
  }
  return window;
};

setInterval(() => {
  for (const [name, { resetsAt }] of windows) if (resetsAt <= Date.now()) windows.delete(name);
}, 60_000).unref();

const admit = ({ id, limits }: Key, ip: string, now: number): KeyWindows => {
  const midnight = midnightAfter(now);
  const rules: ReadonlyArray<Rule> = [
    { bucket: "ip_second", name: `ip_second:${ip}`, limit: addressLimits.perSecond, endsAt: now + 1_000 },
    { bucket: "ip_day", name: `ip_day:${ip}`, limit: addressLimits.daily, endsAt: midnight },
    { bucket: "second", name: `second:${id}`, limit: limits.perWindow, endsAt: now + limits.windowMs },
    { bucket: "day", name: `day:${id}`, limit: limits.daily, endsAt: midnight },
  ];
  const counted = rules.map((rule) => windowOf(rule, now));
  const full = rules.find(({ limit }, index) => (counted[index] as Counted).count >= limit);
  if (full !== undefined) throw tooMany(full.bucket);
  for (const window of counted) window.count++;
  return { second: counted[2] as Counted, day: counted[3] as Counted };
};

export const open: OpenStore = async ([file = ""], isNew) => {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${schema}`);
  if (isNew) fill(db);

  const findKey = db.prepare("SELECT * FROM keys WHERE hash = ?");
  const findGame = db.prepare("SELECT game_id FROM links WHERE pid = ? AND chat_id = ?");
  const findGames = db.prepare(
    "SELECT chat_id, game_id FROM links WHERE pid = ? AND chat_id IN (SELECT value FROM json_each(?))",
  );
  const findChats = db.prepare(
    "SELECT chat_id FROM links WHERE pid = ? AND game_id = ? ORDER BY linked_at DESC, chat_id",
  );
  const begin = db.prepare("BEGIN IMMEDIATE");
  const commit = db.prepare("COMMIT");
  const rollback = db.prepare("ROLLBACK");
  const upsert = db.prepare(`
    INSERT INTO links VALUES (?1, ?2, ?3, NULL, 1, ?4, ?4)
    ON CONFLICT (pid, chat_id) DO UPDATE SET
      previous_game_id = game_id, game_id = excluded.game_id, last_verified_at = excluded.last_verified_at,
      link_version = link_version + (game_id IS NOT excluded.game_id),
      linked_at = iif(game_id IS excluded.game_id, linked_at, excluded.linked_at)
    RETURNING previous_game_id`);
  const insertEntry = db.prepare(
    "INSERT INTO audit_log VALUES (NULL, ?, 'bench', ?, 'key', ?, ?, 'link.set', ?)",
  );

  const writeGame = ({ pid: of, keyId, requestId, now, chatId, gameId }: LinkWrite): string | null => {
    const previousGameId = upsert.get(of, chatId, gameId, now)?.["previous_game_id"] as string | null;
    if (previousGameId !== gameId) {
      const details = JSON.stringify({ chatId, gameId, previousGameId });
      insertEntry.run(now, of, keyId, requestId, details);
    }
    return previousGameId;
  };

  const remembered = new Map<string, { readonly key: Key; readonly freshUntil: number }>();

  return {
    findKey: (token, now) => {
      const known = remembered.get(token);
      if (known !== undefined && known.freshUntil > now) return known.key;
      const row = token === "" ? undefined : findKey.get(hashOf(token));
      if (row === undefined) return undefined;
      const key = keyOf(row);
      remembered.set(token, { key, freshUntil: now + keyFreshness });
      return key;
    },
    admit,
    findGame: (of, chatId) => findGame.get(of, chatId)?.["game_id"] as string | null | undefined,
    findGames: (of, chatIds) => {
      const games = new Map<string, string>();
      for (const { chat_id: chatId, game_id: gameId } of findGames.all(of, JSON.stringify(chatIds))) {
        if (gameId !== null) games.set(chatId as string, gameId as string);
      }
      return games;
    },
    findChats: (of, gameId) => findChats.all(of, gameId).map(({ chat_id: chatId }) => chatId as string),
    setGame: (write) => {
      begin.run();
      try {
        const previousGameId = writeGame(write);
        commit.run();
        return previousGameId;
      } catch (error) {
        rollback.run();
        throw error;
      }
    },
    close: async () => db.close(),
  };
};
