import { LinkStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/memory";
import { Effect, Option } from "effect";
import * as test from "vitest";
import { type StoragePropertyOptions, storagePropertySuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

const memory = StorageMemory.layer;

const inOrder = "sequential commands agree with the model";
const atOnce = "concurrent commands agree with the model in some order";

const failing = (layer: StoragePropertyOptions["layer"], runs: number) =>
  failingTitles((api) => storagePropertySuite({ name: "", layer, model: memory, test: api, seed: 1, runs }));

test.it("the property suite fails on a wrong answer to sequential commands", async () => {
  const layer = withMistake(memory, LinkStore, (store) => ({
    exportPage: (pid, after, limit) =>
      Effect.map(store.exportPage(pid, after, limit), (links) => (limit === 1 ? [] : links)),
  }));
  test.expect(await failing(layer, 100)).toContain(inOrder);
});

test.it("the property suite fails on concurrent answers that no order of the commands explains", async () => {
  const layer = withMistake(memory, LinkStore, (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.yieldNow;
        return {
          ...(yield* store.setGame(write)),
          previousGameId: Option.getOrNull(found)?.gameId ?? null,
        };
      }),
  }));
  test.expect(await failing(layer, 600)).toEqual([atOnce]);
});
