import { type ChatId, type GameId, type StoragePorts } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { undoableFor } from "@accountlink/core/imports";
import { isOrWasLinked } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { UserStore } from "@accountlink/core/users";
import { Array as Arr, Effect, Option } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual, pluck } from "../expect.ts";
import { line } from "../links/link_steps.ts";
import { ada, bob, chess, cyd, dan, eraseUser, newestOf, poker, rummy } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { fileOf, makeSteps } from "./import_steps.ts";

const both = (gameId: GameId, at: Millis = 1) => [line(ada, gameId, at), line(bob, gameId, at)];

const done = { removed: 0, restored: 0, isDone: true };

/** Makes a scope with a link and a removed one, and reads the records of both users and of one without a link. */
const makeThree = Effect.gen(function* () {
  const steps = yield* makeSteps;
  const { links, write, global } = steps;
  const [fresh, removed, linked] = [uniqueChatId(), uniqueChatId(), uniqueChatId()];
  for (const chatId of [removed, linked]) yield* links.setGame({ ...write, at: 3, chatId, gameId: chess });
  yield* links.removeGame({ ...write, at: 4, chatId: removed });
  const chatIds = [fresh, removed, linked];
  return {
    ...steps,
    fresh,
    removed,
    linesTo: (gameId: GameId, at: Millis) => chatIds.map((chatId) => line(chatId, gameId, at)),
    /** The records without their versions; null for a user who was never linked. */
    records: Effect.forEach(chatIds, (chatId) =>
      Effect.map(links.findByChatId(global.pid, chatId), (found) => {
        if (!Option.exists(found, isOrWasLinked)) return null;
        const { linkVersion: _, ...record } = Option.getOrThrow(found);
        return record;
      }),
    ),
  };
});

export const undos: Cases<StoragePorts> = {
  "an import can be undone for a day, and an erasure ends the undo of a user's link": function* () {
    const { importFile, undoablePage, undo, global } = yield* makeSteps;
    const chatId = uniqueChatId();
    const id = yield* importFile([line(chatId, chess), line(bob, chess)]);
    yield* eraseUser(chatId, { at: 1, scopes: [global.pid] });
    const left = [{ chatId: bob, isRemoved: true }];
    expectEqual(yield* undoablePage(id, null, 10), { links: left, kept: 0, given: 0, next: null });
    expectEqual(yield* undo(id, undoableFor), done);
    expectEqual(yield* undo(id, undoableFor - 1), { ...done, removed: 1 });
  },

  "an erasure takes what an import did in a scope whose data was deleted": function* () {
    const { importFile, links, write } = yield* makeSteps;
    const chatId = uniqueChatId();
    yield* importFile([line(chatId, chess)]);
    yield* links.deleteScope(write);
    yield* eraseUser(chatId);
    yield* links.setGame({ ...write, at: 1, chatId, gameId: chess });
    expectEqual((yield* UserStore.use((users) => users.find(chatId))).imports, []);
  },

  "an undo that has begun goes on after its day, and no sweep ends it before": function* () {
    const { countChanges, importFile, listUndoable, sweepUndo, undo, account } = yield* makeSteps;
    // The sweeps end no imports of other cases.
    const end = undoableFor - 1_000_000_000;
    const id = yield* importFile(both(chess), end - undoableFor);
    expectEqual(yield* undo(id, end - 1, 0), { ...done, isDone: false });
    yield* sweepUndo(end);
    expectEqual(pluck(yield* listUndoable(account.name, end), "id"), [id]);
    expectEqual(yield* undo(id, end, 3), { ...done, removed: 2 });
    expectEqual(yield* listUndoable(account.name, end), []);
    yield* sweepUndo(end + undoableFor - 1);
    expectEqual(yield* countChanges(account.name, end + undoableFor - 1), 2, "a day from the undo");
  },

  "the last three imports of a scope can be undone, and no other": function* () {
    const { countChanges, importLinks, listUndoable, sweepUndo, undo, account } = yield* makeSteps;
    const ids = Array.from({ length: 5 }, () => uniqueText());
    for (const [at, id] of ids.entries()) {
      yield* importLinks([line(uniqueChatId(), chess)], { at, file: fileOf(id, at !== 3) });
    }
    const listed = Effect.map(listUndoable(account.name, 9), (all) => pluck(all, "id"));
    const [first = "", second = "", ...last] = ids.filter((_, at) => at !== 3);
    const undoable = [second, ...last].toReversed();
    expectEqual(yield* listed, undoable);
    expectEqual((yield* undo(first, 9)).removed, 0);
    yield* sweepUndo(-1_000_000_000);
    expectEqual((yield* undo(second, 9)).removed, 1);
    expectEqual(yield* listed, undoable);
    const changed = [undoableFor - 1, undoableFor, undoableFor + 8, undoableFor + 9];
    expectEqual(yield* Effect.forEach(changed, (at) => countChanges(account.name, at)), [6, 5, 1, 0]);
  },

  "an import that was undone or only found links takes the place of no other among the last three":
    function* () {
      const { importFile, listUndoable, undo, account } = yield* makeSteps;
      const run = (at: Millis, chatId = uniqueChatId()) => importFile([line(chatId, chess, at)], at);
      const ids = yield* Effect.forEach([0, 1, 2], (at) => run(at));
      const again = [line(uniqueChatId(), chess)];
      ids.push(yield* importFile(again, 3));
      for (const at of [4, 5, 6]) yield* importFile(again, at);
      expectEqual(pluck(yield* listUndoable(account.name, 9), "id"), ids.slice(1).toReversed());
      ids.shift();
      yield* undo(ids[1] ?? "", 9);
      const later = yield* run(7);
      expectEqual(pluck(yield* listUndoable(account.name, 9), "id"), [later, ...ids.toReversed()]);
    },

  "what an undone import made was no link: a later import takes it as if it had never been": function* () {
    const { importLinks, links, undo, write, global, fresh, removed, linesTo, records } = yield* makeThree;
    const before = yield* records;
    const run = (id: string, at: Millis, existing: "newest" | "keep", lines = linesTo(rummy, 4)) =>
      importLinks(lines, { at, existing, file: fileOf(id) });
    const [wrong, right] = [uniqueText(), uniqueText()];
    yield* run(wrong, 7, "newest", linesTo(poker, 7));
    yield* undo(wrong, 8);
    expectEqual(yield* records, before);
    const none = yield* links.findByChatId(global.pid, fresh);
    expectEqual(Option.map(none, isOrWasLinked), Option.some(false));
    expectEqual(yield* run(right, 9, "newest"), { inserted: 1, replaced: 1, unchanged: 0, kept: 1 });
    yield* undo(right, 10);
    expectEqual(yield* records, before);
    const back = { ...write, at: 11, chatId: removed, gameId: chess, removedAt: 4 };
    const [linkedAt] = Option.toArray(yield* links.restoreGame(back)).map((link) => link.linkedAt);
    expectEqual(linkedAt, 3, "a link that was removed before the imports is put back as it was");
    expectEqual(yield* run(uniqueText(), 9, "keep"), { inserted: 1, replaced: 0, unchanged: 0, kept: 2 });
  },

  "three imports of the same links, also of those put back since, can be undone in any order, and leave the links from before all":
    function* () {
      const orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
      ];
      const files = [
        { games: [poker, rummy, poker], times: [5, 6, 7] },
        { games: [chess, chess, chess], times: [5, 6, 7] },
        { games: [poker, poker, poker], times: [5, 5, 5] },
        { games: [chess, chess, rummy], times: [5, 5, 6] },
        { games: [poker, poker, poker], times: [5, 6, 5] },
      ];
      for (const { games, times } of files)
        for (const [order, isPutBack] of Arr.cartesian(orders, [false, true])) {
          const { importFile, putBack, undo, linesTo, records } = yield* makeThree;
          const kind = [games, times, order, isPutBack];
          const before = yield* records;
          const ids: Array<string> = [];
          const states: Array<typeof before> = [];
          for (const [index, gameId] of games.entries()) {
            const lines = linesTo(gameId, times[index] ?? 0);
            ids.push(yield* importFile(lines, 5 + index));
            if (isPutBack) yield* Effect.forEach(lines, putBack);
            states.push(yield* records);
          }
          const [first = 0, second = 0, last = 0] = order;
          for (const index of [first, second]) yield* undo(ids[index] ?? "", 9);
          expectEqual([...kind, yield* records], [...kind, states[last] ?? []]);
          yield* undo(ids[last] ?? "", 9);
          expectEqual([...kind, yield* records], [...kind, before]);
          yield* undo(ids[first] ?? "", 9);
          expectEqual([...kind, yield* records], [...kind, before]);
        }
    },

  "an undo leaves the links that a later import found, which take them as its own": function* () {
    for (const isFirst of [true, false]) {
      const { countChanges, importLinks, listUndoable, undo, undoablePage, account, holders } =
        yield* makeSteps;
      const [one, other] = [uniqueText(), uniqueText()];
      yield* importLinks(both(chess), { at: 2, existing: "newest", file: fileOf(one) });
      const corrected = [...both(chess), line(cyd, chess)];
      const counts = { inserted: 1, replaced: 0, unchanged: 2, kept: 0 };
      expectEqual(yield* importLinks(corrected, { at: 3, existing: "newest", file: fileOf(other) }), counts);
      const numbers = Effect.map(listUndoable(account.name, 4), (all) => pluck(all, "links"));
      expectEqual(yield* undoablePage(one, null, 9), { links: [], kept: 2, given: 2, next: null });
      const own = { links: [{ chatId: cyd, isRemoved: true }], kept: 0, given: 0, next: null };
      expectEqual([yield* numbers, yield* undoablePage(other, null, 9)], [[1, 2], own]);
      if (isFirst) {
        expectEqual(yield* undo(one, 4), done);
        expectEqual(yield* holders, [[chess, [ada, bob, cyd]]]);
        expectEqual([yield* numbers, yield* countChanges(account.name, 4)], [[3, 0], 3]);
        expectEqual((yield* undo(other, 4)).removed, 3);
      } else {
        expectEqual((yield* undo(other, 4)).removed, 1);
        expectEqual(yield* holders, [[chess, [ada, bob]]]);
        expectEqual((yield* undo(one, 4)).removed, 2);
      }
      expectEqual(yield* holders, []);
    }
  },

  "an undo gives back nothing that an undone import made, but what others set between two imports":
    function* () {
      const { importFile, links, undo, write, holders } = yield* makeSteps;
      const one = yield* importFile(both(poker, 5), 5);
      yield* links.setGame({ ...write, at: 6, chatId: bob, gameId: chess });
      const other = yield* importFile(both(rummy, 7), 7);
      expectEqual(yield* undo(one, 8), done);
      expectEqual(yield* undo(other, 9), { removed: 1, restored: 1, isDone: true });
      expectEqual(yield* holders, [[chess, [bob]]]);
    },

  "the deletion of a scope ends the undo of its imports": function* () {
    const { countChanges, importFile, importLinks, links, listUndoable, undo, undoablePage, write, account } =
      yield* makeSteps;
    const id = yield* importFile(both(chess));
    yield* links.deleteScope(write);
    expectEqual(yield* countChanges(account.name, 0), 2, "what counts of the day");
    yield* importLinks(both(chess));
    expectEqual(yield* listUndoable(account.name, 1), []);
    expectEqual(yield* undoablePage(id, null, 1), { links: [], kept: 0, given: 0, next: null });
    expectEqual(yield* undo(id, 1), done);
  },

  "an undo that has taken a part is unfinished, until it has taken all, also if it left the links as they are":
    function* () {
      const { importFile, links, unfinishedUndos, undo, write, account, global } = yield* makeSteps;
      const id = yield* importFile([...both(chess), line(cyd, chess)]);
      for (const chatId of [ada, bob]) yield* links.setGame({ ...write, chatId, gameId: rummy });
      const unfinished = Effect.map(unfinishedUndos(null, 500), (page) =>
        page.undos.filter((one) => one.account === account.name),
      );
      expectEqual(yield* unfinished, []);
      for (const _ of [ada, bob]) {
        expectEqual(yield* undo(id, 1, 1), { ...done, isDone: false });
        expectEqual(yield* unfinished, [{ id, pid: global.pid, account: account.name, done: 0 }]);
      }
      expectEqual(yield* undo(id, 1, 2), { ...done, removed: 1 });
      expectEqual(yield* unfinished, []);
    },

  "an undo leaves out the links to a game account that was blocked, and links have no entries of their own":
    function* () {
      const { importFile, importLinks, undoablePage, links, undo, write, account, global } = yield* makeSteps;
      yield* importLinks(both(chess), { at: 1, proof: "hand" });
      yield* links.setGame({ ...write, chatId: bob, gameId: rummy });
      const id = yield* importFile(both(poker), 1);
      const block = { ...write, chatId: null, gameId: chess, hash: uniqueText(), reason: null };
      yield* BlockStore.use((blocks) => blocks.set(block));
      expectEqual(yield* undoablePage(id, null, 2), {
        links: [{ chatId: bob, isRemoved: false }],
        kept: 1,
        given: 0,
        next: bob,
      });
      expectEqual(yield* undo(id, 2), { ...done, restored: 1 });
      const gameOf = (chatId: ChatId) =>
        Effect.map(links.findByChatId(global.pid, chatId), (found) => Option.getOrThrow(found).gameId);
      expectEqual([yield* gameOf(ada), yield* gameOf(bob)], [poker, rummy]);
      expectEqual(pluck(yield* newestOf(account.name), "action"), [
        "links.import_undone",
        "block.set",
        "links.imported",
        "link.set",
        "links.imported",
      ]);
    },

  "an undo leaves out the links to a game account that another chat user has, if the scope allows one":
    function* () {
      const { importFile, undoablePage, links, undo, write, allowOne, holders } = yield* makeSteps;
      yield* links.setGame({ ...write, chatId: ada, gameId: chess });
      yield* links.setGame({ ...write, chatId: bob, gameId: rummy });
      const id = yield* importFile([line(ada, poker), line(bob, poker)], 1);
      yield* links.setGame({ ...write, chatId: dan, gameId: chess });
      yield* allowOne;
      expectEqual((yield* undoablePage(id, null, 9)).links, [{ chatId: bob, isRemoved: false }]);
      expectEqual(yield* undo(id, 2), { ...done, restored: 1 });
      expectEqual(yield* holders, [
        [chess, [dan]],
        [poker, [ada]],
        [rummy, [bob]],
      ]);
    },

  "an undo gives back what later links of its import took, on any page, if the scope allows one chat user":
    function* () {
      for (const limit of [2, 9]) {
        const { importLinks, undoablePage, links, undo, write, allowOne, holders } = yield* makeSteps;
        yield* links.setGame({ ...write, chatId: ada, gameId: chess });
        yield* allowOne;
        const id = uniqueText();
        const taking = [line(dan, rummy), line(ada, poker), line(cyd, chess)];
        for (const one of taking) yield* importLinks([one], { at: 1, file: fileOf(id) });
        expectEqual((yield* undoablePage(id, null, limit)).kept, 0);
        yield* Effect.repeat(undo(id, 2, limit), { until: ({ isDone }) => isDone });
        expectEqual([limit, yield* holders], [limit, [[chess, [ada]]]]);
      }
    },

  "an undo and a batch give a game account to one of several chat users, if the scope allows one":
    function* () {
      const { importFile, importLinks, undoablePage, undo, allowOne, holders } = yield* makeSteps;
      yield* importLinks(both(chess), { at: 1 });
      const id = yield* importFile(both(poker), 1);
      yield* allowOne;
      expectEqual((yield* undoablePage(id, null, 9)).links, [{ chatId: ada, isRemoved: false }]);
      expectEqual(yield* undo(id, 2), { ...done, restored: 1 });
      const lines = [line(cyd, rummy), line(dan, rummy), line(bob, chess)];
      const counts = { inserted: 1, replaced: 0, unchanged: 0, kept: 2 };
      expectEqual(yield* importLinks(lines, { at: 1 }), counts);
      expectEqual(yield* holders, [
        [chess, [ada]],
        [poker, [bob]],
        [rummy, [dan]],
      ]);
    },
};
