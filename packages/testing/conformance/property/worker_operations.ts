/** The operations of `WebhookStore` and `RolePlanStore`, which assign each webhook and each role plan to one node. */
import { pauseReasons } from "@accountlink/core/communities";
import type {
  PlanProblem,
  PlanSettings,
  RolePlanStore,
  RoleRule,
  SettledMember,
  Sweep,
} from "@accountlink/core/roles";
import type { Millis } from "@accountlink/core/timestamp";
import type { StoredDelivery, WebhookChange, WebhookStore } from "@accountlink/core/webhooks";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { makeDelivery, makeWebhook } from "../../mod.ts";
import { problemOf, settled } from "../roles/role_steps.ts";
import { ada, bob, dan, type ScopeName } from "../scopes.ts";
import { nicknameOperations } from "./nickname_operations.ts";
import { at, fixed, maybe, mostly, type OperationsOf, operation } from "./operation.ts";
import { previewOperations } from "./preview_operations.ts";
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

const change: FastCheck.Arbitrary<WebhookChange> = oneof(
  record(
    {
      url: constantFrom("https://example.com/a", "https://example.com/b"),
      types: constantFrom([], ["link.set"]),
      description: constantFrom("", "B"),
      status: constantFrom("active", "paused"),
    },
    { requiredKeys: [] },
  ),
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

/** The lanes of each event. */
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

const guild = mostly(0, 1);
const chatId = constantFrom(ada, bob, dan);
const chatIds = array(chatId, { maxLength: 3 });
const nickname = maybe(constantFrom("Ädä 🎮", "bob"));

const rule: FastCheck.Arbitrary<RoleRule> = constantFrom(
  { roleId: "1", when: { is: "proven" }, nickname: null },
  {
    roleId: "2",
    when: { is: "all", of: [{ is: "linked" }, { is: "group", groupId: "9", minRank: 100, maxRank: null }] },
    nickname: "{game.username} Ä",
  },
);

const settings: FastCheck.Arbitrary<PlanSettings> = record({
  rules: array(rule, { maxLength: 2 }),
  nickname: maybe(constantFrom("{game.username} 🎮")),
  nicknameGroupId: maybe(constantFrom("9")),
  bypassRoleIds: FastCheck.subarray(["3", "4"]),
  nicknameBypassRoleIds: FastCheck.subarray(["5"]),
  unlinked: mostly("remove", "keep"),
  state: mostly("on", "paused"),
});

const problem = record({
  roleId: maybe(constantFrom("1", "2")),
  reason: constantFrom<PlanProblem["reason"]>("role_above_bot", "role_missing"),
  at,
});

const member: FastCheck.Arbitrary<SettledMember> = record({
  chatId,
  mark: maybe(constantFrom(1, 2)),
  retryAt: maybe(at),
  nickname,
  problems: array(problem, { maxLength: 1 }),
}).map(({ problems, ...each }) =>
  settled(each.chatId, { ...each, problems: problems.map((parts) => problemOf(each.chatId, parts)) }),
);

export const roleOperations = {
  "RolePlanStore.find": operation(1, { scope, guild }, ({ plans, guildIds, pid }, input) =>
    plans.find({ pid, guildId: nth(guildIds, input.guild) }),
  ),
  ...previewOperations(settings),
  ...nicknameOperations,
  "RolePlanStore.list": operation(1, { scope }, ({ plans, pid }) => plans.list(pid)),
  "RolePlanStore.status": operation(1, { scope, guild }, ({ plans, guildIds, pid }, input) =>
    plans.status({ pid, guildId: nth(guildIds, input.guild) }),
  ),
  "RolePlanStore.put": operation(
    2,
    { scope, guild, settings, position: nat(3), at, member: maybe(constantFrom(ada, bob)) },
    ({ plans, guildIds, write, account }, { guild: of, settings: chosen, position: end, member: by }) => {
      const actor = by === null ? write.actor : ({ type: "account", id: account.name, member: by } as const);
      const guildId = nth(guildIds, of);
      return plans.put({ ...write, actor, guildId, settings: chosen, position: end });
    },
  ),
  "RolePlanStore.pause": operation(
    1,
    { scope, guild, at, why: constantFrom(...pauseReasons) },
    ({ plans, guildIds, write }, { why, ...input }) =>
      plans.pause({ ...write, guildId: nth(guildIds, input.guild), why }),
  ),
  "RolePlanStore.remove": operation(1, { scope, guild, at }, ({ plans, guildIds, write }, input) =>
    plans.remove({ ...write, guildId: nth(guildIds, input.guild) }),
  ),
  "RolePlanStore.startSweep": operation(1, { scope, guild, at }, ({ plans, guildIds, pid }, input) =>
    plans.startSweep({ pid, guildId: nth(guildIds, input.guild) }, input.at),
  ),
  "RolePlanStore.hold": operation(
    4,
    { node, at, lasts: mostly(4, 0) },
    ({ plans, guildIds, nodes }, { lasts, ...input }) =>
      Effect.map(
        plans.hold({ node: nth(nodes, input.node), at: input.at, until: input.at + lasts, limit }),
        (held) => new Set(held.filter(({ guildId }) => guildIds.includes(guildId))),
      ),
  ),
  "RolePlanStore.mark": operation(
    6,
    { scope, guild, node, at, position: nat(3), chatIds, erased: nat(2), sweepOf: maybe(nat(2)) },
    ({ plans, guildIds, nodes, pid }, { guild: of, scope: _, erased, ...input }) =>
      plans.mark({
        ...input,
        erased: input.chatIds.slice(0, erased),
        pid,
        guildId: nth(guildIds, of),
        node: nth(nodes, input.node),
      }),
  ),
  "RolePlanStore.markMember": operation(1, { guild, chatId, at }, ({ plans, guildIds }, input) =>
    plans.markMember(nth(guildIds, input.guild), input.chatId, input.at),
  ),
  "RolePlanStore.due": operation(
    1,
    { scope, guild, at, most: constantFrom(1, 10) },
    ({ plans, guildIds, pid }, input) =>
      plans.due({ pid, guildId: nth(guildIds, input.guild) }, input.at, input.most),
  ),
  "RolePlanStore.settle": operation(
    9,
    {
      scope,
      guild,
      node,
      at,
      members: FastCheck.uniqueArray(member, { maxLength: 3, selector: (each) => each.chatId }),
      revision: mostly(1, 0, 2),
      sweep: maybe(constantFrom<Sweep | "ended">("ended", { after: ada, done: 1, total: 2 })),
    },
    ({ plans, guildIds, nodes, pid }, { guild: of, scope: _, ...input }) =>
      plans.settle({ ...input, pid, guildId: nth(guildIds, of), node: nth(nodes, input.node) }),
  ),
  "RolePlanStore.settleOne": operation(1, { scope, guild, member, at }, ({ plans, guildIds, pid }, input) =>
    plans.settleOne({ pid, guildId: nth(guildIds, input.guild) }, input.member, input.at),
  ),
  "RolePlanStore.firstNode": fixed(({ plans }) => plans.firstNode("gateway:", 0)),
} satisfies OperationsOf<"RolePlanStore", RolePlanStore["Service"]>;
