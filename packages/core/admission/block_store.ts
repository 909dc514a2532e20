import { Context } from "effect";
import { originOfOperator, type WriteContext } from "../audit/audit.ts";
import type { DataScope } from "../data_scope.ts";
import type { Conflict, StoreEffect } from "../errors.ts";
import type { ChatId, GameId, Pid, SessionId } from "../ids.ts";
import type { JournalRecord } from "../journal/journal.ts";
import type { Millis } from "../timestamp.ts";

/** A blocked user: a chat user or a game user who may not be linked in a scope. */
export type BlockedUser =
  | { readonly chatId: ChatId; readonly gameId: null }
  | { readonly chatId: null; readonly gameId: GameId };

export interface Block {
  /** Null for a game user, and for a chat user who was erased. */
  readonly chatId: ChatId | null;
  readonly gameId: GameId | null;
  /** Why, for the team alone. */
  readonly reason: string | null;
  readonly at: Millis;
  /** The chat ID of the member of the team who blocked the user; null if nobody knows any more. */
  readonly member: string | null;
}

export interface StoredBlock extends Block {
  /** Keyed hash of the scope and the user. After an erasure, it is all that is left of a chat user. */
  readonly hash: string;
}

/** A user of a write, with the hash of the block that the user would have. */
export type BlockTarget = BlockedUser & Pick<StoredBlock, "hash">;

export type SetBlock = WriteContext & BlockTarget & Pick<Block, "reason">;

export type RemoveBlock = WriteContext & BlockTarget;

/** A link that a block removed, and the sessions that failed because of that. */
export interface LinkBlocked {
  readonly chatId: ChatId;
  readonly gameId: GameId;
  readonly ended: ReadonlyArray<SessionId>;
}

export interface BlockSet {
  readonly block: Block;
  readonly removed: ReadonlyArray<LinkBlocked>;
  /** Whether links are left, which `removeLinks` removes. */
  readonly hasMore: boolean;
}

/**
 * Returns the origin, time and reason of the links that a block removes later, from the record of the block. If its
 * time was over, nobody knows who set the block. @internal
 */
export const writeOfBlock = (
  record: Pick<JournalRecord, "actor" | "requestId" | "at" | "details"> | undefined,
  now: Millis,
): Omit<WriteContext, "pid"> & { readonly reason: string | null } => {
  const unknown = originOfOperator("unknown");
  const { actor, requestId, at, details } = record ?? { ...unknown, at: now, details: {} };
  const reason = details["reason"];
  return { actor: actor ?? unknown.actor, requestId, at, reason: typeof reason === "string" ? reason : null };
};

/** How many links of a blocked game user one step removes. @internal */
export const blockedPerStep = 25;

/** A position in the order of `BlockStore.page`. */
export type BlockPlace = Pick<StoredBlock, "at" | "hash">;

/** The block of a chat user, without what only the team may read. */
export interface UserBlock extends Pick<Block, "at"> {
  readonly pid: Pid;
}

/** The most blocks of a scope. @internal */
export const mostBlocks = 10_000;

/**
 * Stores which users a community keeps out. A write of `LinkStore` that would link one of them fails with `Conflict`
 * `blocked`, an import leaves the link out, and a verification does not complete: a store checks that in the transaction
 * of the write, so that no write that runs at the same time as `set` leaves a link. `LinkStore.deleteScope` may delete
 * the blocks of the scope. An erasure takes the ID and the reason out of the blocks of a chat user, and the hash stays.
 */
export class BlockStore extends Context.Service<
  BlockStore,
  {
    /**
     * Blocks a user, or replaces the reason and the time of the user's block. Removes up to `blockedPerStep` links of
     * the user like `LinkStore.removeGame`. Lookups of `LinkStore` no longer find the others, which `removeLinks`
     * removes. Fails with `Conflict` `block_limit` if the scope has `mostBlocks` others.
     */
    readonly set: (write: SetBlock) => StoreEffect<BlockSet, Conflict>;

    /** Returns the scopes with links that blocks have left. */
    readonly removals: () => StoreEffect<ReadonlyArray<DataScope>>;

    /** Removes up to `blockedPerStep` links that blocks of a scope have left. Returns none if no links are left. */
    readonly removeLinks: (pid: Pid) => StoreEffect<ReadonlyArray<LinkBlocked>>;

    /** Returns false if the user is not blocked. The links that the block has not removed yet stay. */
    readonly remove: (write: RemoveBlock) => StoreEffect<boolean>;

    /** Returns the hashes that belong to a block of the scope. */
    readonly findHashes: (pid: Pid, hashes: ReadonlyArray<string>) => StoreEffect<ReadonlySet<string>>;

    /** Returns up to `limit` blocks after a place, newest first, equal times by hash. */
    readonly page: (
      pid: Pid,
      place: BlockPlace | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<StoredBlock>>;

    /** Counts the blocks of a scope, which are at most `mostBlocks`. */
    readonly count: (pid: Pid) => StoreEffect<number>;

    /** Returns where and since when a chat user is blocked, sorted by pid; nothing if the user was erased since. */
    readonly ofUser: (chatId: ChatId) => StoreEffect<ReadonlyArray<UserBlock>>;
  }
>()("@accountlink/core/BlockStore") {}

/** The name of a user in the details of audit entries. @internal */
export const blockedName = ({ chatId, gameId }: BlockedUser) => (chatId === null ? { gameId } : { chatId });
