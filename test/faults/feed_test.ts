/**
 * The feed of three nodes on one Postgres and Redis, against a count of its own: each answered write is in it once, in the
 * order of its chat user, for a reader who goes from node to node while one of them and Redis are killed.
 */
import { isProof } from "@accountlink/test-servers";
import { Effect, Exit, Scope } from "effect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, textOf } from "../support/http.ts";
import { makeWorld } from "../support/world.ts";
import { withDelay } from "./pulse.ts";
import { type Node, type Service, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();
const world = makeWorld();
const [key, listening] = [world.key(), world.key()];
const rounds = isProof ? 400 : 40;
const chatIds = Array.from({ length: 8 }, (_, i) => String(100_001 + i));

describe.skipIf(missing !== null)(`the feed of three nodes ${missing ?? ""}`, () => {
  const scope = Scope.makeUnsafe();
  let service: Service;
  beforeAll(async () => {
    service = await Effect.runPromise(Scope.provide(startService({ fixture: world.fixture }), scope));
  });
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));

  test("has each answered write once, in order, while a node and Redis are killed", async () => {
    const [one, two, dying] = service.nodes as readonly [Node, Node, Node];
    const begin = await one.send("GET /v2/events", { key });
    const written = new Map<string, Array<string>>();

    /** Writes to one chat user in turn, on the nodes that live. */
    const write = async (chatId: string) => {
      const mine: Array<string> = [];
      written.set(chatId, mine);
      for (let round = 0; round < rounds; round++) {
        const { send } = round % 2 === 0 ? one : two;
        const isRemoval = round % 5 === 4;
        const gameId = String(1 + (round % 3));
        const { status } = isRemoval
          ? await send("DELETE /v2/game", { key, body: { chatId } })
          : await send("PATCH /v2/game", { key, body: { chatId, gameId } });
        expect(status).toBe(200);
        mine.push(isRemoval ? "removed" : gameId);
      }
    };

    const read: Array<Json> = [];
    let [cursor, isWritten] = [textOf(begin.body.data?.["cursor"]), false];
    const follow = async () => {
      for (let turn = 0; ; turn++) {
        const { send } = service.nodes[turn % 3] as Node;
        const wasWritten = isWritten;
        const answer = await send(`GET /v2/events?cursor=${cursor}&limit=7&wait=1`, { key }).catch(
          () => null,
        );
        if (answer?.status !== 200) continue;
        const events = answer.body.data?.["events"] as unknown as ReadonlyArray<Json>;
        read.push(...events);
        cursor = textOf(answer.body.data?.["cursor"]);
        if (wasWritten && events.length === 0) return;
      }
    };
    const disturb = async () => {
      await Effect.runPromise(dying.kill);
      await Effect.runPromise(service.redis.kill);
      await Effect.runPromise(Effect.andThen(service.redis.restart, dying.restart));
    };
    const following = follow();
    await Promise.all([...chatIds.map(write), disturb()]);
    isWritten = true;
    await following;

    expect(new Set(read.map(({ id }) => id)).size).toBe(read.length);
    for (const [chatId, expected] of written) {
      const seen = read
        .filter(({ data }) => (data?.["chatId"] as unknown) === chatId)
        .map(({ type, data }) =>
          (type as unknown) === "link.removed" ? "removed" : textOf(data?.["gameId"]),
        );
      expect(seen).toEqual(expected);
    }
  });

  test("wakes who waits on another node, with Redis and without", () =>
    Effect.gen(function* () {
      const [on, heardOn] = service.nodes as readonly [Node, Node, Node];
      let round = 0;
      const heardAfter = withDelay(
        service.nodes,
        Effect.promise(async () => {
          const waiting = heardOn
            .send("GET /v2/events?wait=20", { key: listening })
            .then(({ body }) => [performance.now(), body.data?.["events"]] as const);
          await new Promise((resolve) => setTimeout(resolve, 500));
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
});
