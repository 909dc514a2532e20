import type { StoragePorts } from "@accountlink/core";
import { RootKeyStore } from "@accountlink/core/secrets";
import { Effect, Layer } from "effect";
import { hostileTexts, uniqueText, unstorableTexts } from "../mod.ts";
import { expectDefect, expectEqual } from "./expect.ts";
import { atOnce, makeScopes } from "./scopes.ts";
import { type Cases, effectOf, type SuiteOptions, suite } from "./suite.ts";

const adopt = (root: RootKeyStore["Service"]) => root.adopt(uniqueText());

const cases: Cases<StoragePorts> = {
  "adopt stores the first root key, and returns it from then on": function* () {
    const root = yield* RootKeyStore;
    const first = uniqueText();
    expectEqual(yield* root.find(), null);
    expectEqual(yield* root.adopt(first), first);
    expectEqual(yield* root.find(), first);
    expectEqual(yield* adopt(root), first);
    yield* makeScopes;
    expectEqual(yield* adopt(root), first);
  },

  "concurrent adopts all return the same root key": function* () {
    const root = yield* RootKeyStore;
    const adopted = yield* Effect.all(
      Array.from({ length: 20 }, () => adopt(root)),
      atOnce,
    );
    expectEqual(new Set(adopted).size, 1);
    expectEqual(yield* adopt(root), adopted[0] ?? "");
  },

  "replace replaces only the expected root key": function* () {
    const root = yield* RootKeyStore;
    expectEqual(yield* root.replace("nothing", "next"), false);
    const first = yield* adopt(root);
    expectEqual(yield* root.replace(uniqueText(), "next"), false);
    expectEqual(yield* adopt(root), first);
    expectEqual(yield* root.replace(first, "next"), true);
    expectEqual(yield* root.replace(first, "after next"), false);
    expectEqual(yield* adopt(root), "next");
  },

  "concurrent replaces: exactly one succeeds": function* () {
    const root = yield* RootKeyStore;
    const first = yield* adopt(root);
    const texts = Array.from({ length: 20 }, uniqueText);
    const replaced = yield* Effect.forEach(texts, (text) => root.replace(first, text), atOnce);
    expectEqual(replaced.filter(Boolean).length, 1);
    expectEqual(yield* adopt(root), texts[replaced.indexOf(true)] ?? "");
  },

  "root keys keep every Unicode text; unstorable text is a defect": function* () {
    const root = yield* RootKeyStore;
    for (const text of unstorableTexts) yield* expectDefect(root.adopt(text));
    let stored = yield* adopt(root);
    for (const text of hostileTexts) {
      expectEqual(yield* root.replace(stored, text), true);
      stored = yield* adopt(root);
      expectEqual(stored, text);
    }
    for (const text of unstorableTexts) yield* expectDefect(root.replace(stored, text));
  },
};

/**
 * Tests a `RootKeyStore` with the other storage ports. A store has one root key, so each case builds the layer again
 * and needs an empty store.
 */
export const rootKeyStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite(
    "RootKeyStore",
    { ...options, layer: Layer.empty },
    Object.fromEntries(
      Object.entries(cases).map(([title, body]) => [
        title,
        Effect.provide(effectOf(body), Layer.fresh(options.layer)),
      ]),
    ),
  );
