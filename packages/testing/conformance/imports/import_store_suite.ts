import { AuditLog, type ChatId, type GameId, LinkStore, type StoragePorts } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { ImportStore, importKeptFor, undoableFor } from "@accountlink/core/imports";
import { UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { uniqueChatId, uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual } from "../expect.ts";
import { line } from "../links/link_steps.ts";
import { ada, atOnce, bob, chess, makeScopes, origin, poker, rummy } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";
import { batches } from "./batches.ts";

/** The most bytes of all imports, unless a case is about them. */
const room = 2 ** 40;

const makeSteps = Effect.gen(function* () {
  const store = yield* ImportStore;
  const links = yield* LinkStore;
  const { account, global } = yield* makeScopes;
  const [one, other] = [uniqueText(), uniqueText()];
  const write = { ...origin, pid: global.pid, at: 0 };
  const hold = (id: string, node = one, at = 0, until = at + 10) => ({ id, node, at, until });
  const begin = Effect.fnUntraced(function* (at = 0, of = account.name) {
    const id = uniqueText();
    return (yield* store.begin({ ...hold(id, one, at), account: of, room })) ? id : null;
  });
  const find = (at = 0) => Effect.map(store.find(account.name, at), Option.getOrNull);
  const save = (id: string, phase: "reading" | "ready" | "running" | "over", node = one, at = 0) =>
    store.save({ ...hold(id, node, at), pid: global.pid, phase, details: '{"a":"\\u0000"}' });
  const running = Effect.fnUntraced(function* (at = 0) {
    const id = String(yield* begin(at));
    yield* save(id, "ready", one, at);
    yield* store.start(hold(id, one, at));
    return id;
  });
  const read = (id: string, part: number, file = "upload") =>
    Effect.map(store.readPart(id, { file, part }), (found) =>
      Option.match(found, { onNone: () => null, onSome: (bytes) => [...bytes] }),
    );
  const append = (id: string, part: number, bytes: ReadonlyArray<number>, node = one, file = "upload") =>
    store.append({ id, node }, { file, part, bytes: Uint8Array.from(bytes) });
  const load = (id: string, node = one, chatId = ada, gameId = chess) =>
    store.importBatch({
      ...write,
      holder: { id, node },
      links: [line(chatId, gameId)],
      existing: "replace",
      proof: "import",
      progress: null,
    });
  return {
    ...store,
    links,
    account,
    global,
    one,
    other,
    write,
    hold,
    begin,
    find,
    save,
    running,
    read,
    append,
    load,
  };
});

const both = (gameId: GameId) => [line(ada, gameId, 1), line(bob, gameId, 1)];

const ended = { inserted: 0, replaced: 0, unchanged: 0, kept: 0, isEnded: true };

const cases: Cases<StoragePorts> = {
  "an account has one import, and a new one replaces it unless it is running or being read": function* () {
    const { begin, find, save, one, global, account } = yield* makeSteps;
    const first = String(yield* begin());
    expectEqual(yield* begin(9), null);
    const counts = { inserted: 0, replaced: 0, unchanged: 0, kept: 0 };
    const stored = { id: first, account: account.name, counts };
    expectEqual(yield* find(), { ...stored, pid: null, phase: "reading", details: "" });
    const second = String(yield* begin(10));
    expectEqual((yield* find())?.id, second);
    expectEqual(yield* save(second, "running"), true);
    expectEqual(yield* begin(1_000), null);
    expectEqual(yield* save(second, "over", one), true);
    expectEqual(yield* find(), {
      ...stored,
      id: second,
      pid: global.pid,
      phase: "over",
      details: '{"a":"\\u0000"}',
    });
    expectEqual(typeof (yield* begin()), "string");
    expectEqual(yield* save(second, "over"), false);
  },

  "concurrent begins: exactly one succeeds": function* () {
    const { begin } = yield* makeSteps;
    const begun = yield* Effect.replicateEffect(begin(), 10, atOnce);
    expectEqual(begun.filter((id) => id !== null).length, 1);
  },

  "the parts of a file are read as they were written, by any node, and part 0 begins the file anew":
    function* () {
      const { append, begin, read, remove, other } = yield* makeSteps;
      const id = String(yield* begin());
      const bytes = Array.from({ length: 256 }, (_, byte) => byte);
      expectEqual(yield* append(id, 0, bytes), true);
      expectEqual(yield* append(id, 1, [1]), true);
      expectEqual(yield* append(id, 0, [2], undefined, "changed"), true);
      expectEqual(yield* append(id, 2, [3], other), false);
      expectEqual([yield* read(id, 0), yield* read(id, 1), yield* read(id, 2)], [bytes, [1], null]);
      expectEqual(yield* append(id, 0, [4]), true);
      expectEqual([yield* read(id, 0), yield* read(id, 1)], [[4], null]);
      expectEqual(yield* read(id, 0, "changed"), [2]);
      expectEqual(yield* remove(id), true);
      expectEqual([yield* read(id, 0), yield* append(id, 1, [1])], [null, false]);
    },

  "an import starts once, and cannot be removed while it runs": function* () {
    const { begin, hold, find, remove, save, start } = yield* makeSteps;
    const id = String(yield* begin());
    expectEqual(yield* start(hold(id)), false);
    yield* save(id, "ready");
    const started = yield* Effect.replicateEffect(start(hold(id)), 10, atOnce);
    expectEqual(started.filter(Boolean).length, 1);
    expectEqual(yield* remove(id), false);
    expectEqual((yield* find())?.phase, "running");
    yield* save(id, "over");
    expectEqual([yield* start(hold(id)), yield* remove(id), yield* remove(id)], [false, true, false]);
  },

  "one node takes the running import of a dead node, and the dead one writes no more": function* () {
    const { append, find, links, load, running, save, take, other, one, global } = yield* makeSteps;
    // Other cases hold their imports until later times.
    const at = -1_000;
    const id = yield* running(at);
    const hold = { node: other, at: at + 9, until: at + 20 };
    expectEqual(yield* take(hold), Option.none());
    expectEqual(yield* load(id), { inserted: 1, replaced: 0, unchanged: 0, kept: 0 });
    const taken = yield* Effect.replicateEffect(take({ ...hold, at: at + 10 }), 5, atOnce);
    expectEqual(
      taken.filter(Option.isSome).map(({ value }) => value.id),
      [id],
    );
    expectEqual(yield* load(id, one, bob), ended);
    expectEqual(yield* links.findByChatId(global.pid, bob), Option.none());
    expectEqual([yield* save(id, "over", one), yield* append(id, 0, [1], one)], [false, false]);
    yield* load(id, other, ada, poker);
    expectEqual((yield* find())?.counts, { inserted: 1, replaced: 1, unchanged: 0, kept: 0 });
    expectEqual(yield* save(id, "over", other), true);
  },

  "deleteScope ends the running import of its scope, which stores nothing afterwards": function* () {
    const { begin, find, links, load, running, save, write, global } = yield* makeSteps;
    const id = yield* running();
    yield* links.deleteScope(write);
    expectEqual(yield* find(), null);
    expectEqual(yield* load(id), ended);
    expectEqual(yield* links.findByChatId(global.pid, ada), Option.none());
    const ready = String(yield* begin());
    yield* save(ready, "ready");
    yield* links.deleteScope(write);
    expectEqual((yield* find())?.id, ready);
  },

  "beyond the room, the oldest imports that are not running are removed": function* () {
    const { append, begin: beginAt, find, hold } = yield* makeSteps;
    const other = yield* makeSteps;
    const running = yield* makeSteps;
    const id = yield* running.running(30);
    const sixty = Array.from({ length: 60 }, () => 1);
    yield* running.append(id, 0, sixty);
    const [old, fresh] = [String(yield* beginAt(40)), String(yield* other.begin(50))];
    yield* append(old, 0, sixty);
    yield* other.append(fresh, 0, sixty);
    const { begin } = yield* ImportStore;
    expectEqual(
      yield* begin({ ...hold(uniqueText(), uniqueText(), 60), account: uniqueText(), room: 100 }),
      true,
    );
    expectEqual([yield* find(), (yield* other.find())?.id, (yield* running.find())?.id], [null, fresh, id]);
    expectEqual(yield* append(old, 1, [1]), false);
    yield* running.save(id, "over");
  },

  "an import expires, and sweep removes it": function* () {
    const { begin, find, read, append, sweep } = yield* makeSteps;
    // The sweep must not remove imports of other cases, which expire later.
    const at = -1_000_000_000;
    const id = String(yield* begin(at));
    yield* append(id, 0, [1]);
    expectEqual((yield* find(at + importKeptFor - 1))?.id, id);
    expectEqual(yield* find(at + importKeptFor), null);
    yield* sweep(at + importKeptFor - 1);
    expectEqual(yield* read(id, 0), [1]);
    yield* sweep(at + importKeptFor);
    expectEqual(yield* read(id, 0), null);
  },

  "an import can be undone for a day, and an erasure ends the undo of a user's link": function* () {
    const { importBatch, write, countUndoable, undo, global } = yield* makeSteps;
    const [chatId, id] = [uniqueChatId(), uniqueText()];
    yield* importBatch({
      ...write,
      links: [line(chatId, chess), line(bob, chess)],
      existing: "replace",
      proof: "import",
      progress: null,
      file: { id, name: "users.csv", isUndoable: true },
    });
    const names = { pseudonym: uniqueText(), ownerHash: uniqueText() };
    const erase = { ...origin, ...names, chatId, at: 1, scopes: [global.pid] };
    yield* UserStore.use((users) => users.erase(erase));
    expectEqual(yield* countUndoable(id), 1);
    const undone = (at: number) => undo({ ...write, id, limit: 10, at });
    expectEqual(yield* undone(undoableFor), { removed: 0, restored: 0, isDone: true });
    expectEqual(yield* undone(undoableFor - 1), { removed: 1, restored: 0, isDone: true });
  },

  "the last three imports of a scope can be undone, and no other": function* () {
    const { countChanges, importBatch, listUndoable, sweep, undo, write, account } = yield* makeSteps;
    const ids = Array.from({ length: 5 }, () => uniqueText());
    const chats = ids.map(() => uniqueChatId());
    for (const [at, id] of ids.entries()) {
      const links = [line(chats[at] as ChatId, chess)];
      const file = { id, name: "users.csv", isUndoable: at !== 3 };
      const batch = { existing: "replace", proof: "import", progress: null } as const;
      yield* importBatch({ ...write, ...batch, at, links, file });
    }
    const listed = Effect.map(listUndoable(account.name, 9), (all) => all.map(({ id }) => id));
    const [first, ...last] = ids.filter((_, at) => at !== 3);
    expectEqual(yield* listed, last.toReversed());
    const undone = (id = "") =>
      Effect.map(undo({ ...write, at: 9, id, limit: 10 }), ({ removed }) => removed);
    expectEqual(yield* undone(first), 0);
    yield* sweep(-1_000_000_000);
    expectEqual(yield* undone(last[0]), 1);
    expectEqual(yield* listed, last.toReversed());
    const changed = [undoableFor - 1, undoableFor, undoableFor + 9];
    expectEqual(yield* Effect.forEach(changed, (at) => countChanges(account.name, at)), [6, 5, 0]);
  },

  "an undo that has taken a part is unfinished, until it has taken all": function* () {
    const { importBatch, listUnfinishedUndos, undo, write, account, global } = yield* makeSteps;
    const id = uniqueText();
    const links = [line(uniqueChatId(), chess), line(uniqueChatId(), chess)];
    const file = { id, name: "users.csv", isUndoable: true };
    const batch = { existing: "replace", proof: "import", progress: null } as const;
    yield* importBatch({ ...write, ...batch, links, file });
    const unfinished = Effect.map(listUnfinishedUndos(2), (all) =>
      all.filter((one) => one.account === account.name),
    );
    expectEqual(yield* unfinished, []);
    yield* undo({ ...write, at: 1, id, limit: 1 });
    expectEqual(yield* unfinished, [{ id, pid: global.pid, account: account.name, done: 1 }]);
    yield* undo({ ...write, at: 1, id, limit: 2 });
    expectEqual(yield* unfinished, []);
  },

  "an undo leaves out the links to a game account that was blocked, and links have no entries of their own":
    function* () {
      const { importBatch, countUndoable, links, undo, write, account, global } = yield* makeSteps;
      const blocks = yield* BlockStore;
      const id = uniqueText();
      const batch = { existing: "replace", progress: null, at: 1 } as const;
      yield* importBatch({ ...write, ...batch, links: both(chess), proof: "hand" });
      yield* links.setGame({ ...write, chatId: bob, gameId: rummy });
      const file = { id, name: "users.csv", isUndoable: true };
      yield* importBatch({ ...write, ...batch, links: both(poker), proof: "import", file });
      yield* blocks.set({ ...write, chatId: null, gameId: chess, hash: uniqueText(), reason: null });
      expectEqual(yield* countUndoable(id), 1);
      const undone = yield* undo({ ...write, at: 2, id, limit: 10 });
      expectEqual(undone, { removed: 0, restored: 1, isDone: true });
      const gameOf = (chatId: ChatId) =>
        Effect.map(links.findByChatId(global.pid, chatId), (found) => Option.getOrThrow(found).gameId);
      expectEqual([yield* gameOf(ada), yield* gameOf(bob)], [poker, rummy]);
      const entries = yield* AuditLog.use((log) => log.list(account.name, null, 10));
      expectEqual(
        entries.map(({ action }) => action),
        ["links.import_undone", "block.set", "links.imported", "link.set", "links.imported"],
      );
    },

  "unstorable text is a defect": function* () {
    const { append, begin, hold, one } = yield* makeSteps;
    const id = String(yield* begin());
    const store = yield* ImportStore;
    for (const text of unstorableTexts) {
      yield* expectDefect(store.begin({ ...hold(text), account: uniqueText(), room }));
      yield* expectDefect(append(id, 0, [1], one, text));
    }
  },
};

/** Tests an `ImportStore`. */
export const importStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("ImportStore", options, { ...batches, ...cases });
