import { Context } from "effect";
import type { AddressSighting, ProtectedAddress, Sighting } from "../addresses/sighting.ts";
import type { StoreEffect } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** A sighting at an address, identified by its scope, chat user and address hash. */
export interface StoredSighting extends AddressSighting {
  readonly pid: Pid;
}

/** The address of a sighting, encrypted with another key. `chatId` and `hash` identify the sighting to change. */
export interface ReprotectedSighting {
  readonly chatId: ChatId;
  readonly hash: string;
  readonly address: ProtectedAddress;
}

/** A search for users who share addresses or browsers. */
export interface SharedSightings {
  /** Hashes of the browsers, and all hashes under which the addresses may be stored. */
  readonly hashes: ReadonlyArray<string>;
  /** Users whose matching sightings are returned even if these users are not among the `limit` most recent ones. */
  readonly including: ReadonlyArray<ChatId>;
  /** Users to leave out, unless they are also in `including`. */
  readonly excluding: ReadonlyArray<ChatId>;
  /**
   * The maximum number of chat users to return. Users who were seen more recently are preferred, then users whose chat
   * ID is first as a string.
   */
  readonly limit: number;
}

/** When a chat user was last seen at an address or in a browser. */
export interface FoundSighting {
  readonly chatId: ChatId;
  readonly hash: string;
  readonly seenAt: Millis;
}

/**
 * Finds sightings, and replaces their addresses when the address keys are rotated. Other stores write and delete
 * sightings. Every operation is atomic.
 */
export class SightingStore extends Context.Service<
  SightingStore,
  {
    /** Returns the latest sightings of chat users, at most `limit`; equal times are sorted by chat ID and place. */
    readonly findByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
      limit: number,
    ) => StoreEffect<ReadonlyArray<Sighting>>;

    /**
     * Finds other users who were seen at the addresses or in the browsers of the query. Returns all matching sightings
     * of the most recently seen users and of the users in `including`. The search does not get slower when more users
     * share an address.
     */
    readonly findShared: (pid: Pid, query: SharedSightings) => StoreEffect<ReadonlyArray<FoundSighting>>;

    /**
     * Counts the chat users seen at each place, in the order of `places`. The count does not get slower when more users
     * share an address, unless the address is stored under several keys.
     *
     * @param places for each address or browser, the hashes under which it may be stored
     */
    readonly countUsers: (
      pid: Pid,
      places: ReadonlyArray<ReadonlyArray<string>>,
    ) => StoreEffect<ReadonlyArray<number>>;

    /** Returns the number of sightings at addresses by the ID of the address key that encrypted them. */
    readonly countByKey: () => StoreEffect<ReadonlyMap<string, number>>;

    /**
     * Returns up to `limit` sightings encrypted with address keys other than `addressKeyId`, sorted by the fields that
     * identify a sighting.
     *
     * @param after the last sighting of the page before; null for the first page
     */
    readonly listUnderOtherKeys: (
      addressKeyId: string,
      after: StoredSighting | null,
      limit: number,
    ) => StoreEffect<ReadonlyArray<StoredSighting>>;

    /**
     * Replaces the addresses of a scope's sightings and keeps the times. Sightings that were deleted in the meantime
     * stay deleted. If two sightings become the same, the later one remains.
     */
    readonly reprotect: (pid: Pid, sightings: ReadonlyArray<ReprotectedSighting>) => StoreEffect<void>;
  }
>()("@accountlink/core/SightingStore") {}
