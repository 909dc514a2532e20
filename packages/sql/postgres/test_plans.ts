/** For tests: counts the rows that Postgres reads for each operation of the stores. */
import {
  ChatId,
  type Conflict,
  GameId,
  type GuildId,
  type Pid,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import type { WebhookId } from "@accountlink/core/webhooks";
import { makePostgresDatabase } from "@accountlink/test-servers";
import {
  type Command,
  newSubjects,
  type Operation,
  type Ports,
  ports,
  runCommand,
  storageOperations,
  storeSubjects,
} from "@accountlink/testing/conformance/commands";
import { Effect, Layer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import * as FastCheck from "fast-check";
import { migrate } from "../migrations.ts";
import { sampleRows } from "../move/test_rows.ts";
import { layer as stores } from "../stores.ts";
import { wholeService, wholeSubject } from "../test_costs.ts";
import { addStrangers, timeOfStrangers } from "../test_strangers.ts";
import { Database, layerClient } from "./test_postgres.ts";

/** What the operations name. Its scope, webhook, log, import and so on have hundreds of records of every kind. */
const subjects = newSubjects();
export const { pid } = subjects.global;

/** The names of the sample rows, see `test_rows.ts`, that stand for subjects. */
const namesOf = ({ global, account, sessionKey, webhookIds, guildIds, flowIds }: typeof subjects) => ({
  pid_0000000000000001: global.pid,
  acme: account.name,
  key_0000000000000001: sessionKey.id,
  whk_1: String(webhookIds[0]),
  "900001": String(guildIds[0]),
  "flow 1": String(flowIds[0]),
});

/** The users of the operations by the chat IDs of the sample rows, which stand for them. */
const userNames = ({ users }: typeof subjects) => {
  const [ada = "", bob = ""] = users.values();
  return { "100001": ada, "100002": bob };
};

/** Tables of which a scope, a key or an account has few rows. */
const few = /^(?:members|key_secrets|link_imports|imports|import_parts)$/;

/** SQL that adds sightings of users who share no address or browser. */
export const sightingsOfStrangers = `
  INSERT INTO sightings (pid, chat_id, place_hash, seen_at)
    SELECT '${pid}', (5000000 + i)::text, 'place ' || i, i FROM generate_series(1, 40000) AS i
  ON CONFLICT DO NOTHING`;

const everybody = 300;
const chatIds = (length: number) => Array.from({ length }, (_, i) => ChatId.make(`${3_000_001 + i}`));

/** These users of the scope are linked, and were all seen at one address. Some deliveries fail. */
const further = `
  INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
    SELECT '${pid}', (3000000 + i)::text, i::text, 1, i, i FROM generate_series(1, ${everybody}) AS i;
  INSERT INTO sightings (pid, chat_id, place_hash, sealed_address, address_key_id, seen_at, first_seen_at)
    SELECT '${pid}', (3000000 + i)::text, 'hash', '', '', i, i FROM generate_series(1, ${everybody}) AS i;
  INSERT INTO place_users (pid, place_hash, users)
    SELECT pid, place_hash, COUNT(*) FROM sightings GROUP BY pid, place_hash
    ON CONFLICT (pid, place_hash) DO UPDATE SET users = EXCLUDED.users;
  UPDATE webhook_deliveries SET status = 'failing', next_attempt_at = at WHERE position % 20 = 0;
  UPDATE keys SET revoked_at = created_at - 1000000 WHERE created_at > ${timeOfStrangers} AND created_at % 10 = 0;
  UPDATE role_plans SET putting_back_since = 1 WHERE pid = '${pid}' OR pid LIKE 'pid_0000000000000001110000%';
  INSERT INTO block_removals (pid, game_id, entry) VALUES ('${pid}', 'blocked', 0);
  INSERT INTO erasures (chat_id, pseudonym, actor_type, actor_id, step_at) VALUES ('unfinished', '', '', '', 0);`;

/**
 * Makes a Postgres database with so many rows that a scan of a table reads far more rows than a lookup by an index.
 *
 * @param prepare SQL to run on the empty schema
 */
export const layerFull = (scopes: number, prepare = "") =>
  Layer.effect(
    Database,
    Effect.gen(function* () {
      const database = yield* makePostgresDatabase();
      yield* Effect.gen(function* () {
        yield* migrate;
        yield* database.query(prepare);
        for (const [index, each] of [
          subjects,
          ...Array.from({ length: scopes - 1 }, newSubjects),
        ].entries()) {
          yield* storeSubjects(each);
          const first = (index + 1) * everybody;
          const names = namesOf(each);
          yield* addStrangers(first, first, { ...names, ...userNames(each) }, (table) => !few.test(table));
          yield* addStrangers(first + 1, first + everybody - 1, names, (table) => !few.test(table));
        }
        const sql = yield* SqlClient.SqlClient;
        const counted = new Map<string, number>();
        for (const table of Object.keys(sampleRows)) {
          const [row] = yield* sql.unsafe<{ readonly count: number }>(
            `SELECT COUNT(*)::int AS count FROM ${table}`,
          );
          counted.set(table, row?.count ?? 0);
        }
        // Postgres scans a table of a few pages whatever its indexes are, and reads links by their chat users if these
        // are sorted alike in a few scopes.
        const isSmall = (table: string) => table === "links" || (counted.get(table) ?? 0) < 5_000;
        yield* addStrangers(1_000_000, 1_000_000 + 5_000, {}, isSmall);
      }).pipe(
        // Without foreign keys, which would take most of the time.
        Effect.provide(
          Layer.provideMerge(
            stores,
            layerClient(`${database.url}?options=-c%20session_replication_role%3Dreplica`, {
              maxConnections: 1,
            }),
          ),
          { local: true },
        ),
      );
      yield* database.query(further);
      yield* database.query("VACUUM ANALYZE");
      return database;
    }),
  );

/**
 * Reads the counters that Postgres keeps for each table: the sequential scans, the rows and index entries that were
 * read, and the pages that were read.
 */
const counts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const tables = yield* sql`
    SELECT relname AS name, seq_scan AS scans, seq_tup_read + (
      SELECT sum(idx_tup_read) FROM pg_stat_user_indexes AS indexes WHERE indexes.relid = tables.relid
    ) AS read, (
      SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit
      FROM pg_statio_user_tables AS pages WHERE pages.relid = tables.relid
    ) AS pages
    FROM pg_stat_user_tables AS tables WHERE relname <> 'schema_migrations' ORDER BY relname`;
  return tables.map(({ name, scans, read, pages }) => ({
    name: String(name),
    scans: Number(scans),
    read: Number(read),
    pages: Number(pages),
  }));
});

const flush = "SELECT pg_stat_force_next_flush()";

/** Runs operations one by one, and returns what each read, from the server's statistics. */
export const readsOf = Effect.fnUntraced(function* (
  mode: string,
  operations: ReadonlyArray<PlannedOperation>,
) {
  const { url } = yield* Database;
  const inMode = new URL(url);
  inMode.searchParams.set("options", `-c plan_cache_mode=${mode}`);
  return yield* Effect.gen(function* () {
    let before = yield* counts;
    return yield* Effect.forEach(operations, ({ name, run }) =>
      Effect.gen(function* () {
        yield* Effect.exit(run);
        yield* SqlClient.SqlClient.use((sql) => sql.unsafe(flush));
        yield* SqlConnection.Connection.use((shared) => shared.execute(flush, [], undefined));
        const after = yield* counts;
        const tables = after.map(({ name: table, scans, read, pages }, i) => ({
          table,
          scans: scans - (before[i]?.scans ?? 0),
          read: read - (before[i]?.read ?? 0),
          pages: pages - (before[i]?.pages ?? 0),
        }));
        before = after;
        return { name, tables, read: tables.reduce((sum, { read }) => sum + read, 0) };
      }),
    );
  }).pipe(
    Effect.provide(Layer.provideMerge(stores, layerClient(inMode.href, { maxConnections: 1 })), {
      local: true,
    }),
  );
});

export type Reads = Effect.Success<ReturnType<typeof readsOf>>[number];

/** The maximum number of rows that an operation may read. A scan of the records of one scope would read more. */
export const maxReads = 200;

export interface PlannedOperation {
  readonly name: string;
  readonly run: Effect.Effect<unknown, unknown, StoragePorts>;
}

const atOnce = { concurrency: "unbounded" } as const;
type Special = (ports: Ports) => Effect.Effect<unknown, Conflict | StoreUnavailable>;

/** Lookups that share a statement, and questions about an address of everybody in the scope. */
const special: Readonly<Record<string, Special>> = {
  "findByChatId, batched": ({ links }) =>
    Effect.forEach(chatIds(32), (chatId) => links.findByChatId(pid, chatId), atOnce),
  "findByGameIds, batched": ({ links }) =>
    Effect.forEach(chatIds(32), (_, i) => links.findByGameIds(pid, [GameId.make(`${i + 1}`)]), atOnce),
  "findByHash, batched": ({ keys }) =>
    Effect.forEach(subjects.hashes, (hash) => keys.findByHash(hash), atOnce),
  findShared: ({ sightings }) =>
    sightings.findShared(pid, {
      hashes: ["hash", "unseen"],
      including: chatIds(10),
      excluding: chatIds(5),
      limit: 30,
    }),
  countUsers: ({ sightings }) => sightings.countUsers(pid, [["hash", "unseen"]]),
};

let taken = everybody;
/** A number of a row of the scope, or behind `strangers` of an account with one row of each kind, that no run has had. */
const next = (strangers = 0) => strangers + ++taken;
const strangers = 1_000_000 - everybody;

/** What `addStrangers` makes of a sample row's name or of a column without a name. */
const named = (name: string, row = next()) => `${name}${10_000_000 + row}`;
const user = (column = "chat_id", behind = 0) => named(`${column} 0 `, next(behind)) as ChatId;
const place = { pid, guildId: subjects.guildIds[0] as GuildId };

/** Everything is later than all that random inputs name. */
const ever = 2 * timeOfStrangers;
/** A time before which few rows of the scope are that no run has had. */
const soon = () => timeOfStrangers + next() + 5;

const strangersPlan = () => {
  const row = next(strangers);
  return {
    pid: named("pid_0000000000000001", row) as Pid,
    guildId: named("900001", row) as GuildId,
  };
};
const strangersImport = () => {
  const row = next(strangers);
  return { id: named("imp_1", row), pid: named("pid_0000000000000001", row) as Pid };
};
const operator = { actor: { type: "operator", id: "ada" }, requestId: null } as const;
const upload = () => ({ id: named("imp_3", next(strangers)), node: "node", at: 0, until: 0 });

/** Operations that find no row by random inputs: they name a row, or look for rows that are over or wait. */
const found: Partial<Readonly<Record<keyof typeof storageOperations, Special>>> = {
  "LinkStore.newestPage": ({ links }) =>
    Effect.flatMap(links.newestPage(pid, null, 10), ([, second]) =>
      Effect.forEach(["older", "newer"] as const, (direction) =>
        links.newestPage(pid, second ?? null, 10, direction),
      ),
    ),
  "KeyStore.forgetRevoked": ({ keys }) => keys.forgetRevoked(soon()),
  "UploadStore.append": ({ uploads }) =>
    uploads.append(upload(), { file: "lines", part: 2, bytes: new Uint8Array(1) }),
  "UploadStore.readPart": ({ uploads }) => uploads.readPart(upload().id, { file: "lines", part: 0 }),
  "UploadStore.find": ({ uploads }) => uploads.find(named("acme", next(strangers)), 0),
  "UploadStore.save": ({ uploads }) => uploads.save({ ...upload(), pid, phase: "over", details: "{}" }),
  "UploadStore.start": ({ uploads }) => uploads.start(upload()),
  "UploadStore.remove": ({ uploads }) => uploads.remove(upload().id),
  "ImportStore.undoablePage": ({ imports }) => imports.undoablePage(strangersImport().id, null, 10),
  "ImportStore.undo": ({ imports }) => imports.undo({ ...strangersImport(), ...operator, at: 0, limit: 10 }),
  "RootKeyStore.find": ({ rootKeys }) => Effect.andThen(rootKeys.adopt("root"), rootKeys.find()),
  "SessionStore.changedSince": ({ sessions }) => sessions.changedSince(-1, [user("sid") as never]),
  "SuspectStore.forget": ({ suspects }) => suspects.forget(soon()),
  "BlockStore.removals": ({ blocks }) => blocks.removals(),
  "BlockStore.findHashes": ({ blocks }) => blocks.findHashes(pid, [user("user_hash")]),
  "BlockStore.page": ({ blocks }) =>
    Effect.andThen(
      blocks.page(pid, null, 10),
      blocks.page(pid, { at: timeOfStrangers + next() + 10, hash: "" }, 10),
    ),
  "BlockStore.ofUser": ({ blocks }) => blocks.ofUser(user()),
  "BlockStore.remove": ({ blocks }) =>
    blocks.remove({
      ...operator,
      pid,
      at: 0,
      chatId: user(),
      gameId: null,
      hash: user("user_hash"),
    }),
  "UserStore.unfinished": ({ userStore }) => userStore.unfinished(ever),
  "WebhookStore.findDelivery": ({ webhooks }) =>
    webhooks.findDelivery(subjects.webhookIds[0] as WebhookId, named("evt_01K00000000000000000000000")),
  "RolePlanStore.keptNickname": ({ plans }) => plans.keptNickname(place, user()),
  "RolePlanStore.dropNickname": ({ plans }) => plans.dropNickname(place, user()),
  "RolePlanStore.puttingBack": ({ plans }) => plans.puttingBack(),
  "RolePlanStore.forgetNicknames": ({ plans }) => plans.forgetNicknames(soon()),
  "RolePlanStore.due": ({ plans }) => plans.due(place, ever, 10),
  "RolePlanStore.nicknames": ({ plans }) => plans.nicknames(place, [user(), user()]),
  "RolePlanStore.endPuttingBack": ({ plans }) => plans.endPuttingBack(strangersPlan()),
  "ReminderStore.reminded": ({ reminders }) => reminders.reminded(place, [user("hash"), user("hash")]),
  "RolePlanStore.keptNicknames": ({ plans }) => plans.keptNicknames(place, null, 100),
  "RoleHistoryStore.page": ({ roleHistory }) => roleHistory.page(place, null, 100),
  "RoleHistoryStore.forget": ({ roleHistory }) => roleHistory.forget(soon()),
  "PreviewStore.forget": ({ previews }) => previews.forget(soon()),
  "PlanNoticeStore.due": ({ notices }) => notices.due(ever, 10, null),
  "SuspectStore.dueLinks": ({ suspects }) => suspects.dueLinks(ever, 10),
  "GuildLogStore.dueEdits": ({ logs }) => logs.dueEdits(place, ever, 10),
};

/** Operations that take away what others would find. */
const ending = /delete|remove|erase/i;

const stored = Object.entries(storageOperations as Readonly<Record<string, Operation<object>>>);

const sampled = (isMeant: (op: string) => boolean): ReadonlyArray<PlannedOperation> =>
  [...stored.filter(([op]) => !ending.test(op)), ...stored.filter(([op]) => ending.test(op))]
    .filter(([op]) => isMeant(op))
    .flatMap(([op, { input }]) =>
      FastCheck.sample(input, { numRuns: 12, seed: 1 }).map((fields) => ({
        name: op,
        run: runCommand(subjects, { op, ...fields } as Command),
      })),
    );

/** Every operation of the stores that does not read all records by its meaning, with random inputs. */
export const operations: ReadonlyArray<PlannedOperation> = [
  ...Object.entries({ ...special, ...found }).map(([name, run]) => ({
    name,
    run: Effect.flatMap(ports, run),
  })),
  ...sampled((op) => !(op in wholeService || op in wholeSubject)),
];

/** Operations that read every record of a kind that one subject has, and leave them. */
export const operationsOfSubject: ReadonlyArray<PlannedOperation> = sampled(
  (op) => op in wholeSubject && !ending.test(op) && op !== "IdempotencyStore.sweep",
);

/** The maximum number of rows that such an operation may read: the subject has `everybody` of each kind. */
export const maxReadsOfSubject = everybody * 10;

/**
 * The plan modes of Postgres for prepared statements. Generic plans come first, since operations of the other mode change
 * what they would read.
 */
export const modes = ["force_generic_plan", "force_custom_plan"] as const;
