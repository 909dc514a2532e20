/** The operations of `WebhookStore`, which assigns each webhook to one node. */
import type { Millis } from "@accountlink/core/timestamp";
import type { StoredDelivery, WebhookChange, WebhookStore, WebhookUpdate } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { makeDelivery, makeWebhook } from "../../mod.ts";
import type { ScopeName } from "../scopes.ts";
import { at, maybe, mostly, type OperationsOf, operation } from "./operation.ts";
import { nth } from "./subjects.ts";

const { array, constant, constantFrom, nat, oneof, record, subarray } = FastCheck;

const scope = mostly<ScopeName>("global", "guild");
const node = mostly(0, 1);
const webhook = mostly(0, 1, 2);
const event = nat(3);
const lanes = subarray(["a", "b"]);

/** Positions after all events, since the positions of events differ between stores. */
const position = nat(2).map((events) => 2 ** 41 + events);
/** More than the webhooks, plans and logs of all runs. */
export const limit = 1_000_000;

/** Some fields of a webhook, with the values of `makeWebhook` and others. */
export const webhookFields = record<WebhookUpdate>(
  {
    url: constantFrom("https://example.com/links", "https://example.com/b"),
    types: constantFrom([], ["link.set"]),
    description: constantFrom("", "B"),
    status: constantFrom("active", "paused"),
  },
  { requiredKeys: [] },
);

const change: FastCheck.Arbitrary<WebhookChange> = oneof(
  webhookFields,
  record({ sealed: constantFrom("second", "third"), previousUntil: at }),
  record({ disabledReason: constant("gone") }),
);

export interface Delivery extends Pick<StoredDelivery, "status" | "attempts" | "resends"> {
  readonly event: number;
  readonly nextAt: Millis;
}

const delivery: FastCheck.Arbitrary<Delivery> = record({
  event,
  nextAt: at,
  status: constantFrom("failing", "failing", "waiting", "delivered", "given_up"),
  attempts: nat(2),
  resends: nat(1),
});

const eventLanes = [["a"], ["a", "b"], ["b"], []];

const results = {
  failing: { responseStatus: 500, error: "status" },
  waiting: { responseStatus: null, error: null },
  delivered: { responseStatus: 204, error: null },
  given_up: { responseStatus: null, error: "timeout" },
} as const;

/** Only failing deliveries have a next attempt, and only failing and waiting ones have lanes. */
const deliveryOf = (eventIds: ReadonlyArray<string>, { event: number, nextAt, ...parts }: Delivery) => {
  const isOpen = parts.status === "failing" || parts.status === "waiting";
  return makeDelivery({
    ...parts,
    eventId: nth(eventIds, number),
    position: 2 ** 40 + number,
    at: number,
    nextAttemptAt: parts.status === "failing" ? nextAt : null,
    lanes: isOpen ? nth(eventLanes, number) : [],
    ...results[parts.status],
  });
};

export const webhookOperations = {
  "WebhookStore.insert": operation(
    3,
    { scope, at, webhook, position },
    ({ webhooks, webhookIds, ...world }, input) => {
      const made = makeWebhook(world.scope, { id: nth(webhookIds, input.webhook), createdAt: input.at });
      const rest = { sealed: "sealed", position: input.position, maxOfScope: 9 };
      return webhooks.insert({ ...world.write, ...rest, webhook: made });
    },
  ),
  "WebhookStore.find": operation(1, { webhook }, ({ webhooks, webhookIds }, input) =>
    webhooks.find(nth(webhookIds, input.webhook)),
  ),
  "WebhookStore.list": operation(1, { of: maybe(webhook) }, (world, { of }) =>
    world.webhooks.list({
      account: world.account.name,
      id: of === null ? null : nth(world.webhookIds, of),
    }),
  ),
  "WebhookStore.update": operation(3, { webhook, change, at }, ({ webhooks, webhookIds, write }, input) =>
    webhooks.update({ ...write, id: nth(webhookIds, input.webhook), change: input.change }),
  ),
  "WebhookStore.remove": operation(1, { webhook, at }, ({ webhooks, webhookIds, write }, input) =>
    webhooks.remove({ ...write, id: nth(webhookIds, input.webhook) }),
  ),
  "WebhookStore.deliveries": operation(
    1,
    {
      webhook,
      status: maybe(constantFrom("delivered", "failing", "given_up")),
      before: maybe(event),
      most: constantFrom(1, 10),
    },
    ({ webhooks, webhookIds, eventIds }, { status, before, most, ...input }) =>
      webhooks.deliveries(nth(webhookIds, input.webhook), {
        status,
        before: before === null ? null : nth(eventIds, before),
        limit: most,
      }),
  ),
  "WebhookStore.findDelivery": operation(1, { webhook, event }, ({ webhooks, webhookIds, eventIds }, input) =>
    webhooks.findDelivery(nth(webhookIds, input.webhook), nth(eventIds, input.event)),
  ),
  "WebhookStore.recordRequested": operation(
    2,
    { webhook, delivery, status: constantFrom(204, 500), at },
    ({ webhooks, webhookIds, eventIds }, { status, ...input }) =>
      webhooks.recordRequested({
        id: nth(webhookIds, input.webhook),
        // An event without a stored delivery, such as a test, has no lanes.
        delivery: { ...deliveryOf(eventIds, { ...input.delivery, status: "failing" }), lanes: [] },
        attemptedAt: input.at,
        endedAt: input.at,
        type: null,
        status,
        error: status === 204 ? null : "status",
      }),
  ),
  "WebhookStore.hold": operation(
    4,
    { node, at, lasts: mostly(4, 0) },
    ({ webhooks, webhookIds, nodes }, { lasts, ...input }) =>
      Effect.map(
        webhooks.hold({ node: nth(nodes, input.node), at: input.at, until: input.at + lasts, limit }),
        (held) => new Set(held.filter(({ id }) => webhookIds.includes(id))),
      ),
  ),
  "WebhookStore.look": operation(
    1,
    { webhook, events: array(event), lanes },
    ({ webhooks, webhookIds, eventIds }, input) => {
      const ids = input.events.map((each) => nth(eventIds, each));
      return Effect.map(
        webhooks.look(nth(webhookIds, input.webhook), ids, input.lanes),
        ({ known, blocked }) => [new Set(known), new Set(blocked)],
      );
    },
  ),
  "WebhookStore.due": operation(
    1,
    { webhook, at, most: constantFrom(1, 10) },
    ({ webhooks, webhookIds }, { most, ...input }) =>
      Effect.map(webhooks.due(nth(webhookIds, input.webhook), input.at, most), (due) => ({
        times: due.map(({ nextAttemptAt }) => nextAttemptAt),
        // Deliveries with the same time may have any order.
        due: most === 1 ? null : new Set(due),
      })),
  ),
  "WebhookStore.sendPending": operation(1, { webhook, at }, ({ webhooks, webhookIds }, input) =>
    webhooks.sendPending(nth(webhookIds, input.webhook), input.at),
  ),
  "WebhookStore.record": operation(
    6,
    {
      webhook,
      node,
      at,
      position,
      deliveries: FastCheck.uniqueArray(delivery, { maxLength: 3, selector: (each) => each.event }),
      freedLanes: lanes,
      deliveredAt: maybe(at),
      failedAt: maybe(at),
    },
    ({ webhooks, webhookIds, nodes, eventIds }, { webhook: of, ...input }) =>
      webhooks.record({
        ...input,
        id: nth(webhookIds, of),
        node: nth(nodes, input.node),
        deliveries: input.deliveries.map((each) => deliveryOf(eventIds, each)),
      }),
  ),
  "WebhookStore.sweep": operation(1, { at }, ({ webhooks }, input) =>
    Effect.asVoid(webhooks.sweep(input.at)),
  ),
} satisfies OperationsOf<"WebhookStore", WebhookStore["Service"]>;
