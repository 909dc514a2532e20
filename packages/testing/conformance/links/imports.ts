import { ChatId, GameId, type Link, type StoragePorts } from "@accountlink/core";
import { fixtureSource, progressKeptFor } from "@accountlink/core/links";
import { Effect, Fiber } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { ada, bob, chess, cyd, poker } from "../scopes.ts";
import type { Cases } from "../suite.ts";
import { line, newLinkSteps } from "./link_steps.ts";

/** As many as every store has to import at once. */
const someLines = Array.from({ length: 20 }, (_, i) =>
  line(ChatId.make(`${30_000 + i}`), GameId.make(`${i % 7}`), i),
);

const linesAt = (at: number) => [line(ada, poker, at), line(bob, chess, at), line(cyd, poker, at)];

export const imports: Cases<StoragePorts> = {
  'importBatch with "newest" replaces links that were last verified before the imported ones': function* () {
    const links = yield* newLinkSteps;
    yield* links.load([line(ada, chess, 5), line(bob, chess, 5), line(cyd, chess, 5)]);
    yield* links.remove(cyd, 8);
    const before = yield* links.findMany([ada, bob, cyd]);
    expectEqual(yield* links.load(linesAt(5), "newest"), {
      inserted: 0,
      replaced: 0,
      unchanged: 1,
      kept: 2,
    });
    expectEqual(yield* links.findMany([ada, bob, cyd]), before);
    expectEqual(yield* links.load(linesAt(6), "newest"), {
      inserted: 0,
      replaced: 2,
      unchanged: 0,
      kept: 1,
    });
    const confirmed: Link = {
      chatId: bob,
      gameId: chess,
      linkVersion: 1,
      linkedAt: 5,
      lastVerifiedAt: 6,
      proof: "import",
    };
    expectEqual(yield* links.find(bob), confirmed);
    expectEqual(yield* links.find(ada), {
      ...confirmed,
      chatId: ada,
      gameId: poker,
      linkVersion: 2,
      linkedAt: 6,
    });
    expectEqual(yield* links.load(linesAt(9), "newest"), {
      inserted: 0,
      replaced: 3,
      unchanged: 0,
      kept: 0,
    });
  },

  "importBatch deletes the stored progress of old imports, but not of fixtures": function* () {
    const links = yield* newLinkSteps;
    const [source, other] = [uniqueText(), uniqueText()];
    const lasting = `${fixtureSource}${uniqueText()}`;
    yield* links.load([], "keep", { source: lasting, position: 4 }, 5);
    yield* links.load([], "keep", { source, position: 1 }, 5);
    yield* links.load([], "keep", { source: other, position: 2 }, 5 + progressKeptFor);
    expectEqual(yield* links.position(source), 1);
    yield* links.load([], "keep", { source: other, position: 3 }, 6 + progressKeptFor);
    expectEqual([yield* links.position(source), yield* links.position(other)], [0, 3]);
    expectEqual(yield* links.position(lasting), 4);
  },

  "an interrupted importBatch stores links, position and audit entry together, or none": function* () {
    const links = yield* newLinkSteps;
    const source = uniqueText();
    for (let yields = 0; yields < 8; yields++) {
      const before = yield* links.position(source);
      const position = before + 1;
      const lines = someLines.map((each) => ({ ...each, lastVerifiedAt: position }));
      const fiber = yield* Effect.forkChild(links.load(lines, "replace", { source, position }));
      for (let i = 0; i < yields; i++) yield* Effect.yieldNow;
      yield* Fiber.interrupt(fiber);
      const after = yield* links.position(source);
      const stored = yield* links.all;
      expectEqual(stored, after === 0 ? [] : someLines.map((each) => ({ ...each, lastVerifiedAt: after })));
      expectEqual((yield* links.entries).length, after, "The number of entries");
    }
  },

  "readers never see a partial batch": function* () {
    const links = yield* newLinkSteps;
    const fiber = yield* Effect.forkChild(links.load(someLines));
    while (fiber.pollUnsafe() === undefined) {
      const seen = (yield* links.all).length;
      expectThat(seen === 0 || seen === someLines.length, `a reader who sees ${seen} links sees none or all`);
      yield* Effect.yieldNow;
    }
    yield* Fiber.join(fiber);
    expectEqual(yield* links.all, someLines);
  },
};
