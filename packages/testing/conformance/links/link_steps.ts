import { AuditLog, type ChatId, type DataScope, type GameId, type Link, LinkStore } from "@accountlink/core";
import { type ImportBatch, ImportStore } from "@accountlink/core/imports";
import type {
  CountOptions,
  LinkProof,
  NewestPosition,
  PageDirection,
  PortableLink,
} from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option } from "effect";
import { makeScopes, origin } from "../scopes.ts";

/** The operations of `LinkStore` on one scope, with defaults. */
export const linkSteps = Effect.fnUntraced(function* (scope: DataScope) {
  const store = yield* LinkStore;
  const imports = yield* ImportStore;
  const log = yield* AuditLog;
  const { pid, account } = scope;
  const context = (at: Millis) => ({ ...origin, pid, at });
  return {
    pid,
    find: (chatId: ChatId) => Effect.map(store.findByChatId(pid, chatId), Option.getOrNull),
    findMany: (chatIds: ReadonlyArray<ChatId>) => store.findByChatIds(pid, chatIds),
    gamesOf: (...chatIds: ReadonlyArray<ChatId>) => store.findGamesByChatIds(pid, chatIds),
    chatsOf: (...gameIds: ReadonlyArray<GameId>) => store.findByGameIds(pid, gameIds),
    newestOf: (gameId: GameId, enough: number) => store.findByGameIds(pid, [gameId], enough),
    page: (after: ChatId | null, limit: number) =>
      Effect.map(store.exportPage(pid, after, limit), (links) => links.map(portable)),
    newest: (place: NewestPosition | null, limit: number, direction?: PageDirection) =>
      store.newestPage(pid, place, limit, direction),
    /** The counts of ways, sorted by the names of the ways. */
    ways: (since: Millis) =>
      Effect.map(store.countWays(pid, since), (found) =>
        found.toSorted((one, other) => String(one.proof).localeCompare(String(other.proof))),
      ),
    count: (options?: CountOptions) => store.countLinks(pid, options),
    all: Effect.map(store.exportPage(pid, null, 10_000), (links) => links.map(portable)),
    set: (chatId: ChatId, gameId: GameId, at: Millis = 0) =>
      store.setGame({ ...context(at), chatId, gameId }),
    move: (oldChatId: ChatId, newChatId: ChatId, at: Millis = 0) =>
      store.moveChat({ ...context(at), oldChatId, newChatId }),
    remove: (chatId: ChatId, at: Millis = 0) =>
      Effect.map(store.removeGame({ ...context(at), chatId }), (removed) =>
        Option.map(removed, ({ gameId }) => gameId),
      ),
    deleteAll: Effect.fnUntraced(function* (at: Millis = 0) {
      return (yield* store.deleteScope(context(at))).records;
    }),
    load: (
      links: ReadonlyArray<PortableLink>,
      existing: ImportBatch["existing"] = "replace",
      progress: ImportBatch["progress"] = null,
      at: Millis = 0,
      proof: LinkProof = "import",
    ) => imports.importBatch({ ...context(at), links, existing, progress, proof }),
    position: imports.importPosition,
    savePosition: imports.savePosition,
    /** The audit entries of the scope, oldest first. */
    entries: Effect.map(log.list(account, null, 1_000), ({ entries }) =>
      entries.filter((entry) => entry.pid === pid).toReversed(),
    ),
  };
});

const portable = ({ chatId, gameId, lastVerifiedAt }: Link): PortableLink =>
  line(chatId, gameId, lastVerifiedAt);

export const newLinkSteps = Effect.flatMap(makeScopes, ({ global }) => linkSteps(global));

export const line = (chatId: ChatId, gameId: GameId, lastVerifiedAt: Millis = 0): PortableLink => ({
  chatId,
  gameId,
  lastVerifiedAt,
});
