/**
 * Limits are exact over three nodes, however many ask at once.
 */
import { Effect } from "effect";
import { expect, vi } from "vitest";
import { textOf } from "../support/http.ts";
import { patience } from "../support/patience.ts";
import type { World } from "../support/world.ts";
import { watchLimitFailures } from "./limit_failures.ts";
import type { Node } from "./service.ts";

const parallel = 40;

/** A key, and how many requests it has left. */
export interface LimitedKey {
  readonly key: string;
  readonly left: number;
}

/** By turns a window and a day, with another number left in each. */
export const limitedKeys = ({ key }: World, rounds: number): ReadonlyArray<LimitedKey> =>
  Array.from({ length: rounds }, (_, round) => {
    const left = 1 + ((round * 7) % (parallel - 1));
    const limits =
      round % 2 === 0 ? { perWindow: left, windowMs: 3_600_000, daily: 0 } : { perWindow: 0, daily: left };
    return { key: key({ limits, links: { 100001: "1" } }), left };
  });

/**
 * Expects that of 40 requests at once with a key exactly as many are admitted as are left, so many times.
 *
 * @param keys more than `rounds`: one of which a node decided without Redis, for want of processor time, says nothing
 */
export const expectExactLimits = async (
  nodes: ReadonlyArray<Node>,
  keys: ReadonlyArray<LimitedKey>,
  rounds: number,
): Promise<void> => {
  let exact = 0;
  for (const { key, left } of keys) {
    if (exact === rounds) break;
    await untilNoneIsAlone(nodes);
    const failures = await Effect.runPromise(watchLimitFailures(nodes));
    const answers = await Promise.all(
      inTurn(nodes, parallel).map((node) => node.send("GET /v2/chat?chatId=100001", { key })),
    );
    const admitted = answers.filter((answer) => answer.status === 200);
    const refused = answers.filter((answer) => answer.status === 429);
    if (admitted.length > left && (await Effect.runPromise(failures.nodes)).length > 0) continue;
    expect([admitted.length, refused.length]).toEqual([left, parallel - left]);
    for (const answer of refused) {
      expect(textOf(answer.body["error"]?.["code"])).toBe("RATE_LIMITED");
      expect(Number(answer.headers["retry-after"])).toBeGreaterThan(0);
    }
    exact++;
  }
  expect(exact).toBe(rounds);
};

/** Waits until every node counts in Redis. */
const untilNoneIsAlone = (nodes: ReadonlyArray<Node>) =>
  vi.waitFor(async () => {
    for (const { send } of nodes) {
      expect((await send("GET /metrics")).text).toMatch(/^accountlink_limits_alone(\{\})? 0$/m);
    }
  }, patience);

/** So many of them, each as often as the others. */
const inTurn = (nodes: ReadonlyArray<Node>, count: number): ReadonlyArray<Node> =>
  Array.from({ length: Math.ceil(count / nodes.length) }, () => nodes)
    .flat()
    .slice(0, count);
