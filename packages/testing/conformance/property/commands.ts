/**
 * Random commands for a store, as data. They choose from few users, games, keys and scopes, so that one command often
 * affects another.
 *
 * @internal
 */
import { noPlan } from "@accountlink/core/roles";
import { Struct } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, chess, dan } from "../scopes.ts";
import { blockOperations } from "./block_operations.ts";
import { communityOperations, logTurnedOn } from "./community_operations.ts";
import { guildLogOperations } from "./guild_log_operations.ts";
import { keyOperations, usageOperations } from "./key_operations.ts";
import { historyOperations, importOperations, linkOperations } from "./link_operations.ts";
import type { Operation } from "./operation.ts";
import {
  memberOperations,
  sightingOperations,
  suspectOperations,
  userOperations,
} from "./people_operations.ts";
import { roleHistoryOperations } from "./role_history_operations.ts";
import { roleOperations } from "./role_operations.ts";
import type { Command } from "./storage_operations.ts";
import { challengeWalk, verificationOperations, verificationWalk } from "./verification_operations.ts";
import { webhookOperations } from "./worker_operations.ts";

export { type Operation, type Ports, ports, storePorts } from "./operation.ts";
export { plain, runCommand } from "./run_command.ts";
export type { Command } from "./storage_operations.ts";
export { storageOperations } from "./storage_operations.ts";
export { newSubjects, storeSubjects } from "./subjects.ts";
export { type UndoLaw, undoLaws } from "./undo_laws.ts";
export { verificationWalk } from "./verification_operations.ts";

type Inputs = Readonly<Record<string, Pick<Operation<object>, "weight" | "input">>>;

/** Commands of these operations, each as often as its weight says. */
const commandOf = (operations: Inputs): FastCheck.Arbitrary<Command> =>
  FastCheck.oneof(
    ...Object.entries(operations).map(([op, { weight, input }]) => ({
      weight,
      arbitrary: input.map((fields) => ({ op, ...fields }) as Command),
    })),
  );

export const sweepCommand = commandOf({
  "SessionStore.sweep": { ...verificationOperations["SessionStore.sweep"], weight: 1 },
});

const deleteCommand = commandOf({ "LinkStore.deleteScope": linkOperations["LinkStore.deleteScope"] });

const importCommand = commandOf({ "ImportStore.importBatch": importOperations["ImportStore.importBatch"] });

const fileCommand = (isContinued: boolean) =>
  FastCheck.tuple(importCommand, FastCheck.nat(2), FastCheck.boolean()).map(
    ([command, number, isUndoable]) => ({ ...command, file: { number, isUndoable, isContinued } }) as Command,
  );

const linkCommand = commandOf(
  Struct.pick(linkOperations, [
    "LinkStore.setGame",
    "LinkStore.moveChat",
    "LinkStore.removeGame",
    "LinkStore.restoreGame",
  ]),
);

const blockCommand = commandOf(Struct.pick(blockOperations, ["BlockStore.set", "BlockStore.remove"]));

/** May allow one chat user for each game user from then on. */
const settingsCommand = commandOf(Struct.pick(usageOperations, ["KeyStore.updateSettings"]));

const reviewCommand = commandOf({ "AltReviewStore.set": sightingOperations["AltReviewStore.set"] });

const eraseCommand = commandOf({
  "UserStore.erase": userOperations["UserStore.erase"],
  "SightingStore.forget": { ...sightingOperations["SightingStore.forget"], weight: 2 },
});

const memberCommand = commandOf({ "MemberStore.change": memberOperations["MemberStore.change"] });

const accountCommand = commandOf({ "KeyStore.updateAccount": keyOperations["KeyStore.updateAccount"] });

/** Commands that may run concurrently: on links, keys, sessions and flows. */
export const anyCommand: FastCheck.Arbitrary<Command> = FastCheck.oneof(
  { weight: 3, arbitrary: commandOf(linkOperations) },
  { weight: 3, arbitrary: commandOf(keyOperations) },
  { weight: 4, arbitrary: commandOf(verificationOperations) },
);

/** One command, as often as its weight says. */
const one = (weight: number, command: FastCheck.Arbitrary<Command>) => ({
  weight,
  arbitrary: command.map((each): ReadonlyArray<Command> => [each]),
});

const sequencesOf = (
  maxLength: number,
  ...parts: ReadonlyArray<FastCheck.WeightedArbitrary<ReadonlyArray<Command>>>
): FastCheck.Arbitrary<ReadonlyArray<Command>> =>
  FastCheck.array(FastCheck.oneof(...parts), { minLength: maxLength / 2, maxLength, size: "max" }).map(
    (all) => all.flat(),
  );

export const verifications = (maxLength: number) =>
  sequencesOf(
    maxLength,
    one(12, anyCommand),
    one(1, commandOf(blockOperations)),
    { weight: 3, arbitrary: verificationWalk },
    { weight: 1, arbitrary: challengeWalk },
    one(1, sweepCommand),
    one(1, commandOf(Struct.pick(suspectOperations, ["SuspectStore.settleLink"]))),
  );

const inGlobalScope = (command: Command): Command =>
  "scope" in command ? { ...command, scope: "global" } : command;

/** What may have happened before an act: of links, imports, blocks, reviews, rules and their history, and the team. */
export const historyCommands = sequencesOf(
  12,
  one(4, linkCommand),
  one(1, importCommand),
  one(1, blockCommand),
  one(1, reviewCommand),
  one(1, commandOf(Struct.pick(roleOperations, ["RolePlanStore.put", "RolePlanStore.pause"]))),
  one(
    2,
    commandOf(
      Struct.pick(roleHistoryOperations, [
        "RoleHistoryStore.begin",
        "RoleHistoryStore.end",
        "RoleHistoryStore.close",
      ]),
    ),
  ),
  one(1, eraseCommand),
  one(1, deleteCommand),
  one(2, memberCommand),
  one(1, accountCommand),
).map((commands) => commands.map(inGlobalScope));

const plan = { scope: "global", guild: 0 } as const;

const planTurnedOn = {
  op: "RolePlanStore.put",
  ...plan,
  settings: { ...noPlan, state: "on" },
  at: 0,
  position: 0,
  member: null,
} as const;

/**
 * Lets time pass between the holds, since the clocks of nodes do not go back: half a lease each time, because a store
 * need not renew a lease that has more time left.
 */
const holdInOrder = (commands: ReadonlyArray<Command>): ReadonlyArray<Command> =>
  commands.map((command, place) => ("lasts" in command ? { ...command, at: (place >> 2) * 2 } : command));

/** Sequences that begin with a webhook or plan that a node holds, and end with reads of everything about it. */
const workersOf = (operations: Inputs, begin: ReadonlyArray<Command>, end: ReadonlyArray<Command>) =>
  sequencesOf(40, one(20, commandOf(operations)), one(1, accountCommand)).map((commands) =>
    holdInOrder([...begin, ...commands, ...end]),
  );

const mostlyGlobal = (commands: ReadonlyArray<Command>): ReadonlyArray<Command> =>
  commands.map((command, place) => (place % 5 === 4 ? command : inGlobalScope(command)));

/** Links of three users, since suspects are pairs of linked users. */
const linked: ReadonlyArray<Command> = [ada, bob, dan].map((chatId) => ({
  op: "LinkStore.setGame",
  scope: "global",
  chatId,
  gameId: chess,
  at: 0,
}));

/** Sequences on subjects that do not affect each other, so that each sequence is long enough to reach rare states. */
export const sequences = {
  "links, keys and verifications": FastCheck.tuple(settingsCommand, verifications(40)).map((parts) =>
    parts.flat(),
  ),
  "undone imports": FastCheck.tuple(
    sequencesOf(
      40,
      one(2, fileCommand(false)),
      one(1, linkCommand),
      one(1, settingsCommand),
      one(1, blockCommand),
      one(1, eraseCommand),
      one(3, commandOf(importOperations)),
    ),
    deleteCommand.map((each) => [each]),
    sequencesOf(6, one(1, fileCommand(true)), one(1, commandOf(importOperations))),
  ).map((parts) => parts.flat()),
  "members and sign-ins": sequencesOf(40, one(1, commandOf(memberOperations))),
  "sightings and reviews": sequencesOf(
    40,
    one(8, commandOf(sightingOperations)),
    one(1, sweepCommand),
    one(1, deleteCommand),
  ),
  blocks: sequencesOf(
    40,
    one(8, linkCommand),
    one(1, importCommand),
    one(8, commandOf(blockOperations)),
    one(2, eraseCommand),
    one(1, deleteCommand),
  ).map(mostlyGlobal),
  suspects: sequencesOf(
    40,
    one(6, linkCommand),
    one(10, commandOf(suspectOperations)),
    one(3, reviewCommand),
    one(4, eraseCommand),
    one(1, deleteCommand),
  ).map((commands) => mostlyGlobal([...linked, ...commands])),
  "history of roles": sequencesOf(
    40,
    one(10, commandOf(roleHistoryOperations)),
    one(1, eraseCommand),
    one(1, deleteCommand),
  ).map(mostlyGlobal),
  "usage and history": sequencesOf(
    40,
    one(2, commandOf(usageOperations)),
    one(1, commandOf(keyOperations)),
    one(1, commandOf(linkOperations)),
    one(2, commandOf(historyOperations)),
  ),
  "erased users": sequencesOf(
    40,
    one(3, commandOf(linkOperations)),
    one(2, commandOf(sightingOperations)),
    // A flow of a session is in the session's scope.
    { weight: 2, arbitrary: verificationWalk.map((walk) => walk.map(inGlobalScope)) },
    one(4, commandOf(userOperations)),
  ),
  webhooks: workersOf(
    webhookOperations,
    [
      { op: "WebhookStore.insert", webhook: 1, scope: "guild", at: 3, position: 0 },
      { op: "WebhookStore.insert", webhook: 0, scope: "global", at: 1, position: 2 ** 40 },
      { op: "WebhookStore.hold", node: 0, at: 0, lasts: 4 },
    ],
    [
      { op: "WebhookStore.list", of: null },
      { op: "WebhookStore.deliveries", webhook: 0, status: null, before: null, most: 10 },
      { op: "WebhookStore.deliveries", webhook: 0, status: "failing", before: null, most: 10 },
      { op: "WebhookStore.due", webhook: 0, at: 3, most: 10 },
      { op: "WebhookStore.hold", node: 0, at: 0, lasts: 4 },
    ],
  ),
  "role plans": workersOf(
    {
      ...roleOperations,
      ...Struct.pick(roleHistoryOperations, [
        "PlanNoticeStore.setProblems",
        "PlanNoticeStore.settle",
        "PlanNoticeStore.unseen",
        "PlanNoticeStore.due",
      ]),
    },
    [
      { ...planTurnedOn, at: 2 },
      // No other command changes this plan. While no plan is on, a store need not renew leases.
      { ...planTurnedOn, guild: 2 },
      { op: "RolePlanStore.hold", node: 0, at: 0, lasts: 4 },
    ],
    [
      { op: "RolePlanStore.status", ...plan },
      { op: "RolePlanStore.due", ...plan, at: 3, most: 10 },
      { op: "RolePlanStore.nicknames", ...plan, chatIds: [ada, bob, dan] },
      { op: "PlanNoticeStore.unseen" },
      { op: "PlanNoticeStore.due", at: 3 },
    ],
  ),
  communities: workersOf(
    {
      ...communityOperations,
      "RolePlanStore.put": { ...roleOperations["RolePlanStore.put"], weight: 6 },
      ...Struct.pick(roleOperations, ["RolePlanStore.pause", "RolePlanStore.remove"]),
      "UserStore.erase": userOperations["UserStore.erase"],
    },
    [{ ...planTurnedOn, member: ada }],
    [
      { op: "CommunityStore.find", ...plan },
      { op: "CommunityStore.findHome", guild: 0 },
      { op: "CommunityStore.list", scope: "global" },
    ],
  ),
  "guild logs": workersOf(
    {
      ...guildLogOperations,
      ...Struct.pick(communityOperations, ["CommunityStore.update"]),
      "RolePlanStore.remove": roleOperations["RolePlanStore.remove"],
      ...Struct.pick(userOperations, ["UserStore.find", "UserStore.erase"]),
    },
    [
      { ...logTurnedOn, ...plan },
      // No other command changes this log. While no log is on, a store need not renew leases.
      { ...logTurnedOn, ...plan, guild: 2 },
      { op: "GuildLogStore.hold", node: 0, at: 0, lasts: 4 },
    ],
    [
      { op: "RolePlanStore.status", ...plan },
      { op: "GuildLogStore.waiting", ...plan, most: 10 },
      { op: "GuildLogStore.dueEdits", ...plan, at: 3 },
      { op: "GuildLogStore.hold", node: 0, at: 0, lasts: 4 },
    ],
  ),
};
