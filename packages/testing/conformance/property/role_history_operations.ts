/** Operations on the history of roles. */

import type { StoreEffect } from "@accountlink/core/errors";
import {
  changeReasons,
  type KeptRoleChange,
  type PlanNoticeStore,
  type PreviewStore,
  type RoleHistoryStore,
  type RoleReversal,
  roleChangeKinds,
} from "@accountlink/core/roles";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob } from "../scopes.ts";
import {
  at,
  community,
  fixed,
  maybe,
  mostly,
  type OperationsOf,
  operation,
  scope,
  type World,
} from "./operation.ts";
import { limit as mostHeld } from "./worker_operations.ts";

const { array, boolean, constantFrom, nat, record, subarray } = FastCheck;

/** Of either scope alike. */
const anyCommunity = { ...community, scope };
const chatId = constantFrom(ada, bob);
const roleId = mostly("1", "2");
const change = constantFrom(...roleChangeKinds);
const change1 = record({ roleId, change });

const withItem = <Item, A>(
  list: StoreEffect<ReadonlyArray<Item>>,
  index: number,
  use: (item: Item) => StoreEffect<A>,
) =>
  Effect.flatMap(list, (items) => {
    const item = items[index];
    return item === undefined ? Effect.succeed(null) : use(item);
  });

/** Uses one of the newest changes of a community. */
const withNewest = <A>(
  { roleHistory, place }: World,
  index: number,
  use: (change: KeptRoleChange) => StoreEffect<A>,
) => withItem(roleHistory.page(place, null, 4), index, use);

/** Uses one of the reversals in a community. */
const withReversal = <A>(
  { roleHistory, place }: World,
  index: number,
  use: (reversal: RoleReversal) => StoreEffect<A>,
) => withItem(roleHistory.reversals(place), index, use);

/** The communities whose problems changed. How often they did differs between stores, which write in other parts. */
const unseenOf = ({ notices, guildIds }: Pick<World, "notices" | "guildIds">) =>
  Effect.map(notices.unseen(mostHeld), (found) => found.filter(({ guildId }) => guildIds.includes(guildId)));

const which = nat(2);

const preview = constantFrom("one", "two");

export const roleHistoryOperations = {
  "RoleHistoryStore.begin": operation(
    8,
    {
      ...anyCommunity,
      at,
      chatId,
      changes: FastCheck.uniqueArray(change1, { maxLength: 2, selector: (each) => each.roleId }),
      because: constantFrom(...changeReasons),
    },
    ({ roleHistory, place }, { scope: _, guild: __, ...input }) => roleHistory.begin({ ...place, ...input }),
  ),
  "RoleHistoryStore.end": operation(
    6,
    { ...anyCommunity, which, isMade: boolean() },
    (world, { isMade, which: index }) =>
      withNewest(world, index, (found) => world.roleHistory.end([{ change: found, isMade }])),
  ),
  "RoleHistoryStore.page": operation(
    2,
    { ...anyCommunity, before: maybe(nat(8)), limit: constantFrom(1, 100) },
    ({ roleHistory, place }, { before, limit }) => roleHistory.page(place, before, limit),
  ),
  "RoleHistoryStore.givenTo": operation(1, { ...anyCommunity, chatId }, ({ roleHistory, place }, input) =>
    roleHistory.givenTo(place, input.chatId),
  ),
  "RoleHistoryStore.count": operation(
    2,
    { ...anyCommunity, change: change1, since: at },
    ({ roleHistory, place }, input) => roleHistory.count(place, input.change, input.since),
  ),
  "RoleHistoryStore.countByRole": operation(
    2,
    { ...anyCommunity, change, since: at },
    ({ roleHistory, place }, input) => roleHistory.countByRole(place, input.change, input.since),
  ),
  "RoleHistoryStore.close": operation(2, { ...anyCommunity, which }, (world, input) =>
    withNewest(world, input.which, world.roleHistory.close),
  ),
  "RoleHistoryStore.reverse": operation(
    3,
    { ...anyCommunity, at, change, roleIds: array(roleId, { maxLength: 2 }), since: at },
    ({ roleHistory, place, write }, { scope: _, guild: __, ...input }) =>
      roleHistory.reverse({ ...write, ...place, ...input, count: 1 }),
  ),
  "RoleHistoryStore.reversals": operation(1, anyCommunity, ({ roleHistory, place }) =>
    roleHistory.reversals(place),
  ),
  "RoleHistoryStore.toReverse": operation(
    2,
    { ...anyCommunity, which, limit: constantFrom(1, 10) },
    (world, { limit, which: index }) =>
      withReversal(world, index, (reversal) => world.roleHistory.toReverse(reversal, limit)),
  ),
  "RoleHistoryStore.progress": operation(1, { ...anyCommunity, which, at, number: nat(3) }, (world, input) =>
    withReversal(world, input.which, (reversal) =>
      world.roleHistory.progress(reversal, { ...reversal, at: input.at, number: input.number }),
    ),
  ),
  "RoleHistoryStore.stop": operation(1, { ...anyCommunity, which }, (world, input) =>
    withReversal(world, input.which, world.roleHistory.stop),
  ),
  "RoleHistoryStore.forget": fixed(({ roleHistory }) => roleHistory.forget(-9_000)),
  "PreviewStore.add": operation(
    3,
    {
      ...anyCommunity,
      at,
      members: array(
        record({
          preview,
          roleId,
          chatId,
          change,
          kind: constantFrom("linked" as const, "unlinked" as const),
        }),
        { maxLength: 3 },
      ),
    },
    ({ previews, place }, input) => previews.add(place, input.members, input.at),
  ),
  "PreviewStore.page": operation(
    2,
    {
      ...anyCommunity,
      role: record({ preview, roleId, change }),
      after: maybe(chatId),
      limit: constantFrom(1, 9),
    },
    ({ previews, place }, { role, after, limit }) => previews.page(place, role, after, limit),
  ),
  "PreviewStore.drop": operation(1, { ...anyCommunity, preview }, ({ previews, place }, input) =>
    previews.drop(place, input.preview),
  ),
  "PreviewStore.forget": fixed(({ previews }) => previews.forget(-9_000)),
  "PlanNoticeStore.setProblems": operation(
    2,
    { ...anyCommunity, at, isOfNow: boolean(), problems: subarray(["one", "other"]) },
    ({ place, ...world }, { isOfNow, problems, ...input }) =>
      Effect.flatMap(unseenOf(world), (unseen) => {
        const changed = unseen.find(({ pid, guildId }) => pid === place.pid && guildId === place.guildId);
        const unseenAt = isOfNow ? (changed?.unseenAt ?? null) : null;
        return world.notices.setProblems({ ...place, unseenAt, problems, at: input.at });
      }),
  ),
  "PlanNoticeStore.settle": operation(
    2,
    { ...anyCommunity, dueAt: maybe(at), toldAt: maybe(at), nextAt: maybe(at) },
    ({ notices, place }, { dueAt, toldAt, nextAt }) =>
      notices.settle({ ...place, dueAt }, { toldAt, dueAt: nextAt }),
  ),
  "PlanNoticeStore.unseen": operation(1, {}, (world) =>
    Effect.map(unseenOf(world), (found) => new Set(found.map(({ pid, guildId }) => `${pid} ${guildId}`))),
  ),
  "PlanNoticeStore.due": operation(1, { at }, ({ notices, guildIds }, input) =>
    Effect.map(notices.due(input.at, mostHeld, null), (found) =>
      found.flatMap(({ problemAt: _, unseenAt: __, ...notice }) =>
        guildIds.includes(notice.guildId) ? [notice] : [],
      ),
    ),
  ),
} satisfies OperationsOf<"RoleHistoryStore", RoleHistoryStore["Service"]> &
  OperationsOf<"PreviewStore", Omit<PreviewStore["Service"], "start" | "save" | "find">> &
  OperationsOf<"PlanNoticeStore", PlanNoticeStore["Service"]>;
