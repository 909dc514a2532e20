/**
 * Limits are exact over three nodes, however many ask at once.
 */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { textOf } from "../support/http.ts";
import { makeWorld } from "../support/world.ts";
import { type Node, startService, whyNoService } from "./service.ts";

const missing = await whyNoService();
const parallel = 40;

/** Declares the test of so many rounds. */
export const testLimits = (rounds: number): void => {
  const world = makeWorld();
  /** By turns a window and a day, with another number left in each. */
  const keys = Array.from({ length: rounds }, (_, round) => {
    const left = 1 + ((round * 7) % (parallel - 1));
    const limits =
      round % 2 === 0 ? { perWindow: left, windowMs: 3_600_000, daily: 0 } : { perWindow: 0, daily: left };
    return { key: world.key({ limits, links: { 100001: "1" } }), left };
  });

  test.skipIf(missing !== null)(
    `of ${parallel} parallel requests over three nodes exactly as many are admitted as are left, ${rounds} times ${missing ?? ""}`,
    () =>
      Effect.gen(function* () {
        const { nodes } = yield* startService({ fixture: world.fixture });
        for (const { key, left } of keys) {
          const answers = yield* Effect.promise(() =>
            Promise.all(
              inTurn(nodes, parallel).map((node) => node.send("GET /v2/chat?chatId=100001", { key })),
            ),
          );
          const admitted = answers.filter((answer) => answer.status === 200);
          const refused = answers.filter((answer) => answer.status === 429);
          expect([admitted.length, refused.length]).toEqual([left, parallel - left]);
          for (const answer of refused) {
            expect(textOf(answer.body["error"]?.["code"])).toBe("RATE_LIMITED");
            expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
          }
        }
      }).pipe(Effect.scoped, Effect.runPromise),
  );
};

/** So many of them, each as often as the others. */
const inTurn = (nodes: ReadonlyArray<Node>, count: number): ReadonlyArray<Node> =>
  Array.from({ length: Math.ceil(count / nodes.length) }, () => nodes)
    .flat()
    .slice(0, count);
