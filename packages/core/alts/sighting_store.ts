import { Array as Arr, Context, Effect, Order, Schema } from "effect";
import {
  type AddressSighting,
  type BrowserSighting,
  isAtAddress,
  isInBrowser,
  type ProtectedAddress,
  placeOf,
  type Sighting,
} from "../addresses/sighting.ts";
import type { StoreEffect } from "../errors.ts";
import { groupBy } from "../group_by.ts";
import { ChatId, Pid } from "../ids.ts";
import { type RecordOf, recordType } from "../records/record_type.ts";
import { type KeyPart, keyOf, recordStore, removeFound, type Tx } from "../records/records.ts";
import type { Millis } from "../timestamp.ts";
import { altSuspects } from "./suspect_store.ts";

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

/** Where a chat user was seen in all scopes: sightings by time, ties by scope and place. */
export interface UserSightings {
  readonly sightings: ReadonlyArray<{ readonly pid: Pid; readonly sighting: AddressSighting }>;
  readonly browsers: ReadonlyArray<{
    readonly pid: Pid;
    readonly sighting: BrowserSighting;
    /** When the first sighting was stored. */
    readonly firstSeenAt: Millis;
  }>;
}

/** The kind of places where a user was seen. @internal */
export type Places = "addresses" | "browsers";

/**
 * Finds and forgets sightings, and replaces their addresses when the address keys are rotated. Other stores write
 * sightings. Every operation but `forget` is atomic.
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

    readonly ofUser: (chatId: ChatId) => StoreEffect<UserSightings>;

    /**
     * Deletes the sightings of a chat user at addresses or in browsers, in every scope, and returns their number. Deletes
     * the likely alts of the user as well.
     */
    readonly forget: (chatId: ChatId, places: Places) => StoreEffect<number>;

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

/** The last sighting of a chat user at a place, and the time of the first. A browser has no sealed address. @internal */
export const sightingRecords = recordType({
  name: "sightings",
  fields: {
    pid: Pid,
    chatId: ChatId,
    hash: Schema.String,
    sealed: Schema.NullOr(Schema.String),
    addressKeyId: Schema.NullOr(Schema.String),
    seenAt: Schema.Int,
    firstSeenAt: Schema.Int,
  },
  columns: { hash: "place_hash", sealed: "sealed_address" },
  key: ["pid", "chatId", "hash"],
  indexes: {
    byUser: { fields: ["chatId", "pid", "hash"], group: 1 },
    newest: { fields: ["pid", "chatId", "-seenAt", "hash"] },
    byPlace: { fields: ["pid", "hash", "-seenAt", "chatId"] },
    byTime: { fields: ["seenAt", "pid", "chatId", "hash"] },
  },
  isOfScope: true,
  ofUser: {
    index: "byUser",
    erasedAs: ({ sealed }: { readonly sealed: string | null }) =>
      sealed === null ? "browsers" : "sightings",
  },
});

type SightingRecord = RecordOf<typeof sightingRecords>;

const sightingOf = ({ chatId, hash, sealed, addressKeyId, seenAt }: SightingRecord): Sighting =>
  sealed === null || addressKeyId === null
    ? { chatId, browser: hash, seenAt }
    : { chatId, address: { hash, sealed, addressKeyId }, seenAt };

/** The record of a first sighting. @internal */
export const sightingRecord = (pid: Pid, sighting: Sighting): SightingRecord => {
  const { chatId, seenAt } = sighting;
  const { sealed, addressKeyId } = isAtAddress(sighting)
    ? sighting.address
    : { sealed: null, addressKeyId: null };
  return { pid, chatId, hash: placeOf(sighting), sealed, addressKeyId, seenAt, firstSeenAt: seenAt };
};

/** Keeps the latest sighting of each chat user and place, and the time of the first. */
const storeRecords = (tx: Tx, records: ReadonlyArray<SightingRecord>) => {
  const merged = new Map<string, SightingRecord>();
  for (const record of records.toSorted((one, other) => one.seenAt - other.seenAt)) {
    const key = keyOf(sightingRecords, record).join(" ");
    merged.set(key, { ...record, firstSeenAt: merged.get(key)?.firstSeenAt ?? record.firstSeenAt });
  }
  // Sorted, so that two writes cannot deadlock.
  const sorted = [...merged].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return tx.mergeAll(
    sightingRecords,
    sorted.map(([, record]) => record),
    { kept: ["firstSeenAt"], latest: "seenAt" },
  );
};

/** Stores sightings of a scope. @internal */
export const storeSightings = (tx: Tx, pid: Pid, seen: ReadonlyArray<Sighting>) =>
  storeRecords(
    tx,
    seen.map((sighting) => sightingRecord(pid, sighting)),
  );

/** @internal */
export const sightingsOfUser = Effect.fnUntraced(function* (tx: Tx, chatId: ChatId) {
  const found = (yield* tx.list(sightingRecords.byUser, [chatId])).toSorted(
    (one, other) => one.seenAt - other.seenAt,
  );
  const seen = found.map((record) => {
    const { pid, firstSeenAt } = record;
    return { pid, firstSeenAt, sighting: sightingOf(record) };
  });
  return {
    sightings: seen.flatMap(({ pid, sighting }) => (isAtAddress(sighting) ? [{ pid, sighting }] : [])),
    browsers: seen.flatMap(({ sighting, ...place }) =>
      isInBrowser(sighting) ? [{ ...place, sighting }] : [],
    ),
  } satisfies UserSightings;
});

const newestFirst = Order.combineAll<SightingRecord>([
  Order.mapInput(Order.flip(Order.Number), ({ seenAt }) => seenAt),
  Order.mapInput(Order.String, ({ chatId }) => chatId),
  Order.mapInput(Order.String, ({ hash }) => hash),
]);

/** Calls `isEnough` with each page of the sightings of all scopes behind a key, until it returns true. */
const eachPage = Effect.fnUntraced(function* (
  tx: Tx,
  from: ReadonlyArray<KeyPart> | null,
  limit: number,
  isEnough: (page: ReadonlyArray<SightingRecord>) => boolean,
) {
  for (let after = from; ; ) {
    const page = yield* tx.list(sightingRecords.byKey, [], { ...(after !== null && { after }), limit });
    const last = page.at(-1);
    if (last === undefined || isEnough(page)) return;
    after = keyOf(sightingRecords, last);
  }
});

/** How many sightings a write deletes at most. */
const mostForgotten = 500;

/** Stores sightings in any storage. @internal */
export const storedSightings = recordStore(SightingStore, ({ read, write, inSteps, mostWritten }) => ({
  findByChatIds: (pid, chatIds, limit) =>
    read("findByChatIds", function* (tx) {
      const users = [...new Set(chatIds)].map((chatId) => [pid, chatId]);
      const found = yield* tx.listAll(sightingRecords.newest, users, { limit });
      return found.toSorted(newestFirst).slice(0, limit).map(sightingOf);
    }),

  findShared: (pid, { hashes, including, excluding, limit }) =>
    read("findShared", function* (tx) {
      const places = [...new Set(hashes)].map((hash) => [pid, hash] as const);
      // The latest sighting of each wanted user is among the latest ones at its place.
      const most = limit + excluding.length;
      const listed = yield* tx.listAll(sightingRecords.byPlace, places, { limit: most });
      const seenAt = new Map<ChatId, number>();
      for (const { chatId, seenAt: at } of listed) {
        if (!excluding.includes(chatId)) seenAt.set(chatId, Math.max(at, seenAt.get(chatId) ?? at));
      }
      const latest = [...seenAt]
        .toSorted(([one, seen], [other, seenOther]) => seenOther - seen || Order.String(one, other))
        .slice(0, limit);
      const users = new Set([...latest.map(([chatId]) => chatId), ...including]);
      // Only places with more sightings than were listed may have others of the users.
      const byPlace = groupBy(listed, ({ hash }) => hash);
      const crowded = [...byPlace].flatMap(([hash, { length }]) => (length === most ? [hash] : []));
      const keys = crowded.flatMap((hash) => Array.from(users, (chatId) => [pid, chatId, hash]));
      const found = [
        ...listed.filter(({ chatId, hash }) => users.has(chatId) && !crowded.includes(hash)),
        ...(yield* tx.getAll(sightingRecords, keys)),
      ];
      return found.map(({ chatId, hash, seenAt: lastSeen }) => ({ chatId, hash, seenAt: lastSeen }));
    }),

  countUsers: (pid, places) =>
    read("countUsers", function* (tx) {
      const count = Effect.fnUntraced(function* (hashes: ReadonlyArray<string>) {
        const prefixes = [...new Set(hashes)].map((hash) => [pid, hash] as const);
        const [first, ...others] = prefixes;
        if (first === undefined) return 0;
        if (others.length === 0) return yield* tx.count(sightingRecords.byPlace, first);
        const found = yield* tx.listAll(sightingRecords.byPlace, prefixes);
        return new Set(found.map(({ chatId }) => chatId)).size;
      });
      return yield* Effect.all(places.map(count), tx.atOnce);
    }),

  ofUser: (chatId) => read("ofUser", (tx) => sightingsOfUser(tx, chatId)),

  forget: Effect.fnUntraced(function* (chatId: ChatId, places: Places) {
    const seen = yield* read("forget", (tx) => tx.list(sightingRecords.byUser, [chatId]));
    const meant = seen.filter(({ sealed }) => (sealed === null) === (places === "browsers"));
    let forgotten = 0;
    for (const some of Arr.chunksOf(meant, Math.min(mostWritten, mostForgotten))) {
      forgotten += yield* write("forget", chatId, (tx) => removeFound(sightingRecords)(tx, some));
    }
    const suspectsOf = (tx: Tx, limit: number) => tx.list(altSuspects.byUser, [chatId], { limit });
    yield* inSteps("forget", chatId, suspectsOf, removeFound(altSuspects));
    return forgotten;
  }),

  countByKey: () =>
    read("countByKey", function* (tx) {
      const counts = new Map<string, number>();
      yield* eachPage(tx, null, 1_000, (page) => {
        for (const { addressKeyId } of page) {
          if (addressKeyId !== null) counts.set(addressKeyId, (counts.get(addressKeyId) ?? 0) + 1);
        }
        return false;
      });
      return counts;
    }),

  listUnderOtherKeys: (addressKeyId, after, limit) =>
    read("listUnderOtherKeys", function* (tx) {
      const found: Array<StoredSighting> = [];
      const from = after && [after.pid, after.chatId, after.address.hash];
      yield* eachPage(tx, from, limit, (page) => {
        for (const record of page) {
          const sighting = sightingOf(record);
          if (isAtAddress(sighting) && record.addressKeyId !== addressKeyId)
            found.push({ pid: record.pid, ...sighting });
        }
        return found.length >= limit;
      });
      return found.slice(0, limit);
    }),

  reprotect: Effect.fnUntraced(function* (pid: Pid, replaced: ReadonlyArray<ReprotectedSighting>) {
    for (const part of Arr.chunksOf(replaced, Math.ceil(mostWritten / 2))) {
      const addresses = new Map(part.map(({ chatId, hash, address }) => [`${chatId} ${hash}`, address]));
      yield* write("reprotect", pid, function* (tx) {
        const found = yield* tx.removeAll(
          sightingRecords,
          part.map(({ chatId, hash }) => [pid, chatId, hash]),
        );
        yield* storeRecords(
          tx,
          found.map((record) => {
            const address =
              record.sealed === null ? undefined : addresses.get(`${record.chatId} ${record.hash}`);
            return { ...record, ...address };
          }),
        );
      });
    }
  }),
}));
