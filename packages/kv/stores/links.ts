/** The link records, and the changes of them that several stores make. */
import type { ChatId, GameId, Pid } from "@accountlink/core";
import { Conflict, type StoreEffect, type StoreUnavailable } from "@accountlink/core/errors";
import { holdersOf } from "@accountlink/core/imports";
import { linkSet } from "@accountlink/core/journal";
import { forEachLimited } from "@accountlink/core/limited_loops";
import {
  confirmedRecord,
  type GameProof,
  type GameSet,
  isLinked,
  type Link,
  type LinkRecord,
  linkedRecord,
  mostTaken,
  type SetGame,
} from "@accountlink/core/links";
import { Effect } from "effect";
import type { Database } from "../database.ts";
import type { Tuple } from "../keys.ts";
import { shortListsAtOnce } from "../steps.ts";
import { keyOf, table } from "../table.ts";
import type { Transaction } from "../transaction.ts";
import { type LinkToCheck, refuseBlocked } from "./blocks.ts";
import { placeAt, placeKey, record as recordChange } from "./journal.ts";
import { epochOf, isBlocking, type StoredScope, scopeAt, scopeKey, scopes } from "./scopes.ts";

export interface StoredLink {
  readonly pid: Pid;
  readonly epoch: number;
  readonly link: LinkRecord;
  /** When the link was made that the last removal took. Imports leave it, so that their undo does. */
  readonly removedLinkedAt?: number;
}

/** The entries of a record with a link. */
const whenLinked = (
  { pid, epoch, link }: StoredLink,
  partsOf: (link: Link) => Tuple,
): ReadonlyArray<Tuple> => (isLinked(link) ? [[pid, epoch, ...partsOf(link)]] : []);

export const links = table<StoredLink>()(
  "link",
  ({ pid, link }) => [pid, link.chatId],
  {
    /** All records, those with a link last. */
    byChat: {
      keys: ({ pid, epoch, link }) => [[pid, epoch, Number(isLinked(link)), link.chatId]],
      group: 1,
    },
    /** The newest link of a game user first. */
    byGame: {
      keys: (stored) => whenLinked(stored, ({ gameId, linkedAt, chatId }) => [gameId, -linkedAt, chatId]),
      group: 3,
    },
    /** The newest link first. */
    byTime: {
      keys: (stored) => whenLinked(stored, ({ lastVerifiedAt, chatId }) => [-lastVerifiedAt, chatId]),
    },
    /** The links that somebody confirmed. */
    verified: {
      keys: (stored) =>
        stored.link.proof === "import"
          ? []
          : whenLinked(stored, ({ lastVerifiedAt, chatId }) => [lastVerifiedAt, chatId]),
    },
    byUser: { keys: ({ pid, link }) => [[link.chatId, pid]], group: 1 },
  },
  1,
);

const linkKeys = (pid: Pid, ...chatIds: ReadonlyArray<ChatId>): ReadonlyArray<string> => [
  scopeKey(pid),
  ...chatIds.map((chatId) => keyOf(links, [pid, chatId])),
];

export const linkWriteKeys = (pid: Pid, ...chatIds: ReadonlyArray<ChatId>): ReadonlyArray<string> => [
  ...linkKeys(pid, ...chatIds),
  placeKey(pid),
];

/** The records of chat users, in their order and without checks. */
export const findRecords = (
  db: Database,
  pid: Pid,
  chatIds: ReadonlyArray<ChatId>,
): StoreEffect<ReadonlyArray<LinkRecord | undefined>> =>
  Effect.map(db.peek(linkKeys(pid, ...chatIds)), (records) => {
    const [scope, ...found] = records as [StoredScope | undefined, ...Array<StoredLink | undefined>];
    return found.map((stored) =>
      stored?.epoch === scope?.epoch && !isBlocking(scope, stored?.link.gameId ?? null)
        ? stored?.link
        : undefined,
    );
  });

/** The record of a chat user, unless the data of its scope was deleted since. */
export const findRecord = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, chatId: ChatId) {
  const scope = yield* tx.get(scopes, pid);
  const stored = yield* tx.get(links, pid, chatId);
  return stored !== undefined && stored.epoch === scope?.epoch ? stored.link : undefined;
});

/** The records of chat users by their IDs, without deleted data. */
export const findRecordsIn = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  chatIds: ReadonlyArray<ChatId>,
) {
  const read = [epochOf(tx, pid), tx.getAll(links, chatIds, (chatId) => [pid, chatId])] as const;
  const [epoch, found] = yield* Effect.all(read, { concurrency: "unbounded" });
  return new Map(
    found.flatMap((each) => (each?.epoch === epoch ? [[each.link.chatId, each.link] as const] : [])),
  );
});

export const findLink = Effect.fnUntraced(function* (tx: Transaction, pid: Pid, chatId: ChatId) {
  const found = yield* findRecord(tx, pid, chatId);
  return found !== undefined && isLinked(found) ? found : undefined;
});

export const putLink = (tx: Transaction, { pid, epoch }: StoredScope, link: LinkRecord) =>
  tx.put(links, { pid, epoch, link });

/** Returns the other chat users of a game user in a scope that allows one; none for a link that is there. */
export const takenByIn = Effect.fnUntraced(function* (
  tx: Transaction,
  { pid, chatId, gameId }: { readonly pid: Pid; readonly chatId: ChatId; readonly gameId: GameId },
) {
  const { epoch, settings } = yield* scopeAt(tx, pid);
  if (!settings.oneChatUser || (yield* findRecord(tx, pid, chatId))?.gameId === gameId) return [];
  const found = yield* tx.list(links.byGame, [pid, epoch, gameId], { limit: mostTaken + 1 });
  return found.map(({ link }) => link.chatId).filter((id) => id !== chatId);
});

/**
 * Returns who else has the game users of links, as `ImportTx.holders` does. Each write that gives a game user changes the
 * place of the scope in the journal: the commit checks the place, because it has no room for a guard of each game user.
 */
export const holdersAmong = Effect.fnUntraced(function* (
  db: Database,
  tx: Transaction,
  pid: Pid,
  wanted: ReadonlyArray<LinkToCheck>,
  leaving: ReadonlyArray<ChatId>,
) {
  const { epoch, settings } = yield* scopeAt(tx, pid);
  if (!settings.oneChatUser || wanted.length === 0) return new Map<ChatId, ChatId>();
  yield* placeAt(tx, pid);
  const isLeaving = new Set(leaving);
  const most = Math.min(2 + leaving.length, mostTaken);
  const found = yield* forEachLimited(wanted, shortListsAtOnce, ({ chatId, gameId }) =>
    Effect.map(db.peekEntries<StoredLink, ChatId>(links.byGame, [pid, epoch, gameId], most), (holders) =>
      holders.find((id) => id !== chatId && !isLeaving.has(id)),
    ),
  );
  return holdersOf(wanted, found);
});

/** Refuses a link that the scope does not admit. @param movesFrom a chat user who loses the link */
export const refuseUnadmitted = Effect.fnUntraced(function* (
  tx: Transaction,
  pid: Pid,
  link: LinkToCheck,
  movesFrom: ChatId | null = null,
) {
  yield* refuseBlocked(tx, pid, link);
  const taken = yield* takenByIn(tx, { pid, ...link });
  if (taken.some((id) => id !== movesFrom)) return yield* new Conflict({ reason: "game_taken" });
});

/** Sets a link. Fails if the scope does not admit it. */
export const setGame = (tx: Transaction, write: SetGame) =>
  Effect.andThen(refuseUnadmitted(tx, write.pid, write), writeGame(tx, write));

/** Sets a link that the scope admits. */
export const writeGame = Effect.fnUntraced(function* (
  tx: Transaction,
  write: SetGame,
  proof?: GameProof,
): Effect.fn.Return<GameSet, StoreUnavailable> {
  const { pid, chatId, gameId, at } = write;
  const scope = yield* scopeAt(tx, pid);
  const previous = yield* findRecord(tx, pid, chatId);
  const previousGameId = previous?.gameId ?? null;
  if (previous !== undefined && isLinked(previous) && previous.gameId === gameId) {
    const record = confirmedRecord(previous, at, proof ?? "hand");
    yield* putLink(tx, scope, record);
    return { record, previousGameId };
  }
  const set = { record: linkedRecord(chatId, previous, gameId, at, proof ?? "hand"), previousGameId };
  yield* putLink(tx, scope, set.record);
  yield* recordChange(tx, pid, linkSet(write, set, proof));
  return set;
});
