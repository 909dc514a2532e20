/**
 * The peer: the routes of the bench, hand-written on Fastify according to common good practice. For each request, it
 * does the same work, sends the same headers and body, and stores keys, links and counts in the same place as the real
 * server.
 *
 * Usage: `node server.ts FILE [--fill]`, or `node server.ts POSTGRES_URL REDIS_URL [--fill]`; `--fill` for a new
 * database
 */
import { randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { platformFixture } from "../dataset.ts";
import { type Counts, hashOf, type Key, midnightAfter, rulesOf } from "./store.ts";

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { fill: { type: "boolean", default: false } },
});
const [place = "", redisUrl] = positionals;
const store =
  redisUrl === undefined
    ? (await import("./sqlite.ts")).open(place, options.fill)
    : await (await import("./postgres.ts")).open(place, redisUrl, options.fill);

/** An error that is sent to the client. */
class Refusal extends Error {
  readonly status: number;
  readonly error: object;

  constructor(status: number, code: string, message: string, details: object | null = null) {
    super(message);
    this.status = status;
    this.error = { code, message, details };
  }
}

/** A request, with its key and counts once they are known. */
interface RequestState {
  readonly requestId: string;
  readonly now: number;
  readonly idempotencyKey: string | undefined;
  key: Key | null;
  counts: Counts | null;
  isReplayed: boolean;
}

const newState = ({ headers }: FastifyRequest): RequestState => ({
  requestId: `req_${randomUUID().replaceAll("-", "").slice(6).toUpperCase()}`,
  now: Date.now(),
  idempotencyKey: headers["idempotency-key"] as string | undefined,
  key: null,
  counts: null,
  isReplayed: false,
});

const noLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null };

const rateLimitOf = ({ perWindow }: Key["limits"], { second, secondEnds }: Counts) => ({
  limit: perWindow,
  remaining: perWindow - second,
  resetAt: new Date(secondEnds).toISOString(),
  retryAfter: null,
  scope: "api_key",
  bucket: "second",
});

/** Sends `content` in the response envelope of the HTTP interface, with the headers that the real server sends. */
const answer = (reply: FastifyReply, state: RequestState, status: number, content: object) => {
  const { requestId, now, key, counts } = state;
  reply.code(status).headers({
    "x-request-id": requestId,
    "service-version": "2026-01-01",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  if (state.isReplayed) reply.header("idempotent-replayed", "true");
  if (status === 401) reply.header("www-authenticate", "Bearer");
  if (key !== null && counts !== null) {
    const { perWindow, windowMs, daily } = key.limits;
    const untilMidnight = Math.ceil((midnightAfter(now) - now) / 1_000);
    reply.headers({
      "ratelimit-policy": `"second";q=${perWindow};w=${windowMs / 1_000}, "day";q=${daily};w=86400`,
      ratelimit: `"day";r=${daily - counts.day};t=${untilMidnight}`,
      "x-ratelimit-limit": String(perWindow),
      "x-ratelimit-remaining": String(perWindow - counts.second),
      "x-ratelimit-reset": String(Math.ceil(counts.secondEnds / 1000)),
      "x-ratelimit-limit-day": String(daily),
      "x-ratelimit-remaining-day": String(daily - counts.day),
    });
  }
  const rateLimit = key === null || counts === null ? noLimit : rateLimitOf(key.limits, counts);
  const { bulk, ...body } = content as { readonly bulk?: object };
  const meta = { requestId, version: "2.0.0", rateLimit, tier: key?.tier, bulk };
  return reply.send({ status, ...body, meta, timestamp: new Date(now).toISOString() });
};

/** Caches found keys for 750 ms. Concurrent requests for one key share one read. */
const known = new Map<string, { readonly key: Promise<Key | undefined>; readonly readAt: number }>();

const findKey = async (token: string, now: number): Promise<Key | undefined> => {
  const found = known.get(token);
  if (found !== undefined && now < found.readAt + 750) return found.key;
  const rows = Promise.resolve(store.rows("findKey", hashOf(token)));
  const key = rows.then(([row]) => JSON.parse(row?.["key"] ?? "null") as Key | undefined);
  known.set(token, { key, readAt: now });
  if ((await key.catch(() => null)) === null) known.delete(token);
  return key;
};

/** This server has platform data in memory. The real server caches answers of its platform for 1 to 30 seconds. */
const { guilds, gameUsers } = platformFixture().platform;
const members = new Map(guilds.map(({ id, members: all }) => [id, new Set(all.map(({ chatId }) => chatId))]));
const users = new Set(gameUsers.map(({ id }) => id));

type Values = Readonly<Record<string, unknown>>;

const invalid = (name: string, reason: string) =>
  new Refusal(400, "INVALID_PARAMETER", `Invalid parameter: ${name} (${reason})`, {
    parameters: [{ name, reason }],
  });
const forbidden = (reason: string, message: string) => new Refusal(403, "FORBIDDEN", message, { reason });
/** Created only once, since creating an error captures the stack, which is slow. */
const notFound = new Refusal(404, "LINK_NOT_FOUND", "No matching link");

const requireAll = (values: Values, ...names: ReadonlyArray<string>) => {
  const parameters = names.filter((name) => [undefined, null, ""].includes(values[name] as string));
  if (parameters.length === 0) return;
  const message = `Missing required parameters: ${parameters.join(", ")}`;
  throw new Refusal(400, "MISSING_PARAMETER", message, { parameters });
};

const chatIdPattern = /^\d{5,32}$/;
const isId = (chatId: string) => chatIdPattern.test(chatId);

const readId = (values: Values, name: string): string => {
  const value = values[name];
  if (Array.isArray(value)) throw invalid(name, "given more than once");
  const [pattern, expected] = name === "gameId" ? [/^\d{1,32}$/, "1 to 32"] : [chatIdPattern, "5 to 32"];
  if (typeof value !== "string" || !pattern.test(value)) throw invalid(name, `expected ${expected} digits`);
  return value;
};

const requireMember = (values: Values, chatId: string): void => {
  if (values["guildId"] === undefined) return;
  const guildId = readId(values, "guildId");
  if (!members.has(guildId)) throw forbidden("bot_not_in_guild", "Bot is not in the guild");
  if (members.get(guildId)?.has(chatId) !== true)
    throw forbidden("user_not_in_guild", "User is not in the guild");
};

type Handler = (values: Values, key: Key, state: RequestState) => Promise<object>;

const keyOf = async ({ headers: { authorization } }: FastifyRequest, now: number): Promise<Key> => {
  const key =
    authorization?.startsWith("Bearer ") === true ? await findKey(authorization.slice(7), now) : undefined;
  if (key?.status !== "active" || (key.expiresAt !== null && key.expiresAt <= now))
    throw new Refusal(401, "INVALID_API_KEY", "Unauthorized: missing or invalid API key");
  return key;
};

const admit = async (key: Key, ip: string, now: number) => {
  const counts = await store.admit(rulesOf(key, ip, now));
  if (typeof counts !== "string") return counts;
  const code = counts.startsWith("ip_") ? "SHARED_IP_RATE_LIMITED" : "RATE_LIMITED";
  throw new Refusal(429, code, "Too many requests", { bucket: counts });
};

const keyed = (handle: Handler) => async (request: FastifyRequest, reply: FastifyReply) => {
  const state = newState(request);
  try {
    const key = await keyOf(request, state.now);
    state.key = key;
    state.counts = await admit(key, request.ip, state.now);
    const values = (request.method === "GET" ? request.query : request.body) as Values;
    answer(reply, state, 200, await handle(values, key, state));
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    answer(reply, state, thrown.status, { error: thrown.error });
  }
  return reply;
};

const resolved = { game: null, chat: null };

const getChat: Handler = async (query, { pid }) => {
  requireAll(query, "chatId");
  const chatId = readId(query, "chatId");
  requireMember(query, chatId);
  const [row] = await store.rows("findGame", pid, chatId);
  if (row === undefined) throw notFound;
  return { data: { chatId, gameId: row["game_id"], resolved } };
};

const getGame: Handler = async (query, { pid }) => {
  requireAll(query, "gameId");
  const gameId = readId(query, "gameId");
  const chatIds = (await store.rows("findChats", pid, gameId)).map((row) => row["chat_id"]);
  if (chatIds.length === 0) throw notFound;
  return { data: { gameId, chatIds, count: chatIds.length, resolved } };
};

const itemNotFound = { code: "LINK_NOT_FOUND", message: "No matching link", details: null, status: 404 };
const { error: invalidId } = invalid("chatId", "expected 5 to 32 digits");
const itemInvalid = { ...invalidId, status: 400 };

const bulkChat: Handler = async (body, { pid }) => {
  requireAll(body, "chatIds");
  const chatIds = body["chatIds"] as ReadonlyArray<string>;
  const rows = await store.rows("findGames", pid, chatIds.filter(isId));
  const games = new Map(rows.map((row) => [row["chat_id"], row["game_id"]]));
  const counts = { foundCount: 0, notFoundCount: 0, errorCount: 0 };
  const results = chatIds.map((chatId) => {
    const gameId = games.get(chatId) ?? null;
    if (gameId !== null) {
      counts.foundCount++;
      return { input: { chatId }, found: true, data: { chatId, gameId, resolved }, error: null };
    }
    counts[isId(chatId) ? "notFoundCount" : "errorCount"]++;
    return { input: { chatId }, found: false, data: null, error: isId(chatId) ? itemNotFound : itemInvalid };
  });
  return {
    data: { results, count: results.length, ...counts, resolved: false },
    bulk: { uniqueInputs: new Set(chatIds).size, maxInputs: 50 },
  };
};

const patchGame: Handler = async (body, { pid, id: keyId }, state) => {
  const { requestId, now, idempotencyKey } = state;
  requireAll(body, "chatId", "gameId");
  const [chatId, gameId] = [readId(body, "chatId"), readId(body, "gameId")];
  requireMember(body, chatId);
  if (!users.has(gameId)) throw invalid("gameId", "expected a user of the game platform, found none");
  const fingerprint = hashOf(JSON.stringify(["PATCH /v2/game", chatId, gameId, body["guildId"] ?? null]));
  const once =
    idempotencyKey === undefined ? null : { id: hashOf(`${keyId} ${idempotencyKey}`), fingerprint };
  const set = await store.setGame({ pid, keyId, requestId, now, chatId, gameId, once });
  const { previousGameId, keptFor } = set;
  state.isReplayed = keptFor === fingerprint;
  if (keptFor !== undefined && keptFor !== fingerprint)
    throw new Refusal(409, "CONFLICT", "The Idempotency-Key belongs to another request", {
      reason: "idempotency_key_reused",
    });
  return { data: { chatId, gameId, previousGameId, updated: previousGameId !== gameId } };
};

const app = fastify({ logger: false });
app.get("/v2/chat", keyed(getChat));
app.get("/v2/game", keyed(getGame));
app.post("/v2/chat/bulk", keyed(bulkChat));
app.patch("/v2/game", keyed(patchGame));
await app.listen({ host: "127.0.0.1", port: 0 });
console.log(`listening on http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
const stop = async () => {
  await app.close();
  await store.close();
  process.exit(0);
};
process.once("SIGTERM", () => void stop());
