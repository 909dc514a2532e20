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
import { at, fixed, maybe, mostly, type OperationsOf, operation, scope, type World } from "./operation.ts";
import { nth } from "./subjects.ts";
import { limit as mostHeld } from "./worker_operations.ts";

const { array, boolean, constantFrom, nat, record, subarray } = FastCheck;

const guild = mostly(0, 1);
const chatId = constantFrom(ada, bob);
const roleId = mostly("1", "2");
const change = constantFrom(...roleChangeKinds);
const change1 = record({ roleId, change });

const placeOf = ({ pid, guildIds }: World, input: { readonly guild: number }) => ({
  pid,
  guildId: nth(guildIds, input.guild),
});

/** One of the newest changes of a community. */
const withNewest = <A>(
  world: World,
  input: { readonly guild: number; readonly which: number },
  use: (change: KeptRoleChange) => StoreEffect<A>,
) =>
  Effect.map(world.roleHistory.page(placeOf(world, input), null, 4), (page) => page[input.which]).pipe(
    Effect.flatMap((found) => (found === undefined ? Effect.succeed(null) : use(found))),
  );

/** One of what is being reversed in a community. */
const withReversal = <A>(
  world: World,
  input: { readonly guild: number; readonly which: number },
  use: (reversal: RoleReversal) => StoreEffect<A>,
) =>
  Effect.map(world.roleHistory.reversals(placeOf(world, input)), (all) => all[input.which]).pipe(
    Effect.flatMap((found) => (found === undefined ? Effect.succeed(null) : use(found))),
  );

/** The communities whose problems changed. How often they did differs between stores, which write in other parts. */
const unseenOf = ({ notices, guildIds }: World) =>
  Effect.map(notices.unseen(mostHeld), (found) => found.filter(({ guildId }) => guildIds.includes(guildId)));

const which = nat(2);

const preview = constantFrom("one", "two");

export const roleHistoryOperations = {
  "RoleHistoryStore.begin": operation(
    8,
    {
      scope,
      guild,
      at,
      chatId,
      changes: FastCheck.uniqueArray(change1, { maxLength: 2, selector: (each) => each.roleId }),
      because: constantFrom(...changeReasons),
    },
    (world, { scope: _, guild: __, ...input }) =>
      world.roleHistory.begin({ ...placeOf(world, { guild: __ }), ...input }),
  ),
  "RoleHistoryStore.end": operation(
    6,
    { scope, guild, which, isMade: boolean() },
    (world, { isMade, ...input }) =>
      withNewest(world, input, (found) => world.roleHistory.end([{ change: found, isMade }])),
  ),
  "RoleHistoryStore.page": operation(
    2,
    { scope, guild, before: maybe(nat(8)), limit: constantFrom(1, 100) },
    (world, { before, limit, ...input }) => world.roleHistory.page(placeOf(world, input), before, limit),
  ),
  "RoleHistoryStore.givenTo": operation(1, { scope, guild, chatId }, (world, input) =>
    world.roleHistory.givenTo(placeOf(world, input), input.chatId),
  ),
  "RoleHistoryStore.count": operation(
    2,
    { scope, guild, change: change1, since: at },
    (world, { change: counted, since, ...input }) =>
      world.roleHistory.count(placeOf(world, input), counted, since),
  ),
  "RoleHistoryStore.countByRole": operation(
    2,
    { scope, guild, change, since: at },
    (world, { change: counted, since, ...input }) =>
      world.roleHistory.countByRole(placeOf(world, input), counted, since),
  ),
  "RoleHistoryStore.close": operation(2, { scope, guild, which }, (world, input) =>
    withNewest(world, input, world.roleHistory.close),
  ),
  "RoleHistoryStore.reverse": operation(
    3,
    { scope, guild, at, change, roleIds: array(roleId, { minLength: 1, maxLength: 2 }), since: at },
    (world, { scope: _, guild: of, ...input }) =>
      world.roleHistory.reverse({ ...world.write, ...placeOf(world, { guild: of }), ...input, count: 1 }),
  ),
  "RoleHistoryStore.reversals": operation(1, { scope, guild }, (world, input) =>
    world.roleHistory.reversals(placeOf(world, input)),
  ),
  "RoleHistoryStore.toReverse": operation(
    2,
    { scope, guild, which, limit: constantFrom(1, 10) },
    (world, { limit, ...input }) =>
      withReversal(world, input, (reversal) => world.roleHistory.toReverse(reversal, limit)),
  ),
  "RoleHistoryStore.progress": operation(1, { scope, guild, which, at, number: nat(3) }, (world, input) =>
    withReversal(world, input, (reversal) =>
      world.roleHistory.progress(reversal, { ...reversal, at: input.at, number: input.number }),
    ),
  ),
  "RoleHistoryStore.stop": operation(1, { scope, guild, which }, (world, input) =>
    withReversal(world, input, world.roleHistory.stop),
  ),
  "RoleHistoryStore.forget": fixed(({ roleHistory }) => roleHistory.forget(-9_000)),
  "PreviewStore.add": operation(
    3,
    {
      scope,
      guild,
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
    (world, { members, at: time, ...input }) => world.previews.add(placeOf(world, input), members, time),
  ),
  "PreviewStore.page": operation(
    2,
    {
      scope,
      guild,
      role: record({ preview, roleId, change }),
      after: maybe(chatId),
      limit: constantFrom(1, 9),
    },
    (world, { role, after, limit, ...input }) =>
      world.previews.page(placeOf(world, input), role, after, limit),
  ),
  "PreviewStore.drop": operation(1, { scope, guild, preview }, (world, input) =>
    world.previews.drop(placeOf(world, input), input.preview),
  ),
  "PreviewStore.forget": fixed(({ previews }) => previews.forget(-9_000)),
  "PlanNoticeStore.setProblems": operation(
    2,
    { scope, guild, at, isOfNow: boolean(), problems: subarray(["one", "other"]) },
    (world, { isOfNow, problems, ...input }) =>
      Effect.flatMap(unseenOf(world), (unseen) => {
        const place = placeOf(world, input);
        const changed = unseen.find(({ pid, guildId }) => pid === place.pid && guildId === place.guildId);
        const unseenAt = isOfNow ? (changed?.unseenAt ?? null) : null;
        return world.notices.setProblems({ ...place, unseenAt, problems, at: input.at });
      }),
  ),
  "PlanNoticeStore.settle": operation(
    2,
    { scope, guild, dueAt: maybe(at), toldAt: maybe(at), nextAt: maybe(at) },
    (world, { dueAt, toldAt, nextAt, ...input }) =>
      world.notices.settle({ ...placeOf(world, input), dueAt }, { toldAt, dueAt: nextAt }),
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
