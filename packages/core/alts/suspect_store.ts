/** Which users a new link was found to resemble when it was made, and the new links that wait for a node to look. */
import { Array as Arr, Context, Effect, Order, Schema } from "effect";
import type { DataScope } from "../data_scope.ts";
import type { StoreEffect } from "../errors.ts";
import { ChatId, GameId, Pid } from "../ids.ts";
import { type RecordOf, recordStore, recordType, type Tx, withScopes } from "../records/mod.ts";
import { dayMs, type Millis } from "../timestamp.ts";
import { type AltVerdict, altReviews, reviewKey } from "./alt_review_store.ts";
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

/** How long pairs are kept, in milliseconds. @internal */
export const suspectTime = 30 * dayMs;

/** @internal */
export const newLinks = recordType({
  name: "new_links",
  fields: {
    pid: Pid,
    chatId: ChatId,
    gameId: GameId,
    /** When the link was made. */
    at: Schema.Int,
    /** From when on a node may look for likely alts of the user. */
    dueAt: Schema.Int,
  },
  columns: { at: "linked_at" },
  key: ["pid", "chatId"],
  indexes: {
    byScope: { fields: ["pid", "chatId"], group: 1 },
    byUser: { fields: ["chatId", "pid"], group: 1 },
    byDue: { fields: ["dueAt", "pid", "chatId"] },
  },
  isOfScope: true,
  ofUser: { index: "byUser", erasedAs: null },
  download: { index: "byUser", as: "newLinks", fields: ["pid", "gameId", "at"] },
});

/** A link that a user made in the flow, or a change to another account, whose likely alts were not looked for yet. */
export interface NewLink extends RecordOf<typeof newLinks> {}

/**
 * Remembers that likely alts of a new link are to be found. Storages call it in the transaction of the link.
 *
 * @internal
 */
export const noteNewLink = (tx: Tx, { pid, chatId, gameId, at }: Omit<NewLink, "dueAt">) =>
  tx.put(newLinks, { pid, chatId, gameId, at, dueAt: at });

/**
 * Stores which users new links resemble. Every operation is atomic. `SessionStore.complete` stores new links.
 * `LinkStore.deleteScope` deletes the pairs of a scope, `UserStore.erase` and `SightingStore.forget` the pairs of a user.
 */
export class SuspectStore extends Context.Service<
  SuspectStore,
  {
    /**
     * Stores pairs. A pair replaces an earlier pair of the same users. Skips a pair if one of its users has no record in
     * the scope, because the user was erased, or if the link has changed. Deletes the oldest pairs beyond `mostSuspects`.
     */
    readonly add: (pid: Pid, suspects: ReadonlyArray<Suspect>) => StoreEffect<void>;

    /** Returns the pairs whose link was made at `since` or later: newest first, ties by chat ID and other chat ID. */
    readonly find: (pid: Pid, since: Millis) => StoreEffect<ReadonlyArray<FoundSuspect>>;

    /** Deletes the pairs of all scopes whose links were made before a time. */
    readonly forget: (before: Millis) => StoreEffect<void>;

    /** Returns new links that are due before a time, at most `limit`, those that wait for the longest time. */
    readonly dueLinks: (
      before: Millis,
      limit: number,
    ) => StoreEffect<ReadonlyArray<NewLink & { readonly scope: DataScope }>>;

    /**
     * Stores when a new link is due again, or forgets it (`null`), unless it has changed. Returns whether that was done: of
     * several nodes, one takes a link.
     */
    readonly settleLink: (link: NewLink, dueAt: Millis | null) => StoreEffect<boolean>;
  }
>()("@accountlink/core/SuspectStore") {}

/** @internal */
export const altSuspects = recordType({
  name: "suspects",
  fields: { pid: Pid, ...SuspectFields },
  columns: { at: "linked_at" },
  json: ["evidence"],
  key: ["pid", "chatId", "otherChatId"],
  indexes: {
    newest: { fields: ["pid", "-at", "chatId", "otherChatId"], group: 1 },
    byUser: { either: ["chatId", "otherChatId"], fields: ["pid", "chatId", "otherChatId"], group: 1 },
    byTime: { fields: ["at", "pid", "chatId", "otherChatId"] },
  },
  isOfScope: true,
  ofUser: { index: "byUser", erasedAs: null },
});

/** Stores pairs in any storage. @internal */
export const storedSuspects = recordStore(SuspectStore, ({ read, write, removeBefore, mostWritten }) => ({
  add: Effect.fnUntraced(function* (pid: Pid, all: ReadonlyArray<Suspect>) {
    for (const suspects of Arr.chunksOf(all, mostWritten)) {
      yield* write("add", pid, function* (tx) {
        const users = suspects.flatMap(({ chatId, otherChatId }) => [chatId, otherChatId]);
        const linked = yield* tx.linked(pid, [...new Set(users)]);
        for (const suspect of suspects) {
          const { chatId, gameId, otherChatId } = suspect;
          if (linked.get(chatId)?.gameId !== gameId || !linked.has(otherChatId)) continue;
          yield* tx.put(altSuspects, { pid, ...suspect });
        }
        const limit = (yield* tx.count(altSuspects.newest, [pid])) - mostSuspects;
        if (limit <= 0) return;
        for (const { chatId, otherChatId } of yield* tx.list(altSuspects.newest, [pid], {
          limit,
          reverse: true,
        })) {
          yield* tx.remove(altSuspects, pid, chatId, otherChatId);
        }
      });
    }
  }),

  find: (pid, since) =>
    read("find", function* (tx) {
      const found = (yield* tx.list(altSuspects.newest, [pid])).filter(({ at }) => at >= since);
      const reviewed = yield* tx.getAll(
        altReviews,
        found.map((pair) => reviewKey(pid, pair)),
      );
      const verdicts = new Map(reviewed.map((review) => [reviewKey(pid, review).join(" "), review.verdict]));
      return found.flatMap(({ pid: _, ...suspect }): ReadonlyArray<FoundSuspect> => {
        const verdict = verdicts.get(reviewKey(pid, suspect).join(" ")) ?? null;
        return verdict === "different" ? [] : [{ ...suspect, verdict }];
      });
    }),

  forget: (before) => Effect.asVoid(removeBefore("forget", altSuspects.byTime, [before])),

  dueLinks: (before, limit) =>
    read("dueLinks", function* (tx) {
      const found = yield* tx.list(newLinks.byDue, [], { before: [before], limit });
      return yield* withScopes(tx, found, (link, scope) => ({ ...link, scope }));
    }),

  settleLink: ({ pid, chatId, gameId, at, dueAt: seen }, dueAt) =>
    write("settleLink", pid, function* (tx) {
      const stored = yield* tx.get(newLinks, pid, chatId);
      if (stored?.gameId !== gameId || stored.at !== at || stored.dueAt !== seen) return false;
      yield* dueAt === null ? tx.remove(newLinks, pid, chatId) : tx.put(newLinks, { ...stored, dueAt });
      return true;
    }),
}));

/** Returns the pairs that name a chat user, in every scope: newest first, ties by pid, chat ID and other chat ID. @internal */
export const suspectsOf = (tx: Tx, chatId: ChatId) =>
  Effect.map(tx.list(altSuspects.byUser, [chatId]), (found) =>
    found.map(({ pid, ...suspect }): UserSuspect => ({ pid, suspect })).toSorted(newestFirst),
  );

const newestFirst = Order.combineAll<UserSuspect>([
  Order.mapInput(Order.flip(Order.Number), ({ suspect }) => suspect.at),
  Order.mapInput(Order.String, ({ pid }) => pid),
  Order.mapInput(Order.String, ({ suspect }) => suspect.chatId),
  Order.mapInput(Order.String, ({ suspect }) => suspect.otherChatId),
]);
