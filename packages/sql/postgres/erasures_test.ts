/**
 * Tests requests that arrive during an erasure on Postgres, where transactions do not exclude each other by default.
 */
import { ChatId, Conflict, GameId, LinkStore } from "@accountlink/core";
import { FlowStore } from "@accountlink/core/flow";
import { IdempotencyStore, type IdempotentRequest } from "@accountlink/core/idempotency";
import { SessionStore } from "@accountlink/core/sessions";
import { UserStore } from "@accountlink/core/users";
import { whyNoPostgresDatabase } from "@accountlink/test-servers";
import { describe, expect } from "@accountlink/test-servers/effect";
import { makeFlow } from "@accountlink/testing";
import { Deferred, Effect, Fiber, Option, Schedule } from "effect";
import { SqlClient } from "effect/sql";
import { Database, origin, scope, testOnStores } from "./test_postgres.ts";

const missing = await whyNoPostgresDatabase();

const write = { ...origin, pid: scope.pid, at: 1 };
const ada = ChatId.make("10001");
const gameId = GameId.make("42");

const requestOf = (id: string): IdempotentRequest => ({
  id,
  fingerprint: "content",
  chatIds: [ada],
  at: 0,
  endsAt: 100,
});

/** Waits until this many statements of the database wait for a lock of this type. */
const untilWaiting = (lock: "advisory" | "transactionid" | "tuple", count: number) =>
  Effect.flatMap(Database, ({ query }) =>
    query(
      "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event = $1",
      [lock],
    ).pipe(
      Effect.repeat({ until: ([row]) => row?.["count"] === count, schedule: Schedule.spaced("10 millis") }),
    ),
  );

/**
 * Locks the rows of a table in a transaction until `release`. So an erasure can begin, but waits when it reaches such a
 * row.
 */
const hold = (table: string, release: Deferred.Deferred<void>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient;
    const held = yield* Deferred.make<void>();
    yield* sql`SELECT 1 FROM ${sql(table)} FOR UPDATE`.pipe(
      Effect.andThen(Deferred.succeed(held, undefined)),
      Effect.andThen(Deferred.await(release)),
      sql.withTransaction,
      Effect.forkChild,
    );
    yield* Deferred.await(held);
  });

describe.skipIf(missing !== null)(`an erasure ${missing ?? "on Postgres"}`, () => {
  testOnStores({ maxConnections: 8 })(
    "an erasure delays sign-ins and writes of its user, and erases requests that were stored before it",
    function* () {
      const [sessions, links] = [yield* SessionStore, yield* LinkStore];
      const [flows, idempotency, users] = [yield* FlowStore, yield* IdempotencyStore, yield* UserStore];
      const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };
      yield* sessions.recordSightings(scope.pid, [{ chatId: ada, address, seenAt: 0 }]);
      const flow = makeFlow(scope);
      yield* flows.begin(flow);
      const kept = { answer: "kept", chatIds: [ada] };
      const keep = (id: string) => idempotency.keep(requestOf(id), kept);
      yield* keep("earlier");
      const release = yield* Deferred.make<void>();
      yield* hold("sightings", release);
      const erasing = yield* Effect.forkChild(
        users.erase({ ...write, chatId: ada, scopes: [], pseudonym: "erased", ownerHash: "hash" }),
      );
      yield* untilWaiting("transactionid", 1);
      const keeping = yield* Effect.forkChild(keep("later"));
      const once = requestOf("at once");
      const setting = yield* Effect.forkChild(links.setGame({ ...write, chatId: ada, gameId, once }));
      const proof = { step: "chat", chatId: ada } as const;
      const proving = yield* Effect.forkChild(flows.prove(flow.id, proof, 0, flow.id));
      yield* untilWaiting("advisory", 3);
      yield* Deferred.succeed(release, undefined);

      expect(Option.isSome(yield* Fiber.join(erasing))).toBe(true);
      const erased = { fingerprint: "content", answer: null, endsAt: 100 };
      expect(yield* idempotency.find("earlier")).toEqual(Option.some(erased));
      expect(yield* Effect.flip(keep("earlier"))).toEqual(new Conflict({ reason: "idempotency_key_in_use" }));
      yield* Fiber.join(keeping);
      expect((yield* Fiber.join(setting)).previousGameId).toBe(null);
      expect(Option.getOrThrow(yield* Fiber.join(proving)).chatId).toBe(ada);
    },
  );

  testOnStores({ maxConnections: 8 }).each(["an erasure of its user", "a deletion of its scope"] as const)(
    "%s locks flows before sightings, and blocks after them, so that the two make no deadlock",
    (name) =>
      Effect.gen(function* () {
        const [sessions, users, links] = [yield* SessionStore, yield* UserStore, yield* LinkStore];
        const [flows, { query }] = [yield* FlowStore, yield* Database];
        const flow = makeFlow(scope);
        yield* flows.begin(flow);
        yield* flows.prove(flow.id, { step: "chat", chatId: ada }, 0, flow.id);
        const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };
        yield* sessions.recordSightings(scope.pid, [{ chatId: ada, address, seenAt: 0 }]);
        yield* query("INSERT INTO blocks (pid, user_hash, chat_id, blocked_at) VALUES ($1, 'user', $2, 0)", [
          scope.pid,
          ada,
        ]);
        const release = yield* Deferred.make<void>();
        yield* hold("sightings", release);
        const erasure = { ...write, chatId: ada, scopes: [], pseudonym: "erased", ownerHash: "hash" };
        const deletes = name === "a deletion of its scope";
        const ending = yield* Effect.forkChild(
          deletes ? Effect.asVoid(links.deleteScope(write)) : Effect.asVoid(users.erase(erasure)),
        );
        yield* untilWaiting("transactionid", 1);
        const areFree = yield* Effect.forEach(["verification_flows", "blocks"], (table) =>
          Effect.isSuccess(Effect.sandbox(query(`SELECT 1 FROM ${table} FOR UPDATE NOWAIT`, []))),
        );
        yield* Deferred.succeed(release, undefined);
        yield* Fiber.join(ending);
        expect(areFree).toEqual([false, true]);
      }),
  );

  testOnStores({ maxConnections: 8 })(
    "erasures of two users at once erase both from a record that names both",
    function* () {
      const [users, { query }] = [yield* UserStore, yield* Database];
      const bob = ChatId.make("10002");
      yield* query(
        `INSERT INTO journal (place, at, action, actor_type, actor_id, details, chat_id, other_chat_id)
          VALUES ($1, 1, 'link.moved', 'operator', 'ops', $2, $3, $4)`,
        [scope.pid, JSON.stringify({ chatId: ada, newChatId: bob, gameId }), ada, bob],
      );
      const release = yield* Deferred.make<void>();
      yield* hold("journal", release);
      const erase = (chatId: ChatId) =>
        Effect.forkChild(users.erase({ ...write, chatId, scopes: [], pseudonym: chatId, ownerHash: "hash" }));
      const first = yield* erase(ada);
      yield* untilWaiting("transactionid", 1);
      const second = yield* erase(bob);
      yield* untilWaiting("tuple", 1);
      yield* Deferred.succeed(release, undefined);
      yield* Fiber.joinAll([first, second]);
      const [moved] = yield* query(
        "SELECT details, chat_id, other_chat_id FROM journal WHERE action = 'link.moved'",
      );
      const details = JSON.stringify({ chatId: "[erased]", newChatId: "[erased]", gameId: "[erased]" });
      expect(moved).toEqual({ details, chat_id: null, other_chat_id: null });
    },
  );

  testOnStores()("a user with many records is erased in steps, and one entry counts them", function* () {
    const [users, { query }] = [yield* UserStore, yield* Database];
    yield* query(
      `INSERT INTO journal (place, at, action, actor_type, actor_id, member, details)
        SELECT $1, 1, 'link.set', 'account', 'acme', $2, '{}' FROM generate_series(1, 500)`,
      [scope.pid, ada],
    );
    const found = yield* users.entries(ada, null, 300);
    expect(found.length).toBe(300);
    expect((yield* users.entries(ada, found.at(-1) ?? null, 300)).length).toBe(200);
    const erasure = { ...write, chatId: ada, scopes: [], pseudonym: "erased", ownerHash: "hash" };
    expect(Option.getOrThrow(yield* users.erase(erasure)).entries).toBe(500);
    expect(yield* query("SELECT 1 FROM journal WHERE member = $1", [ada])).toEqual([]);
    const [entry] = yield* query("SELECT details FROM journal WHERE action = 'user.erased'", []);
    expect(JSON.parse(String(entry?.["details"]))).toMatchObject({ entries: 500 });
    expect(yield* users.unfinished(Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  testOnStores()("a large scope is deleted in steps, and an interrupted deletion goes on", function* () {
    const [links, { query }] = [yield* LinkStore, yield* Database];
    // So many steps that the deletion is interrupted before its last one.
    const count = 30_000;
    yield* query(
      `INSERT INTO links (pid, chat_id, game_id, link_version, linked_at, last_verified_at)
        SELECT $1, (100000 + i)::text, '1', 1, 1, 1 FROM generate_series(1, ${count}) AS i`,
      [scope.pid],
    );
    const deletion = yield* Effect.forkChild(links.deleteScope(write));
    yield* links.countLinks(scope.pid).pipe(Effect.repeat({ until: (left) => left < count }));
    yield* Fiber.interrupt(deletion);
    const left = yield* links.countLinks(scope.pid);
    expect(left).toBeGreaterThan(0);
    expect((yield* links.deleteScope(write)).records).toBe(left);
    const told = yield* query(
      "SELECT details FROM journal WHERE action = 'scope.deleted' AND actor_id <> ''",
      [],
    );
    const counts = told.map(({ details }) => JSON.parse(String(details)).deletedRecords as number);
    expect(counts.reduce((sum, each) => sum + each, 0)).toBe(count);
  });
});
