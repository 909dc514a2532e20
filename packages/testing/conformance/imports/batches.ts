import { ChatId, GameId, type StoragePorts } from "@accountlink/core";
import { fixtureSource, progressKeptFor } from "@accountlink/core/imports";
import { type PortableLink } from "@accountlink/core/links";
import { Effect, Fiber } from "effect";
import { uniqueText, unstorableTexts } from "../../mod.ts";
import { expectDefect, expectEqual, expectThat } from "../expect.ts";
import { line, newLinkSteps } from "../links/link_steps.ts";
import { ada, chess } from "../scopes.ts";
import type { Cases } from "../suite.ts";

/** As many lines as a store imports at once: 20, or fewer on an engine of fewer changes. */
export const linesAtOnce = (maxChanges = 1_000): Array<PortableLink> =>
  Array.from({ length: Math.min(20, Math.floor(maxChanges / 24) - 1) }, (_, i) =>
    line(ChatId.make(`${30_000 + i}`), GameId.make(`${i % 7}`), i),
  );

export const batches = (someLines: Array<PortableLink>): Cases<StoragePorts> => ({
  "importBatch deletes the stored progress of old imports, but not of fixtures": function* () {
    const links = yield* newLinkSteps;
    const [source, other] = [uniqueText(), uniqueText()];
    const lasting = `${fixtureSource}${uniqueText()}`;
    yield* links.savePosition(lasting, 4, 5);
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

  "an import from an unstorable source is a defect, and stores nothing": function* () {
    const links = yield* newLinkSteps;
    for (const source of unstorableTexts) {
      yield* expectDefect(links.load([line(ada, chess)], "keep", { source, position: 1 }));
    }
    expectEqual(yield* links.find(ada), null);
    expectEqual(yield* links.entries, []);
  },
});
