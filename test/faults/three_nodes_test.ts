/**
 * Three nodes on one Postgres and Redis, each of which the tests find well and leave well: what one node does holds on
 * all of them, also while connections are open at one end only.
 */
import { isProof } from "@accountlink/test-servers";
import { Effect, Exit, Schedule, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { type Attempt, attempt } from "./attempt.ts";
import { complete, env } from "./completions.ts";
import * as dying from "./dying.ts";
import { planErasures, raceErasures } from "./erasures.ts";
import { expectExactLimits, limitedKeys } from "./limits.ts";
import { withDelay } from "./pulse.ts";
import { planRevocations, runRevocations } from "./revocations.ts";
import { type Node, type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const world = makeWorld();
// Twice as many as it takes: a test that is run again needs others.
const limitedOnes = [...limitedKeys(world, 40)];
const revocations = [...planRevocations(world, 8)];
const verifying = world.key();
const reviewing = world.key({ tier: "premium", links: { 100001: "1", 100002: "1" } });
const idempotentOnes = [1, 2].map(() => world.key({ tier: "premium", links: { 100001: "1", 100002: "2" } }));
const erasures = planErasures(world);
const unlimited = world.key({ account: "one", links: { 100001: "1" } });
const limited = world.key({
  account: "one",
  limits: { perWindow: 10_000, windowMs: 3_600_000, daily: 10_000 },
});

const sharedGame = { score: 90, severity: "CRITICAL" };
const nothing = { score: 0, severity: "LOW" };
const pair = { chatId: "100001", otherChatId: "100002" };

/** The risk of the pair on every node. */
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

const lookUp = (node: Node, key: string) => attempt(node, "GET /v2/chat?chatId=100001", { key });

/** How long after the answer to its confirmation a session may be unknown to be completed on another node. */
const longestSilence = { "Redis answers": 1_000, "Redis is away": 3_000 };

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

describe.skipIf(missing !== null)(`three nodes ${missing ?? ""}`, () => {
  const scope = Scope.makeUnsafe();
  let service: Service;
  beforeAll(async () => {
    service = await Effect.runPromise(
      Scope.provide(startService({ fixture: world.fixture, env: { ...env, ...dying.env } }), scope),
    );
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

  test("admit of 40 requests at once exactly as many as are left, 10 times", () =>
    expectExactLimits(service.nodes, limitedOnes.splice(0, 20), 10));

  test("hear of a session that is completed on another, also while Redis is away", () =>
    Effect.gen(function* () {
      const { nodes, redis } = service;
      yield* recover(nodes);
      const [on, heardOn] = nodes as readonly [Node, Node, Node];
      const heardAfter = (chatId: string, act: Effect.Effect<void>) =>
        withDelay(
          nodes,
          Effect.promise(async () => {
            const completion = { on, heardOn, waiting: "long poll", key: verifying, chatId } as const;
            const { answered, heard } = await complete({ ...completion, act: () => Effect.runPromise(act) });
            return heard - answered;
          }),
        );
      const took = {
        "Redis answers": yield* heardAfter("100001", Effect.void),
        "Redis is away": yield* Effect.ensuring(heardAfter("100002", redis.kill), redis.restart),
      };
      console.log(took);
      for (const name of ["Redis answers", "Redis is away"] as const) {
        expect(took[name].value).toBeLessThan(longestSilence[name] + took[name].delay);
      }
    }).pipe(Effect.runPromise));

  test("refuse a key within a second of its revocation, with Redis and without", async () => {
    const times = await runRevocations(service, revocations.splice(0, 4)).pipe(
      Effect.ensuring(service.redis.thaw),
      Effect.runPromise,
    );
    console.log(times);
    expect(times).toHaveLength(4);
  });

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

  test("erase a user for good: no retry of what raced with it brings anything back", async () => {
    const rounds = isProof ? 100 : 4;
    const counts = await raceErasures(service, erasures, rounds);
    console.log({ rounds, ...counts });
    expect(counts.answeredBefore + counts.underWay + counts.answeredAfter).toBe(6 * rounds);
  });

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
