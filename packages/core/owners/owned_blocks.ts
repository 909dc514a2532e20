import { Clock, Context, Effect, Layer } from "effect";
import {
  type Block,
  type BlockedUser,
  type BlockPlace,
  BlockStore,
  type LinkBlocked,
  mostBlocks,
} from "../admission/block_store.ts";
import type { DataScope } from "../data_scope.ts";
import { Conflict } from "../errors.ts";
import type { ChatId, GameId } from "../ids.ts";
import { type Manager, originOf } from "../keys/owned_keys.ts";
import { LinkCap, LinkEvents } from "../links/mod.ts";
import { pageOf } from "../list_page.ts";
import { Secrets } from "../secrets/secrets.ts";
import { SessionWatch } from "../sessions/session_watch.ts";
import { sweepEvery } from "../telemetry/warn_once.ts";
import { TurnAccount, Turns } from "../turns/mod.ts";
import { OwnedScopes } from "./owned_scopes.ts";

/** How many blocks of a file one request makes. */
const importedAtOnce = 500;

/** A block, and how many links it has removed so far. */
export interface UserBlocked {
  readonly block: Block;
  readonly removedLinks: number;
}

/** Blocks users of a scope. The caller checks that the owner has the scope. */
export class OwnedBlocks extends Context.Service<OwnedBlocks>()("@accountlink/core/OwnedBlocks", {
  make: Effect.gen(function* () {
    const store = yield* BlockStore;
    const secrets = yield* Secrets;
    const watch = yield* SessionWatch;
    const events = yield* LinkEvents;
    const cap = yield* LinkCap;
    const scopes = yield* OwnedScopes;
    const layerScope = yield* Effect.scope;
    const turns = new Turns({ resource: "block_removals", places: 1 });

    const contextOf = Effect.fnUntraced(function* (manager: Manager, { pid }: DataScope, user: BlockedUser) {
      const hash = yield* secrets.blockHash(pid, user);
      return { ...originOf(manager), ...user, pid, hash, at: yield* Clock.currentTimeMillis };
    });

    const announce = Effect.fnUntraced(function* (scope: DataScope, removed: ReadonlyArray<LinkBlocked>) {
      for (const { chatId, gameId, ended } of removed) {
        yield* watch.announce(ended);
        yield* events.announce("linkChanged", { scope, chatId, gameId: null, previousGameId: gameId });
      }
      if (removed.length === 0) return;
      yield* cap.freed(scope);
      yield* scopes.counts.add(scope.pid, -removed.length);
    });

    /** Removes the links that blocks have left, in steps, between which other accounts have their turns. */
    const removeRest = Effect.fnUntraced(function* (scope: DataScope) {
      const step = Effect.tap(store.removeLinks(scope.pid), (removed) => announce(scope, removed));
      const inTurn = turns.step(scope.account, Effect.provideService(step, TurnAccount, scope.account));
      while ((yield* inTurn).length > 0) yield* Effect.yieldNow;
    });

    // Another node may have stopped before it removed all links.
    yield* sweepEvery("10 seconds", "Cannot remove links of blocked users", () =>
      Effect.flatMap(store.removals(), (left) =>
        Effect.forEach(left, removeRest, { concurrency: "unbounded", discard: true }),
      ),
    );

    /** Blocks a user, and removes the links of the user: some at once, the others after the answer. */
    const set = Effect.fn("OwnedBlocks.set")(function* (
      manager: Manager,
      scope: DataScope,
      user: BlockedUser,
      reason: string | null,
    ) {
      const write = yield* contextOf(manager, scope, user);
      const { block, removed, hasMore } = yield* store.set({ ...write, reason });
      yield* announce(scope, removed);
      if (hasMore) yield* Effect.forkIn(Effect.ignore(removeRest(scope)), layerScope);
      return { block, removedLinks: removed.length } satisfies UserBlocked;
    });

    return {
      /** Returns blocks, newest first, and the place after which the next page begins; null on the last page. */
      page: Effect.fn("OwnedBlocks.page")(function* (
        { pid }: DataScope,
        place: BlockPlace | null,
        limit: number,
      ) {
        const { page: blocks, last: next } = pageOf(yield* store.page(pid, place, limit + 1), limit);
        return { blocks, next };
      }),

      of: Effect.fn("OwnedBlocks.of")(function* ({ pid }: DataScope, chatId: ChatId, gameId: GameId | null) {
        const chat = yield* secrets.blockHash(pid, { chatId, gameId: null });
        const game = gameId === null ? null : yield* secrets.blockHash(pid, { chatId: null, gameId });
        const found = yield* store.findHashes(pid, game === null ? [chat] : [chat, game]);
        return { chat: found.has(chat), game: game !== null && found.has(game) };
      }),

      set,

      admitted: Effect.fn("OwnedBlocks.admitted")(function* (
        { pid }: DataScope,
        users: ReadonlyArray<BlockedUser>,
      ) {
        const hashes = yield* Effect.forEach(users, (user) => secrets.blockHash(pid, user));
        const blocked = yield* store.findHashes(pid, hashes);
        return users.filter((_, index) => !blocked.has(hashes[index] ?? ""));
      }),

      count: ({ pid }: DataScope) => store.count(pid),

      /** Returns all blocks, newest first. */
      all: ({ pid }: DataScope) => store.page(pid, null, mostBlocks),

      /**
       * Blocks the first 500 users of a file that are not blocked yet, and counts those who are, and those who are left. A
       * second call goes on with the rest. Fails with `Conflict` `block_limit`, and blocks nobody, if the scope has no room
       * for all of them.
       */
      importAll: Effect.fn("OwnedBlocks.importAll")(function* (
        manager: Manager,
        scope: DataScope,
        listed: ReadonlyArray<Pick<Block, "reason"> & { readonly user: BlockedUser }>,
      ) {
        // A scope has no room for more users, so those behind them are left without a look.
        const first = listed.slice(0, mostBlocks);
        const hashed = yield* Effect.forEach(first, (one) =>
          Effect.map(secrets.blockHash(scope.pid, one.user), (hash) => ({ ...one, hash })),
        );
        const unique = [...new Map(hashed.map((one) => [one.hash, one])).values()];
        const hashes = unique.map(({ hash }) => hash);
        const known = yield* store.findHashes(scope.pid, hashes);
        const fresh = unique.filter(({ hash }) => !known.has(hash));
        const taken = fresh.slice(0, importedAtOnce);
        if ((yield* store.count(scope.pid)) + taken.length > mostBlocks)
          return yield* new Conflict({ reason: "block_limit" });
        for (const { user, reason } of taken) {
          yield* set(manager, scope, user, reason);
          yield* Effect.yieldNow;
        }
        return {
          imported: taken.length,
          kept: unique.length - fresh.length,
          left: listed.length - first.length + fresh.length - taken.length,
        };
      }),

      /** Returns false if the user is not blocked. */
      remove: Effect.fn("OwnedBlocks.remove")(function* (
        manager: Manager,
        scope: DataScope,
        user: BlockedUser,
      ) {
        return yield* store.remove(yield* contextOf(manager, scope, user));
      }),

      /** Ends the blocks of several users. */
      removeAll: Effect.fn("OwnedBlocks.removeAll")(function* (
        manager: Manager,
        scope: DataScope,
        users: ReadonlyArray<BlockedUser>,
      ) {
        for (const user of users) {
          yield* store.remove(yield* contextOf(manager, scope, user));
          yield* Effect.yieldNow;
        }
      }),
    };
  }),
}) {
  static readonly layer = Layer.effect(OwnedBlocks, OwnedBlocks.make).pipe(
    Layer.provide([LinkEvents.layer, LinkCap.layer]),
  );
}
