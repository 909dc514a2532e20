/**
 * Three nodes on one Postgres and Redis: changes on one node apply on all nodes, even with half-open connections.
 * Each test starts and ends with healthy nodes.
 */
import { runInProcess } from "@accountlink/server/test_command_line";
import { isProof, runUntil } from "@accountlink/test-servers";
import { Effect, Schedule } from "effect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { openReads } from "../support/open_reads.ts";
import { type Attempt, attempt } from "./attempt.ts";
import * as dying from "./dying.ts";
import { withDelay } from "./pulse.ts";
import { type Node, type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const fixtures = makeFixtures();
// A retried test needs keys that its first attempt has not revoked.
const revoked = ["a", "b", "c", "d"].map((account) => ({ account, key: fixtures.key({ account }) }));
const listening = fixtures.key();
const idempotentOnes = [1, 2].map(() =>
  fixtures.key({ tier: "premium", links: { 100001: "1", 100002: "2" } }),
);
const unlimited = fixtures.key({ account: "one", links: { 100001: "1" } });
const limited = fixtures.key({
  account: "one",
  limits: { perWindow: 10_000, windowMs: 3_600_000, daily: 10_000 },
});

/** The longest time until a refusal, in milliseconds: store operations time out after about 3 seconds. */
const longestRefusal = 4_000;
const longestRecovery = 2_000;
const longestTrust = 1_000;

const lookUp = (node: Node, key: string) => attempt(node, "GET /v2/chat?chatId=100001", { key });

const isGood = ({ outcome }: Attempt): boolean =>
  outcome.kind === "answered" && outcome.answer.status === 200;

const onEvery = <A>(nodes: ReadonlyArray<Node>, act: (node: Node) => Effect.Effect<A>) =>
  Effect.forEach(nodes, act, { concurrency: "unbounded" });

/**
 * Expects that every node soon accepts the keys `unlimited` and `limited`. Then waits until every node reaches Redis,
 * because until then, its `/readyz` lists a `degraded` part.
 */
const recover = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>) {
  const ask = (key: string) => (node: Node) =>
    Effect.repeat(lookUp(node, key), { until: isGood, schedule: Schedule.spaced("50 millis") });
  const begin = performance.now();
  const { value: ended, delay } = yield* withDelay(
    nodes,
    Effect.gen(function* () {
      yield* onEvery(nodes, ask(unlimited));
      yield* onEvery(nodes, ask(limited));
      return performance.now();
    }),
  );
  expect(ended - begin).toBeLessThan(longestRecovery + delay);
  const isWhole = ({ send }: Node) =>
    Effect.map(
      Effect.promise(() => send("GET /readyz")),
      ({ body }) => body["degraded"] === undefined,
    );
  yield* onEvery(nodes, (node) =>
    Effect.repeat(isWhole(node), { until: Boolean, schedule: Schedule.spaced("50 millis") }),
  );
});

/**
 * Returns the time at which the key was revoked, from the audit log. The log reads the clock shortly before it stores
 * the entry.
 */
const revocationOf = async ({ environment }: Service, account: string): Promise<number> => {
  const { stdout } = await runInProcess(["audit", "list", "--account", account, "--json"], environment);
  const { entries } = JSON.parse(stdout) as { readonly entries: ReadonlyArray<{ readonly at: string }> };
  return Date.parse(entries[0]?.at ?? "");
};

/**
 * Revokes a key that every node has cached. Returns, in milliseconds, how long a node still accepted the key or kept
 * its stream open (`took`), and the delay that a busy machine may have added (`delay`).
 */
const revoke = Effect.fnUntraced(function* (service: Service, { account, key }: (typeof revoked)[number]) {
  const { nodes } = service;
  const [first] = nodes as readonly [Node, ...ReadonlyArray<Node>];
  const line = "GET /v2/events?limit=1";
  const { value, delay } = yield* withDelay(
    nodes,
    Effect.promise(async () => {
      for (const { send } of nodes) expect((await send(line, { key })).status).toBe(200);
      const streams = nodes.map(({ send }) => send("GET /v2/events/stream", { key }).then(() => Date.now()));
      for (const { send } of nodes) await openReads(send, "event_readers_waiting")(1);
      const accepted = nodes.map(async ({ send }) => {
        let last = 0;
        for (let sent = Date.now(); (await send(line, { key })).status !== 401; sent = Date.now())
          last = sent;
        for (let again = 0; again < 20; again++) expect((await send(line, { key })).status).toBe(401);
        return last;
      });
      expect((await first.send("POST /v2/keys/leaked", { body: { key } })).status).toBe(200);
      return { accepted: await Promise.all(accepted), streamed: await Promise.all(streams) };
    }),
  );
  const at = yield* Effect.promise(() => revocationOf(service, account));
  const took = Math.max(...value.accepted, ...value.streamed) - at;
  return { took, delay };
});

describe.skipIf(missing !== null)(`three nodes ${missing ?? ""}`, () => {
  const run = runUntil(afterAll);
  let service: Service;
  beforeAll(async () => {
    service = await run(startService({ fixture: fixtures.fixture, env: dying.env }));
  });

  test("three nodes notify event readers of changes on other nodes, with and without Redis", () =>
    Effect.gen(function* () {
      yield* recover(service.nodes);
      const [on, heardOn] = service.nodes as readonly [Node, Node, Node];
      let round = 0;
      const heardAfter = withDelay(
        service.nodes,
        Effect.promise(async () => {
          const waiting = heardOn
            .send("GET /v2/events?wait=20", { key: listening })
            .then(({ body }) => [performance.now(), body.data?.["events"]] as const);
          await openReads(heardOn.send, "event_readers_waiting")(1);
          await on.send("PATCH /v2/game", {
            key: listening,
            body: { chatId: "100001", gameId: String(1 + (round++ % 2)) },
          });
          const answered = performance.now();
          const [heard, events] = await waiting;
          expect(events).toHaveLength(1);
          return heard - answered;
        }),
      );
      const took = {
        "Redis answers": yield* heardAfter,
        "Redis is down": yield* Effect.ensuring(
          Effect.andThen(service.redis.kill, heardAfter),
          service.redis.restart,
        ),
      };
      console.log(took);
      for (const { value, delay } of Object.values(took)) expect(value).toBeLessThan(1_000 + delay);
    }).pipe(Effect.runPromise));

  test("three nodes refuse a revoked key and end its streams within a second, with and without Redis", () =>
    Effect.gen(function* () {
      yield* recover(service.nodes);
      const withRedis = yield* revoke(service, revoked.pop() as (typeof revoked)[number]);
      expect(withRedis.took).toBeLessThan(longestTrust + withRedis.delay);
      // The tests of `KeyAuthenticator` revoke a key without signals too.
      if (!isProof) return;
      yield* service.redis.freeze;
      const without = yield* revoke(service, revoked.pop() as (typeof revoked)[number]);
      console.log({ withRedis, without });
      expect(without.took).toBeLessThan(longestTrust + without.delay);
    }).pipe(Effect.ensuring(service.redis.thaw), Effect.runPromise));

  test("three nodes give up half-open connections within seconds", () =>
    Effect.gen(function* () {
      const { nodes } = service;
      yield* recover(nodes);

      /** Sends a lookup to every node. Returns the attempts, and the delay that a busy machine may have added. */
      const lookUpOnEvery = (key: string) =>
        withDelay(
          nodes,
          onEvery(nodes, (node) => lookUp(node, key)),
        );

      yield* onEvery(nodes, ({ links }) => links.storage.silence);
      const refused = yield* lookUpOnEvery(unlimited);
      for (const { called, ended, outcome } of refused.value) {
        expect(outcome).toEqual({ kind: "unavailable" });
        expect(ended - called).toBeLessThan(longestRefusal + refused.delay);
      }
      yield* onEvery(nodes, ({ links }) => links.storage.restore);
      yield* recover(nodes);
      if (!isProof) return;

      // While the nodes cannot reach Redis, they must still answer every request.
      yield* onEvery(nodes, ({ links }) => links.redis.silence);
      for (const key of [unlimited, limited]) {
        const { value, delay } = yield* lookUpOnEvery(key);
        for (const made of value) {
          expect(made).toSatisfy(isGood);
          expect(made.ended - made.called).toBeLessThan(longestRefusal + delay);
        }
      }
      yield* onEvery(nodes, ({ links }) => links.redis.restore);
      yield* recover(nodes);
    }).pipe(
      Effect.ensuring(
        onEvery(service.nodes, ({ links }) => Effect.andThen(links.storage.restore, links.redis.restore)),
      ),
      Effect.runPromise,
    ));

  test("other nodes repeat the answer that a killed node gave to an idempotent request", async () => {
    const [one, ...others] = service.nodes as readonly [Node, Node, Node];
    const key = String(idempotentOnes.pop());
    const remove = (chatId: string, name: string) =>
      ({ key, headers: { "idempotency-key": name }, body: { chatId } }) as const;
    const owed = remove("100001", "mine");
    await dying.expectNoAnswer(
      one.send("DELETE /v2/game", { ...owed, headers: { ...owed.headers, ...dying.header } }),
    );
    await Effect.runPromise(one.kill);
    try {
      for (const { send } of others) {
        const { headers, body } = await send("DELETE /v2/game", owed);
        expect(headers["idempotent-replayed"]).toBe("true");
        expect(body.data).toEqual({ chatId: "100001", removedGameId: "1", deleted: true });
      }
      const answers = await Promise.all(
        [...others, ...others].map(({ send }) => send("DELETE /v2/game", remove("100002", "race"))),
      );
      const done = answers.filter(
        ({ status, headers }) => status === 200 && headers["idempotent-replayed"] === undefined,
      );
      expect(done).toHaveLength(1);
      for (const { status } of answers) expect([200, 409]).toContain(status);
    } finally {
      await Effect.runPromise(one.restart());
    }
  });
});
