/**
 * Three nodes on one Postgres and Redis, each of which the tests find well and leave well: what one node does holds on
 * all of them, also while connections are open at one end only.
 */
import { runInProcess } from "@accountlink/server/test_command_line";
import { startHttpServer } from "@accountlink/test-servers";
import { Effect, Exit, Schedule, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { makeFixtures } from "../support/fixtures.ts";
import { openReads } from "../support/open_reads.ts";
import { patience } from "../support/patience.ts";
import { type Attempt, attempt } from "./attempt.ts";
import * as dying from "./dying.ts";
import { withDelay } from "./pulse.ts";
import { type Node, type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const fixtures = makeFixtures();
// A test that is run again needs others.
const revoked = ["a", "b", "c", "d"].map((account) => ({ account, key: fixtures.key({ account }) }));
const [listening, sending] = [fixtures.key(), fixtures.key({ account: "sending" })];
const reviewing = fixtures.key({ tier: "premium", links: { 100001: "1", 100002: "1" } });
const idempotentOnes = [1, 2].map(() =>
  fixtures.key({ tier: "premium", links: { 100001: "1", 100002: "2" } }),
);
const unlimited = fixtures.key({ account: "one", links: { 100001: "1" } });
const limited = fixtures.key({
  account: "one",
  limits: { perWindow: 10_000, windowMs: 3_600_000, daily: 10_000 },
});

const sharedGame = { score: 90, severity: "CRITICAL" };
const nothing = { score: 0, severity: "LOW" };
const pair = { chatId: "100001", otherChatId: "100002" };

const risksOn = ({ nodes }: Service, key: string) =>
  Promise.all(
    nodes.map(async ({ send }) => {
      const { body } = await send("GET /v2/alts?chatId=100001", { key });
      return body.data?.risk;
    }),
  );

/** The time of an operation at a store is limited to some 3 seconds. */
const longestRefusal = 4_000;
const longestRecovery = 2_000;
const longestTrust = 1_000;

const lookUp = (node: Node, key: string) => attempt(node, "GET /v2/chat?chatId=100001", { key });

const isGood = ({ outcome }: Attempt): boolean =>
  outcome.kind === "answered" && outcome.answer.status === 200;

const onEvery = <A>(nodes: ReadonlyArray<Node>, act: (node: Node) => Effect.Effect<A>) =>
  Effect.forEach(nodes, act, { concurrency: "unbounded" });

/** Waits until every node answers with both keys again, and checks that it was not long. Then until it has Redis. */
const recover = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>) {
  const ask = (key: string) => (node: Node) =>
    Effect.repeat(lookUp(node, key), { until: isGood, schedule: Schedule.spaced("10 millis") });
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
    Effect.repeat(isWhole(node), { until: Boolean, schedule: Schedule.spaced("10 millis") }),
  );
});

/** When the only key of an account was revoked, by its audit entry: a little before it was stored. */
const revocationOf = async ({ environment }: Service, account: string): Promise<number> => {
  const { stdout } = await runInProcess(["audit", "list", "--account", account, "--json"], environment);
  const { entries } = JSON.parse(stdout) as { readonly entries: ReadonlyArray<{ readonly at: string }> };
  return Date.parse(entries[0]?.at ?? "");
};

/**
 * Has a key revoked that every node knows. Gives how long one accepted it, or had a stream open, in milliseconds, and how
 * much of that may be the machine's.
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
  const scope = Scope.makeUnsafe();
  let service: Service;
  beforeAll(async () => {
    const env = { ...dying.env, ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" };
    service = await Effect.runPromise(Scope.provide(startService({ fixture: fixtures.fixture, env }), scope));
  });
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  test("hold a review at the next request", async () => {
    expect(await risksOn(service, reviewing)).toEqual([sharedGame, sharedGame, sharedGame]);
    for (const { send } of service.nodes) {
      const put = await send("PUT /v2/alts/reviews", {
        key: reviewing,
        body: { ...pair, verdict: "different" },
      });
      expect(put.status).toBe(200);
      expect(await risksOn(service, reviewing)).toEqual([nothing, nothing, nothing]);

      const removed = await send("DELETE /v2/alts/reviews", { key: reviewing, body: pair });
      expect(removed.body.data).toEqual({ ...pair, deleted: true });
      expect(await risksOn(service, reviewing)).toEqual([sharedGame, sharedGame, sharedGame]);
    }
  });

  test("hear of a change on another, with Redis and without", () =>
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
        "Redis is away": yield* Effect.ensuring(
          Effect.andThen(service.redis.kill, heardAfter),
          service.redis.restart,
        ),
      };
      console.log(took);
      for (const { value, delay } of Object.values(took)) expect(value).toBeLessThan(1_000 + delay);
    }).pipe(Effect.runPromise));

  test("tell a webhook soon, on whichever of them something changed", async () => {
    const heard = new Map<string, number>();
    const { url } = await Effect.runPromise(
      Scope.provide(
        startHttpServer(({ body }) => {
          const { data } = JSON.parse(body) as { readonly data: { readonly chatId: string } };
          heard.set(data.chatId, performance.now());
          return { status: 204 };
        }),
        scope,
      ),
    );
    const words = ["webhooks", "create", "--account", "sending", "--url", url, "--json"];
    expect(await runInProcess(words, service.environment)).toMatchObject({ code: 0, stderr: "" });
    const hearAfterWrite = async (chatId: string, node: Node) => {
      const body = { chatId, gameId: "1" };
      expect((await node.send("PATCH /v2/game", { key: sending, body })).status).toBe(200);
      const answered = performance.now();
      await vi.waitFor(() => expect(heard.has(chatId)).toBe(true), { ...patience, interval: 1 });
      return Math.max(0, (heard.get(chatId) ?? 0) - answered);
    };
    // The first one also waits until a node has taken the webhook.
    await hearAfterWrite("199999", service.nodes[0] as Node);
    const delays: Array<number> = [];
    const { delay: slowness } = await Effect.runPromise(
      withDelay(
        service.nodes,
        Effect.promise(async () => {
          for (let round = 0; round < 90; round++) {
            delays.push(await hearAfterWrite(String(200_000 + round), service.nodes[round % 3] as Node));
          }
        }),
      ),
    );
    const sorted = delays.toSorted((one, other) => one - other);
    const [median, p99] = [sorted[45] ?? 0, sorted[89] ?? 0];
    console.log(
      `from an answered write to the receiver: median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
    );
    expect(p99).toBeLessThan(1_500 + slowness);
  });

  test("refuse a key within a second of its revocation, and end its streams, with Redis and without", () =>
    Effect.gen(function* () {
      yield* recover(service.nodes);
      const withRedis = yield* revoke(service, revoked.pop() as (typeof revoked)[number]);
      yield* service.redis.freeze;
      const without = yield* revoke(service, revoked.pop() as (typeof revoked)[number]);
      console.log({ withRedis, without });
      for (const { took, delay } of [withRedis, without]) expect(took).toBeLessThan(longestTrust + delay);
    }).pipe(Effect.ensuring(service.redis.thaw), Effect.runPromise));

  test("give a half-open connection up soon", () =>
    Effect.gen(function* () {
      const { nodes } = service;
      yield* recover(nodes);

      /** What each node answers, and how much longer than on a quiet machine it may take. */
      const lookUpOnEvery = (key: string) =>
        withDelay(
          nodes,
          onEvery(nodes, (node) => lookUp(node, key)),
        );

      yield* onEvery(nodes, ({ links }) => links.postgres.silence);
      const refused = yield* lookUpOnEvery(unlimited);
      for (const { called, ended, outcome } of refused.value) {
        expect(outcome).toEqual({ kind: "unavailable" });
        expect(ended - called).toBeLessThan(longestRefusal + refused.delay);
      }
      yield* onEvery(nodes, ({ links }) => links.postgres.restore);
      yield* recover(nodes);

      // Nobody is refused for want of Redis.
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
        onEvery(service.nodes, ({ links }) => Effect.andThen(links.postgres.restore, links.redis.restore)),
      ),
      Effect.runPromise,
    ));

  test("give the answer that a killed one owed", async () => {
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
      await Effect.runPromise(one.restart);
    }
  });
});
