import { type FoundSuspect, mostSuspects, type Suspect, SuspectStore } from "@accountlink/core/alts";
import { Effect, Order } from "effect";
import { removeInSteps } from "../steps.ts";
import { table } from "../table.ts";
import { reviews } from "./alt_review_store.ts";
import { links } from "./links.ts";
import { epochOf, isCurrent, type OfEpoch, scopeAt } from "./scopes.ts";
import { storeLayer } from "./store_layer.ts";

interface StoredSuspect extends OfEpoch {
  readonly suspect: Suspect;
}

const idOf = ({ pid, epoch, suspect: { chatId, otherChatId } }: StoredSuspect) =>
  [pid, epoch, chatId, otherChatId] as const;

export const suspects = table<StoredSuspect>()("suspect", idOf, {
  newest: {
    keys: ({ pid, epoch, suspect: { at, chatId, otherChatId } }) => [[pid, epoch, -at, chatId, otherChatId]],
    group: 2,
  },
  byUser: {
    keys: (stored) => [
      [stored.suspect.chatId, ...idOf(stored)],
      [stored.suspect.otherChatId, ...idOf(stored)],
    ],
    group: 1,
  },
  byTime: { keys: (stored) => [[stored.suspect.at, ...idOf(stored)]] },
});

export const layer = storeLayer(SuspectStore, (db) => ({
  add: (pid, added) =>
    db.write(pid, function* (tx) {
      const { epoch } = yield* scopeAt(tx, pid);
      for (const suspect of added) {
        const linked = yield* tx.get(links, pid, suspect.chatId);
        const other = yield* tx.get(links, pid, suspect.otherChatId);
        if (linked?.epoch !== epoch || linked.link.gameId !== suspect.gameId) continue;
        if (other?.epoch === epoch) yield* tx.put(suspects, { pid, epoch, suspect });
      }
      const excess = (yield* tx.count(suspects.newest, [pid, epoch])) - mostSuspects;
      if (excess <= 0) return;
      for (const old of yield* tx.list(suspects.newest, [pid, epoch], { limit: excess, reverse: true })) {
        yield* tx.remove(suspects, ...idOf(old));
      }
    }),

  find: (pid, since) =>
    db.read(function* (tx) {
      const epoch = yield* epochOf(tx, pid);
      const kept = (yield* tx.list(suspects.newest, [pid, epoch])).filter(
        ({ suspect }) => suspect.at >= since,
      );
      const reviewed = yield* tx.getAll(reviews, kept, ({ suspect: { chatId, otherChatId } }) => [
        pid,
        ...[chatId, otherChatId].toSorted(),
      ]);
      return kept.flatMap(({ suspect }, index): ReadonlyArray<FoundSuspect> => {
        const found = reviewed[index];
        const verdict = found?.epoch === epoch ? found.review.verdict : null;
        return verdict === "different" ? [] : [{ ...suspect, verdict }];
      });
    }),

  ofUser: (chatId) =>
    db.read(function* (tx) {
      const all = yield* tx.list(suspects.byUser, [chatId]);
      const found = yield* Effect.filter(all, (stored) => isCurrent(tx, stored));
      return found.toSorted(newestFirst).map(({ pid, suspect }) => ({ pid, suspect }));
    }),

  forget: (before) =>
    Effect.asVoid(
      removeInSteps(db, suspects.byTime, [], { before: [before] }, ({ suspect }) => suspect.at < before),
    ),
}));

const newestFirst = ({ pid, suspect }: StoredSuspect, other: StoredSuspect): number =>
  other.suspect.at - suspect.at ||
  Order.String(pid, other.pid) ||
  Order.String(suspect.chatId, other.suspect.chatId) ||
  Order.String(suspect.otherChatId, other.suspect.otherChatId);
