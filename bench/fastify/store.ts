/** Types and SQL that both stores of the Fastify server share. */
import { createHmac, randomUUID } from "node:crypto";
import { apiKey, unreachedKeyLimits } from "../dataset.ts";

export interface Key {
  readonly id: string;
  readonly pid: string;
  readonly tier: string;
  readonly status: string;
  readonly expiresAt: number | null;
  readonly limits: { readonly perWindow: number; readonly windowMs: number; readonly daily: number };
}

/**
 * The number of requests that a key sent in its one-second window and in its one-day window, and the time when the
 * one-second window ends.
 */
export interface Counts {
  readonly second: number;
  readonly secondEnds: number;
  readonly day: number;
}

export interface LinkWrite {
  readonly pid: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly now: number;
  readonly chatId: string;
  readonly gameId: string;
  /** The idempotency key of the request, and a hash of its content; null without a key. */
  readonly once: { readonly id: string; readonly fingerprint: string } | null;
}

export interface GameSet {
  readonly previousGameId: string | null;
  /** Set if nothing was written: the fingerprint of the earlier write with the same idempotency key. */
  readonly keptFor?: string;
}

/** Thrown inside the transaction of a write whose idempotency key was used before. */
export class KeyUsed extends Error {}

type Eventual<A> = A | Promise<A>;
export type Rows = ReadonlyArray<Readonly<Record<string, string>>>;

export interface Database {
  readonly rows: (
    name: keyof typeof statements,
    ...values: ReadonlyArray<string | ReadonlyArray<string>>
  ) => Eventual<Rows>;
  /** Counts the request in all rate-limit windows. If a window is full, counts nothing and returns its name. */
  readonly admit: (rules: ReadonlyArray<Rule>) => Eventual<Counts | string>;
  /**
   * Writes a link, the record of its change and its idempotency key in a transaction, or returns the result of the earlier
   * write with this idempotency key.
   */
  readonly setGame: (write: LinkWrite) => Eventual<GameSet>;
  readonly close: () => Eventual<void>;
}

/** A rate-limit window of a client address or a key. */
export interface Rule {
  readonly bucket: string;
  readonly id: string;
  readonly limit: number;
  readonly endsAt: number;
}

const dayMs = 86_400_000;
const unreached = 1_000_000_000;

export const midnightAfter = (now: number): number => (Math.floor(now / dayMs) + 1) * dayMs;

/** Returns the rate-limit windows in which a request counts: two of its client address, then two of its key. */
export const rulesOf = ({ id, limits }: Key, ip: string, now: number): ReadonlyArray<Rule> => {
  const midnight = midnightAfter(now);
  return [
    { bucket: "ip_second", id: ip, limit: unreached, endsAt: now + 1_000 },
    { bucket: "ip_day", id: ip, limit: unreached, endsAt: midnight },
    { bucket: "second", id, limit: limits.perWindow, endsAt: now + limits.windowMs },
    { bucket: "day", id, limit: limits.daily, endsAt: midnight },
  ];
};

/** The public ID of the data scope that all links are in. */
export const pid = "pid_0000000000000000";

export const storedKey: Key = {
  id: apiKey.slice(4, 16),
  pid,
  tier: "premium",
  status: "active",
  expiresAt: null,
  limits: unreachedKeyLimits,
};

const secret = Buffer.alloc(32, "secret");
export const hashOf = (token: string) => createHmac("sha256", secret).update(token).digest("base64url");

/**
 * Returns the SQL that creates the tables of the peer, in the dialect of its database.
 *
 * @param identity the type of a primary key whose numbers the database generates, such as `INTEGER PRIMARY KEY`
 * @param table the options of tables whose primary key is text, such as `WITHOUT ROWID`
 */
export const schemaOf = (identity: string, table: string): string => `
  CREATE TABLE IF NOT EXISTS keys (hash text PRIMARY KEY, key text NOT NULL) ${table};
  CREATE TABLE IF NOT EXISTS links (
    pid text NOT NULL, chat_id text NOT NULL, game_id text, previous_game_id text, link_version bigint NOT NULL,
    linked_at bigint NOT NULL, last_verified_at bigint NOT NULL, PRIMARY KEY (pid, chat_id)
  ) ${table};
  CREATE INDEX IF NOT EXISTS links_by_game ON links (pid, game_id, linked_at DESC, chat_id) WHERE game_id IS NOT NULL;
  CREATE TABLE IF NOT EXISTS journal (
    sequence ${identity}, pid text NOT NULL, event_id text NOT NULL, at bigint NOT NULL, actor_type text NOT NULL,
    actor_id text NOT NULL, request_id text, action text NOT NULL, details text NOT NULL
  );
  CREATE INDEX IF NOT EXISTS journal_by_scope ON journal (pid, sequence);
  CREATE TABLE IF NOT EXISTS idempotency_keys (
    id text PRIMARY KEY, fingerprint text NOT NULL, answer text NOT NULL, ends_at bigint NOT NULL
  ) ${table};
  CREATE INDEX IF NOT EXISTS idempotency_keys_by_end ON idempotency_keys (ends_at);`;

export const insertKey = "INSERT INTO keys VALUES ($1, $2)";

export const statements = {
  findKey: "SELECT key FROM keys WHERE hash = $1",
  findGame: "SELECT game_id FROM links WHERE pid = $1 AND chat_id = $2 AND game_id IS NOT NULL",
  /** With removed links, since a condition on them makes SQLite read all links of the pid by the other index. */
  findGames: "SELECT chat_id, game_id FROM links WHERE pid = $1 AND chat_id = ANY ($2)",
  findChats: "SELECT chat_id FROM links WHERE pid = $1 AND game_id = $2 ORDER BY linked_at DESC, chat_id",
  setGame: `
    INSERT INTO links VALUES ($1, $2, $3, NULL, 1, $4, $4)
    ON CONFLICT (pid, chat_id) DO UPDATE SET
      previous_game_id = links.game_id, game_id = excluded.game_id, last_verified_at = excluded.last_verified_at,
      link_version = links.link_version + CASE WHEN links.game_id = excluded.game_id THEN 0 ELSE 1 END,
      linked_at = CASE WHEN links.game_id = excluded.game_id THEN links.linked_at ELSE excluded.linked_at END
    RETURNING previous_game_id, link_version`,
  insertRecord: `
    INSERT INTO journal (pid, event_id, at, actor_type, actor_id, request_id, action, details)
    VALUES ($1, $2, $3, 'key', $4, $5, 'link.set', $6)`,
  insertOnce: `
    INSERT INTO idempotency_keys VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING RETURNING id`,
  findOnce: "SELECT fingerprint, answer FROM idempotency_keys WHERE id = $1",
};

export const onceOf = (
  { id, fingerprint }: NonNullable<LinkWrite["once"]>,
  now: number,
  previousGameId: string | null,
) => [id, fingerprint, JSON.stringify({ previousGameId }), now + dayMs] as const;

export const keptIn = ([row]: Rows): GameSet => ({
  ...(JSON.parse(row?.["answer"] ?? "") as GameSet),
  keptFor: row?.["fingerprint"] ?? "",
});

/** The row that `setGame` returns. */
export interface SetRow {
  readonly previous_game_id: string | null;
  readonly link_version: string | number;
}

/** Returns the parameters of the statement `insertRecord`, which records the change for the audit log and the feed. */
export const recordOf = (write: LinkWrite, { previous_game_id, link_version }: SetRow) => {
  const { pid: of, keyId, requestId, now, chatId, gameId } = write;
  const details = { chatId, gameId, previousGameId: previous_game_id, linkVersion: Number(link_version) };
  return [of, `evt_${randomUUID()}`, now, keyId, requestId, JSON.stringify(details)] as const;
};
