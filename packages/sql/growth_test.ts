/**
 * The law of growth: an operation of a store costs the same however much data others have. Each operation runs on the
 * same data of its own, in a database with few strangers and in one with many, and statements, rows and pages are counted.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { StorageMemory } from "@accountlink/memory";
import { isProof, makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testLive, testWith } from "@accountlink/test-servers/effect";
import { uniqueText } from "@accountlink/testing";
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
import { Effect, Layer, type Scope, Tracer } from "effect";
import { SqlClient, SqlConnection } from "effect/sql";
import * as FastCheck from "fast-check";
import { migrate } from "./migrations.ts";
import { layerClient } from "./postgres/test_postgres.ts";
import { layerSqlite } from "./sqlite/client/sql_client.ts";
import { makeTempFolder } from "./sqlite/test_folder.ts";
import { layer as stores } from "./stores.ts";
import { addStrangers } from "./test_strangers.ts";

/** How many strangers there are first, and later. No tree of an index becomes higher between the two. */
const [few, many] = isProof ? [2_000, 8_000] : [600, 1_800];

const runs = isProof ? 5 : 1;

/** Operations that work for the whole service, and what their cost follows from. */
const wholeService: Readonly<Record<string, string>> = {
  "AuditLog.forget": "lists: one node walks through them every ten minutes",
  "EventStore.sweep": "lists: one node walks through them every ten minutes",
  "WebhookStore.sweep": "webhooks, every ten minutes",
  "ImportStore.sweep": "imports of the last day, every ten minutes",
  "ImportStore.listUnfinishedUndos": "imports of the last day",
  "ImportStore.begin": "uploads that wait, which share the room of the service",
  "DayCounts.load": "counters of the day, at the start of a node with a memory cache",
  "GuildLogStore.hold": "logs, which the nodes share",
  "RoleHistoryStore.reversals": "roles that are being put back, which the oldest node looks for",
  "RolePlanStore.hold": "role plans, which the nodes share",
  "WebhookStore.hold": "webhooks, which the nodes share",
  "CommunityStore.reminding": "communities that remind, which the nodes share",
  "KeyStore.listAccounts": "accounts: the operator lists them",
  "SightingStore.countByKey": "sightings: the operator rotates address keys",
};

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

/** Counts what an effect costs. */
type Count = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<Costs, E, R | SqlConnections>;

type SqlConnections = SqlClient.SqlClient | SqlConnection.Connection;

/** Counts statements by their spans. */
const countingStatements = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    let statements = 0;
    const tracer = Tracer.make({
      span: (options) => {
        if (options.kind === "client") statements++;
        return new Tracer.NativeSpan(options);
      },
    });
    return Effect.map(Effect.withTracer(effect, tracer), () => statements);
  });

const difference = (before: ReadonlyArray<number>, after: ReadonlyArray<number>) =>
  after.map((value, index) => value - (before[index] ?? 0));

const onPostgres: Count = (effect) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const shared = yield* SqlConnection.Connection;
    const flush = "SELECT pg_stat_force_next_flush()";
    const counters = Effect.gen(function* () {
      yield* sql.unsafe(flush);
      yield* shared.execute(flush, [], undefined);
      const [row] = yield* sql.unsafe(
        `SELECT (SELECT SUM(seq_tup_read) FROM pg_stat_user_tables)
          + (SELECT SUM(idx_tup_read) FROM pg_stat_user_indexes) AS rows,
        (SELECT SUM(heap_blks_read + heap_blks_hit + COALESCE(idx_blks_read + idx_blks_hit, 0)
          + COALESCE(toast_blks_read + toast_blks_hit, 0)) FROM pg_statio_user_tables) AS pages`,
      ).values;
      return (row ?? []).map(Number);
    }).pipe(Effect.orDie);
    const before = yield* counters;
    const statements = yield* countingStatements(effect);
    const [rows = 0, pages = 0] = difference(before, yield* counters);
    return { statements, rows, pages };
  });

/**
 * Pages that SQLite reads from its files in this thread, whose connections keep none in memory. It does not count rows. The
 * thread of long transactions is left to Postgres.
 */
const onSqlite: Count = (effect) =>
  Effect.suspend(() => {
    const pages = () => Number(/rchar: (\d+)/.exec(readFileSync("/proc/thread-self/io", "utf8"))?.[1]) / 4096;
    const before = pages();
    return Effect.map(countingStatements(effect), (statements) => ({
      statements,
      rows: 0,
      pages: Math.round(pages() - before),
    }));
  });

const withoutCache = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient;
  const reader = yield* SqlConnection.Connection;
  const settings = ["PRAGMA cache_size = 1", "PRAGMA mmap_size = 0"];
  for (const setting of settings) {
    yield* sql.unsafe(setting);
    yield* reader.execute(setting, [], undefined);
  }
});

interface Database {
  readonly name: string;
  readonly missing: string | null;
  readonly count: Count;
  readonly layer: Effect.Effect<Layer.Layer<SqlConnections, unknown>, unknown, Scope.Scope>;
}

/** Runs the commands in a database with so many strangers, and returns what each operation cost. */
const costsAmong = Effect.fnUntraced(function* ({ layer, count, name }: Database, strangers: number) {
  const measured = Effect.gen(function* () {
    yield* migrate;
    yield* addStrangers(1, strangers);
    const sql = yield* SqlClient.SqlClient;
    if (name === "SQLite") yield* withoutCache;
    else {
      yield* sql.unsafe("VACUUM ANALYZE");
      // Postgres reads and joins tables of a few pages faster without their indexes.
      for (const plan of isProof ? [] : ["seqscan", "hashjoin", "mergejoin"]) {
        yield* sql.unsafe(`SET enable_${plan} = off`);
      }
    }
    const costs = new Map<string, Array<Costs>>();
    for (const sequence of steps()) {
      const subjects = newSubjects();
      yield* storeSubjects(subjects);
      for (const { op, run } of sequence) {
        const cost = yield* count(Effect.exit(run(subjects)));
        costs.set(op, [...(costs.get(op) ?? []), cost]);
      }
    }
    return costs;
  });
  return yield* measured.pipe(
    Effect.provide(Layer.provideMerge(stores, yield* layer) as Layer.Layer<SqlConnections | StoragePorts>, {
      local: true,
    }),
    Effect.scoped,
  );
});

const sumOf = (costs: ReadonlyArray<Costs>, measure: keyof Costs) =>
  costs.reduce((sum, cost) => sum + cost[measure], 0);

const databases: ReadonlyArray<Database> = [
  {
    name: "SQLite",
    missing: process.platform === "linux" ? null : "counts reads by the proc file system",
    count: onSqlite,
    layer: Effect.map(makeTempFolder, (folder) => layerSqlite({ filename: join(folder, "growth.db") })),
  },
  {
    name: "Postgres",
    missing: await whyNoPostgresDatabase(),
    count: onPostgres,
    layer: Effect.map(makePostgresDatabase(), ({ url }) => layerClient(url, { maxConnections: 1 })),
  },
];

for (const database of databases) {
  describe.skipIf(database.missing !== null)(`${database.name} ${database.missing ?? ""}`, () => {
    testLive(
      "an operation of a store costs the same, however much data others have",
      function* () {
        const [before, after] = [yield* costsAmong(database, few), yield* costsAmong(database, many)];
        const grown = [...before].flatMap(([op, costs]) =>
          measures.flatMap((measure) => {
            const [one, other] = [sumOf(costs, measure), sumOf(after.get(op) ?? [], measure)];
            // A row is in up to five trees, each of which may have become higher by a page, and hold more versions of it.
            const slack = {
              statements: 0,
              rows: costs.length,
              pages: 5 * costs.length + 1.5 * sumOf(costs, "statements"),
            };
            const most = one * 1.1 + slack[measure];
            return op in wholeService || other <= most
              ? []
              : [`${database.name} ${op}: ${one} → ${other} ${measure} (${costs.length} runs)`];
          }),
        );
        expect(grown).toEqual([]);
      },
      600_000,
    );
  });
}

testWith(StorageMemory.layer)("every operation of every store is measured", function* () {
  const all = yield* ports;
  const operations = Object.entries(storePorts).flatMap(([name, { key }]) => {
    const port = key.slice(key.lastIndexOf("/") + 1);
    return Object.keys(all[name as keyof typeof all]).map((operation) => `${port}.${operation}`);
  });
  expect(operations.filter((each) => !(each in storageOperations) && !(each in others))).toEqual([]);
});
