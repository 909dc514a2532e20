import { ChatId, type GameId, LinkStore, type StoragePorts } from "@accountlink/core";
import { BlockStore, type BlockTarget, blockedPerStep } from "@accountlink/core/admission";
import { Effect, Option } from "effect";
import { hostileTexts, uniquePid, unstorableTexts } from "../mod.ts";
import { expectDefect, expectEqual } from "./expect.ts";
import { line, newLinkSteps } from "./links/link_steps.ts";
import { ada, atOnce, bob, chess, origin, poker } from "./scopes.ts";
import type { Cases } from "./suite.ts";

const chat = (chatId: ChatId): BlockTarget => ({ chatId, gameId: null, hash: `chat-${chatId}` });
const game = (gameId: GameId): BlockTarget => ({ chatId: null, gameId, hash: `game-${gameId}` });

/** Creates a scope and the operations on its blocks and links. */
const newBlockSteps = Effect.gen(function* () {
  const [store, links] = [yield* BlockStore, yield* LinkStore];
  const { pid, load } = yield* newLinkSteps;
  const context = (at: number) => ({ ...origin, pid, at });
  const importLinks = (chatIds: ReadonlyArray<ChatId>, gameId: GameId) =>
    load(
      chatIds.map((chatId) => line(chatId, gameId, 7)),
      "replace",
      null,
      7,
    );
  return {
    set: (target: BlockTarget, reason: string | null = null, scope = pid) =>
      store.set({ ...context(1), pid: scope, ...target, reason }),
    remove: (target: BlockTarget) => store.remove({ ...context(9), ...target }),
    page: store.page(pid, null, 10),
    link: (chatId: ChatId, gameId: GameId) =>
      links.setGame({ ...context(5), chatId, gameId, chatHash: Effect.succeed(`chat-${chatId}`) }),
    move: (oldChatId: ChatId, newChatId: ChatId) =>
      links.moveChat({ ...context(6), oldChatId, newChatId, chatHash: Effect.succeed(`chat-${newChatId}`) }),
    store,
    links,
    pid,
    importLink: (chatId: ChatId, gameId: GameId) => importLinks([chatId], gameId),
    importLinks,
    gameOf: (chatId: ChatId) =>
      Effect.map(links.findByChatId(pid, chatId), (record) => Option.getOrNull(record)?.gameId ?? null),
  };
});

const isStep = (isWhole: boolean, { length }: { readonly length: number }, rest = blockedPerStep) =>
  isWhole ? length === Math.min(rest, blockedPerStep) : length > 0 && length <= blockedPerStep;

/**
 * `storagePropertySuite` tests what blocks remove and refuse, their pages, and erasures.
 *
 * @param isWhole whether a step removes `blockedPerStep` links, and not fewer as on an engine of few changes
 */
export const blockCases = (isWhole: boolean): Cases<StoragePorts> => ({
  "concurrent blocks and writes of every kind: no link of a blocked user is left": function* () {
    const { set, remove, link, move, importLink, gameOf } = yield* newBlockSteps;
    for (let round = 0; round < 15; round++) {
      yield* Effect.ignore(link(bob, poker));
      const target = round % 2 === 0 ? chat(ada) : game(chess);
      yield* Effect.all(
        [
          Effect.ignore(link(ada, chess)),
          Effect.ignore(round % 3 === 0 ? move(bob, ada) : link(ada, chess)),
          set(target),
          Effect.ignore(importLink(ada, chess)),
          Effect.ignore(link(ada, chess)),
        ],
        atOnce,
      );
      const left = yield* gameOf(ada);
      expectEqual(round % 2 === 0 ? left : left === chess, round % 2 === 0 ? null : false);
      yield* remove(target);
    }
  },

  "links beyond a step are refused to lookups from the block on, and removed in steps": function* () {
    const { store, links, pid, set, remove, importLinks, gameOf } = yield* newBlockSteps;
    const chatIds = Array.from({ length: 2 * blockedPerStep + 3 }, (_, index) =>
      ChatId.make(`${105_000 + index}`),
    );
    yield* importLinks(chatIds, chess);
    const { removed, hasMore } = yield* set(game(chess));
    expectEqual([isStep(isWhole, removed), hasMore], [true, true]);
    expectEqual((yield* links.findByChatIds(pid, chatIds)).size, removed.length);
    expectEqual((yield* links.findGamesByChatIds(pid, chatIds)).size, 0);
    expectEqual((yield* links.findByGameIds(pid, [chess])).size, 0);
    const left = chatIds.filter((chatId) => removed.every((link) => link.chatId !== chatId));
    for (const chatId of left.slice(0, 2)) expectEqual(yield* gameOf(chatId), null);
    expectEqual((yield* store.removals()).filter((scope) => scope.pid === pid).length, 1);

    const all = [...removed];
    for (;;) {
      const step = yield* store.removeLinks(pid);
      if (step.length === 0) break;
      expectEqual(isStep(isWhole, step, chatIds.length - all.length), true);
      all.push(...step);
    }
    expectEqual(all.map(({ chatId }) => chatId).toSorted(), chatIds);
    expectEqual((yield* store.removals()).filter((scope) => scope.pid === pid).length, 0);
    expectEqual(yield* links.countLinks(pid), 0);

    yield* remove(game(chess));
    yield* importLinks(chatIds, chess);
    const again = yield* set(game(chess));
    yield* remove(game(chess));
    expectEqual(yield* store.removeLinks(pid), []);
    expectEqual(yield* links.countLinks(pid), chatIds.length - again.removed.length);
  },

  "reasons keep every Unicode text; unstorable text and an unknown scope are defects": function* () {
    const { set, page } = yield* newBlockSteps;
    for (const reason of hostileTexts) {
      yield* set(chat(ada), reason);
      expectEqual((yield* page)[0]?.reason, reason);
    }
    for (const reason of unstorableTexts) yield* expectDefect(set(chat(ada), reason));
    yield* expectDefect(set(chat(ada), null, uniquePid()));
  },
});
