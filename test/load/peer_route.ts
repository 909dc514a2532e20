/**
 * What the peers have in common: `GET /v2/chat` as a competent engineer writes it by hand on Fastify, with nothing around
 * it. They do what the real server does for one request, and answer with the same headers and the same body. Each peer
 * keeps its keys, links and counts where the deployment that it is compared with does.
 */
import { createHmac, randomFillSync } from "node:crypto";
import { BlockList, isIPv6 } from "node:net";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";

// Keys

/** A key as it is remembered. */
export interface Key {
  readonly id: string;
  readonly pid: string;
  readonly tier: string;
  readonly status: string;
  readonly expiresAt: number | null;
  readonly limits: { readonly perWindow: number; readonly windowMs: number; readonly daily: number };
  readonly allowed: BlockList | null;
  readonly denied: BlockList | null;
}

/** For how long a key is trusted without another look into the storage, in milliseconds: so a revocation holds. */
export const keyFreshness = 750;

/** The one scope. */
export const pid = "pid_0000000000000000";

const secret = Buffer.alloc(32, "secret");

/** What a key is stored under. */
export const hashOf = (token: string) => createHmac("sha256", secret).update(token).digest("base64url");

/** Reads a row of a table that holds limits and addresses as JSON. */
export const keyOf = (row: Readonly<Record<string, unknown>>): Key => ({
  id: String(row["id"]),
  pid: String(row["pid"]),
  tier: String(row["tier"]),
  status: String(row["status"]),
  expiresAt: row["expires_at"] === null ? null : Number(row["expires_at"]),
  limits: JSON.parse(String(row["limits"])) as Key["limits"],
  allowed: addressList(String(row["allow_ips"])),
  denied: addressList(String(row["deny_ips"])),
});

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

/** The token of an `Authorization` header, empty when there is none. */
export const bearerToken = (authorization: string | undefined): string =>
  authorization?.startsWith("Bearer ") === true ? authorization.slice(7) : "";

/** Lets a usable key pass, from an address that it allows. */
export const checkKey = (key: Key | undefined, ip: string, now: number): Key => {
  if (key?.status !== "active" || (key.expiresAt !== null && key.expiresAt <= now)) {
    throw new Refusal(401, "INVALID_API_KEY", "Unauthorized: missing or invalid API key");
  }
  const { allowed, denied } = key;
  if (allowed === null && denied === null) return key;
  const family = isIPv6(ip) ? "ipv6" : "ipv4";
  if (denied?.check(ip, family) === true || allowed?.check(ip, family) === false) {
    throw new Refusal(403, "FORBIDDEN", "IP address not allowed", { reason: "ip_not_allowed" });
  }
  return key;
};

// Limits

/** What a window has counted, and when it ends. */
interface Window {
  readonly count: number;
  readonly resetsAt: number;
}

/** The windows of a key after a request. */
export interface KeyWindows {
  readonly second: Window;
  readonly day: Window;
}

const dayMs = 86_400_000;

/** When the day of a moment ends. */
export const midnightAfter = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs;

/** Limits of the client address that are counted, and never reached. */
export const addressLimits = { perSecond: 1_000_000_000, daily: 1_000_000_000 };

/** The refusal by a full window. */
export const tooMany = (bucket: string): Refusal => {
  const code = bucket.startsWith("ip_") ? "SHARED_IP_RATE_LIMITED" : "RATE_LIMITED";
  return new Refusal(429, code, "Too many requests", { bucket });
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

// Parameters

interface Query {
  readonly chatId?: string | Array<string>;
  readonly guildId?: string | Array<string>;
  readonly resolved?: string | Array<string>;
}

/** A request of the route. */
export type ChatRequest = FastifyRequest<{ Querystring: Query }>;

const serviceVersion = "2026-01-01";
const chatIdPattern = /^\d{5,32}$/;

const invalid = (name: string, reason: string) =>
  new Refusal(400, "INVALID_PARAMETER", `Invalid parameter: ${name}`, { parameters: [{ name, reason }] });

/** The chat ID that is asked for, once everything about the request was found to be in order. */
export const readChatId = ({ query, headers }: ChatRequest): string => {
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
  const version = headers["service-version"];
  if (version !== undefined && version !== serviceVersion) {
    throw invalid("Service-Version", `accepted values: ${serviceVersion}`);
  }
  return chatId;
};

// Answers

/** A refusal as the client is told. */
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

/** A request, and what has become known of it. */
interface Exchange {
  readonly requestId: string;
  readonly now: number;
  key: Key | null;
  limits: KeyWindows | null;
}

export const openExchange = (): Exchange => {
  const now = Date.now();
  return { requestId: `req_${ulid(now)}`, now, key: null, limits: null };
};

const noLimit = { limit: null, remaining: null, resetAt: null, retryAfter: null, scope: null };

const metaOf = ({ requestId, key, limits }: Exchange) => ({
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

const send = (reply: FastifyReply, { requestId, key, limits }: Exchange, status: number, body: object) => {
  reply.code(status);
  reply.header("x-request-id", requestId);
  reply.header("service-version", serviceVersion);
  reply.header("cache-control", "no-store");
  reply.header("x-content-type-options", "nosniff");
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

/** Answers with the game user of the chat user, or that there is none. */
export const sendLink = (reply: FastifyReply, exchange: Exchange, chatId: string, gameId: unknown) => {
  if (gameId === null || gameId === undefined) throw new Refusal(404, "LINK_NOT_FOUND", "No matching link");
  const data = { chatId, gameId, resolved: { game: null, chat: null } };
  const timestamp = new Date(exchange.now).toISOString();
  return send(reply, exchange, 200, { status: 200, data, meta: metaOf(exchange), timestamp });
};

/** Answers with what was thrown, if that is a refusal. */
export const sendRefusal = (reply: FastifyReply, exchange: Exchange, thrown: unknown) => {
  if (!(thrown instanceof Refusal)) throw thrown;
  const { status, code, message, details } = thrown;
  const timestamp = new Date(exchange.now).toISOString();
  const body = { status, error: { code, message, details }, meta: metaOf(exchange), timestamp };
  return send(reply, exchange, status, body);
};

// The server

/** Serves the route until the process is told to stop, and prints the ready line. */
export const serve = async (
  getChat: (request: ChatRequest, reply: FastifyReply) => unknown,
  close: () => Promise<unknown>,
): Promise<void> => {
  const app = fastify({ logger: false });
  app.get("/v2/chat", getChat);
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  console.log(`listening on ${url}`);
  const stop = async () => {
    await app.close();
    await close();
    process.exit(0);
  };
  process.once("SIGTERM", () => void stop());
};
