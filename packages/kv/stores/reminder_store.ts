import type { GuildId } from "@accountlink/core";
import { type CommunityPlace, isLinkingOn, placeOrder } from "@accountlink/core/communities";
import { type ReminderClaim, ReminderStore, reminderPause } from "@accountlink/core/reminders";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect } from "effect";
import { table } from "../table.ts";
import { communities, communityOf } from "./communities.ts";
import { ofActive } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

export interface Reminder extends CommunityPlace {
  readonly hash: string;
  readonly at: Millis;
}

export const reminders = table<Reminder>()("guild_reminder", ({ guildId, hash }) => [guildId, hash], {
  byTime: { keys: ({ guildId, at, hash }) => [[guildId, at, hash]], group: 1 },
});

export const layer = storeLayer(ReminderStore, (db) => ({
  communities: () =>
    db.read(function* (tx) {
      const active = yield* ofActive(tx, yield* tx.list(communities.reminding, []));
      return yield* Effect.forEach(active.filter(isLinkingOn).toSorted(placeOrder), (stored) =>
        communityOf(tx, stored),
      );
    }),

  claim: ({ pid, guildId, hash, at }) =>
    db.write<ReminderClaim>(queueOf(guildId), function* (tx) {
      if ((yield* tx.get(reminders, guildId, hash)) !== undefined) return "reminded";
      const [last] = yield* tx.list(reminders.byTime, [guildId], { reverse: true, limit: 1 });
      if (last !== undefined && last.at > at - reminderPause) return "early";
      yield* tx.put(reminders, { pid, guildId, hash, at });
      return "claimed";
    }),

  release: ({ guildId }, hash) =>
    Effect.asVoid(db.write(queueOf(guildId), (tx) => tx.remove(reminders, guildId, hash))),

  reminded: ({ guildId }, hashes) =>
    db.read(function* (tx) {
      const found = yield* tx.getAll(reminders, hashes, (hash) => [guildId, hash]);
      return new Map(found.flatMap((each) => (each === undefined ? [] : [[each.hash, each.at] as const])));
    }),
}));

const queueOf = (guildId: GuildId): string => `reminders of guild ${guildId}`;
