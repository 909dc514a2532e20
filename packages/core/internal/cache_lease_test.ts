import { CacheMemory } from "@accountlink/cache-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { assert, describe, it } from "@effect/vitest";
import { Context, Effect, Layer, Logger } from "effect";
import { TestClock } from "effect/testing";
import { StoreUnavailable } from "../errors.ts";
import { CacheAgreement } from "../ports/cache_agreement.ts";
import { LinkCache } from "../ports/link_cache.ts";
import { keepLease, knownAfter, leaseMs } from "./cache_lease.ts";
import { ScopeClosures } from "./scope_closures.ts";

const failures = {
  "a failure": Effect.fail(new StoreUnavailable({ operation: "test" })),
  "a defect": Effect.die(new Error("a bug")),
};

describe("keepLease", () => {
  it.effect.each(Object.keys(failures) as Array<keyof typeof failures>)(
    "goes on after %s, and tells of it",
    (how) =>
      Effect.gen(function* () {
        const ports = yield* Layer.build(Layer.fresh(Layer.merge(CacheMemory.layer, StorageMemory.layer)));
        const cache = Context.get(ports, LinkCache);
        const agreed = Context.get(ports, CacheAgreement);
        let isFailing = false;
        const read = Effect.suspend(() => (isFailing ? failures[how] : agreed.read));
        const agreement = CacheAgreement.of({ ...agreed, read });
        const lines: Array<unknown> = [];
        const log = Logger.layer([Logger.make(({ logLevel, message }) => lines.push([logLevel, message]))]);

        const closures = new ScopeClosures(agreement, { knownAfter, entriesGoneAfter: 0 });
        const held = yield* keepLease(cache, agreement, closures, 0).pipe(Effect.provide(log));
        yield* TestClock.adjust(2 * knownAfter);
        const before = held.forWrites;
        assert.isNotNull(before);

        isFailing = true;
        yield* TestClock.adjust(2 * leaseMs);
        assert.strictEqual(held.forWrites, before);
        assert.deepStrictEqual(lines, [["Warn", ["Links are not cached"]]]);

        isFailing = false;
        yield* TestClock.adjust(leaseMs);
        assert.isAbove(held.forWrites?.until ?? 0, before?.until ?? 0);
        assert.deepStrictEqual(lines.slice(1), [["Info", ["This works again"]]]);
      }),
  );
});
