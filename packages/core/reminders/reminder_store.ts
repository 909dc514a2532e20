import { Context } from "effect";
import type { Community, CommunityPlace } from "../communities/community.ts";
import type { StoreEffect } from "../errors.ts";
import type { Millis } from "../timestamp.ts";

/** The time between two reminders of a guild, in milliseconds. @internal */
export const reminderPause = 5_000;

/** A reminder of a member. It contains a hash in place of the chat ID, so an erasure leaves it. */
export interface ClaimReminder extends CommunityPlace {
  readonly hash: string;
  readonly at: Millis;
}

/** `early`: another member of the guild was reminded less than `reminderPause` ago. */
export type ReminderClaim = "claimed" | "reminded" | "early";

/**
 * Stores which members of guilds were reminded to link, each once, whichever scope of the guild reminds. Every operation
 * is atomic.
 */
export class ReminderStore extends Context.Service<
  ReminderStore,
  {
    /** Returns the communities whose linking is on, and that remind their members, sorted by scope and guild. */
    readonly communities: () => StoreEffect<ReadonlyArray<Community>>;

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
