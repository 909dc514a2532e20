import { Context, Schema } from "effect";
import type { CommunityPlace } from "../communities/community.ts";
import type { StoreEffect } from "../errors.ts";
import { GuildId, Pid } from "../ids.ts";
import { type RecordOf, recordStore, recordType, removeFound } from "../records/mod.ts";
import type { Millis } from "../timestamp.ts";

/** The time between two reminders of a guild, in milliseconds. @internal */
export const reminderPause = 5_000;

/** @internal */
export const reminders = recordType({
  name: "reminders",
  fields: { pid: Pid, guildId: GuildId, hash: Schema.String, at: Schema.Int },
  key: ["pid", "guildId", "hash"],
  indexes: {
    byMember: { fields: ["guildId", "hash"], group: 1 },
    byTime: { fields: ["guildId", "at"], group: 1 },
  },
});

/** How many reminders the whole deployment sends in a minute, at least 1. @internal */
export const RemindersPerMinute = Context.Reference<number>("@accountlink/core/RemindersPerMinute", {
  defaultValue: () => 10,
});

/** A reminder of a member. It contains a hash in place of the chat ID, so an erasure leaves it. */
export interface ClaimReminder extends RecordOf<typeof reminders> {}

/** `early`: another member of the guild was reminded less than `reminderPause` ago. */
export type ReminderClaim = "claimed" | "reminded" | "early";

/**
 * Stores which members of guilds were reminded to link, each once, whichever scope of the guild reminds. Every operation
 * is atomic.
 */
export class ReminderStore extends Context.Service<
  ReminderStore,
  {
    /** Stores that a member is reminded now, unless the member was before, or another one was a moment ago. */
    readonly claim: (claim: ClaimReminder) => StoreEffect<ReminderClaim>;

    /** Forgets a claim, because the message could not be sent. */
    readonly release: (place: CommunityPlace, hash: string) => StoreEffect<void>;

    /** Returns when members of the guild were reminded, by their hashes. */
    readonly reminded: (
      place: CommunityPlace,
      hashes: ReadonlyArray<string>,
    ) => StoreEffect<ReadonlyMap<string, Millis>>;
  }
>()("@accountlink/core/ReminderStore") {}

const queueOf = (guildId: GuildId): string => `reminders of guild ${guildId}`;

/** Stores reminders in any storage. @internal */
export const storedReminders = recordStore(ReminderStore, ({ read, write }) => ({
  claim: (claim) =>
    write("claim", queueOf(claim.guildId), function* (tx) {
      const { guildId, hash, at } = claim;
      if ((yield* tx.list(reminders.byMember, [guildId, hash])).length > 0) return "reminded";
      // The clock may have been set back since later ones.
      const recent = { after: [at - reminderPause], before: [at + reminderPause], limit: 1 };
      if ((yield* tx.list(reminders.byTime, [guildId], recent)).length > 0) return "early";
      yield* tx.create(reminders, claim);
      return "claimed";
    }),

  release: ({ guildId }, hash) =>
    write("release", queueOf(guildId), function* (tx) {
      const found = yield* tx.list(reminders.byMember, [guildId, hash]);
      yield* removeFound(reminders)(tx, found);
    }),

  reminded: ({ guildId }, hashes) =>
    read("reminded", function* (tx) {
      const found = yield* tx.firsts(
        reminders.byMember,
        hashes.map((hash) => [guildId, hash]),
      );
      return new Map(found.flatMap((each) => (each === undefined ? [] : [[each.hash, each.at] as const])));
    }),
}));
