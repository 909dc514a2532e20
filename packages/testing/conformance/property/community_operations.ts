/** The operations of `CommunityStore`, `ReminderStore` and `UpgradeStore`. */
import type { CommunityStore } from "@accountlink/core/communities";
import { type ReminderStore, reminderPause } from "@accountlink/core/reminders";
import type { UpgradeStore } from "@accountlink/core/upgrades";
import { Effect, Option } from "effect";
import * as FastCheck from "fast-check";
import { ada, bob, type ScopeName } from "../scopes.ts";
import { at, fixed, maybe, mostly, type OperationsOf, operation } from "./operation.ts";
import { nth } from "./subjects.ts";

const { boolean, constantFrom, nat, record } = FastCheck;

const scope = mostly<ScopeName>("global", "guild");
const guild = mostly(0, 1);
const channelId = mostly("70", "71");
const hash = constantFrom("one", "other");

const settings = record(
  { logChannelId: maybe(channelId), remindAfterDays: maybe(constantFrom(1, 90)), tellTroubles: boolean() },
  { requiredKeys: [] },
);

export const communityOperations = {
  "CommunityStore.find": operation(1, { scope, guild }, ({ communities, guildIds, pid }, input) =>
    communities.find({ pid, guildId: nth(guildIds, input.guild) }),
  ),
  "CommunityStore.findHome": operation(1, { guild }, ({ communities, guildIds }, input) =>
    communities.findHome(nth(guildIds, input.guild)),
  ),
  "CommunityStore.list": operation(1, { scope }, ({ communities, pid }) => communities.list(pid)),
  "CommunityStore.pausedBy": operation(1, { chatId: constantFrom(ada, bob) }, ({ communities }, input) =>
    communities.pausedBy(input.chatId),
  ),
  "CommunityStore.update": operation(
    4,
    { scope, guild, settings, position: nat(3), at },
    ({ communities, guildIds, write }, { settings: update, position, ...input }) =>
      communities.update({ ...write, guildId: nth(guildIds, input.guild), update, position }),
  ),
  "CommunityStore.savePanel": operation(
    1,
    {
      scope,
      guild,
      channelId,
      messageId: maybe(constantFrom("1", "2")),
      text: maybe(constantFrom("Ädä 🎮")),
      at,
    },
    ({ communities, guildIds, write }, { guild: of, channelId: channel, messageId, text }) => {
      const panel = { channelId: channel, messageId, text };
      return communities.savePanel({ ...write, guildId: nth(guildIds, of), panel });
    },
  ),
  "CommunityStore.reminding": fixed(({ communities }) => communities.reminding()),
  "ReminderStore.claim": operation(
    3,
    { scope, guild, hash, at: constantFrom(0, reminderPause - 1, reminderPause) },
    ({ reminders, guildIds, pid, write }, input) =>
      reminders.claim({ pid, guildId: nth(guildIds, input.guild), hash: input.hash, at: write.at }),
  ),
  "ReminderStore.release": operation(1, { scope, guild, hash }, ({ reminders, guildIds, pid }, input) =>
    reminders.release({ pid, guildId: nth(guildIds, input.guild) }, input.hash),
  ),
  "ReminderStore.reminded": operation(1, { scope, guild }, ({ reminders, guildIds, pid }, input) =>
    reminders.reminded({ pid, guildId: nth(guildIds, input.guild) }, ["one", "other"]),
  ),
  // Upgrades are of the whole storage, which subjects of other runs share.
  "UpgradeStore.put": operation(1, { scope, at, hash }, ({ upgrades, pid }, input) =>
    upgrades.put({ name: pid, rounds: input.hash.length, at: input.at }),
  ),
  "UpgradeStore.find": operation(1, { scope }, ({ upgrades, pid }) =>
    Effect.map(
      upgrades.find(pid),
      Option.map((upgrade) => [upgrade.rounds, upgrade.at]),
    ),
  ),
} satisfies OperationsOf<"CommunityStore", CommunityStore["Service"]> &
  OperationsOf<"UpgradeStore", UpgradeStore["Service"]> &
  OperationsOf<"ReminderStore", ReminderStore["Service"]>;

/** A command that turns the log of a community on. */
export const logTurnedOn = {
  op: "CommunityStore.update",
  settings: { logChannelId: "70" },
  position: 0,
  at: 0,
} as const;
