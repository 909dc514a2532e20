/**
 * The port that finds stored sightings and rotates their address keys. `SessionStore` writes sightings and forgets them.
 */
import { Context, type Effect } from "effect";
import type { AddressSighting, ProtectedAddress, Sighting } from "../addresses/sighting.ts";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { Millis } from "../timestamp.ts";

/** A sighting at an address. The scope, the chat user and the hash of the address identify it. */
export interface StoredSighting extends AddressSighting {
  readonly pid: Pid;
}

/** The address of a sighting under another key. */
export interface ReprotectedSighting {
  readonly chatId: ChatId;
  /** The hash under which the sighting is stored. */
  readonly hash: string;
  readonly address: ProtectedAddress;
}

/** Who is looked for at addresses and in browsers. */
export interface SharedSightings {
  /** The hashes of the addresses, all that each may be stored under, and of the browsers. */
  readonly hashes: ReadonlyArray<string>;
  /** Whose sightings there are given in any case. */
  readonly including: ReadonlyArray<ChatId>;
  /** Who is not looked for. */
  readonly excluding: ReadonlyArray<ChatId>;
  /** How many chat users are looked for at most: those who were seen there last, ties by chat ID as strings. */
  readonly limit: number;
}

/** A chat user was last seen at an address or in a browser, told by its hash. */
export interface FoundSighting {
  readonly chatId: ChatId;
  readonly hash: string;
  readonly seenAt: Millis;
}

/**
 * Where sightings live. Every operation is atomic.
 *
 * @example
 * ```ts
 * import { ChatId } from "@accountlink/core";
 * import { placeOf } from "@accountlink/core/addresses";
 * import { aFixture, memoryWorld } from "@accountlink/testing";
 * import { Scope } from "accountlink";
 * import { Effect } from "effect";
 *
 * const sightings = ["100001", "100002"].map((chatId) => ({ chatId, ip: "203.0.113.7" }));
 * const world = await memoryWorld(aFixture({ sightings }));
 * const program = Effect.gen(function* () {
 *   const store = yield* SightingStore;
 *   const { pid } = yield* Scope;
 *   const [seen] = yield* store.findByChatIds(pid, [ChatId.make("100001")]);
 *   return yield* store.countUsers(pid, [[seen === undefined ? "" : placeOf(seen)]]);
 * });
 * await world.run(program); // [2]
 * await world.close();
 * ```
 */
export class SightingStore extends Context.Service<
  SightingStore,
  {
    /** Where chat users were seen. */
    readonly findByChatIds: (
      pid: Pid,
      chatIds: ReadonlyArray<ChatId>,
    ) => Effect.Effect<ReadonlyArray<Sighting>, StoreUnavailable>;

    /**
     * Who else was seen at addresses and in browsers: every sighting there of the chat users who were there last, and of
     * those that are included. It takes no longer where an address has many users.
     */
    readonly findShared: (
      pid: Pid,
      query: SharedSightings,
    ) => Effect.Effect<ReadonlyArray<FoundSighting>, StoreUnavailable>;

    /**
     * How many chat users were seen at each address or in each browser, in their order. It takes no longer where an
     * address has many users, unless some of them are stored under another key than the others.
     *
     * @param places for each the hashes under which it may be stored
     */
    readonly countUsers: (
      pid: Pid,
      places: ReadonlyArray<ReadonlyArray<string>>,
    ) => Effect.Effect<ReadonlyArray<number>, StoreUnavailable>;

    /** How many sightings at addresses there are under each address key. */
    readonly countByKey: () => Effect.Effect<ReadonlyMap<string, number>, StoreUnavailable>;

    /**
     * Up to `limit` sightings under other address keys, in the order of what identifies them.
     *
     * @param after the last sighting of the page before; null for the first page
     */
    readonly listUnderOtherKeys: (
      addressKeyId: string,
      after: StoredSighting | null,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<StoredSighting>, StoreUnavailable>;

    /**
     * Replaces the addresses of sightings of a scope and keeps their times. A sighting that is gone stays gone; of two
     * that become the same the later one remains.
     */
    readonly reprotect: (
      pid: Pid,
      sightings: ReadonlyArray<ReprotectedSighting>,
    ) => Effect.Effect<void, StoreUnavailable>;
  }
>()("@accountlink/core/SightingStore") {}
