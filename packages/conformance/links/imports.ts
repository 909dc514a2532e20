import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import { progressKeptFor } from "@accountlink/core/links";
import { uniqueText } from "@accountlink/testing";
import { Effect, Fiber } from "effect";
import { expectEqual, expectThat } from "../expect.ts";
import type { Cases } from "../suite.ts";
import { ada, bob, chess, cyd, poker } from "../world.ts";
import { line, newLinkBench } from "./link_bench.ts";

const manyLines = Array.from({ length: 500 }, (_, i) =>
  line(ChatId.make(`${30_000 + i}`), GameId.make(`${i % 7}`), i),
);

const linesAt = (at: number) => [line(ada, poker, at), line(bob, chess, at), line(cyd, poker, at)];

export const imports: Cases<StoragePorts> = {
  "importBatch stores the lines of the file": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const counts = yield* links.load([line(bob, chess, 5), line(ada, chess, 7)]);
    expectEqual(counts, { inserted: 2, replaced: 0, unchanged: 0, kept: 0 });
    const record = { chatId: ada, gameId: chess, linkVersion: 1, linkedAt: 7, lastVerifiedAt: 7 };
    expectEqual(yield* links.find(ada), record);
    expectEqual(yield* links.chatsOf(chess), new Map([[chess, [ada, bob]]]));
  }),

  'importBatch with "keep" changes no record, not even one without a link': Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 1);
    yield* links.set(bob, chess, 1);
    yield* links.remove(bob, 2);
    const before = yield* links.findMany([ada, bob]);
    const counts = yield* links.load([line(ada, poker, 9), line(bob, poker, 9), line(cyd, poker, 9)], "keep");
    expectEqual(counts, { inserted: 1, replaced: 0, unchanged: 0, kept: 2 });
    expectEqual(yield* links.findMany([ada, bob]), before);
  }),

  'importBatch with "replace" increments the version if the game changes': Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 1);
    yield* links.set(bob, chess, 1);
    yield* links.remove(bob, 2);
    const counts = yield* links.load([line(ada, poker, 9), line(bob, poker, 8)]);
    expectEqual(counts, { inserted: 0, replaced: 2, unchanged: 0, kept: 0 });
    const record = { chatId: ada, gameId: poker, linkVersion: 2, linkedAt: 9, lastVerifiedAt: 9 };
    expectEqual(yield* links.find(ada), record);
    expectEqual(yield* links.find(bob), {
      ...record,
      chatId: bob,
      linkVersion: 3,
      linkedAt: 8,
      lastVerifiedAt: 8,
    });
    expectEqual(yield* links.chatsOf(chess, poker), new Map([[poker, [ada, bob]]]));
  }),

  'importBatch with "replace" and the same game only updates the time': Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 1);
    yield* links.set(bob, chess, 1);
    const counts = yield* links.load([line(ada, chess, 9), line(bob, chess, 1)]);
    expectEqual(counts, { inserted: 0, replaced: 1, unchanged: 1, kept: 0 });
    const record = { chatId: ada, gameId: chess, linkVersion: 1, linkedAt: 1, lastVerifiedAt: 9 };
    expectEqual(yield* links.find(ada), record);
  }),

  'importBatch with "keep" tells who has the game already': Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.set(ada, chess, 1);
    yield* links.set(bob, chess, 1);
    const counts = yield* links.load([line(ada, chess, 9), line(bob, poker, 9), line(cyd, poker, 9)], "keep");
    expectEqual(counts, { inserted: 1, replaced: 0, unchanged: 1, kept: 1 });
  }),

  'importBatch with "newest" replaces what changed and was confirmed before': Effect.gen(function* () {
    const links = yield* newLinkBench;
    yield* links.load([line(ada, chess, 5), line(bob, chess, 5), line(cyd, chess, 5)]);
    yield* links.remove(cyd, 8);
    const before = yield* links.findMany([ada, bob, cyd]);
    expectEqual(yield* links.load(linesAt(5), "newest"), { inserted: 0, replaced: 0, unchanged: 1, kept: 2 });
    expectEqual(yield* links.findMany([ada, bob, cyd]), before);
    expectEqual(yield* links.load(linesAt(6), "newest"), { inserted: 0, replaced: 2, unchanged: 0, kept: 1 });
    const confirmed = { chatId: bob, gameId: chess, linkVersion: 1, linkedAt: 5, lastVerifiedAt: 6 };
    expectEqual(yield* links.find(bob), confirmed);
    expectEqual(yield* links.find(ada), {
      ...confirmed,
      chatId: ada,
      gameId: poker,
      linkVersion: 2,
      linkedAt: 6,
    });
    expectEqual(yield* links.load(linesAt(9), "newest"), { inserted: 0, replaced: 3, unchanged: 0, kept: 0 });
  }),

  "importBatch uses the last line of a chat user": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const lines = [line(ada, chess, 1), line(bob, chess, 2), line(ada, poker, 3)];
    expectEqual(yield* links.load(lines, "keep"), { inserted: 2, replaced: 0, unchanged: 0, kept: 0 });
    const record = { chatId: ada, gameId: poker, linkVersion: 1, linkedAt: 3, lastVerifiedAt: 3 };
    expectEqual(yield* links.find(ada), record);
    expectEqual(yield* links.load([line(ada, chess, 4), line(ada, poker, 3)]), {
      inserted: 0,
      replaced: 0,
      unchanged: 1,
      kept: 0,
    });
    expectEqual(yield* links.find(ada), record);
  }),

  "importPosition returns the position of the last batch of a source": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const [source, other] = [uniqueText(), uniqueText()];
    expectEqual(yield* links.position(source), 0);
    yield* links.load([line(ada, chess)], "keep", { source, position: 2 ** 40 });
    yield* links.load([], "keep", { source: other, position: 3 });
    yield* links.load([line(bob, chess)], "keep", null);
    expectEqual(yield* links.position(source), 2 ** 40);
    expectEqual(yield* links.position(other), 3);
    yield* links.load([line(cyd, chess)], "keep", { source, position: 7 });
    expectEqual(yield* links.position(source), 7);
  }),

  "importBatch deletes the progress of old imports": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const [source, other] = [uniqueText(), uniqueText()];
    yield* links.load([], "keep", { source, position: 1 }, 5);
    yield* links.load([], "keep", { source: other, position: 2 }, 5 + progressKeptFor);
    expectEqual(yield* links.position(source), 1);
    yield* links.load([], "keep", { source: other, position: 3 }, 6 + progressKeptFor);
    expectEqual([yield* links.position(source), yield* links.position(other)], [0, 3]);
  }),

  "an interrupted importBatch stores links, position and entry, or none of them": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const source = uniqueText();
    for (let yields = 0; yields < 8; yields++) {
      const before = yield* links.position(source);
      const position = before + 1;
      const lines = manyLines.map((each) => ({ ...each, lastVerifiedAt: position }));
      const fiber = yield* Effect.forkChild(links.load(lines, "replace", { source, position }));
      for (let i = 0; i < yields; i++) yield* Effect.yieldNow;
      yield* Fiber.interrupt(fiber);
      const after = yield* links.position(source);
      const stored = yield* links.all;
      expectEqual(stored, after === 0 ? [] : manyLines.map((each) => ({ ...each, lastVerifiedAt: after })));
      expectEqual((yield* links.entries).length, after, "The number of entries");
    }
  }),

  "readers never see a partial batch": Effect.gen(function* () {
    const links = yield* newLinkBench;
    const fiber = yield* Effect.forkChild(links.load(manyLines));
    while (fiber.pollUnsafe() === undefined) {
      const seen = (yield* links.all).length;
      expectThat(seen === 0 || seen === manyLines.length, `a reader who sees ${seen} links sees none or all`);
      yield* Effect.yieldNow;
    }
    yield* Fiber.join(fiber);
    expectEqual(yield* links.all, manyLines);
  }),
};
