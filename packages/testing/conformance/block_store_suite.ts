import { AuditLog, type ChatId, type GameId, LinkStore, type StoragePorts } from "@accountlink/core";
import { BlockStore, type BlockTarget } from "@accountlink/core/admission";
import { Conflict } from "@accountlink/core/errors";
import { UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { hostileTexts, uniquePid, unstorableTexts } from "../mod.ts";
import { expectDefect, expectEqual } from "./expect.ts";
import { ada, atOnce, bob, chess, cyd, makeScopes, origin, poker } from "./scopes.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";

const chat = (chatId: ChatId): BlockTarget => ({ chatId, gameId: null, hash: `chat-${chatId}` });
const game = (gameId: GameId): BlockTarget => ({ chatId: null, gameId, hash: `game-${gameId}` });

/** Creates a scope and the operations on its blocks and links. */
const newBlockSteps = Effect.gen(function* () {
  const [store, links, log, users] = [yield* BlockStore, yield* LinkStore, yield* AuditLog, yield* UserStore];
  const { account, global } = yield* makeScopes;
  const { pid } = global;
  const context = (at: number) => ({ ...origin, pid, at });
  return {
    set: (target: BlockTarget, at = 1, reason: string | null = null, scope = pid) =>
      store.set({ ...context(at), pid: scope, ...target, reason }),
    remove: (target: BlockTarget) => store.remove({ ...context(9), ...target }),
    page: (limit = 10, place: Parameters<BlockStore["Service"]["page"]>[1] = null) =>
      store.page(pid, place, limit),
    found: (...targets: ReadonlyArray<BlockTarget>) =>
      Effect.map(
        store.findHashes(
          pid,
          targets.map(({ hash }) => hash),
        ),
        (hashes) => targets.map(({ hash }) => hashes.has(hash)),
      ),
    ofUser: store.ofUser,
    link: (chatId: ChatId, gameId: GameId, chatHash = `chat-${chatId}`) =>
      links.setGame({ ...context(5), chatId, gameId, chatHash }),
    move: (oldChatId: ChatId, newChatId: ChatId) =>
      links.moveChat({ ...context(6), oldChatId, newChatId, chatHash: `chat-${newChatId}` }),
    importLinks: (pairs: ReadonlyArray<readonly [ChatId, GameId]>) =>
      links.importBatch({
        ...context(7),
        links: pairs.map(([chatId, gameId]) => ({ chatId, gameId, lastVerifiedAt: 7 })),
        existing: "replace",
        proof: "import",
        progress: null,
      }),
    gameOf: (chatId: ChatId) =>
      Effect.map(links.findByChatId(pid, chatId), (record) => Option.getOrNull(record)?.gameId ?? null),
    deleteScope: links.deleteScope(context(8)),
    erase: (chatId: ChatId) =>
      Effect.flatMap(users.findRecords(chatId), (records) =>
        users.erase({
          ...origin,
          chatId,
          at: 9,
          scopes: records.map(({ scope }) => scope.pid),
          pseudonym: "erased",
          ownerHash: "owner",
        }),
      ),
    actions: Effect.map(log.list(account.name, null, 100), (entries) =>
      entries.toReversed().map(({ action, details }) => [action, details]),
    ),
    pid,
  };
});

const reasonOf = <A, E>(write: Effect.Effect<A, E>) =>
  Effect.map(Effect.flip(write), (error) => (error instanceof Conflict ? error.reason : error));

const cases: Cases<StoragePorts> = {
  "a block removes the links of its user, and refuses every write that would link the user": function* () {
    const { set, link, move, importLinks, gameOf, actions } = yield* newBlockSteps;
    yield* link(ada, chess);
    yield* link(bob, poker);
    const { block, removed } = yield* set(chat(ada), 2, "Raids");
    expectEqual(block, { chatId: ada, gameId: null, reason: "Raids", at: 2, member: null });
    expectEqual(removed, [{ chatId: ada, gameId: chess, ended: [] }]);
    expectEqual(yield* reasonOf(link(ada, chess)), "blocked");
    expectEqual(yield* reasonOf(move(bob, ada)), "blocked");
    const counts = yield* importLinks([
      [ada, poker],
      [cyd, poker],
    ]);
    expectEqual(counts, { inserted: 1, replaced: 0, unchanged: 0, kept: 1 });
    expectEqual([yield* gameOf(ada), yield* gameOf(bob), yield* gameOf(cyd)], [null, poker, poker]);
    expectEqual((yield* actions).slice(2, 4), [
      ["block.set", { chatId: ada, reason: "Raids" }],
      ["link.removed", { chatId: ada, removedGameId: chess, reason: "Raids" }],
    ]);
  },

  "a block of a game user removes all links to it, and refuses it to everybody": function* () {
    const { set, remove, link, move, importLinks, gameOf } = yield* newBlockSteps;
    yield* link(bob, chess);
    yield* link(ada, chess);
    const { removed } = yield* set(game(chess));
    expectEqual(
      removed.map(({ chatId }) => chatId),
      [ada, bob],
    );
    expectEqual(yield* reasonOf(link(cyd, chess)), "blocked");
    expectEqual((yield* importLinks([[cyd, chess]])).kept, 1);
    yield* link(ada, poker);
    expectEqual((yield* move(ada, bob))._tag, "Moved");
    expectEqual(yield* remove(game(chess)), true);
    expectEqual(yield* remove(game(chess)), false);
    yield* link(cyd, chess);
    expectEqual(yield* gameOf(cyd), chess);
  },

  "blocks are listed newest first, ties by hash, and a second block replaces the first": function* () {
    const { set, page, found, ofUser, pid } = yield* newBlockSteps;
    for (const [target, at] of [[chat(ada), 2] as const, [game(chess), 2] as const, [chat(bob), 3] as const])
      yield* set(target, at);
    const hashes = ["chat-10002", "chat-10001", "game-1"];
    const all = yield* page();
    expectEqual(
      all.map(({ hash }) => hash),
      hashes,
    );
    expectEqual(
      (yield* page(2)).map(({ hash }) => hash),
      hashes.slice(0, 2),
    );
    expectEqual(
      (yield* page(2, all[1] ?? null)).map(({ hash }) => hash),
      hashes.slice(2),
    );
    yield* set(chat(ada), 4, "Again");
    expectEqual(yield* page(1), [
      { chatId: ada, gameId: null, hash: "chat-10001", reason: "Again", at: 4, member: null },
    ]);
    expectEqual(yield* found(chat(ada), chat(cyd), game(chess), game(poker)), [true, false, true, false]);
    expectEqual(
      (yield* ofUser(ada)).filter((block) => block.pid === pid),
      [{ pid, at: 4 }],
    );
    expectEqual(
      (yield* ofUser(cyd)).filter((block) => block.pid === pid),
      [],
    );
  },

  "an erasure leaves the hash of a block, which still refuses the user": function* () {
    const { set, page, link, erase, remove, ofUser, pid } = yield* newBlockSteps;
    yield* link(cyd, chess);
    yield* set(chat(cyd), 2, "Raids");
    yield* erase(cyd);
    expectEqual(yield* page(), [
      { chatId: null, gameId: null, hash: "chat-10003", reason: null, at: 2, member: null },
    ]);
    expectEqual(
      (yield* ofUser(cyd)).filter((block) => block.pid === pid),
      [],
    );
    expectEqual(yield* reasonOf(link(cyd, chess)), "blocked");
    expectEqual(yield* remove(chat(cyd)), true);
    yield* link(cyd, chess);
  },

  "deleteScope deletes the blocks of its scope": function* () {
    const { set, page, link, deleteScope } = yield* newBlockSteps;
    yield* set(chat(ada));
    yield* deleteScope;
    expectEqual(yield* page(), []);
    yield* link(ada, chess);
  },

  "concurrent blocks and writes of every kind: no link of a blocked user is left": function* () {
    const { set, remove, link, move, importLinks, gameOf } = yield* newBlockSteps;
    for (let round = 0; round < 15; round++) {
      yield* Effect.ignore(link(bob, poker));
      const target = round % 2 === 0 ? chat(ada) : game(chess);
      yield* Effect.all(
        [
          Effect.ignore(link(ada, chess)),
          Effect.ignore(round % 3 === 0 ? move(bob, ada) : link(ada, chess)),
          set(target),
          Effect.ignore(importLinks([[ada, chess]])),
          Effect.ignore(link(ada, chess)),
        ],
        atOnce,
      );
      const left = yield* gameOf(ada);
      expectEqual(round % 2 === 0 ? left : left === chess, round % 2 === 0 ? null : false);
      yield* remove(target);
    }
  },

  "reasons keep every Unicode text; unstorable text and an unknown scope are defects": function* () {
    const { set, page } = yield* newBlockSteps;
    for (const reason of hostileTexts) {
      yield* set(chat(ada), 1, reason);
      expectEqual((yield* page())[0]?.reason, reason);
    }
    for (const reason of unstorableTexts) yield* expectDefect(set(chat(ada), 1, reason));
    yield* expectDefect(set(chat(ada), 1, null, uniquePid()));
  },
};

/** Tests a `BlockStore` with the other storage ports. */
export const blockStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("BlockStore", options, cases);
