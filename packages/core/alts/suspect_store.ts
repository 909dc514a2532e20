/** Which users a new link was found to resemble when it was made. */
import { Context, Schema } from "effect";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GameId, type Pid } from "../ids.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import type { AltVerdict } from "./alt_reviews.ts";
import { AltEvidence } from "./alt_score.ts";

/** @internal */
export const SuspectFields = {
  chatId: ChatId,
  gameId: GameId,
  otherChatId: ChatId,
  /** When the link was made. */
  at: Schema.Int,
  /** The score of the pair, from 0 to 100. */
  score: Schema.Int,
  /** Why both may be the same person. Contains no address. */
  evidence: Schema.Array(AltEvidence),
} as const;

/** The user of a new link, and a likely alt of this user. */
export interface Suspect extends Schema.Struct.Type<typeof SuspectFields> {}

export interface FoundSuspect extends Suspect {
  /** The review of the pair; null without one. Pairs that were reviewed as `different` are not found. */
  readonly verdict: Exclude<AltVerdict, "different"> | null;
}

export interface UserSuspect {
  readonly pid: Pid;
  readonly suspect: Suspect;
}

/** The most pairs of a scope; the oldest are dropped. @internal */
export const mostSuspects = 1_000;

/** The most pairs that are added at once. @internal */
export const mostSuspectsAtOnce = 10;

/** How long pairs are kept, in milliseconds. @internal */
export const suspectTime = 30 * dayMs;

/**
 * Stores which users new links resemble. Every operation is atomic.
 * `LinkStore.deleteScope` deletes the pairs of a scope, `UserStore.erase` and `UserStore.forget` the pairs of a user.
 */
export class SuspectStore extends Context.Service<
  SuspectStore,
  {
    /**
     * Stores pairs, at most `mostSuspectsAtOnce`. A pair replaces an earlier pair of the same users. Skips a pair if one of
     * its users has no record in the scope, because the user was erased, or if the link has changed. Deletes the oldest
     * pairs beyond `mostSuspects`.
     */
    readonly add: (pid: Pid, suspects: ReadonlyArray<Suspect>) => StoreEffect<void>;

    /** Returns the pairs whose link was made at `since` or later: newest first, ties by chat ID and other chat ID. */
    readonly find: (pid: Pid, since: Millis) => StoreEffect<ReadonlyArray<FoundSuspect>>;

    /** Returns the pairs that name a chat user, in every scope: newest first, ties by pid, chat ID and other chat ID. */
    readonly ofUser: (chatId: ChatId) => StoreEffect<ReadonlyArray<UserSuspect>>;

    /** Deletes the pairs of all scopes whose links were made before a time. */
    readonly forget: (before: Millis) => StoreEffect<void>;
  }
>()("@accountlink/core/SuspectStore") {}
