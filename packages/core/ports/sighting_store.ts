/**
 * The port that rotates the address keys of stored sightings. `SessionStore` writes sightings and forgets them.
 */
import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { ProtectedAddress, Sighting } from "../sighting.ts";

/** A sighting of a scope. The scope, the chat user and the hash of the address identify it. */
export interface StoredSighting extends Sighting {
  readonly pid: Pid;
}

/** The address of a sighting under another key. */
export interface ReprotectedSighting {
  readonly chatId: ChatId;
  /** The hash under which the sighting is stored. */
  readonly hash: string;
  readonly address: ProtectedAddress;
}

/** Where sightings live. Every operation is atomic. */
export class SightingStore extends Context.Service<
  SightingStore,
  {
    /** How many sightings there are under each address key. */
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
