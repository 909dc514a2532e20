import { ChatId, EventStore, GameId, type Link, LinkStore, type StoragePorts } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { ImportStore } from "@accountlink/core/imports";
import { maxChatsOfGame, type PortableLink, provenAt } from "@accountlink/core/links";
import { dayMs, type Millis } from "@accountlink/core/timestamp";
import { Effect, Fiber, Option, Struct } from "effect";
import { uniquePid, uniqueText } from "../../mod.ts";
import { expectDefect, expectEqual, expectThat, pluck } from "../expect.ts";
import { ada, bob, chess, cyd, makeScopes, origin, poker } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";
import { line, linkSteps, newLinkSteps } from "./link_steps.ts";
import { races } from "./races.ts";

/**
 * Tests a `LinkStore` with the other storage ports, because links need a scope in `KeyStore`, and their changes are
 * logged in `AuditLog`. `storagePropertySuite` tests sequences of reads and writes.
 */
export const linkStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("LinkStore", options, { ...reads, ...newestFirst, ...writes, ...races });

const newestFirst: Cases<StoragePorts> = {
  "newestPage has the newest link first, links of one time by chat user, and goes on from a place":
    function* () {
      const links = yield* newLinkSteps;
      yield* links.load([line(cyd, chess, 1), line(bob, chess, 2), line(ada, chess, 2)]);
      const page = (...asked: Parameters<typeof links.newest>) =>
        Effect.map(links.newest(...asked), (found) => found.map(({ chatId }) => chatId));
      const place = { lastVerifiedAt: 2, chatId: bob };
      expectEqual(yield* page(null, 10), [ada, bob, cyd]);
      expectEqual(yield* page(place, 10), [cyd]);
      expectEqual(yield* page(place, 10, "newer"), [ada]);
    },
  "countLinks may stop at the number that is enough, and is exact below it": function* () {
    const links = yield* newLinkSteps;
    const some = [line(ada, chess, 1), line(bob, chess, 2), line(cyd, chess, 3)];
    yield* links.load(some, "replace", null, 0, null);
    yield* links.remove(bob, 4);
    const verified = { from: 0, before: dayMs };
    for (const options of [{}, { verified }]) {
      const upTo = (enough: number) => links.count({ ...options, enough });
      expectThat([1, 2].includes(yield* upTo(1)), "One link is enough.");
      expectEqual(yield* upTo(2), 2);
      expectEqual(yield* upTo(3), 2);
    }
    expectEqual(yield* links.count({ verified: { from: dayMs, before: dayMs }, enough: 1 }), 0);
  },
  "countWays counts links by how they were confirmed, and those since a time by their proof": function* () {
    const { set, load, remove, ways } = yield* newLinkSteps;
    expectEqual(yield* ways(0), []);
    const [dan, eve] = [ChatId.make("10004"), ChatId.make("10005")];
    yield* load([line(ada, chess, 1), line(bob, chess, 1)], "replace", null, 0, "words");
    yield* load([line(cyd, chess, 7)]);
    // Names the proven account again, which is no proof.
    yield* set(ada, chess, 9);
    yield* set(dan, chess, 9);
    yield* set(eve, chess, 9);
    yield* remove(eve, 10);
    expectEqual(yield* ways(2), [
      { proof: "hand", links: 1, recent: 1 },
      { proof: "import", links: 1, recent: 1 },
      { proof: "words", links: 2, recent: 0 },
    ]);
    expectEqual(yield* ways(10), [
      { proof: "hand", links: 1, recent: 0 },
      { proof: "import", links: 1, recent: 0 },
      { proof: "words", links: 2, recent: 0 },
    ]);
  },
};

const reads: Cases<StoragePorts> = {
  "batch lookups take 50 IDs": function* () {
    const links = yield* newLinkSteps;
    const chatIds = Array.from({ length: 50 }, (_, i) => ChatId.make(`${20_000 + i}`));
    const gameIds = chatIds.map((_, i) => GameId.make(`${i}`));
    yield* links.load(chatIds.map((chatId, i) => line(chatId, gameIds[i] as GameId)));
    const records = yield* links.findMany(chatIds);
    expectEqual(
      chatIds.map((chatId) => records.get(chatId)?.gameId),
      gameIds,
    );
    const games = yield* links.gamesOf(...chatIds);
    expectEqual(
      chatIds.map((chatId) => games.get(chatId)),
      gameIds,
    );
    const chats = yield* links.chatsOf(...gameIds);
    expectEqual(
      gameIds.map((gameId) => chats.get(gameId)),
      chatIds.map((chatId) => [chatId]),
    );
  },

  "findByGameIds returns the newest thousand chat users of a game user, and all of another one":
    function* () {
      const links = yield* newLinkSteps;
      const [many, few] = [GameId.make("1"), GameId.make("2")];
      // Create more links than `findByGameIds` returns. The last returned links and the omitted links have the same
      // time, so that their chat IDs decide which links are returned.
      const chatIds = Array.from({ length: maxChatsOfGame + 5 }, (_, i) => ChatId.make(`${20_000 + i}`));
      const last = 10_003 - maxChatsOfGame;
      const lines = chatIds.map((chatId, index) => line(chatId, many, Math.max(10_000 - index, last)));
      yield* links.load(lines.toReversed());
      const one = ChatId.make("19999");
      yield* links.set(one, few, 5_000);
      const newest = chatIds.slice(0, maxChatsOfGame);
      expectEqual((yield* links.chatsOf(many)).get(many), newest);
      const some = (yield* links.newestOf(many, 10)).get(many) ?? [];
      expectEqual(some.length >= 10, true);
      expectEqual(some, newest.slice(0, some.length));
      const both = yield* links.chatsOf(many, few, many);
      expectEqual(both.get(many), newest);
      expectEqual(both.get(few), [one]);
      yield* links.set(one, many, 20_000);
      yield* links.remove(newest[1] as ChatId);
      const after = [one, ...newest.toSpliced(1, 1)];
      expectEqual((yield* links.chatsOf(many)).get(many), after);
    },

  "IDs are text: 32 digits and leading zeros are significant": function* () {
    const links = yield* newLinkSteps;
    const chatIds = ["00001", "000001", "0".repeat(32), "9".repeat(32), `${"9".repeat(31)}8`].map((id) =>
      ChatId.make(id),
    );
    const gameIds = ["1", "01", "0".repeat(32), "9".repeat(32), `${"9".repeat(31)}8`].map((id) =>
      GameId.make(id),
    );
    yield* Effect.forEach(chatIds, (chatId, i) => links.set(chatId, gameIds[i] as GameId));
    for (const [i, chatId] of chatIds.entries()) {
      const gameId = gameIds[i] as GameId;
      expectEqual((yield* links.find(chatId))?.gameId, gameId);
      expectEqual(yield* links.chatsOf(gameId), new Map([[gameId, [chatId]]]));
    }
  },

  "an export contains every link that exists throughout it": function* () {
    const links = yield* newLinkSteps;
    const standing = Array.from({ length: 60 }, (_, i) => line(ChatId.make(`${40_000 + 2 * i}`), chess, i));
    yield* links.load(standing);
    const others = standing.map(({ chatId }) => ChatId.make(`${Number(chatId) + 1}`));
    const writer = yield* Effect.forEach(others, (chatId) =>
      Effect.andThen(Effect.zip(links.set(chatId, poker), Effect.yieldNow), links.remove(chatId)),
    ).pipe(Effect.forever, Effect.forkChild);
    const exported = yield* exportAll(links, 7);
    yield* Fiber.interrupt(writer);
    expectEqual(
      exported.filter(({ gameId }) => gameId === chess),
      standing,
    );
    const ids = exported.map(({ chatId }) => chatId);
    expectEqual(ids, [...new Set(ids)].toSorted());
  },
};

const exportAll = Effect.fnUntraced(function* (links: Effect.Success<typeof newLinkSteps>, limit: number) {
  const exported: Array<PortableLink> = [];
  for (;;) {
    const page = yield* links.page(exported.at(-1)?.chatId ?? null, limit);
    exported.push(...page);
    if (page.length < limit) return exported;
    yield* Effect.yieldNow;
  }
});

const writes: Cases<StoragePorts> = {
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
