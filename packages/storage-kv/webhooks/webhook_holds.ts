/** Which node sends which webhooks. */
import type { Millis } from "@accountlink/core/timestamp";
import type { HeldWebhook, HoldWebhooks } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import type { Database } from "../records/database.ts";
import {
  accounts,
  deliveries,
  type KvWebhook,
  type WebhookNode,
  webhookNodes,
  webhooks,
} from "../records/schema.ts";
import type { Transaction } from "../records/transaction.ts";

/** Nodes are written when a third of their time is over. */
const renewalShare = 0.3;

export const holdWebhooks = Effect.fnUntraced(function* (db: Database["Service"], hold: HoldWebhooks) {
  const { node, at, until, limit } = hold;
  const name = "WebhookStore.hold";
  if (until <= at) {
    yield* db.write(name, (tx) => webhookNodes.remove(tx, node));
    return [];
  }
  const { own, free, isEmpty } = yield* db.read(name, (tx) => readNodes(tx, hold));
  if (isEmpty) return [];
  const isOld = own === undefined || own.until - at < (1 - renewalShare) * (until - at);
  if (isOld || (free > 0 && limit > 0)) yield* db.write(name, (tx) => take(tx, hold));
  return yield* db.read(name, (tx) => readHeld(tx, node));
});

const readNodes = Effect.fnUntraced(function* (tx: Transaction, { node, at }: HoldWebhooks) {
  const nodes = yield* webhookNodes.scan(tx, []);
  const all = yield* webhooks.scan(tx, []);
  const free = all.filter(isFree(nodes, at));
  return { own: nodes.find(({ nodeId }) => nodeId === node), free: free.length, isEmpty: all.length === 0 };
});

/** Whether no live node holds a webhook. */
const isFree = (nodes: ReadonlyArray<WebhookNode>, at: Millis) => {
  const alive = new Set(nodes.filter(({ until }) => until > at).map(({ nodeId }) => nodeId));
  return ({ holder }: KvWebhook): boolean => holder === null || !alive.has(holder);
};

const take = Effect.fnUntraced(function* (tx: Transaction, { node, at, until, limit }: HoldWebhooks) {
  yield* webhookNodes.put(tx, { nodeId: node, until });
  const nodes = yield* webhookNodes.scan(tx, []);
  for (const old of nodes.filter((other) => other.until <= at)) yield* webhookNodes.discard(tx, old);
  const free = (yield* webhooks.scan(tx, [])).filter(isFree(nodes, at));
  for (const webhook of free.slice(0, limit)) yield* webhooks.put(tx, { ...webhook, holder: node });
});

const readHeld = Effect.fnUntraced(function* (tx: Transaction, node: string) {
  const held: Array<HeldWebhook> = [];
  for (const { webhook, position, holder } of yield* webhooks.scan(tx, [])) {
    if (holder !== node || webhook.status !== "active") continue;
    if ((yield* accounts.find(tx, webhook.scope.account))?.status === "suspended") continue;
    const [next] = yield* deliveries.list(tx, "due", [webhook.id], { limit: 1 });
    const [oldest] = yield* deliveries.list(tx, "pending", [webhook.id], { limit: 1 });
    held.push({
      ...webhook,
      position,
      nextAttemptAt: next?.delivery.nextAttemptAt ?? null,
      oldestFailingAt: oldest?.delivery.at ?? null,
    });
  }
  return held;
});
