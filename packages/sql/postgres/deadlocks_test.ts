import { ChatId, type Conflict, GameId, type StoragePorts, type StoreUnavailable } from "@accountlink/core";
import { isProof, makePostgresDatabase, whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect, testLive as test } from "@accountlink/test-servers/effect";
import {
  anyCommand,
  type Command,
  newSubjects,
  runCommand,
  storeSubjects,
  sweepCommand,
  verificationWalk,
} from "@accountlink/testing/conformance/commands";
import { Effect, Redacted } from "effect";
import { SqlClient } from "effect/sql";
import * as FastCheck from "fast-check";
import { layerPostgres } from "./postgres.ts";
import { generous, testOnDatabase } from "./test_postgres.ts";

const { array, constant, constantFrom, integer, nat, oneof, record, sample, tuple } = FastCheck;

const missing = await whyNoPostgresDatabase();

const walks = array(verificationWalk, { minLength: 6, maxLength: 6 });

/**
 * Refuses commands that change a flow's ID, because they may choose the ID of another flow and deadlock. In practice,
 * new IDs are random.
 */
const isLockOrdered = (command: Command): boolean =>
  !(command.op === "FlowStore.prove" && command.nextFlow !== command.flow);

const commands = array(
  oneof({ weight: 20, arbitrary: anyCommand }, { weight: 1, arbitrary: sweepCommand }).filter(isLockOrdered),
  { minLength: 40, maxLength: 40 },
);

const scope = constant("global" as const);
const chatId = integer({ min: 50_000, max: 50_019 }).map((id) => ChatId.make(`${id}`));
const gameId = constantFrom(GameId.make("1"), GameId.make("2"));
const at = nat(3);
const existing = constantFrom("keep", "replace", "newest");
const lines = array(record({ chatId, gameId, lastVerifiedAt: at }), { maxLength: 10 });

/** Commands that write several records of a scope in one turn of the event loop. Some records already exist. */
const writesOfMany: FastCheck.Arbitrary<ReadonlyArray<Command>> = oneof(
  {
    weight: 5,
    arbitrary: array(record({ op: constant("LinkStore.setGame"), scope, chatId, gameId, at }), {
      minLength: 2,
      maxLength: 10,
    }),
  },
  {
    weight: 5,
    arbitrary: tuple(
      record({
        op: constant("ImportStore.importBatch"),
        scope,
        lines,
        existing,
        proof: constant("import" as const),
        position: constant(null),
        file: constant(null),
        at,
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: tuple(
      record({ op: constant("LinkStore.deleteScope"), scope, at, keepsBlocks: constant(false) }),
    ),
  },
);

/** Moves a link to a user who has a smaller chat ID and no record. Other commands write to both users concurrently. */
const moveAndWrites = (
  pair: number,
): { readonly first: Command; readonly together: ReadonlyArray<Command> } => {
  const [game, other] = [GameId.make("1"), GameId.make("2")];
  const small = ChatId.make(`${60_000 + 2 * pair}`);
  const large = ChatId.make(`${60_001 + 2 * pair}`);
  const both = [small, large].map((user) => ({ chatId: user, gameId: other, lastVerifiedAt: 1 }));
  const set = (user: ChatId): Command => ({
    op: "LinkStore.setGame",
    scope: "global",
    chatId: user,
    gameId: game,
    at: 1,
  });
  return {
    first: set(large),
    together: [
      { op: "LinkStore.moveChat", scope: "global", oldChatId: large, newChatId: small, at: 2 },
      {
        op: "ImportStore.importBatch",
        scope: "global",
        lines: both,
        existing: "replace",
        proof: "import",
        position: null,
        file: null,
        at: 2,
      },
      set(small),
      set(large),
    ],
  };
};

/** Counts the deadlocks that Postgres resolved during the writes. The stores retry them. */
const deadlocksOf = Effect.fnUntraced(function* (
  writes: Effect.Effect<unknown, Conflict | StoreUnavailable, StoragePorts>,
) {
  const { url, query } = yield* makePostgresDatabase();
  const pool = layerPostgres({ url: Redacted.make(url), maxConnections: 20, ...generous });
  yield* Effect.provide(writes, pool, { local: true });
  return yield* query(
    "SELECT deadlocks::int, xact_commit > 100 AS worked FROM pg_stat_database WHERE datname = current_database()",
  );
});

const atOnce = { concurrency: "unbounded" } as const;

const share = isProof ? 1 : 0.1;

describe.skipIf(missing !== null)(`concurrent writes ${missing ?? "on Postgres"}`, () => {
  test("concurrent writes never deadlock", function* () {
    const rounds = sample(tuple(walks, commands), { numRuns: 20 * share, seed: 1 });
    const writes = Effect.forEach(
      rounds,
      Effect.fnUntraced(function* ([before, together]) {
        const subjects = newSubjects();
        yield* storeSubjects(subjects);
        yield* Effect.forEach(before.flat(), (command) => runCommand(subjects, command));
        yield* Effect.forEach(together, (command) => runCommand(subjects, command), atOnce);
      }),
    );
    expect(yield* deadlocksOf(writes)).toEqual([{ deadlocks: 0, worked: true }]);
  });

  test("concurrent writes of many records never deadlock, even if imports replace records", function* () {
    const groups = sample(writesOfMany, { numRuns: 700 * share, seed: 1 });
    const writes = Effect.gen(function* () {
      const subjects = newSubjects();
      yield* storeSubjects(subjects);
      yield* Effect.forEach(
        groups,
        (group) => Effect.forEach(group, (command) => runCommand(subjects, command), atOnce),
        { concurrency: 10 },
      );
    });
    expect(yield* deadlocksOf(writes)).toEqual([{ deadlocks: 0, worked: true }]);
  });

  test("concurrent writes never deadlock while links are moved to users without a record", function* () {
    const writes = Effect.gen(function* () {
      const subjects = newSubjects();
      yield* storeSubjects(subjects);
      yield* Effect.forEach(
        Array.from({ length: 300 * share }, (_, pair) => moveAndWrites(pair)),
        ({ first, together }) =>
          Effect.andThen(
            runCommand(subjects, first),
            Effect.forEach(together, (command) => runCommand(subjects, command), atOnce),
          ),
        { concurrency: 5 },
      );
    });
    expect(yield* deadlocksOf(writes)).toEqual([{ deadlocks: 0, worked: true }]);
  });

  testOnDatabase({ statementTimeout: 1_500 })(
    "Postgres looks for deadlocks, which are repeated, before a lock is waited for too long",
    function* () {
      const sql = yield* SqlClient.SqlClient;
      const found = yield* sql<{ readonly name: string; readonly millis: number }>`
        SELECT name, setting::int AS millis FROM pg_settings WHERE name IN ('deadlock_timeout', 'lock_timeout')`;
      const times = Object.fromEntries(found.map(({ name, millis }) => [name, millis]));
      expect(times["lock_timeout"]).toBeGreaterThan(Number(times["deadlock_timeout"]));
      expect(times["lock_timeout"]).toBeLessThan(1_500);
    },
  );
});
