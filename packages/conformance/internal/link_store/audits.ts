import { type AuditEntry, LinkStore } from "@accountlink/core";
import { Effect } from "effect";
import type { Cases } from "../../suite.ts";
import { ada, bob, chess, makeWorld, origin, poker } from "../../world.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { line, linkBench, newLinkBench, twoLinkBenches } from "../link_bench.ts";
import type { Storage } from "../storage.ts";
import { unstorableTexts } from "../texts.ts";

/** Which entries link writes leave in the log. */
export const audits: Cases<Storage> = {
  "each write leaves its entry, and one that changes nothing leaves none": Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.remove(ada);
    yield* links.move(ada, bob);
    yield* links.set(ada, chess);
    yield* links.set(ada, chess);
    yield* links.set(ada, poker);
    yield* links.move(ada, ada);
    yield* links.move(ada, bob);
    yield* links.set(ada, chess);
    yield* links.move(ada, bob);
    yield* links.remove(ada);
    yield* links.remove(ada);
    yield* links.deleteAll();
    yield* links.deleteAll();
    expectEqual(
      (yield* links.entries).map(({ action, details }) => [action, details] as const),
      [
        ["link.set", { chatId: ada, gameId: chess, previousGameId: null }],
        ["link.set", { chatId: ada, gameId: chess, previousGameId: chess }],
        ["link.set", { chatId: ada, gameId: poker, previousGameId: chess }],
        ["link.moved", { chatId: ada, newChatId: bob, gameId: poker }],
        ["link.set", { chatId: ada, gameId: chess, previousGameId: null }],
        ["link.removed", { chatId: ada, removedGameId: chess }],
        ["scope.deleted", { deletedRecords: 2 }],
        ["scope.deleted", { deletedRecords: 0 }],
      ],
    );
  }),

  "an entry says who, when, on whose request, and in which scope of which account": Effect.gen(function* () {
    const { account, guild } = yield* makeWorld;
    const links = yield* linkBench(guild);
    yield* links.set(ada, chess, 1_767_225_600_123);
    const [entry] = yield* links.entries;
    const { sequence, ...rest } = entry as AuditEntry;
    expectThat(Number.isSafeInteger(sequence), `the sequence ${sequence} is a whole number`);
    expectEqual(rest, {
      ...origin,
      at: 1_767_225_600_123,
      account: account.name,
      pid: guild.pid,
      action: "link.set",
      details: { chatId: ada, gameId: chess, previousGameId: null },
    });
  }),

  "a write whose entry cannot be stored is a defect, and stores nothing": Effect.gen(function* () {
    const store = yield* LinkStore;
    const { global } = yield* makeWorld;
    const links = yield* linkBench(global);
    for (const text of unstorableTexts) {
      const write = { ...origin, pid: global.pid, at: 0, chatId: ada, requestId: text };
      yield* expectDefect(store.setGame({ ...write, gameId: chess }));
      yield* expectDefect(links.load([line(ada, chess)], "keep", { source: text, position: 1 }));
    }
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.entries, []);
  }),

  "entries of two scopes of an account grow in one sequence": Effect.gen(function* () {
    const [one, other] = yield* twoLinkBenches;
    yield* one.set(ada, chess);
    yield* other.set(ada, poker);
    yield* one.remove(ada);
    const [first, third] = (yield* one.entries).map(({ sequence }) => sequence);
    const [second] = (yield* other.entries).map(({ sequence }) => sequence);
    const sequences = [first, second, third].map(Number);
    expectEqual(
      sequences,
      [...new Set(sequences)].toSorted((a, b) => a - b),
    );
  }),
};
