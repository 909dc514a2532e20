/** The operations of `CommunityStore`, `ReminderStore` and `UpgradeStore`. */
import { type CommunityStore, communitySettings } from "@accountlink/core/communities";
import { type ReminderStore, reminderPause } from "@accountlink/core/reminders";
import type { UpgradeStore } from "@accountlink/core/upgrades";
import { Effect, Option, Struct } from "effect";
import * as FastCheck from "fast-check";
import { at, community, fixed, maybe, mostly, type OperationsOf, operation, updateOf } from "./operation.ts";

const { constantFrom, nat } = FastCheck;

const { scope, guild } = community;
const channelId = mostly("70", "71");
const hash = constantFrom("one", "other");

export const communityOperations = {
  "CommunityStore.find": operation(1, community, ({ communities, place }) => communities.find(place)),
  "CommunityStore.findHome": operation(1, { guild }, ({ communities, place }) =>
    communities.findHome(place.guildId),
  ),
  "CommunityStore.list": operation(1, { scope }, ({ communities, pid }) => communities.list(pid)),
  "CommunityStore.update": operation(
    4,
    { ...community, settings: updateOf(communitySettings), position: nat(3), at },
    ({ communities, place, write }, { settings: update, position }) =>
      communities.update({ ...write, ...place, update, position }),
  ),
  "CommunityStore.savePanel": operation(
    1,
    {
      ...community,
      channelId,
      messageId: maybe(constantFrom("1", "2")),
      text: maybe(constantFrom("Ädä 🎮")),
      at,
    },
    ({ communities, place, write }, input) => {
      const panel = Struct.pick(input, ["channelId", "messageId", "text"]);
      return communities.savePanel({ ...write, ...place, panel });
    },
  ),
  "CommunityStore.reminding": fixed(({ communities }) => communities.reminding()),
  "ReminderStore.claim": operation(
    3,
    { ...community, hash, at: constantFrom(0, reminderPause - 1, reminderPause) },
    ({ reminders, place }, input) => reminders.claim({ ...place, ...Struct.pick(input, ["hash", "at"]) }),
  ),
  "ReminderStore.release": operation(1, { ...community, hash }, ({ reminders, place }, input) =>
    reminders.release(place, input.hash),
  ),
  "ReminderStore.reminded": operation(1, community, ({ reminders, place }) =>
    reminders.reminded(place, ["one", "other"]),
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

export const logTurnedOn = {
  op: "CommunityStore.update",
  settings: { logChannelId: "70" },
  position: 0,
  at: 0,
} as const;
