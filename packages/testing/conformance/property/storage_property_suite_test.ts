import { LinkStore } from "@accountlink/core";
import { StorageMemory } from "@accountlink/memory";
import { Effect, Option } from "effect";
import * as FastCheck from "fast-check";
import * as test from "vitest";
import { type StoragePropertyOptions, storagePropertySuite } from "../mod.ts";
import { failingTitles, withMistake } from "../test_mistakes.ts";

const memory = StorageMemory.layer;

const inOrder = "sequential commands agree with the model: links, keys and verifications";
const atOnce = "concurrent commands agree with the model in some order";

// These cases have to fail. To find the smallest input would take most of the time.
test.beforeAll(() => FastCheck.configureGlobal({ endOnFailure: true }));
test.afterAll(() => FastCheck.resetConfigureGlobal());

const fails = async (title: string, layer: StoragePropertyOptions["layer"], runs: number) => {
  const failed = await failingTitles((api) => {
    const it = (each: string, body: () => Promise<void>) => each === title && api.it(each, body);
    const only = { ...api, it: Object.assign(it, { skip: api.it.skip }) };
    storagePropertySuite({ name: "", layer, model: memory, test: only, seed: 5, runs });
  });
  return failed.includes(title);
};

test.it("the property suite fails on a wrong answer to sequential commands", async () => {
  const layer = withMistake(memory, LinkStore, (store) => ({
    countLinks: (...scope) => Effect.map(store.countLinks(...scope), (count) => count + 1),
  }));
  test.expect(await fails(inOrder, layer, 20)).toBe(true);
});

test.it("the property suite fails on concurrent answers that no order of the commands explains", async () => {
  const layer = withMistake(memory, LinkStore, (store) => ({
    setGame: (write) =>
      Effect.gen(function* () {
        const found = yield* store.findByChatId(write.pid, write.chatId);
        yield* Effect.repeat(Effect.yieldNow, { times: 20 });
        return {
          ...(yield* store.setGame(write)),
          previousGameId: Option.getOrNull(found)?.gameId ?? null,
        };
      }),
  }));
  test.expect(await fails(inOrder, layer, 5)).toBe(false);
  test.expect(await fails(atOnce, layer, 300)).toBe(true);
});
