import { ChatId, EventStore, type Link, LinkStore, type StoragePorts } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { ImportStore } from "@accountlink/core/imports";
import { provenAt } from "@accountlink/core/links";
import type { Millis } from "@accountlink/core/timestamp";
import { Effect, Option, Struct } from "effect";
import { uniquePid, uniqueText } from "../../mod.ts";
import { expectDefect, expectEqual, pluck } from "../expect.ts";
import { ada, chess, makeScopes, origin, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, linkSteps, newLinkSteps } from "./link_steps.ts";

export const writes: Cases<StoragePorts> = {
  "deleteScope of a large scope counts all its records in one audit entry and in the last event":
    function* () {
      const links = yield* newLinkSteps;
      const lines = Array.from({ length: 1_300 }, (_, i) => line(ChatId.make(`${100_000 + i}`), chess));
      yield* links.load(lines);
      const others = yield* newLinkSteps;
      yield* others.load([line(ada, chess)]);
      expectEqual(yield* links.deleteAll(), 1_300);
      expectEqual(yield* links.all, []);
      expectEqual((yield* others.all).length, 1, "The links of another scope");
      const events = Option.getOrThrow(yield* (yield* EventStore).read(links.pid, 0, 10_000));
      const deletions = events.filter(({ type }) => type === "scope.deleted");
      const counts = deletions.map(({ data }) => ("deletedRecords" in data ? data.deletedRecords : 0));
      expectEqual(counts.at(-1), 1_300, "The count of the last event");
      const ascending = counts.toSorted((one, other) => one - other);
      expectEqual(counts, ascending);
      const deleted = (yield* links.entries).filter(({ action }) => action === "scope.deleted");
      expectEqual(pluck(deleted, "details"), [{ deletedRecords: 1_300 }]);
    },

  "a removed link comes back as it was, with the next version, unless the record has changed": function* () {
    const links = yield* newLinkSteps;
    const { restoreGame } = yield* LinkStore;
    yield* links.load([line(ada, chess, 5)], "replace", null, 5, "oauth");
    yield* links.set(ada, chess, 7);
    const before = yield* links.find(ada);
    const restore = (removedAt: Millis) =>
      restoreGame({ ...origin, pid: links.pid, at: 11, chatId: ada, gameId: chess, removedAt });
    expectEqual(yield* restore(9), Option.none());
    yield* links.remove(ada, 9);
    expectEqual(yield* restore(8), Option.none());
    const restored = { ...before, linkVersion: 3 } as Link;
    expectEqual(yield* restore(9), Option.some(restored));
    expectEqual(yield* links.find(ada), restored);
    expectEqual(yield* restore(9), Option.none());
    const events = Option.getOrThrow(yield* (yield* EventStore).read(links.pid, 0, 10));
    const { linkVersion, lastVerifiedAt } = restored;
    expectEqual(Struct.pick(events.at(-1)?.data as Link, ["linkVersion", "lastVerifiedAt"]), {
      linkVersion,
      lastVerifiedAt,
    });
    yield* links.remove(ada, 9);
    const { pid } = links;
    const block = { ...origin, pid, at: 9, chatId: ada, gameId: null, hash: uniqueText() };
    const blocks = yield* BlockStore;
    yield* blocks.set({ ...block, reason: null });
    expectEqual((yield* Effect.flip(restore(9)))._tag, "Conflict", "of a blocked user");
    yield* blocks.remove(block);
    yield* links.set(ada, poker, 9);
    expectEqual(yield* restore(9), Option.none());
  },

  "a known link becomes one by hand once, with an entry and an event, at the same times and version":
    function* () {
      const links = yield* newLinkSteps;
      const { distrust } = yield* LinkStore;
      const { load, find, entries, pid } = links;
      const write = { ...origin, pid, at: 11, chatId: ada, gameId: chess, reason: "Named by a key" };
      yield* load([line(ada, poker, 5)], "replace", null, 5, "oauth");
      expectEqual(yield* distrust({ ...write, gameId: poker }), false, "an own proof");
      yield* load([line(ada, chess, 6)], "replace", null, 6, "known");
      yield* links.set(ada, chess, 7);
      const before = yield* find(ada);
      expectEqual(yield* distrust({ ...write, gameId: poker }), false, "another account");
      expectEqual(yield* distrust(write), true);
      const { provenAt: _, ...kept } = before as Link;
      expectEqual(yield* find(ada), { ...kept, proof: "hand" });
      expectEqual(yield* distrust(write), false, "a second time");
      const [entry] = (yield* entries).slice(-1);
      const details = { chatId: ada, gameId: chess, previousGameId: chess, reason: "Named by a key" };
      expectEqual([entry?.action, entry?.details], ["link.set", details]);
      const events = Option.getOrThrow(yield* (yield* EventStore).read(pid, 0, 10));
      expectEqual(events.at(-1)?.type, "link.set");
      const told = events.at(-1)?.data as Link | undefined;
      expectEqual(told?.lastVerifiedAt, 7, "the time of the last verification");
      yield* links.remove(ada, 13);
      expectEqual(yield* distrust(write), false, "a removed link");
    },

  "a write without a proof keeps how and when the account was proven, and its undo restores both":
    function* () {
      const links = yield* newLinkSteps;
      const proofOf = Effect.map(links.find(ada), (found) =>
        found === null ? null : [found.proof, provenAt(found), found.lastVerifiedAt],
      );
      const prove = (at: Millis) => links.load([line(ada, chess, at)], "replace", null, at, "oauth");
      yield* prove(5);
      yield* links.set(ada, chess, 7);
      yield* links.load([line(ada, chess, 9)]);
      expectEqual(yield* proofOf, ["oauth", 5, 9]);
      const file = { id: uniqueText(), name: "users.csv", isUndoable: true };
      const batch = {
        ...origin,
        pid: links.pid,
        existing: "replace",
        progress: null,
        proof: "import",
      } as const;
      const { importBatch, undo } = yield* ImportStore;
      yield* importBatch({ ...batch, links: [line(ada, poker, 11)], file, at: 11 });
      expectEqual(yield* proofOf, ["import", null, 11]);
      yield* undo({ ...origin, pid: links.pid, id: file.id, at: 12, limit: 10 });
      expectEqual(yield* proofOf, ["oauth", 5, 9]);
      yield* prove(13);
      expectEqual(yield* proofOf, ["oauth", 13, 13]);
      yield* links.set(ada, poker, 15);
      expectEqual(yield* proofOf, ["hand", null, 15]);
    },

  "a write to an unknown scope is a defect, and stores nothing": function* () {
    const { global } = yield* makeScopes;
    const links = yield* linkSteps({ ...global, pid: uniquePid() });
    const source = { source: links.pid, position: 1 };
    yield* expectDefect(links.set(ada, chess));
    yield* expectDefect(links.load([line(ada, chess)], "replace", source));
    yield* expectDefect(links.deleteAll());
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.position(source.source), 0);
    expectEqual(yield* links.entries, []);
  },
};
