/**
 * Events of three nodes on one Postgres and Redis: how soon who waits on another node, and who has a webhook, hears of a
 * write. What becomes of them under faults is for `feed_proof.ts` and the simulation.
 */
import { runInProcess } from "@accountlink/server/test_command_line";
import { startHttpServer } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openReads } from "../support/open_reads.ts";
import { patience } from "../support/patience.ts";
import { makeWorld } from "../support/world.ts";
import { withDelay } from "./pulse.ts";
import { type Node, type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();
const world = makeWorld();
const [listening, sending] = [world.key(), world.key({ account: "sending" })];

describe.skipIf(missing !== null)(`the events of three nodes ${missing ?? ""}`, () => {
  const scope = Scope.makeUnsafe();
  let service: Service;
  beforeAll(async () => {
    const env = { ACCOUNTLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" };
    service = await Effect.runPromise(Scope.provide(startService({ fixture: world.fixture, env }), scope));
  });
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  test("wake who waits on another node, with Redis and without", () =>
    Effect.gen(function* () {
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

  test("reach a webhook soon, on whichever node they happened", async () => {
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
    const words = ["webhooks", "create", "--account", "sending", "--url", url];
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
});
