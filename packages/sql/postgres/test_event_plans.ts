/** For tests: SQL that adds many events and webhook deliveries, and the store operations on them. */
import { EventStore, Pid } from "@accountlink/core";
import { type WebhookId, WebhookStore } from "@accountlink/core/webhooks";
import { makeDelivery } from "@accountlink/testing";
import { Effect, Option } from "effect";

const number = 100;
const pid = Pid.make(`pid_${`${number}`.padStart(16, "0")}`);
const id = `wh_${`${number}`.padStart(20, "0")}` as WebhookId;
const eventIdOf = (index: number) => `evt_${`${index}`.padStart(26, "0")}`;

/** Adds to each scope a thousand events, and a webhook that has tried to deliver them. */
export const fillEvents = (accounts: number) => `
  INSERT INTO events (pid, position, id, type, at, data)
    SELECT 'pid_' || lpad((i / 1000)::text, 16, '0'), i % 1000, 'evt_' || lpad(i::text, 26, '0'), 'link.set', i, '{}'
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO events (pid, id, type, at, data)
    SELECT '${pid}', 'evt_' || lpad(i::text, 26, '0'), 'link.set', i, '{}' FROM generate_series(1, 3) AS i;
  INSERT INTO feed_starts (pid, position) SELECT pid, 1 FROM scopes;
  INSERT INTO webhooks (id, pid, url, types, description, status, created_at, secrets, position, holder)
    SELECT 'wh_' || lpad(substr(pid, 5), 20, '0'), pid, 'https://example.com', '[]', '', 'active', 1, '[]', 995, 'node'
    FROM scopes;
  INSERT INTO webhook_deliveries (webhook_id, event_id, position, type, at, status, attempts, resends, next_attempt_at, lane)
    SELECT 'wh_' || lpad((i / 1000)::text, 20, '0'), 'evt_' || lpad((i % 1000)::text, 26, '0'), i % 1000, 'link.set', i,
      CASE WHEN i % 100 = 0 THEN 'failing' ELSE 'delivered' END, 1, 0,
      CASE WHEN i % 100 = 0 THEN i END, CASE WHEN i % 100 = 0 THEN 'lane ' || i % 1000 END
    FROM generate_series(1000, ${accounts * 1_000}) AS i;
  INSERT INTO webhook_deliveries (webhook_id, event_id, position, type, at, status, attempts, resends, lane)
    SELECT '${waiting}', 'evt_' || lpad(i::text, 26, '0'), i, 'link.set', i, 'waiting', 0, 0, 'lane 100'
    FROM generate_series(1001, 3000) AS i;
`;

/** A webhook whose receiver is down, so that its latest events wait. */
const waiting = `wh_${`${number + 1}`.padStart(20, "0")}` as WebhookId;

const delivery = makeDelivery({
  eventId: eventIdOf(200),
  position: 200,
  status: "delivered",
  error: null,
  nextAttemptAt: null,
});

const origin = { actor: { type: "operator", id: "test" }, requestId: null, at: 1 } as const;

export const eventOperations = {
  "EventStore.range": EventStore.use((events) => events.range(pid)),
  "EventStore.read": EventStore.use((events) => Effect.map(events.read(pid, 500, 50), Option.getOrThrow)),
  "EventStore.readBack": EventStore.use((events) => events.readBack(pid, 500, 50)),
  "EventStore.newer": EventStore.use((events) => events.newer([{ pid, after: 999 }])),
  "EventStore.oldestAt": EventStore.use((events) => events.oldestAt()),
  "WebhookStore.find": WebhookStore.use((webhooks) => webhooks.find(id)),
  "WebhookStore.list": WebhookStore.use((webhooks) =>
    webhooks.list({ account: `account ${number}`, id: null }),
  ),
  "WebhookStore.update": WebhookStore.use((webhooks) =>
    webhooks.update({ ...origin, id, change: { description: "Another" } }),
  ),
  "WebhookStore.deliveries": WebhookStore.use((webhooks) =>
    webhooks.deliveries(waiting, { status: null, before: null, limit: 25 }),
  ),
  "WebhookStore.deliveries of a status": WebhookStore.use((webhooks) =>
    webhooks.deliveries(id, { status: "failing", before: eventIdOf(900), limit: 5 }),
  ),
  "WebhookStore.look": WebhookStore.use((webhooks) =>
    webhooks.look(id, [eventIdOf(1), eventIdOf(2)], ["lane 100", "lane 1"]),
  ),
  "WebhookStore.due": WebhookStore.use((webhooks) => webhooks.due(id, number * 1_000 + 500, 5)),
  "WebhookStore.record": WebhookStore.use((webhooks) =>
    webhooks.record({
      id,
      node: "node",
      at: 1,
      position: 996,
      deliveries: [delivery],
      freedLanes: ["lane 200"],
      deliveredAt: 1,
      failedAt: null,
    }),
  ),
  "WebhookStore.recordRequested": WebhookStore.use((webhooks) =>
    webhooks.recordRequested({
      id,
      delivery,
      attemptedAt: 1,
      endedAt: 1,
      type: null,
      status: 204,
      error: null,
    }),
  ),
};
