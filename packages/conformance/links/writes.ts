import { ChatId, type StoragePorts } from "@accountlink/core";
import type { LinkRecord } from "@accountlink/core/links";
import { uniquePid } from "@accountlink/testing";
import { Effect, Option } from "effect";
import { expectDefect, expectEqual } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob, chess, cyd, makeWorld, poker } from "../world.ts";
import { line, linkBench, newLinkBench } from "./link_bench.ts";

const linked: LinkRecord = { chatId: ada, gameId: chess, linkVersion: 1, linkedAt: 10, lastVerifiedAt: 10 };

export const writes: Cases<StoragePorts> = {
  "setGame creates a link with version 1": Effect.gen(function* () {
    const links = yield* newLinkBench;
    expectEqual(yield* links.set(ada, chess, 10), {
      record: { ...linked, gameId: chess },
      previousGameId: null,
    });
    expectEqual(yield* links.find(ada), linked);
  }),

  "setGame with the same game only updates the verification time": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    const { record, previousGameId } = yield* links.set(ada, chess, 20);
    expectEqual<LinkRecord>(record, { ...linked, lastVerifiedAt: 20 });
    expectEqual(previousGameId, chess);
    expectEqual(yield* links.find(ada), record);
  }),

  "setGame with another game replaces the link, and returns the previous game": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    const { record, previousGameId } = yield* links.set(ada, poker, 20);
    expectEqual<LinkRecord>(record, {
      chatId: ada,
      gameId: poker,
      linkVersion: 2,
      linkedAt: 20,
      lastVerifiedAt: 20,
    });
    expectEqual(previousGameId, chess);
    expectEqual(yield* links.find(ada), record);
  }),

  "setGame after a removal increments the version of the record": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    yield* links.remove(ada, 20);
    const { record, previousGameId } = yield* links.set(ada, chess, 30);
    expectEqual<LinkRecord>(record, { ...linked, linkVersion: 3, linkedAt: 30, lastVerifiedAt: 30 });
    expectEqual(previousGameId, null);
  }),

  "moveChat moves the link to a new chat user, and keeps the old record without one": Effect.gen(
    function* () {
      const links = yield* newLinkBench;
      yield* links.set(ada, chess, 10);
      expectEqual(yield* links.move(ada, bob, 20), { _tag: "Moved", gameId: chess });
      expectEqual(yield* links.find(ada), { ...linked, gameId: null, linkVersion: 2, linkedAt: 20 });
      expectEqual(yield* links.find(bob), { ...linked, chatId: bob, linkedAt: 20, lastVerifiedAt: 20 });
      expectEqual(yield* links.chatsOf(chess), new Map([[chess, [bob]]]));
    },
  ),

  "moveChat to a record without a link increments its version": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(bob, poker, 1);
    yield* links.remove(bob, 2);
    yield* links.set(ada, chess, 10);
    expectEqual(yield* links.move(ada, bob, 20), { _tag: "Moved", gameId: chess });
    const moved = { chatId: bob, gameId: chess, linkVersion: 3, linkedAt: 20, lastVerifiedAt: 20 };
    expectEqual(yield* links.find(bob), moved);
  }),

  "moveChat checks the old chat user first": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(bob, poker);
    expectEqual(yield* links.move(ada, bob), { _tag: "NoLink" });
    expectEqual(yield* links.move(ada, ada), { _tag: "NoLink" });
    yield* links.set(ada, chess);
    yield* links.remove(ada);
    expectEqual(yield* links.move(ada, bob), { _tag: "NoLink" });
    expectEqual(yield* links.move(ada, cyd), { _tag: "NoLink" });
    expectEqual(yield* links.find(cyd), null);
  }),

  "moveChat of a linked user to itself changes nothing": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    expectEqual(yield* links.move(ada, ada, 20), { _tag: "Unchanged", gameId: chess });
    expectEqual(yield* links.find(ada), linked);
  }),

  "moveChat to a linked chat user changes nothing, not even with the same game": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    yield* links.set(bob, poker, 10);
    yield* links.set(cyd, chess, 10);
    expectEqual(yield* links.move(ada, bob, 20), { _tag: "Occupied" });
    expectEqual(yield* links.move(ada, cyd, 20), { _tag: "Occupied" });
    expectEqual(yield* links.find(ada), linked);
    expectEqual(yield* links.find(bob), { ...linked, chatId: bob, gameId: poker });
    expectEqual(yield* links.find(cyd), { ...linked, chatId: cyd });
  }),

  "removeGame returns the removed game once": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    expectEqual(yield* links.remove(ada, 20), Option.some(chess));
    expectEqual(yield* links.remove(ada, 30), Option.none());
    expectEqual(yield* links.find(ada), { ...linked, gameId: null, linkVersion: 2, linkedAt: 20 });
    expectEqual(yield* links.chatsOf(chess), new Map());
  }),

  "removeGame creates no record": Effect.gen(function* () {
    const links = yield* newLinkBench;
    expectEqual(yield* links.remove(ada), Option.none());
    expectEqual(yield* links.find(ada), null);
  }),

  "deleteScope deletes and counts every record, with and without a link": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 10);
    yield* links.set(bob, chess, 10);
    yield* links.remove(bob);
    expectEqual(yield* links.deleteAll(), 2);
    expectEqual(yield* links.findMany([ada, bob]), new Map());
    expectEqual(yield* links.chatsOf(chess), new Map());
    expectEqual(yield* links.all, []);
    expectEqual(yield* links.deleteAll(), 0);
    expectEqual((yield* links.set(ada, chess, 20)).record.linkVersion, 1);
  }),

  "a large scope is deleted and counted like a small one, with one audit entry": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const lines = Array.from({ length: 1_300 }, (_, i) => line(ChatId.make(`${100_000 + i}`), chess));
    yield* links.load(lines);
    expectEqual(yield* links.deleteAll(), 1_300);
    expectEqual(yield* links.all, []);
    const details = (yield* links.entries).filter(({ action }) => action === "scope.deleted");
    expectEqual(
      details.map((entry) => entry.details),
      [{ deletedRecords: 1_300 }],
    );
  }),

  "a write to an unknown scope is a defect, and stores nothing": Effect.gen(function* () {
    const { global } = yield* makeWorld;
    const links = yield* linkBench({ ...global, pid: uniquePid() });
    const source = { source: links.pid, position: 1 };
    yield* expectDefect(links.set(ada, chess));
    yield* expectDefect(links.load([line(ada, chess)], "replace", source));
    yield* expectDefect(links.deleteAll());
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.position(source.source), 0);
    expectEqual(yield* links.entries, []);
  }),
};
