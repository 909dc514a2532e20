/**
 * The port for link records. Every operation but `deleteAhead` is atomic, and writes to one chat user of a scope are
 * serialized.
 */
import { Context, type Effect, type Option } from "effect";
import type { WriteContext } from "../audit/audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid, SessionId } from "../ids.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import type { Link, LinkRecord } from "./link.ts";

export interface SetGame extends WriteContext {
  readonly chatId: ChatId;
  readonly gameId: GameId;
}

/** The result of `setGame`. `previousGameId` is the value that this write replaced. */
export interface GameSet {
  readonly record: Link;
  readonly previousGameId: GameId | null;
}

export interface MoveChat extends WriteContext {
  readonly oldChatId: ChatId;
  readonly newChatId: ChatId;
}

/** `Unchanged`: both are the same linked user. `Occupied`: the new user has a link. */
export type ChatMoved =
  | { readonly _tag: "Moved"; readonly gameId: GameId }
  | { readonly _tag: "Unchanged"; readonly gameId: GameId }
  | { readonly _tag: "NoLink" }
  | { readonly _tag: "Occupied" };

export interface RemoveGame extends WriteContext {
  readonly chatId: ChatId;
}

/** The removed link, and the sessions that failed because of it. */
export interface GameUnlinked {
  readonly gameId: GameId;
  readonly ended: ReadonlyArray<SessionId>;
}

/** What `deleteAhead` has deleted. */
export interface DeletedAhead {
  /** The number of records. */
  readonly records: number;
  /** The sequence of the audit entry that has this number. */
  readonly entry: number;
}

export interface ScopeDeleted {
  /** The number of deleted records. */
  readonly records: number;
  readonly ended: ReadonlyArray<SessionId>;
}

/** A link in an import or export file. */
export interface PortableLink {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly lastVerifiedAt: Millis;
}

/**
 * How long the progress of an import is kept after its last batch, in milliseconds.
 *
 * @example
 * ```ts
 * import { Duration } from "effect";
 *
 * Duration.toDays(progressKeptFor); // 30
 * ```
 */
export const progressKeptFor = 30 * dayMs;

export interface ImportBatch extends WriteContext {
  readonly links: ReadonlyArray<PortableLink>;
  /**
   * What to do with a chat user who has a record: keep it, replace it, or replace it if the link was verified after the
   * record last changed or was confirmed.
   */
  readonly existing: "keep" | "replace" | "newest";
  /**
   * Stored with the batch, so that an interrupted import continues after its last batch. Progress
   * older than `progressKeptFor` is deleted.
   */
  readonly progress: { readonly source: string; readonly position: number } | null;
}

/** Counts of chat users. */
export interface BatchImported {
  readonly inserted: number;
  /** Records that changed, if only in their time. */
  readonly replaced: number;
  /** Records that have the game user of the batch already. */
  readonly unchanged: number;
  /** Records that have another game user, or none. */
  readonly kept: number;
}

/** A place in the order of `LinkStore.newestPage`. */
export interface NewestPosition {
  readonly lastVerifiedAt: Millis;
  readonly chatId: ChatId;
}

/** Whole UTC days: `from` and `before` are starts of days. */
export interface DayRange {
  readonly from: Millis;
  readonly before: Millis;
}

/**
 * How many chat users of one game user `LinkStore.findByGameIds` returns at most.
 *
 * @internal
 */
export const maxChatsOfGame = 1_000;

/** Which links `LinkStore.countLinks` counts, and how far. */
export interface CountOptions {
  /** Counts only links whose `lastVerifiedAt` is in these days. */
  readonly verified?: DayRange | undefined;
  /** A store that has to count them one by one stops at this number. */
  readonly enough?: number;
}

/** Where link records live. An unknown scope, and text that `isStorable` refuses, are defects. */
export class LinkStore extends Context.Service<
  LinkStore,
  {
    /** The record of one chat user. This is the hot path. */
    readonly findByChatId: (
      pid: Pid,
      chatId: ChatId,
    ) => Effect.Effect<Option.Option<LinkRecord>, StoreUnavailable>;

    /** The records of many chat users in one query, without those that have none. */
    readonly findByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyMap<ChatId, LinkRecord>, StoreUnavailable>;

    /** The game users of many chat users in one query, without chat users that have no link. */
    readonly findGamesByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyMap<ChatId, GameId>, StoreUnavailable>;

    /**
     * The chat users of many game users in one query, without game users that have none. Newest
     * link first (`linkedAt`), ties by chat ID as a string; of each game user the first `maxChatsOfGame`, without
     * reading the others.
     */
    readonly findByGameIds: (
      pid: Pid,
      gameIds: ReadonlyArray<GameId>,
    ) => Effect.Effect<ReadonlyMap<GameId, ReadonlyArray<ChatId>>, StoreUnavailable>;

    /**
     * Links the chat user to the game user. The same game again only updates `lastVerifiedAt`,
     * without a new version, a new order or an audit entry.
     */
    readonly setGame: (write: SetGame) => Effect.Effect<GameSet, StoreUnavailable>;

    /** Moves the link of one chat user to another. The old record stays without a game link. */
    readonly moveChat: (write: MoveChat) => Effect.Effect<ChatMoved, StoreUnavailable>;

    /**
     * Removes the game link, voids the proofs of the chat user, and sets the open sessions to
     * `failed` that are for this chat user or have such a proof. The record stays. None, without
     * any change, if there was no link.
     */
    readonly removeGame: (write: RemoveGame) => Effect.Effect<Option.Option<GameUnlinked>, StoreUnavailable>;

    /**
     * Deletes every record, sighting and review of the scope, voids the proofs of its flows, and
     * sets its open sessions to `failed`. It stores an audit entry in any case.
     *
     * @param ahead what `deleteAhead` returned: its records count, and its audit entry gets the total
     */
    readonly deleteScope: (
      write: WriteContext,
      ahead?: DeletedAhead | null,
    ) => Effect.Effect<ScopeDeleted, StoreUnavailable>;

    /**
     * Only for a store that one long transaction would hold up: deletes most of a large scope in short
     * transactions, each with the number of records so far in an audit entry. `deleteScope` follows.
     * Null if the scope is small.
     */
    readonly deleteAhead?: (write: WriteContext) => Effect.Effect<DeletedAhead | null, StoreUnavailable>;

    /**
     * Stores many links, all or none. For a chat user that occurs twice, the last link counts. It
     * returns counts of chat users, and stores them as an audit entry unless nothing was inserted
     * or replaced.
     */
    readonly importBatch: (batch: ImportBatch) => Effect.Effect<BatchImported, StoreUnavailable>;

    /** The position after the last batch of a source; 0 if none is stored. */
    readonly importPosition: (source: string) => Effect.Effect<number, StoreUnavailable>;

    /** The number of links of a scope. Writes that happen meanwhile may count or not. */
    readonly countLinks: (pid: Pid, options?: CountOptions) => Effect.Effect<number, StoreUnavailable>;

    /** Up to `limit` links after a place, latest verification first, ties by chat ID as strings. */
    readonly newestPage: (
      pid: Pid,
      after: NewestPosition | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Link>, StoreUnavailable>;

    /** Up to `limit` links after the chat ID `after`, in ascending order of chat IDs as strings. */
    readonly exportPage: (
      pid: Pid,
      after: ChatId | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Link>, StoreUnavailable>;
  }
>()("@accountlink/core/LinkStore") {}
