/**
 * The law of growth: an operation of a store costs the same however much data others have. Each operation runs on the
 * same data of its own, in a storage with few strangers and in one with many. Statements, rows and pages are counted; on
 * engines without SQL commands and keys.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  AuditLog,
  ChatId,
  GameId,
  GuildId,
  LinkStore,
  type Pid,
  type StoragePorts,
  type StoreUnavailable,
} from "@accountlink/core";
import { auditActions } from "@accountlink/core/audit";
import { KeyStore } from "@accountlink/core/keys";
import { RootKeyStore } from "@accountlink/core/secrets";
import { moveRows } from "@accountlink/core/storage";
import { dayMs } from "@accountlink/core/timestamp";
import { UsageStore } from "@accountlink/core/usage";
import { UserStore } from "@accountlink/core/users";
import { WebhookStore } from "@accountlink/core/webhooks";
import { type Kv, layer as layerEngine, memoryKv, openRows as openKvRows } from "@accountlink/kv";
import { StorageMemory } from "@accountlink/memory";
import { isProof, makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testLive as test, testWith } from "@accountlink/test-servers/effect";
import { makeKey, makeWebhook, uniqueText } from "@accountlink/testing";
import {
  type Command,
  newSubjects,
  type Operation,
  ports,
  runCommand,
  sequences,
  storageOperations,
  storePorts,
  storeSubjects,
} from "@accountlink/testing/conformance/commands";
import { Context, Effect, Layer, type Scope, Tracer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import * as FastCheck from "fast-check";
import { migrate } from "./migrations.ts";
import { openRows } from "./move/rows.ts";
import { layerClient } from "./postgres/test_postgres.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { layer as stores } from "./stores.ts";
import { wholeService } from "./test_costs.ts";
import { addStrangers } from "./test_strangers.ts";

const runs = isProof ? 5 : 1;

const origin = { actor: { type: "operator", id: "ada" }, requestId: null } as const;

interface Costs {
  statements: number;
  rows: number;
  pages: number;
}

const measures = ["statements", "rows", "pages"] as const satisfies ReadonlyArray<keyof Costs>;

/** A step on the data of an account. */
interface Step {
  readonly op: string;
  readonly run: (subjects: ReturnType<typeof newSubjects>) => Effect.Effect<unknown, unknown, StoragePorts>;
}

const stepOf = (command: Command): Step => ({
  op: command.op,
  run: (subjects) => runCommand(subjects, command),
});

/** Operations that random commands leave out, since they change or end the account. */
const others: Readonly<Record<string, Step["run"]>> = {
  "KeyStore.renameAccount": ({ account: { name } }) =>
    KeyStore.use((keys) => keys.renameAccount({ ...origin, name, displayName: uniqueText(), at: 1 })),
  "KeyStore.endAccount": ({ account: { name } }) =>
    KeyStore.use((keys) => keys.endAccount({ ...origin, name, pseudonym: uniqueText(), at: 1 })),
};

/** The same steps at each call: sequences that change data of one account, and each operation by itself. */
const steps = (): ReadonlyArray<ReadonlyArray<Step>> => {
  const sampled = <A>(arbitrary: FastCheck.Arbitrary<A>, numRuns = runs) =>
    FastCheck.sample(arbitrary, { numRuns, seed: 1 });
  const each = Object.entries(storageOperations as Readonly<Record<string, Operation<object>>>).flatMap(
    ([op, { input }]) => sampled(input).map((fields) => stepOf({ op, ...fields } as Command)),
  );
  return [
    ...Object.values(sequences).flatMap((arbitrary: FastCheck.Arbitrary<ReadonlyArray<Command>>) =>
      sampled(arbitrary).map((commands) => commands.map(stepOf)),
    ),
    [...each, ...Object.entries(others).map(([op, run]) => ({ op, run }))],
  ];
};

/** What a storage has read since it was opened. It leaves out statements of SQL, which are counted by their spans. */
type Meter = Effect.Effect<Costs>;

interface Opened {
  readonly ports: Context.Context<StoragePorts>;
  readonly meter: Meter;
}

interface Storage {
  readonly name: string;
  /** How many strangers there are first, and later. */
  readonly strangers: readonly [number, number];
  /** How many more pages an operation may read because of the trees of its indexes. */
  readonly morePages: (runs: number, statements: number) => number;
  readonly missing: string | null;
  readonly open: (strangers: number) => Effect.Effect<Opened, unknown, Scope.Scope>;
}

const openSql = Effect.fnUntraced(function* <E>(
  client: Layer.Layer<SqlClient.SqlClient | SqlConnection.Connection, E>,
  strangers: number,
) {
  const context = yield* Layer.build(Layer.provideMerge(stores, client));
  yield* Effect.andThen(migrate, addStrangers(1, strangers)).pipe(Effect.provideContext(context));
  return {
    ports: context as Context.Context<StoragePorts>,
    sql: Context.get(context, SqlClient.SqlClient),
    /** Runs a statement on the connection of lookups. */
    onShared: (statement: string) =>
      Context.get(context, SqlConnection.Connection).execute(statement, [], undefined),
  };
});

/**
 * Postgres reads and joins tables of some thousand rows faster without their indexes; of a million, see plans_test.ts. To
 * plan for known values, Postgres reads the ends of indexes, and how often it plans so depends on the size of a table.
 */
const plans =
  "-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c plan_cache_mode=force_generic_plan";

const openPostgres = Effect.fnUntraced(function* (strangers: number) {
  const url = new URL((yield* makePostgresDatabase()).url);
  url.searchParams.set("options", plans);
  const {
    ports: all,
    sql,
    onShared,
  } = yield* openSql(layerClient(url.href, { maxConnections: 1 }), strangers);
  yield* sql.unsafe("VACUUM ANALYZE");
  const flush = "SELECT pg_stat_force_next_flush()";
  const meter = Effect.gen(function* () {
    yield* Effect.all([sql.unsafe(flush), onShared(flush)], { concurrency: "unbounded" });
    // What the views pg_stat_user_tables, pg_stat_user_indexes and pg_statio_user_tables add up, without their joins.
    const [row = []] = yield* sql.unsafe(`
      SELECT SUM(pg_stat_get_tuples_returned(oid)) FILTER (WHERE relnamespace <> 'pg_toast'::regnamespace),
        SUM(pg_stat_get_blocks_fetched(oid))
      FROM pg_class
      WHERE relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace) AND relkind IN ('r', 'i', 't')
        AND oid >= 16384`).values;
    const [rows = 0, pages = 0] = row.map(Number);
    return { statements: 0, rows, pages };
  }).pipe(Effect.orDie);
  return { ports: all, meter };
});

/** Larger than by default, so that no tree becomes higher between the two numbers of strangers. */
const pageSize = 32_768;

/**
 * Counts the pages that SQLite reads from its files in this thread, whose connections keep none in memory. SQLite does not
 * count rows. The thread of long transactions is left to Postgres.
 */
const openSqlite = Effect.fnUntraced(function* (strangers: number) {
  const filename = join(yield* makeTempFolder, "growth.db");
  const empty = new DatabaseSync(filename);
  empty.exec(`PRAGMA page_size = ${pageSize}; VACUUM`);
  empty.close();
  const { ports: all, sql, onShared } = yield* openSql(layerSqlite({ filename }), strangers);
  // A checkpoint would read the pages of many operations in one.
  for (const setting of ["PRAGMA cache_size = 1", "PRAGMA mmap_size = 0", "PRAGMA wal_autocheckpoint = 0"]) {
    yield* sql.unsafe(setting);
    yield* onShared(setting);
  }
  const meter = Effect.sync(() => {
    const read = /rchar: (\d+)/.exec(readFileSync("/proc/thread-self/io", "utf8"))?.[1];
    return { statements: 0, rows: 0, pages: Number(read) / pageSize };
  });
  return { ports: all, meter };
});

/** Counts the commands to an engine without SQL, and the keys that they name or return. */
const openEngine = Effect.fnUntraced(function* (strangers: number) {
  const costs: Costs = { statements: 0, rows: 0, pages: 0 };
  const counted = <A>(command: Effect.Effect<A, StoreUnavailable>, keysOf: (answer: A) => number) =>
    Effect.tap(command, (answer) =>
      Effect.sync(() => {
        costs.statements++;
        costs.rows += keysOf(answer);
      }),
    );
  const kv = memoryKv();
  const filename = join(yield* makeTempFolder, "growth.db");
  const source = yield* openSql(layerSqlite({ filename }), strangers);
  yield* Effect.provideContext(
    RootKeyStore.use((keys) => keys.adopt("wrapped")),
    source.ports,
  );
  const [from, to] = [yield* openRows(source.sql, "source"), yield* openKvRows(kv, "target")];
  yield* moveRows(from, to, () => Effect.void);
  const engine: Kv = {
    ...kv,
    get: (keys) => counted(kv.get(keys), () => keys.length),
    list: (range, options) => counted(kv.list(range, options), (found) => found.length),
    count: (range) => counted(kv.count(range), () => 0),
    commit: (checks, changes) => counted(kv.commit(checks, changes), () => checks.length + changes.length),
  };
  const all = yield* Layer.build(layerEngine(Effect.succeed(engine)));
  return { ports: all, meter: Effect.sync(() => ({ ...costs })) };
});

type Measured = Effect.Effect<unknown, unknown, StoragePorts>;

/** Makes a function that runs an effect, and returns what it cost. */
const measuring = Effect.fnUntraced(function* ({ ports: all, meter }: Opened) {
  let spans = 0;
  const tracer = Tracer.make({
    span: (options) => {
      if (options.kind === "client") spans++;
      return new Tracer.NativeSpan(options);
    },
  });
  let before = yield* meter;
  return Effect.fnUntraced(function* (effect: Measured) {
    spans = 0;
    yield* effect.pipe(Effect.withTracer(tracer), Effect.provideContext(all));
    const after = yield* meter;
    const cost: Costs = {
      statements: spans + after.statements - before.statements,
      rows: after.rows - before.rows,
      pages: Math.round(after.pages - before.pages),
    };
    before = after;
    return cost;
  });
});

/** Runs the commands in a storage with so many strangers, and returns what each operation cost. */
const costsAmong = Effect.fnUntraced(function* ({ open }: Storage, strangers: number) {
  const measured = yield* measuring(yield* open(strangers));
  const costs = new Map<string, Array<Costs>>();
  for (const sequence of steps()) {
    const subjects = newSubjects();
    yield* measured(storeSubjects(subjects));
    for (const { op, run } of sequence) {
      costs.set(op, [...(costs.get(op) ?? []), yield* measured(Effect.exit(run(subjects)))]);
    }
  }
  return costs;
}, Effect.scoped);

const sumOf = (costs: ReadonlyArray<Costs>, measure: keyof Costs) =>
  costs.reduce((sum, cost) => sum + cost[measure], 0);

const storages: ReadonlyArray<Storage> = [
  {
    name: "SQLite",
    // No tree of an index becomes higher between the two.
    strangers: [2_000, 4_000],
    // A page that a run writes to may be full.
    morePages: (times) => times,
    missing: process.platform === "linux" ? null : "counts reads by the proc file system",
    open: openSqlite,
  },
  {
    name: "Postgres",
    strangers: isProof ? [2_000, 8_000] : [600, 1_800],
    // A row is in up to five trees, each of which may have become higher by a page, and hold more versions of it.
    morePages: (times, statements) => 5 * times + 1.5 * statements,
    missing: await whyNoPostgresDatabase(),
    open: openPostgres,
  },
  // Every key that it reads is counted, so that few strangers are seen.
  {
    name: "An engine without SQL",
    strangers: isProof ? [200, 800] : [40, 120],
    morePages: () => 0,
    missing: null,
    open: openEngine,
  },
];

for (const storage of storages) {
  const { name, missing } = storage;
  describe.skipIf(missing !== null)(`${name} ${missing ?? ""}`, () => {
    test("an operation of a store costs the same, however much data others have", function* () {
      const [few, many] = storage.strangers;
      const [before, after] = [yield* costsAmong(storage, few), yield* costsAmong(storage, many)];
      const grown = [...before].flatMap(([op, costs]) =>
        measures.flatMap((measure) => {
          const [one, other] = [sumOf(costs, measure), sumOf(after.get(op) ?? [], measure)];
          const slack = {
            statements: 0,
            rows: costs.length,
            pages: storage.morePages(costs.length, sumOf(costs, "statements")),
          };
          const most = one * 1.1 + slack[measure];
          return op in wholeService || other <= most
            ? []
            : [`${name} ${op}: ${one} → ${other} ${measure} (${costs.length} runs)`];
        }),
      );
      expect(grown).toEqual([]);
    }, 600_000);
  });
}

/** Runs operations of an account with little data among strangers, and returns what each of them cost. */
const costsOfAccount = Effect.fnUntraced(function* (
  { open }: Storage,
  strangers: number,
  prepare: (pid: Pid, account: string) => Effect.Effect<unknown, unknown, StoragePorts>,
  operations: (pid: Pid, account: string) => Readonly<Record<string, Measured>>,
) {
  const measured = yield* measuring(yield* open(strangers));
  const { account, global } = newSubjects();
  const stored = KeyStore.use((keys) =>
    Effect.andThen(
      keys.ensureAccount(account),
      keys.ensureScope(account.name, { kind: "global" }, global.pid),
    ),
  );
  yield* measured(Effect.andThen(stored, prepare(global.pid, account.name)));
  const costs = new Map<string, Costs>();
  for (const [name, operation] of Object.entries(operations(global.pid, account.name))) {
    costs.set(name, yield* measured(operation));
  }
  return costs;
}, Effect.scoped);

const [chatId, gameId] = [ChatId.make("100001"), GameId.make("1")];

const link = (pid: Pid, at: number, to = gameId) =>
  LinkStore.use((links) => links.setGame({ ...origin, pid, chatId, gameId: to, at }));

/** How the overview looks for the latest changes of links, every ten seconds in each open tab. */
const poll = (account: string) =>
  Effect.flatMap(
    AuditLog.use((log) =>
      log.list(account, null, 8, {
        action: null,
        keyId: null,
        readable: auditActions.filter((action) => action.startsWith("link")),
        during: { from: dayMs, before: 9 * dayMs },
      }),
    ),
    ({ entries }) => Effect.sync(() => expect(entries).toHaveLength(1)),
  );

const tabs = 10;

for (const storage of storages) {
  describe.skipIf(storage.missing !== null)(
    `the overview on ${storage.name} ${storage.missing ?? ""}`,
    () => {
      test("a poll costs the same whatever the log holds, and ten tabs cost ten times as much at most", function* () {
        const polled = Effect.fnUntraced(function* (entries: number) {
          const costs = yield* costsOfAccount(
            storage,
            10,
            (pid, name) =>
              KeyStore.use((keys) =>
                Effect.forEach(Array(entries).keys(), (at) =>
                  keys.renameAccount({ ...origin, name, displayName: uniqueText(), at }),
                ),
              ).pipe(Effect.andThen(link(pid, 2 * dayMs))),
            (_, name) => ({
              first: poll(name),
              one: poll(name),
              tabs: Effect.all(
                Array.from({ length: tabs }, () => poll(name)),
                { concurrency: "unbounded" },
              ),
            }),
          );
          return { one: costs.get("one"), tabs: costs.get("tabs") } as { one: Costs; tabs: Costs };
        });
        const [small, large] = [yield* polled(20), yield* polled(800)];
        expect(small.one.statements).toBeGreaterThan(0);
        expect(large.one.statements).toBeLessThanOrEqual(small.one.statements + 1);
        // It halves the log up to its day.
        expect(large.one.rows).toBeLessThanOrEqual(small.one.rows + 60);
        expect(large.tabs.statements).toBeLessThanOrEqual(tabs * large.one.statements);
        expect(large.tabs.rows).toBeLessThanOrEqual(tabs * large.one.rows + tabs);
      }, 240_000);
    },
  );
}

for (const storage of storages.filter(({ name }) => name !== "SQLite")) {
  describe.skipIf(storage.missing !== null)(`the log on ${storage.name} ${storage.missing ?? ""}`, () => {
    test("a page of the log of many communities reads a few entries of each one", function* () {
      const communities = Array.from({ length: 30 }, () => newSubjects().global.pid);
      const [kept, size] = [40, 30];
      const addCommunity = (name: string) => (pid: Pid, index: number) =>
        KeyStore.use((keys) =>
          keys.ensureScope(name, { kind: "guild", guildId: GuildId.make(`${900_001 + index}`) }, pid),
        ).pipe(
          Effect.andThen(Effect.forEach(Array(kept).keys(), (at) => link(pid, at, GameId.make(`${at + 1}`)))),
        );
      const costs = yield* costsOfAccount(
        storage,
        10,
        (_, name) => Effect.forEach(communities, addCommunity(name)),
        (_, name) => ({
          page: Effect.map(
            AuditLog.use((log) => log.list(name, null, size)),
            ({ entries }) => expect(entries).toHaveLength(size),
          ),
        }),
      );
      expect(costs.get("page")?.rows).toBeLessThan((communities.length * size) / 2);
    }, 240_000);
  });
}

for (const storage of storages.filter(({ name }) => name !== "An engine without SQL")) {
  describe.skipIf(storage.missing !== null)(`webhooks on ${storage.name} ${storage.missing ?? ""}`, () => {
    test("a list of idle webhooks takes as many statements for fifteen as for two", function* () {
      const listing = Effect.fnUntraced(function* (webhooks: number) {
        const costs = yield* costsOfAccount(
          storage,
          10,
          (pid, account) =>
            WebhookStore.use(({ insert }) =>
              Effect.forEach(Array(webhooks).keys(), () => {
                const webhook = makeWebhook({ account, pid, kind: "global" });
                return insert({ ...origin, webhook, sealed: "sealed", position: 0, maxOfScope: webhooks });
              }),
            ),
          (_, account) => ({
            list: Effect.map(
              WebhookStore.use(({ list }) => list({ account, id: null })),
              (listed) => expect(listed).toHaveLength(webhooks),
            ),
          }),
        );
        return costs.get("list")?.statements;
      });
      expect(yield* listing(15)).toBe(yield* listing(2));
    }, 240_000);
  });
}

for (const storage of storages.filter(({ name }) => name === "Postgres")) {
  describe.skipIf(storage.missing !== null)(`usage on ${storage.name} ${storage.missing ?? ""}`, () => {
    test("a statement reads the usage of 25 keys at most", function* () {
      const reading = Effect.fnUntraced(function* (count: number) {
        const costs = yield* costsOfAccount(
          storage,
          10,
          (pid, account) =>
            KeyStore.use(({ insertKey }) =>
              Effect.forEach(Array(count).keys(), () => {
                const key = makeKey({ account, pid, kind: "global" });
                return insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 0 });
              }),
            ),
          (_, account) => ({ days: UsageStore.use(({ days }) => days({ account }, 0)) }),
        );
        return costs.get("days")?.statements ?? 0;
      });
      const few = yield* reading(25);
      expect(yield* reading(51)).toBe(few + 2);
    }, 240_000);
  });
}

/** The rows of the table of costs in docs/scaling.md that one operation of a store is. */
const requests = (pid: Pid, account: string): Readonly<Record<string, Measured>> => ({
  "lookup of a chat user": LinkStore.use((links) => links.findByChatId(pid, chatId)),
  "write of a link": link(pid, 3),
  "page of a list": LinkStore.use((links) => links.newestPage(pid, null, 50)),
  "communities of a user": UserStore.use((users) => users.findRecords(chatId)),
  "data of a user": UserStore.use((users) => users.find(chatId)),
  "page of the audit log": AuditLog.use((log) => log.list(account, null, 50)),
  erasure: UserStore.use((users) =>
    users.erase({
      ...origin,
      chatId,
      at: 4,
      scopes: [pid],
      pseudonym: uniqueText(),
      ownerHash: uniqueText(),
    }),
  ),
});

const told = readFileSync(join(import.meta.dirname, "../../docs/scaling.md"), "utf8").split("\n");

/** The numbers of a row: statements and pages of Postgres, and commands of Redis. */
const toldOf = (request: string): ReadonlyArray<number> =>
  (told.find((line) => line.startsWith(`| ${request}`)) ?? "").split("|").slice(2, 5).map(Number);

for (const storage of storages.filter(({ name }) => name !== "SQLite")) {
  describe.skipIf(storage.missing !== null)(`requests on ${storage.name} ${storage.missing ?? ""}`, () => {
    test("a request costs no more than docs/scaling.md tells", function* () {
      const costs = yield* costsOfAccount(
        storage,
        storage.strangers[1],
        (pid, account) =>
          Effect.andThen(
            link(pid, 1),
            Effect.forEach(Object.values(requests(pid, account)).slice(0, -1), (each) => each),
          ),
        requests,
      );
      const index = storage.name === "Postgres" ? 0 : 2;
      const dearer = [...costs].flatMap(([request, { statements, pages }]) => {
        const [most = 0, mostPages = 0] = [toldOf(request)[index], toldOf(request)[1]];
        return most > 0 && statements <= most && pages <= 1.15 * mostPages
          ? []
          : [`${request}: ${statements} of ${most}, ${pages} pages of ${mostPages}`];
      });
      expect(dearer).toEqual([]);
    }, 240_000);
  });
}

testWith(StorageMemory.layer)("every operation of every store is measured", function* () {
  // Does not compile while `storePorts` leaves out a store.
  const stored: Context.Context<StoragePorts> = yield* Effect.context<Effect.Services<typeof ports>>();
  const all = yield* Effect.provideContext(ports, stored);
  const operations = Object.entries(storePorts).flatMap(([name, { key }]) => {
    const port = key.slice(key.lastIndexOf("/") + 1);
    return Object.keys(all[name as keyof typeof all]).map((operation) => `${port}.${operation}`);
  });
  expect(operations.filter((each) => !(each in storageOperations) && !(each in others))).toEqual([]);
});
