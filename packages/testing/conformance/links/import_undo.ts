import { AuditLog, LinkStore, type StoragePorts } from "@accountlink/core";
import { EventStore } from "@accountlink/core/events";
import { type ImportBatch, ImportStore, type PortableLink, undoableFor } from "@accountlink/core/links";
import { UserStore } from "@accountlink/core/users";
import { Effect, Option } from "effect";
import { uniqueChatId, uniqueText } from "../../mod.ts";
import { expectEqual } from "../expect.ts";
import { ada, bob, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line } from "./link_steps.ts";

const makeSteps = Effect.gen(function* () {
  const imports = yield* ImportStore;
  const links = yield* LinkStore;
  const log = yield* AuditLog;
  const events = yield* EventStore;
  const { account, global } = yield* makeScopes;
  const { pid } = global;
  const file = { id: uniqueText(), name: "users.csv", isUndoable: true };
  const write = { ...origin, pid, at: 0 };
  return {
    imports,
    links,
    pid,
    file,
    write,
    load: (some: ReadonlyArray<PortableLink>, existing: ImportBatch["existing"] = "replace", of = file) =>
      links.importBatch({ ...write, links: some, existing, proof: "import", progress: null, file: of }),
    undo: (limit = 100, at = 1, id = file.id) => imports.undo({ ...write, id, limit, at }),
    listed: (at = 0) => imports.listUndoable(account.name, at),
    find: (chatId = ada) => Effect.map(links.findByChatId(pid, chatId), Option.getOrNull),
    entries: Effect.map(log.list(account.name, null, 100), (entries) =>
      entries.toReversed().map(({ action, details }) => [action, details]),
    ),
    changes: Effect.map(events.read(pid, 0, 100), (page) =>
      Option.getOrElse(page, () => []).map(({ type }) => type),
    ),
  };
});

export const importUndo: Cases<StoragePorts> = {
  "the batches of one file share an audit entry with the sum of their counts": function* () {
    const { load, entries, file } = yield* makeSteps;
    yield* load([line(ada, chess)]);
    yield* load([line(ada, chess)]);
    yield* load([line(bob, chess), line(cyd, poker)], "keep", { ...file, isUndoable: false });
    const counts = { inserted: 3, replaced: 0, unchanged: 1, kept: 0 };
    expectEqual(yield* entries, [["links.imported", { file: "users.csv", ...counts }]]);
  },

  "after a deletion of the scope's data, an import that has begun stores nothing more": function* () {
    const { links, write, load, find, file } = yield* makeSteps;
    const later = {
      ...write,
      existing: "replace",
      proof: "import",
      progress: null,
      isContinued: true,
    } as const;
    yield* load([line(ada, chess)]);
    const more = links.importBatch({ ...later, file, links: [line(bob, chess)] });
    expectEqual(yield* more, { inserted: 1, replaced: 0, unchanged: 0, kept: 0 });
    yield* links.deleteScope(write);
    const ended = { inserted: 0, replaced: 0, unchanged: 0, kept: 0, isEnded: true };
    expectEqual(yield* more, ended);
    expectEqual(yield* find(bob), null);
    yield* load([line(cyd, chess)], "replace", { ...file, id: uniqueText() });
    expectEqual((yield* find(cyd))?.gameId, chess);
    expectEqual(yield* more, ended);
  },

  "undo removes the links that an import made, restores those that it replaced, and leaves later changes":
    function* () {
      const { links, write, load, undo, listed, find, entries, imports, file } = yield* makeSteps;
      yield* links.setGame({ ...write, chatId: bob, gameId: chess, at: 3 });
      const before = yield* find(bob);
      yield* load([line(ada, chess, 5), line(bob, poker, 5), line(cyd, poker, 5)]);
      yield* load([line(ada, poker, 6)]);
      yield* links.setGame({ ...write, chatId: cyd, gameId: poker, at: 7 });
      const confirmed = yield* find(cyd);
      expectEqual(yield* imports.countUndoable(file.id), 2);
      const [one] = yield* listed();
      expectEqual(one, {
        id: file.id,
        pid: write.pid,
        name: "users.csv",
        importedAt: 0,
        endsAt: undoableFor,
        links: 4,
        undone: null,
      });
      expectEqual(yield* undo(2, 9), { removed: 1, restored: 1, isDone: false });
      expectEqual((yield* listed())[0]?.undone, { removed: 1, restored: 1 });
      expectEqual(yield* undo(2, 9), { removed: 0, restored: 0, isDone: true });
      const unlinked = yield* find(ada);
      expectEqual([unlinked?.gameId, unlinked?.linkVersion, unlinked?.linkedAt], [null, 3, 9]);
      const restored = yield* find(bob);
      expectEqual([restored?.gameId, restored?.lastVerifiedAt, restored?.proof], [chess, 3, before?.proof]);
      expectEqual([restored?.linkVersion, restored?.linkedAt], [3, 9]);
      expectEqual(yield* find(cyd), confirmed);
      expectEqual(yield* imports.countUndoable(file.id), 0);
      expectEqual((yield* entries).slice(-2), [
        ["link.set", { chatId: bob, gameId: chess, previousGameId: poker, via: "undo" }],
        ["links.import_undone", { file: "users.csv", removed: 1, restored: 1 }],
      ]);
    },

  "undo in several calls has one audit entry, and an event for each call that changes links": function* () {
    const { load, undo, entries, changes } = yield* makeSteps;
    yield* load([line(ada, chess), line(bob, chess), line(cyd, chess)]);
    expectEqual([(yield* undo(2)).isDone, (yield* undo(2)).isDone], [false, true]);
    expectEqual((yield* entries).at(-1), [
      "links.import_undone",
      { file: "users.csv", removed: 3, restored: 0 },
    ]);
    expectEqual(yield* changes, ["links.imported", "links.imported", "links.imported"]);
  },

  "an import of the same file that changes nothing has nothing to undo": function* () {
    const { load, listed, imports } = yield* makeSteps;
    yield* load([line(ada, chess)]);
    const again = { id: uniqueText(), name: "users.csv", isUndoable: true };
    yield* load([line(ada, chess)], "replace", again);
    expectEqual(yield* imports.countUndoable(again.id), 0);
    expectEqual((yield* listed()).length, 1);
  },

  "an import can be undone for a day, by its own scope alone": function* () {
    const { load, undo, listed, find, file, imports, write } = yield* makeSteps;
    const { guild } = yield* makeScopes;
    yield* load([line(ada, chess)]);
    const over = { removed: 0, restored: 0, isDone: true };
    expectEqual(yield* undo(10, undoableFor), over);
    expectEqual(yield* listed(undoableFor), []);
    expectEqual(yield* imports.undo({ ...write, pid: guild.pid, id: file.id, limit: 10 }), over);
    expectEqual((yield* find())?.gameId, chess);
  },

  "a deletion of the scope and an erasure of a user end the undo of their links": function* () {
    const { load, undo, listed, links, write, imports, file, pid } = yield* makeSteps;
    const user = uniqueChatId();
    yield* load([line(user, chess), line(bob, chess)]);
    const users = yield* UserStore;
    yield* users.erase({
      actor: origin.actor,
      requestId: null,
      chatId: user,
      at: 1,
      scopes: [pid],
      pseudonym: uniqueText(),
      ownerHash: uniqueText(),
    });
    expectEqual(yield* imports.countUndoable(file.id), 1);
    yield* links.deleteScope(write);
    expectEqual([yield* listed(), yield* undo()], [[], { removed: 0, restored: 0, isDone: true }]);
  },
};
