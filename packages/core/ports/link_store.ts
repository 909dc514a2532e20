/**
 * The port for link records. Every operation is atomic: an adapter never leaves it to the service to read and then
 * write, and two writes to one chat user of a scope happen one after the other.
 */
import { Context, type Effect, type Option } from "effect";
import type { WriteOrigin } from "../audit.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid, SessionId } from "../ids.ts";
import type { Link, LinkRecord, Millis } from "../link.ts";

/**
 * What every write carries: where, when, and on whose account. A write that changes what somebody is linked to, or
 * imports something, leaves an audit entry, which is stored with it.
 */
export interface WriteContext extends WriteOrigin {
  readonly pid: Pid;
  readonly at: Millis;
}

export interface SetGame extends WriteContext {
  readonly chatId: ChatId;
  readonly gameId: GameId;
}

/** What a `setGame` did. `previousGameId` is the value that this very write replaced. */
export interface GameSet {
  readonly record: Link;
  readonly previousGameId: GameId | null;
}

export interface MoveChat extends WriteContext {
  readonly oldChatId: ChatId;
  readonly newChatId: ChatId;
}

/** `Unchanged`: old and new are the same linked user. `Occupied`: the new user has a link already. */
export type ChatMoved =
  | { readonly _tag: "Moved"; readonly gameId: GameId }
  | { readonly _tag: "Unchanged"; readonly gameId: GameId }
  | { readonly _tag: "NoLink" }
  | { readonly _tag: "Occupied" };

export interface RemoveGame extends WriteContext {
  readonly chatId: ChatId;
}

/** The link that was removed, and the verification sessions that ended with it. */
export interface GameUnlinked {
  readonly gameId: GameId;
  readonly ended: ReadonlyArray<SessionId>;
}

export interface ScopeDeleted {
  /** How many records there were. */
  readonly records: number;
  readonly ended: ReadonlyArray<SessionId>;
}

/** A link as files carry it. */
export interface PortableLink {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly lastVerifiedAt: Millis;
}

/** How long the progress of an import is remembered after its last batch, in milliseconds. */
export const progressKeptFor = 30 * 86_400_000;

export interface ImportBatch extends WriteContext {
  readonly links: ReadonlyArray<PortableLink>;
  /** What becomes of a chat user who has a record already. */
  readonly existing: "keep" | "replace";
  /**
   * Remembered with the batch, so that an import that was cut off goes on where its last batch ended. A batch forgets the
   * progress of imports whose last one is longer ago than `progressKeptFor`.
   */
  readonly progress: { readonly source: string; readonly position: number } | null;
}

export interface BatchImported {
  readonly inserted: number;
  readonly replaced: number;
  readonly kept: number;
}

/**
 * Where link records live. A write to a scope that does not exist, and text that `isStorable` refuses, are defects.
 */
export class LinkStore extends Context.Service<
  LinkStore,
  {
    /** The record of one chat user. The hot path. */
    readonly findByChatId: (
      pid: Pid,
      chatId: ChatId,
    ) => Effect.Effect<Option.Option<LinkRecord>, StoreUnavailable>;

    /** The records of many chat users in one query; who has none is not in the map. */
    readonly findByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyMap<ChatId, LinkRecord>, StoreUnavailable>;

    /**
     * The chat users linked to each game user in one query, newest link first (`linkedAt`), ties by chat ID as
     * strings. A game user without links is not in the map.
     */
    readonly findByGameIds: (
      pid: Pid,
      gameIds: ReadonlyArray<GameId>,
    ) => Effect.Effect<ReadonlyMap<GameId, ReadonlyArray<ChatId>>, StoreUnavailable>;

    /**
     * Links the chat user to the game user. The same game again only confirms: no new version, no new order, and no
     * entry in the audit log, which would grow by nothing but repetition.
     */
    readonly setGame: (write: SetGame) => Effect.Effect<GameSet, StoreUnavailable>;

    /** Moves the link of one chat user to another. The old record stays, without a game link. */
    readonly moveChat: (write: MoveChat) => Effect.Effect<ChatMoved, StoreUnavailable>;

    /**
     * Removes the game link, takes the chat user's proofs out of its flows, and ends its unfinished sessions as
     * `failed`: those for this chat user, and those of such a flow. The record stays. None, and nothing else, when there
     * was no link.
     */
    readonly removeGame: (write: RemoveGame) => Effect.Effect<Option.Option<GameUnlinked>, StoreUnavailable>;

    /**
     * Deletes every record and sighting of the scope, takes the proofs out of its flows, and ends its unfinished
     * sessions as `failed`. The audit log has it also when there was no record.
     */
    readonly deleteScope: (write: WriteContext) => Effect.Effect<ScopeDeleted, StoreUnavailable>;

    /**
     * Stores many links at once, all or none, and counts chat users. One named twice in a batch ends as the last line
     * says. The audit log has the counts, unless the batch has inserted and replaced nothing.
     */
    readonly importBatch: (batch: ImportBatch) => Effect.Effect<BatchImported, StoreUnavailable>;

    /** The position that the last batch of a source left; 0 before the first, and when it is forgotten. */
    readonly importPosition: (source: string) => Effect.Effect<number, StoreUnavailable>;

    /** Up to `limit` links by ascending chat ID (as strings), from the one after `after`. Records without one are left out. */
    readonly exportPage: (
      pid: Pid,
      after: ChatId | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<PortableLink>, StoreUnavailable>;
  }
>()("@accountlink/core/LinkStore") {}
