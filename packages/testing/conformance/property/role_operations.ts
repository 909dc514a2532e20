/** The operations of `RolePlanStore`, which assigns each role plan to one node. */
import { pauseReasons } from "@accountlink/core/communities";
import {
  noChanges,
  type PlanPreview,
  type PlanProblem,
  type PlanSettings,
  type PreviewStore,
  PreviewTally,
  type RoleChanges,
  type RolePlanStore,
  type RoleRule,
  type SettledMember,
  type Sweep,
} from "@accountlink/core/roles";
import { Effect, Struct } from "effect";
import * as FastCheck from "fast-check";
import { problemOf, settled } from "../roles/role_steps.ts";
import { ada, bob, dan } from "../scopes.ts";
import { at, community, fixed, maybe, mostly, type OperationsOf, operation } from "./operation.ts";
import { nth } from "./subjects.ts";
import { limit } from "./worker_operations.ts";

const { array, constantFrom, nat, record } = FastCheck;

const { scope, guild } = community;
const node = mostly(0, 1);

const chatId = constantFrom(ada, bob, dan);
const chatIds = array(chatId, { maxLength: 3 });
const nickname = maybe(constantFrom("Ädä 🎮", "bob"));

const nicknameOperations = {
  "RolePlanStore.nicknames": operation(
    1,
    { ...community, chatIds: FastCheck.subarray([ada, bob, dan]) },
    ({ plans, place }, input) => plans.nicknames(place, input.chatIds),
  ),
  "RolePlanStore.startNickname": operation(
    1,
    {
      ...community,
      chatId,
      given: constantFrom("ada", "ada\nada\nbob"),
      replaced: maybe(record({ nickname })),
      at,
    },
    ({ plans, place }, { given, ...input }) =>
      plans.startNickname(place, { ...Struct.pick(input, ["chatId", "replaced", "at"]), nickname: given }),
  ),
  "RolePlanStore.keptNicknames": operation(
    1,
    { ...community, after: maybe(chatId), most: constantFrom(1, 2, 10) },
    ({ plans, place }, input) => plans.keptNicknames(place, input.after, input.most),
  ),
  "RolePlanStore.keptNickname": operation(1, { ...community, chatId }, ({ plans, place }, input) =>
    plans.keptNickname(place, input.chatId),
  ),
  "RolePlanStore.countNicknames": operation(1, community, ({ plans, place }) => plans.countNicknames(place)),
  "RolePlanStore.putNicknamesBack": operation(1, { ...community, at }, ({ plans, place, write }) =>
    plans.putNicknamesBack({ ...write, ...place }),
  ),
  "RolePlanStore.puttingBack": fixed(({ plans, guildIds }) =>
    Effect.map(plans.puttingBack(), (all) => all.filter(({ guildId }) => guildIds.includes(guildId))),
  ),
  "RolePlanStore.endPuttingBack": operation(1, community, ({ plans, place }) => plans.endPuttingBack(place)),
  "RolePlanStore.dropNickname": operation(1, { ...community, chatId }, ({ plans, place }, input) =>
    plans.dropNickname(place, input.chatId),
  ),
  "RolePlanStore.forgetNicknames": operation(1, { at }, ({ plans }, input) =>
    plans.forgetNicknames(input.at),
  ),
};

/** The operations of `PreviewStore` on previews. */
const previewOperations = (settings: FastCheck.Arbitrary<PlanSettings>) => {
  const preview: FastCheck.Arbitrary<PlanPreview> = FastCheck.record({
    id: FastCheck.constantFrom("1", "2"),
    settings,
    state: mostly<PlanPreview["state"]>("done", "running"),
    done: FastCheck.constantFrom(0, 3),
  }).map((parts) => ({ ...new PreviewTally(parts.settings).counts, ...parts, total: 3 }));

  return {
    "PreviewStore.start": operation(2, { ...community, preview, at }, ({ previews, place }, input) =>
      previews.start({ ...place, ...Struct.pick(input, ["preview", "at"]) }),
    ),
    "PreviewStore.save": operation(1, { ...community, preview, at }, ({ previews, place }, input) =>
      previews.save({ ...place, ...Struct.pick(input, ["preview", "at"]) }),
    ),
    "PreviewStore.find": operation(1, community, ({ previews, place }) => previews.find(place)),
  } satisfies OperationsOf<"PreviewStore", Pick<PreviewStore["Service"], "start" | "save" | "find">>;
};

const rule: FastCheck.Arbitrary<RoleRule> = constantFrom(
  { roleId: "1", when: { is: "proven" }, nickname: null },
  { roleId: "1", when: { is: "not", of: { is: "role", roleId: "6" } }, nickname: null },
  { roleId: "2", when: { is: "unlinked", days: 7 }, nickname: null },
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

const changes = maybe(
  constantFrom<RoleChanges>(
    { rolesGiven: 2, rolesTaken: 1, nicknamesSet: 1 },
    { rolesGiven: 0, rolesTaken: 0, nicknamesSet: 0 },
  ),
);

export const roleOperations = {
  "RolePlanStore.find": operation(1, community, ({ plans, place }) => plans.find(place)),
  "RolePlanStore.findOn": operation(1, community, ({ plans, place }) => plans.findOn(place.guildId)),
  ...previewOperations(settings),
  ...nicknameOperations,
  "RolePlanStore.list": operation(1, { scope }, ({ plans, pid }) => plans.list(pid)),
  "RolePlanStore.status": operation(1, community, ({ plans, place }) => plans.status(place)),
  "RolePlanStore.put": operation(
    2,
    { ...community, settings, position: nat(3), at, member: maybe(constantFrom(ada, bob)) },
    ({ plans, place, write, account }, { settings: chosen, position, member: by }) => {
      const actor = by === null ? write.actor : ({ type: "account", id: account.name, member: by } as const);
      return plans.put({ ...write, ...place, actor, settings: chosen, position });
    },
  ),
  "RolePlanStore.pause": operation(
    1,
    { ...community, at, why: constantFrom(...pauseReasons) },
    ({ plans, place, write }, { why }) => plans.pause({ ...write, ...place, why }),
  ),
  "RolePlanStore.remove": operation(1, { ...community, at }, ({ plans, place, write }) =>
    plans.remove({ ...write, ...place }),
  ),
  "RolePlanStore.startSweep": operation(1, { ...community, at }, ({ plans, place }, input) =>
    plans.startSweep(place, input.at),
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
    { ...community, node, at, position: nat(3), chatIds, erased: nat(2), sweepOf: maybe(nat(2)) },
    ({ plans, place, nodes }, { guild: _, scope: __, erased, ...input }) =>
      plans.mark({
        ...input,
        ...place,
        erased: input.chatIds.slice(0, erased),
        node: nth(nodes, input.node),
      }),
  ),
  "RolePlanStore.markMember": operation(1, { guild, chatId, at }, ({ plans, place }, input) =>
    plans.markMember(place.guildId, input.chatId, input.at),
  ),
  "RolePlanStore.due": operation(
    1,
    { ...community, at, most: constantFrom(1, 10) },
    ({ plans, place }, input) => plans.due(place, input.at, input.most),
  ),
  "RolePlanStore.settle": operation(
    9,
    {
      ...community,
      node,
      at,
      members: FastCheck.uniqueArray(member, { maxLength: 3, selector: (each) => each.chatId }),
      revision: mostly(1, 0, 2),
      sweep: maybe(constantFrom<Sweep | "ended">("ended", { after: ada, done: 1, total: 2 })),
      changes,
    },
    ({ plans, place, nodes }, { guild: _, scope: __, changes: made, ...input }) =>
      plans.settle({
        ...input,
        ...place,
        ...(made !== null && { changes: made }),
        node: nth(nodes, input.node),
      }),
  ),
  "RolePlanStore.settleOne": operation(1, { ...community, member, at, changes }, ({ plans, place }, input) =>
    plans.settleOne(place, input.member, input.at, input.changes ?? noChanges),
  ),
  "RolePlanStore.setProblem": operation(1, { ...community, at: maybe(at) }, ({ plans, place }, input) =>
    plans.setProblem(place, "reminders_refused", input.at),
  ),
  "RolePlanStore.changedDays": operation(1, community, ({ plans, place }) => plans.changedDays(place)),
  "RolePlanStore.firstNode": fixed(({ plans }) => plans.firstNode("gateway:", 0)),
} satisfies OperationsOf<"RolePlanStore", RolePlanStore["Service"]>;
