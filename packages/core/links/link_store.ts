import { Context, type Effect, type Option } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import type { Conflict, StoreEffect } from "../errors.ts";
import type { Keyed } from "../idempotency/idempotency_store.ts";
import type { ChatId, GameId, Pid, SessionId } from "../ids.ts";
import type { Millis } from "../timestamp.ts";
import type { Link, LinkRecord } from "./link.ts";
import type { LinkProof } from "./link_proof.ts";

export interface SetGame extends WriteContext, Keyed {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Makes the hash of the chat user's block, by which the block of an erased user is found. */
  readonly chatHash?: Effect.Effect<string>;
  /** Why a member of the account set the link, for the audit entry. */
  readonly reason?: string | null;
}

export interface GameSet {
  readonly record: Link;
  /** The game user before the write; null if the chat user had no link. */
  readonly previousGameId: GameId | null;
}

/**
 * `Unchanged` means that the old and the new chat user are the same and have a link. `Occupied` means that the new chat
 * user already has a link.
 */
export type ChatMoved =
  | { readonly _tag: "Moved"; readonly gameId: GameId }
  | { readonly _tag: "Unchanged"; readonly gameId: GameId }
  | { readonly _tag: "NoLink" }
  | { readonly _tag: "Occupied" };

/** The game user of the removed link, and the sessions that failed because of the removal. */
export interface GameUnlinked {
  readonly gameId: GameId;
  readonly ended: ReadonlyArray<SessionId>;
}

export interface MoveChat extends WriteContext, Keyed {
  readonly oldChatId: ChatId;
  readonly newChatId: ChatId;
  /** The hash of the new chat user's block, as in `SetGame`. */
  readonly chatHash?: Effect.Effect<string>;
}

export interface RemoveGame extends WriteContext, Keyed {
  readonly chatId: ChatId;
  /** Why a member of the account removed the link, for the audit entry. */
  readonly reason?: string | null;
  /** What removed the link, where the actor does not say it. */
  readonly source?: "flow";
}

/** The link that a write removed from a record that nobody has changed since. */
export interface RestoreGame extends WriteContext {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** When the link was removed. */
  readonly removedAt: Millis;
  /** The hash of the chat user's block, as in `SetGame`. */
  readonly chatHash?: Effect.Effect<string>;
}

export interface DistrustLink extends WriteContext {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  /** Why the link is not proven, for the audit entry. */
  readonly reason: string;
}

export interface DeleteScope extends WriteContext, Keyed {
  /** Whether the community still keeps out the users it kept out; false if left out. */
  readonly keepsBlocks?: boolean;
}

export interface ScopeDeleted {
  readonly records: number;
  readonly ended: ReadonlyArray<SessionId>;
}

/** A link in an import or export file. */
export interface PortableLink {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly lastVerifiedAt: Millis;
}

/** A position in the order of `LinkStore.newestPage`: the time and the chat user of a link. */
export interface NewestPosition {
  readonly lastVerifiedAt: Millis;
  readonly chatId: ChatId;
}

/** `older` returns the links after a position, `newer` the links before it. Links are sorted by time, newest first. */
export type PageDirection = "older" | "newer";

/** Returns what `LinkStore.newestPage` returns for these links. @internal */
export const newestOf = (
  links: ReadonlyArray<Link>,
  place: NewestPosition | null,
  limit: number,
  direction: PageDirection = "older",
): ReadonlyArray<Link> => {
  const sorted = links.toSorted(newestFirst);
  return place !== null && direction === "newer"
    ? sorted.filter((link) => newestFirst(link, place) < 0).slice(-limit)
    : sorted.filter((link) => place === null || newestFirst(place, link) < 0).slice(0, limit);
};

const newestFirst = (one: NewestPosition, other: NewestPosition): number =>
  other.lastVerifiedAt - one.lastVerifiedAt || (one.chatId < other.chatId ? -1 : 1);

/** Whole UTC days: `from` and `before` are starts of days. */
export interface DayRange {
  readonly from: Millis;
  readonly before: Millis;
}

/** The most chat users who lose a link at once if another chat user gets it. @internal */
export const mostTaken = 20;

/** The most chat users of one game user that `LinkStore.findByGameIds` returns. @internal */
export const maxChatsOfGame = 1_000;

export interface CountOptions {
  /** Counts only links whose `lastVerifiedAt` is in these days, without imported links, which nobody verified. */
  readonly verified?: DayRange | undefined;
  /** The store may stop counting at this number of links. A result below this number is exact. */
  readonly enough?: number;
}

export interface WayCount {
  readonly proof: LinkProof;
  readonly links: number;
  /** How many of them were proven, or else last verified, at the given time or later. */
  readonly recent: number;
}

/**
 * Stores link records. Every operation except `deleteScope` is atomic, and writes to one chat user of a scope are
 * serialized. Writing to an unknown scope, and text that `isStorable` refuses, are defects.
 */
export class LinkStore extends Context.Service<
  LinkStore,
  {
    /** Returns the record of one chat user. This is the hot path. */
    readonly findByChatId: (pid: Pid, chatId: ChatId) => StoreEffect<Option.Option<LinkRecord>>;

    /** Returns the records of many chat users in one query, omitting users without a record. */
    readonly findByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => StoreEffect<ReadonlyMap<ChatId, LinkRecord>>;

    /** Returns the game users of many chat users in one query, omitting chat users without a link. */
    readonly findGamesByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => StoreEffect<ReadonlyMap<ChatId, GameId>>;

    /**
     * Returns the chat users of many game users in one query, omitting game users without links. For each game user,
     * the newest link (by `linkedAt`) is first, and equal times are sorted by chat ID as a string. Reads only the first
     * `maxChatsOfGame` chat users of each game user.
     *
     * @param enough the store may stop reading at this number of chat users of each game user
     */
    readonly findByGameIds: (
      pid: Pid,
      gameIds: ReadonlyArray<GameId>,
      enough?: number,
    ) => StoreEffect<ReadonlyMap<GameId, ReadonlyArray<ChatId>>>;

    /**
     * Links the two users without a proof. Setting the same game user again only updates `lastVerifiedAt`, and
     * `proof` of a link that nobody has proven; the version and `linkedAt` stay the same, and no audit entry is written.
     * Fails with `blocked` if `BlockStore` has one of the users.
     */
    readonly setGame: (write: SetGame) => StoreEffect<GameSet, Conflict>;

    /**
     * Moves a link from one chat user to another. The old record stays without a link. Fails with `blocked` if
     * `BlockStore` has the new chat user or the game user.
     */
    readonly moveChat: (write: MoveChat) => StoreEffect<ChatMoved, Conflict>;

    /**
     * Removes the chat user's link. The record stays, without a game user. Proofs of the chat user become void, and
     * open sessions that name the user or have such a proof become `failed`. If there was no link, nothing changes and
     * the result is None.
     */
    readonly removeGame: (write: RemoveGame) => StoreEffect<Option.Option<GameUnlinked>, Conflict>;

    /**
     * Puts back a removed link with its proof and its times, and a new version. None if the record has changed since. Fails
     * with `blocked` if `BlockStore` has one of the users.
     */
    readonly restoreGame: (write: RestoreGame) => StoreEffect<Option.Option<Link>, Conflict>;

    /**
     * Makes a link by hand of a `known` one, with an entry, at the same times and version. Returns false if the record is
     * another by now.
     */
    readonly distrust: (write: DistrustLink) => StoreEffect<boolean>;

    /**
     * Deletes every record, sighting and review of the scope, and its blocks unless they are kept, voids the proofs of its flows, and sets its open sessions
     * to `failed`. Always stores an audit entry. A store that one long transaction would block may delete most of a
     * large scope in short transactions first; each of them stores the number of records deleted so far in the audit
     * entry.
     */
    readonly deleteScope: (write: DeleteScope) => StoreEffect<ScopeDeleted, Conflict>;

    /** Counts the links of a scope. Concurrent writes may or may not be included. */
    readonly countLinks: (pid: Pid, options?: CountOptions) => StoreEffect<number>;

    /** Counts the links of a scope by the ways in which they were confirmed. Leaves out ways without links. */
    readonly countWays: (pid: Pid, since: Millis) => StoreEffect<ReadonlyArray<WayCount>>;

    /**
     * Returns up to `limit` links, sorted by `lastVerifiedAt`, newest first, and equal times by chat ID as strings.
     *
     * @param place the position that the links follow or precede; null for the newest links
     * @param direction `older` (the default) returns the links after the place, `newer` the links before it
     */
    readonly newestPage: (
      pid: Pid,
      place: NewestPosition | null,
      limit: number,
      direction?: PageDirection,
    ) => StoreEffect<ReadonlyArray<Link>>;

    /** Returns up to `limit` links after the chat ID `after`, sorted by chat ID as strings. */
    readonly exportPage: (pid: Pid, after: ChatId | null, limit: number) => StoreEffect<ReadonlyArray<Link>>;
  }
>()("@accountlink/core/LinkStore") {}
