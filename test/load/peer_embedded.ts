/**
 * The peer of the embedded deployment: node:sqlite, and counts in the process.
 *
 * Usage: `node peer_embedded.ts DATABASE [FIXTURE]`, with the fixture to fill a new database
 */
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { FastifyReply } from "fastify";
import {
  addressLimits,
  bearerToken,
  type ChatRequest,
  checkKey,
  hashOf,
  type Key,
  type KeyWindows,
  keyFreshness,
  keyOf,
  midnightAfter,
  openExchange,
  pid,
  readChatId,
  sendLink,
  sendRefusal,
  serve,
  tooMany,
} from "./peer_route.ts";
import type { BenchFixture } from "./workload.ts";

const [databaseFile = "", fixtureFile] = process.argv.slice(2);

// Storage

const db = new DatabaseSync(databaseFile);
db.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE IF NOT EXISTS keys (
    hash TEXT PRIMARY KEY, id TEXT NOT NULL, pid TEXT NOT NULL, tier TEXT NOT NULL, status TEXT NOT NULL,
    expires_at INTEGER, limits TEXT NOT NULL, allow_ips TEXT NOT NULL, deny_ips TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS links (
    pid TEXT NOT NULL, chat_id TEXT NOT NULL, game_id TEXT, link_version INTEGER NOT NULL,
    last_verified_at INTEGER NOT NULL, PRIMARY KEY (pid, chat_id)
  ) STRICT, WITHOUT ROWID;
`);

const fill = ({ keys, links }: BenchFixture) => {
  const insertKey = db.prepare("INSERT INTO keys VALUES (?, ?, ?, ?, 'active', NULL, ?, '[]', '[]')");
  const insertLink = db.prepare("INSERT INTO links VALUES (?, ?, ?, 1, ?)");
  db.exec("BEGIN");
  for (const { key, tier, limits } of keys) {
    insertKey.run(hashOf(key), key.slice(4, 16), pid, tier, JSON.stringify(limits));
  }
  for (const { chatId, gameId, lastVerifiedAt } of links) {
    insertLink.run(pid, chatId, gameId, Date.parse(lastVerifiedAt));
  }
  db.exec("COMMIT");
};
if (fixtureFile !== undefined) fill(JSON.parse(readFileSync(fixtureFile, "utf8")) as BenchFixture);

const findKey = db.prepare("SELECT * FROM keys WHERE hash = ?");
const findLink = db.prepare(
  "SELECT game_id, link_version, last_verified_at FROM links WHERE pid = ? AND chat_id = ?",
);

// Keys

const rememberedKeys = new Map<string, { readonly key: Key; readonly freshUntil: number }>();

const readKey = (token: string): Key | undefined => {
  const row = findKey.get(hashOf(token));
  return row === undefined ? undefined : keyOf(row);
};

const authenticate = (token: string, now: number): Key | undefined => {
  const known = rememberedKeys.get(token);
  if (known !== undefined && known.freshUntil > now) return known.key;
  const key = token === "" ? undefined : readKey(token);
  if (key !== undefined) rememberedKeys.set(token, { key, freshUntil: now + keyFreshness });
  return key;
};

// Limits

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

/** Counts the request in all windows or in none, and gives those of the key. */
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

// The route

const getChat = (request: ChatRequest, reply: FastifyReply) => {
  const exchange = openExchange();
  const { now } = exchange;
  try {
    const key = checkKey(authenticate(bearerToken(request.headers.authorization), now), request.ip, now);
    exchange.key = key;
    exchange.limits = admit(key, request.ip, now);
    const chatId = readChatId(request);
    return sendLink(reply, exchange, chatId, findLink.get(key.pid, chatId)?.["game_id"]);
  } catch (error) {
    return sendRefusal(reply, exchange, error);
  }
};

await serve(getChat, () => Promise.resolve());
