/** Which nodes decided on limits without Redis, by their own account. */
import { Effect } from "effect";
import { attempt } from "./attempt.ts";
import type { Node } from "./service.ts";

/** A watch that has begun. */
interface LimitFailures {
  /** Reads the metrics. */
  readonly look: Effect.Effect<void>;
  /** Looks, and gives the nodes that Redis has failed since the watch began. */
  readonly nodes: Effect.Effect<ReadonlyArray<Node>>;
}

/**
 * Watches how often Redis left a node without an answer on a limit, from now on. A node gives it half a second, so one
 * that was frozen, or had no processor time for that long, finds the answer late and decides by its share.
 */
export const watchLimitFailures = Effect.fnUntraced(function* (nodes: ReadonlyArray<Node>) {
  const failed = new Set<Node>();
  const seen = new Map<Node, number>();
  const look = Effect.gen(function* () {
    for (const node of nodes) {
      const count = yield* failuresOf(node);
      if (count === null) continue;
      const before = seen.get(node);
      // One that was started anew counts from 0.
      if (before !== undefined && count !== before && count > 0) failed.add(node);
      seen.set(node, count);
    }
  });
  yield* look;
  const watch: LimitFailures = {
    look,
    nodes: Effect.map(look, () => nodes.filter((node) => failed.has(node))),
  };
  return watch;
});

/** Null when the node does not answer. */
const failuresOf = Effect.fnUntraced(function* (node: Node) {
  if (!node.isUp()) return null;
  const { outcome } = yield* attempt(node, "GET /metrics", {});
  if (outcome.kind !== "answered") return null;
  const found = outcome.answer.text.matchAll(
    /^accountlink_redis_failures_total\{operation="Counters\.\w+"\} (\d+)$/gm,
  );
  return [...found].reduce((sum, [, count]) => sum + Number(count), 0);
});
