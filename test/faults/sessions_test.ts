/**
 * A session that is completed on one node is heard of on another, also when Redis is away at that moment.
 */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { makeWorld } from "../support/world.ts";
import { complete, env } from "./completions.ts";
import { withDelay } from "./pulse.ts";
import { type Node, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();

const longest = { "Redis answers": 1_000, "Redis is away": 3_000 };

test.skipIf(missing !== null)(`a completed session is heard of on every node ${missing ?? ""}`, () =>
  Effect.gen(function* () {
    const world = makeWorld();
    const key = world.key();
    const { nodes, redis } = yield* startService({ fixture: world.fixture, env });
    const [on, heardOn] = nodes as readonly [Node, Node, Node];
    /** How long after the answer to its confirmation a session is known to be completed on another node. */
    const heardAfter = (chatId: string, act: Effect.Effect<void>) =>
      withDelay(
        nodes,
        Effect.promise(async () => {
          const completion = { on, heardOn, waiting: "long poll", key, chatId } as const;
          const { answered, heard } = await complete({ ...completion, act: () => Effect.runPromise(act) });
          return heard - answered;
        }),
      );
    const took = {
      "Redis answers": yield* heardAfter("100001", Effect.void),
      "Redis is away": yield* heardAfter("100002", redis.kill),
    };
    console.log(took);
    for (const name of ["Redis answers", "Redis is away"] as const) {
      expect(took[name].value).toBeLessThan(longest[name] + took[name].delay);
    }
  }).pipe(Effect.scoped, Effect.runPromise),
);
