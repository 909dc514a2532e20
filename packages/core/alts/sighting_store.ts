import { Context, type Effect } from "effect";
import type { AddressSighting, ProtectedAddress, Sighting } from "../addresses/sighting.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** A sighting at an address, identified by its scope, chat user and address hash. */
export interface StoredSighting extends AddressSighting {
  readonly pid: Pid;
}

/** A sighting's address, encrypted with another key. */
export interface ReprotectedSighting {
  readonly chatId: ChatId;
  readonly hash: string;
  readonly address: ProtectedAddress;
}

/** A search for users who share addresses or browsers. */
export interface SharedSightings {
  /** Hashes of the browsers, and all hashes under which the addresses may be stored. */
  readonly hashes: ReadonlyArray<string>;
  /** Users whose matching sightings are returned in addition to `limit`. */
  readonly including: ReadonlyArray<ChatId>;
  /** Users to leave out. */
  readonly excluding: ReadonlyArray<ChatId>;
  /** The most chat users to return: the most recently seen, ties by chat ID as strings. */
  readonly limit: number;
}

/** When a chat user was last seen at an address or in a browser. */
export interface FoundSighting {
  readonly chatId: ChatId;
  readonly hash: string;
  readonly seenAt: Millis;
}

/**
 * Finds sightings and rotates their address keys. `SessionStore` writes and deletes them. Every operation is atomic.
 */
export class SightingStore extends Context.Service<
  SightingStore,
  {
    readonly findByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyArray<Sighting>, StoreUnavailable>;

    /**
     * Finds other users who were seen at the addresses and in the browsers: all sightings there of the most recent
     * users and of `including`. Its duration does not grow with the users of an address.
     */
    readonly findShared: (
      pid: Pid,
      query: SharedSightings,
    ) => Effect.Effect<ReadonlyArray<FoundSighting>, StoreUnavailable>;

    /**
     * Counts the chat users seen at each address or in each browser, in order. Its duration does not grow with the
     * users of an address, unless they are stored under several keys.
     *
     * @param places for each place, the hashes under which it may be stored
     */
    readonly countUsers: (
      pid: Pid,
      places: ReadonlyArray<ReadonlyArray<string>>,
    ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;

    /** Counts the sightings at addresses under each address key. */
    readonly countByKey: () => Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>;

    /**
     * Returns up to `limit` sightings under other address keys, in the order of their identifying fields.
     *
     * @param after the last sighting of the page before; null for the first page
     */
    readonly listUnderOtherKeys: (
      addressKeyId: string,
      after: StoredSighting | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<StoredSighting>, StoreUnavailable>;

    /**
     * Replaces the addresses of a scope's sightings and keeps their times. Deleted sightings stay deleted; if two
     * become the same, the later one remains.
     */
    readonly reprotect: (
      pid: Pid,
      sightings: ReadonlyArray<ReprotectedSighting>,
    ) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/SightingStore") {}
