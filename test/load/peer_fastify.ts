/**
 * The peer: `GET /v2/chat` as a competent engineer writes it by hand on Fastify and node:sqlite, with nothing around it.
 * It does what the real server does for one request, and answers with the same headers and the same body.
 *
 * Usage: `node peer_fastify.ts DATABASE [FIXTURE]`, with the fixture to fill a new database
 */
import { createHmac, randomFillSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { BlockList, isIPv6 } from "node:net";
import { DatabaseSync } from "node:sqlite";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
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

const secret = Buffer.alloc(32, "secret");
const hashOf = (token: string) => createHmac("sha256", secret).update(token).digest("base64url");

const fill = ({ keys, links }: BenchFixture) => {
  const pid = "pid_0000000000000000";
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

// Refusals

class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: object | null;

  constructor(status: number, code: string, message: string, details: object | null = null) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

// Keys

interface Key {
  readonly id: string;
  readonly pid: string;
  readonly tier: string;
  readonly status: string;
  readonly expiresAt: number | null;
  readonly limits: { readonly perWindow: number; readonly windowMs: number; readonly daily: number };
  readonly allowed: BlockList | null;
  readonly denied: BlockList | null;
}

const keyFreshness = 750;
const rememberedKeys = new Map<string, { readonly key: Key; readonly freshUntil: number }>();

const addressList = (json: string): BlockList | null => {
  const entries = JSON.parse(json) as Array<string>;
  if (entries.length === 0) return null;
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
};

const readKey = (token: string): Key | undefined => {
  const row = findKey.get(hashOf(token));
  if (row === undefined) return undefined;
  return {
    id: String(row["id"]),
    pid: String(row["pid"]),
    tier: String(row["tier"]),
    status: String(row["status"]),
    expiresAt: row["expires_at"] as number | null,
    limits: JSON.parse(String(row["limits"])) as Key["limits"],
    allowed: addressList(String(row["allow_ips"])),
    denied: addressList(String(row["deny_ips"])),
  };
};

const authenticate = (authorization: string | undefined, now: number): Key => {
  const token = authorization?.startsWith("Bearer ") === true ? authorization.slice(7) : "";
  const known = rememberedKeys.get(token);
  let key = known?.key;
  if (known === undefined || known.freshUntil <= now) {
    key = token === "" ? undefined : readKey(token);
    if (key !== undefined) rememberedKeys.set(token, { key, freshUntil: now + keyFreshness });
  }
  if (key?.status !== "active" || (key.expiresAt !== null && key.expiresAt <= now)) {
    throw new Refusal(401, "INVALID_API_KEY", "Unauthorized: missing or invalid API key");
  }
  return key;
};

const checkAddress = ({ allowed, denied }: Key, ip: string) => {
  if (allowed === null && denied === null) return;
  const family = isIPv6(ip) ? "ipv6" : "ipv4";
  if (denied?.check(ip, family) === true || allowed?.check(ip, family) === false) {
    throw new Refusal(403, "FORBIDDEN", "IP address not allowed", { reason: "ip_not_allowed" });
  }
};

// Limits

interface Rule {
  readonly bucket: string;
  readonly name: string;
  readonly limit: number;
  readonly endsAt: number;
}

interface Window {
  count: number;
  readonly resetsAt: number;
}

const dayMs = 86_400_000;
const windows = new Map<string, Window>();
const addressLimits = { perSecond: 1_000_000_000, daily: 1_000_000_000 };

const windowOf = ({ name, endsAt }: Rule, now: number): Window => {
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
const admit = ({ id, limits }: Key, ip: string, now: number) => {
  const midnight = (Math.floor(now / dayMs) + 1) * dayMs;
  const rules: ReadonlyArray<Rule> = [
    { bucket: "ip_second", name: `ip_second:${ip}`, limit: addressLimits.perSecond, endsAt: now + 1_000 },
    { bucket: "ip_day", name: `ip_day:${ip}`, limit: addressLimits.daily, endsAt: midnight },
    { bucket: "second", name: `second:${id}`, limit: limits.perWindow, endsAt: now + limits.windowMs },
    { bucket: "day", name: `day:${id}`, limit: limits.daily, endsAt: midnight },
  ];
  const counted = rules.map((rule) => windowOf(rule, now));
  const full = rules.find(({ limit }, index) => (counted[index] as Window).count >= limit);
  if (full !== undefined) {
    const shared = full.bucket.startsWith("ip_");
    const code = shared ? "SHARED_IP_RATE_LIMITED" : "RATE_LIMITED";
    throw new Refusal(429, code, "Too many requests", { bucket: full.bucket });
  }
  for (const window of counted) window.count++;
  return { second: counted[2] as Window, day: counted[3] as Window };
};

// Request ids: ULIDs, out of a pool of random bytes

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const pool = Buffer.alloc(4_096);
let poolUsed = pool.length;

const ulid = (now: number): string => {
  if (poolUsed + 16 > pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  let time = "";
  for (let rest = now, digit = 0; digit < 10; digit++, rest = Math.floor(rest / 32)) {
    time = (alphabet[rest % 32] as string) + time;
  }
  let random = "";
  for (let digit = 0; digit < 16; digit++) random += alphabet[(pool[poolUsed++] as number) % 32];
  return time + random;
};

// The route

interface Query {
  readonly chatId?: string | Array<string>;
  readonly guildId?: string | Array<string>;
  readonly resolved?: string | Array<string>;
}

const invalid = (name: string, reason: string) =>
  new Refusal(400, "INVALID_PARAMETER", `Invalid parameter: ${name}`, { parameters: [{ name, reason }] });

const serviceVersion = "2026-01-01";
const chatIdPattern = /^\d{5,32}$/;

const readChatId = (query: Query, version: string | Array<string> | undefined): string => {
  const { chatId, guildId, resolved } = query;
  if (chatId === undefined || chatId === "") {
    throw new Refusal(400, "MISSING_PARAMETER", "Missing required parameters: chatId", {
      parameters: ["chatId"],
    });
  }
  if (typeof chatId !== "string") throw invalid("chatId", "given more than once");
  if (!chatIdPattern.test(chatId)) throw invalid("chatId", "expected 5 to 32 digits");
  if (guildId !== undefined) throw invalid("guildId", "guilds are not served here");
  if (resolved !== undefined && resolved !== "false")
    throw invalid("resolved", "profiles are not served here");
  if (version !== undefined && version !== serviceVersion) {
    throw invalid("Service-Version", `accepted values: ${serviceVersion}`);
  }
  return chatId;
};

/** What has become known of a request, for its answer. */
interface Known {
  key: Key | null;
  limits: ReturnType<typeof admit> | null;
}

const noLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null };

const metaOf = (requestId: string, { key, limits }: Known) => ({
  requestId,
  version: "2.0.0",
  rateLimit:
    key === null || limits === null
      ? noLimit
      : {
          limit: key.limits.perWindow,
          remaining: key.limits.perWindow - limits.second.count,
          resetAt: new Date(limits.second.resetsAt).toISOString(),
          retryAfter: null,
          scope: "api_key",
          bucket: "second",
        },
  tier: key?.tier,
});

const answerCounts = new Map<string, number>();

const send = (reply: FastifyReply, requestId: string, known: Known, status: number, body: object) => {
  const { key, limits } = known;
  reply.code(status);
  reply.header("x-request-id", requestId);
  reply.header("service-version", serviceVersion);
  reply.header("cache-control", "no-store");
  if (key !== null && limits !== null) {
    reply.header("x-ratelimit-limit", String(key.limits.perWindow));
    reply.header("x-ratelimit-remaining", String(key.limits.perWindow - limits.second.count));
    reply.header("x-ratelimit-reset", String(Math.ceil(limits.second.resetsAt / 1000)));
    reply.header("x-ratelimit-limit-day", String(key.limits.daily));
    reply.header("x-ratelimit-remaining-day", String(key.limits.daily - limits.day.count));
  }
  if (status === 401) reply.header("www-authenticate", "Bearer");
  const label = `getChat ${status}`;
  answerCounts.set(label, (answerCounts.get(label) ?? 0) + 1);
  return reply.send(body);
};

const getChat = (request: FastifyRequest<{ Querystring: Query }>, reply: FastifyReply) => {
  const now = Date.now();
  const requestId = `req_${ulid(now)}`;
  const known: Known = { key: null, limits: null };
  try {
    const key = authenticate(request.headers.authorization, now);
    known.key = key;
    checkAddress(key, request.ip);
    known.limits = admit(key, request.ip, now);
    const chatId = readChatId(request.query, request.headers["service-version"]);
    const row = findLink.get(key.pid, chatId);
    const gameId = row?.["game_id"] ?? null;
    if (gameId === null) throw new Refusal(404, "LINK_NOT_FOUND", "No matching link");
    const data = { chatId, gameId, resolved: { game: null, chat: null } };
    const timestamp = new Date(now).toISOString();
    const body = { status: 200, data, meta: metaOf(requestId, known), timestamp };
    return send(reply, requestId, known, 200, body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { status, code, message, details } = error;
    const timestamp = new Date(now).toISOString();
    const body = { status, error: { code, message, details }, meta: metaOf(requestId, known), timestamp };
    return send(reply, requestId, known, status, body);
  }
};

const app = fastify({ logger: false });
app.get("/v2/chat", getChat);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(`listening on ${url}`);
process.once("SIGTERM", () => void app.close().then(() => process.exit(0)));
