/** What an adapter of `CacheAgreement` must do. */
import { CacheAgreement } from "@accountlink/core";
import { Effect } from "effect";
import { eventually, expectEqual, expectThat } from "./internal/expect.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";
import { uniquePid, uniqueText } from "./world.ts";

const minute = 60_000;

/** The run belongs to the whole store, which other tests use as well: a case may find one that it did not adopt. */
const cases: Cases<CacheAgreement> = {
  "longestWrite names lengths": Effect.gen(function* () {
    const { ofRecord, ofScope } = (yield* CacheAgreement).longestWrite;
    expectThat(
      0 <= ofRecord && ofRecord <= ofScope,
      "what changes a scope takes no less than what changes a record",
    );
  }),

  "a run that is adopted is used once its time has come": Effect.gen(function* () {
    const agreement = yield* CacheAgreement;
    const [first, second] = [uniqueText(), uniqueText()];
    expectEqual(yield* agreement.adopt(first, 0), true);
    yield* until(Effect.map(agreement.read, ({ run, isOpen }) => run === first && isOpen));
    expectEqual(yield* agreement.adopt(first, minute), false);
    expectEqual((yield* agreement.read).isOpen, true);
    expectEqual(yield* agreement.adopt(second, 200), true);
    const { run, isOpen, adoptedMsAgo } = yield* agreement.read;
    expectEqual([run, isOpen], [second, false]);
    expectThat(adoptedMsAgo < 10_000, "the run was adopted just now");
    yield* until(Effect.map(agreement.read, (terms) => terms.adoptedMsAgo > adoptedMsAgo));
    expectEqual(yield* agreement.adopt(second, 0), false);
    expectThat((yield* agreement.read).adoptedMsAgo > adoptedMsAgo, "it was not adopted again");
    yield* until(Effect.map(agreement.read, (terms) => terms.isOpen));
  }),

  "of many at once one adopts a run": Effect.gen(function* () {
    const agreement = yield* CacheAgreement;
    const run = uniqueText();
    const adoptions = yield* Effect.forEach(Array.from({ length: 20 }), () => agreement.adopt(run, 0), {
      concurrency: "unbounded",
    });
    expectEqual(adoptions.filter((adopted) => adopted).length, 1);
  }),

  "a scope is closed for its time, and no other": Effect.gen(function* () {
    const agreement = yield* CacheAgreement;
    const [short, long, open] = [uniquePid(), uniquePid(), uniquePid()];
    yield* agreement.close(short, 200);
    yield* agreement.close(long, minute);
    const { closed } = yield* agreement.read;
    expectEqual(
      [short, long, open].map((pid) => closed.has(pid)),
      [true, true, false],
    );
    yield* until(Effect.map(agreement.read, (terms) => !terms.closed.has(short)));
    expectEqual((yield* agreement.read).closed.has(long), true);
  }),

  "of several closures of a scope the one that ends last counts": Effect.gen(function* () {
    const agreement = yield* CacheAgreement;
    const [scope, other] = [uniquePid(), uniquePid()];
    yield* agreement.close(scope, minute);
    yield* agreement.close(scope, 0);
    yield* agreement.close(other, 0);
    yield* agreement.close(other, minute);
    const { closed } = yield* agreement.read;
    expectEqual([closed.has(scope), closed.has(other)], [true, true]);
  }),

  "racing closures of one scope all succeed": Effect.gen(function* () {
    const agreement = yield* CacheAgreement;
    const scopes = [uniquePid(), uniquePid()];
    const closures = Array.from({ length: 40 }, (_, i) =>
      agreement.close(scopes[i % 2] as (typeof scopes)[0], i),
    );
    yield* Effect.all(closures, { concurrency: "unbounded" });
    yield* agreement.close(scopes[0] as (typeof scopes)[0], minute);
    expectEqual((yield* agreement.read).closed.has(scopes[0] as (typeof scopes)[0]), true);
  }),
};

const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  eventually(Effect.flatMap(condition, (holds) => (holds ? Effect.void : Effect.fail("not yet"))));

/**
 * Tests the agreement of a layer.
 *
 * @example
 * ```ts
 * import { StorageMemory } from "@accountlink/storage-memory";
 * import * as test from "vitest";
 *
 * cacheAgreementSuite({ name: "Memory", layer: StorageMemory.layer, test });
 * ```
 */
export const cacheAgreementSuite = (options: SuiteOptions<CacheAgreement>): void =>
  suite("CacheAgreement", options, cases);
