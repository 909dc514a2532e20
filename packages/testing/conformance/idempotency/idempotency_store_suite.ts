import type { StoragePorts } from "@accountlink/core";
import type { Claim } from "@accountlink/core/idempotency";
import { Effect, Equal, Exit, Option } from "effect";
import { uniqueText } from "../../mod.ts";
import { expectEqual, expectThat } from "../expect.ts";
import { ada, poker } from "../scopes.ts";
import { type Cases, type SuiteOptions, suite } from "../suite.ts";
import {
  type IdempotentWrite,
  idempotencyFixture,
  newAnswer,
  newClaim,
  retryOf,
  writesFixture,
} from "./idempotency_fixture.ts";

const atOnce = { concurrency: "unbounded" } as const;
const underWay = { fingerprint: "content", answer: null, isErased: false };

const claims: Cases<StoragePorts> = {
  "a claim holds its key until its deadline": Effect.gen(function* () {
    const { claim } = yield* idempotencyFixture;
    const first = newClaim();
    expectEqual(yield* claim(first), null);
    expectEqual(yield* claim(retryOf(first, 9)), underWay);
    expectEqual(yield* claim(retryOf(first, 9, "other")), underWay);
    expectEqual(yield* claim(retryOf(first, 10, "other")), null);
    expectEqual(yield* claim(retryOf(first, 19)), { ...underWay, fingerprint: "other" });
    expectEqual(yield* claim(newClaim()), null);
  }),

  "find returns the last request that claimed a key, even after the claim ended": Effect.gen(function* () {
    const { claim, commit, find, release } = yield* idempotencyFixture;
    const [first, answer] = [newClaim(), newAnswer()];
    expectEqual(yield* find(first), null);
    yield* claim(first);
    expectEqual(yield* find(first), underWay);
    yield* release(first);
    expectEqual(yield* find(first), underWay);
    const second = retryOf(first, 10, "other");
    yield* claim(second);
    yield* commit(second, Effect.void, answer);
    expectEqual(yield* find(first), { ...underWay, fingerprint: "other", answer: answer.answer });
  }),

  "extend moves the deadline of a claim, only for the request that holds it": Effect.gen(function* () {
    const { claim, extend } = yield* idempotencyFixture;
    const first = newClaim();
    yield* claim(first);
    yield* extend(first, 50);
    yield* extend(retryOf(first, 0), 0);
    expectEqual(yield* claim(retryOf(first, 49)), underWay);
    expectEqual(yield* claim(retryOf(first, 50)), null);
    yield* extend(first, 500);
    expectEqual(yield* claim(retryOf(first, 60)), null);
  }),

  "release ends a claim at once, only for the request that holds it": Effect.gen(function* () {
    const { claim, release } = yield* idempotencyFixture;
    const first = newClaim();
    yield* claim(first);
    yield* release(retryOf(first, 0));
    expectEqual(yield* claim(retryOf(first, 0)), underWay);
    yield* release(first);
    expectEqual(yield* claim(retryOf(first, 0)), null);
  }),

  "concurrent claims: exactly one request gets the key": Effect.gen(function* () {
    const { claim } = yield* idempotencyFixture;
    for (const from of [0, 10, 20]) {
      const id = uniqueText();
      yield* claim(newClaim({ id, at: from - 10, heldUntil: from }));
      const racing = Array.from({ length: 10 }, () => claim(retryOf({ ...newClaim(), id }, from)));
      const held = yield* Effect.all(racing, atOnce);
      expectEqual(held.filter((earlier) => earlier === null).length, 1);
    }
  }),

  "sweep deletes ended claims and answers only": Effect.gen(function* () {
    const { claim, commit, find, sweep } = yield* idempotencyFixture;
    const at = -1_000;
    const from = { at: at - 9, heldUntil: at - 5 };
    const [over, remembered] = [newClaim({ ...from, endsAt: at }), newClaim({ ...from, endsAt: at + 1 })];
    const [forgotten, kept] = [newClaim({ ...from, endsAt: at + 1 }), newClaim({ ...from, endsAt: at })];
    const all = [over, remembered, forgotten, kept];
    for (const each of all) yield* claim(each);
    const answer = newAnswer();
    yield* commit(forgotten, Effect.void, { ...answer, endsAt: at });
    yield* commit(kept, Effect.void, { ...answer, endsAt: at + 1 });
    yield* sweep(at);
    const found = yield* Effect.forEach(all, find);
    expectEqual(found, [null, underWay, null, { ...underWay, answer: answer.answer }]);
  }),

  "sweep deletes any number of claims": Effect.gen(function* () {
    const { claim, find, sweep } = yield* idempotencyFixture;
    const times = { at: -6_000, heldUntil: -5_500, endsAt: -5_000 };
    const many = Array.from({ length: 1_100 }, () => newClaim(times));
    yield* Effect.forEach(many, claim, { concurrency: 10, discard: true });
    yield* sweep(-5_000);
    for (const each of many.slice(-50)) expectEqual(yield* find(each), null);
  }),
};

const commits: Cases<StoragePorts> = {
  "commit stores the answer until its deadline": Effect.gen(function* () {
    const { claim, commit, extend, release } = yield* idempotencyFixture;
    const [first, answer] = [newClaim(), newAnswer(ada)];
    yield* claim(first);
    expectEqual(yield* commit(first, Effect.succeed("outcome"), answer), Option.some("outcome"));
    yield* extend(first, 0);
    yield* release(first);
    const kept = { ...underWay, answer: answer.answer };
    expectEqual(yield* claim(retryOf(first, 99, "other")), kept);
    expectEqual(yield* claim(retryOf(first, 100, "other")), null);
    expectEqual(yield* claim(retryOf(first, 101)), { ...underWay, fingerprint: "other" });
  }),

  "a failed write stores no answer, and keeps the claim": Effect.gen(function* () {
    const { claim, commit } = yield* idempotencyFixture;
    const first = newClaim();
    yield* claim(first);
    for (const write of [Effect.fail("refused"), Effect.die("broken"), Effect.interrupt]) {
      const exit = yield* Effect.exit(commit(first, write));
      expectThat(Exit.isFailure(exit), "the commit fails");
      expectEqual(Exit.findErrorOption(exit), Exit.findErrorOption(yield* Effect.exit(write)));
    }
    expectEqual(yield* claim(retryOf(first, 9)), underWay);
    expectEqual(yield* commit(first, Effect.void), Option.some(undefined));
  }),

  "a request whose key was claimed by a later request cannot commit": Effect.gen(function* () {
    const { claim, commit } = yield* idempotencyFixture;
    for (let round = 0; round < 5; round++) {
      const { writes, state } = yield* writesFixture;
      const first = newClaim();
      yield* claim(first);
      const second = retryOf(first, 10);
      yield* claim(second);
      const committed = yield* Effect.all(
        [commit(first, writes.removeReview), commit(second, writes.setGame)],
        atOnce,
      );
      expectEqual([Option.isSome(committed[0]), Option.isSome(committed[1])], [false, true]);
      const [record, , reviews] = yield* state;
      expectEqual([record?.gameId, reviews.length], [poker, 1]);
    }
  }),
};

/** The ways in which a request can lose its idempotency key. */
const losses = {
  released: (claim: Claim) => Effect.flatMap(idempotencyFixture, ({ release }) => release(claim)),
  "taken over": (claim: Claim) =>
    Effect.flatMap(idempotencyFixture, (store) => store.claim(retryOf(claim, 10))),
  answered: (claim: Claim) => Effect.flatMap(idempotencyFixture, ({ commit }) => commit(claim, Effect.void)),
};

const commitOf = (name: IdempotentWrite): Cases<StoragePorts> => ({
  [`commit of ${name}: stores the write and its answer, once`]: Effect.gen(function* () {
    const { claim, commit } = yield* idempotencyFixture;
    const { writes, state } = yield* writesFixture;
    const [first, answer, before] = [newClaim(), newAnswer(), yield* state];
    yield* claim(first);
    const write: Effect.Effect<unknown, unknown> = writes[name];
    const size = name === "deleteScope" ? "bulk" : undefined;
    expectThat(Option.isSome(yield* commit(first, write, answer, size)), "it is stored");
    const after = yield* state;
    expectThat(!Equal.equals(before, after), "the write is stored");
    expectEqual(yield* claim(retryOf(first, 9)), { ...underWay, answer: answer.answer });
    expectEqual(yield* commit(first, write), Option.none());
    expectEqual<unknown>(yield* state, after);
  }),

  [`commit of ${name}: stores nothing if the request lost its key`]: Effect.gen(function* () {
    const { claim, commit } = yield* idempotencyFixture;
    const { writes, state } = yield* writesFixture;
    const before = yield* state;
    const write: Effect.Effect<unknown, unknown> = writes[name];
    for (const lose of Object.values(losses)) {
      const first = newClaim();
      yield* claim(first);
      yield* lose(first);
      expectEqual(yield* commit(first, write), Option.none());
      expectEqual<unknown>(yield* state, before);
    }
    expectEqual(yield* commit(newClaim(), write), Option.none());
    expectEqual<unknown>(yield* state, before);
    yield* write;
    expectThat(!Equal.equals(before, yield* state), "the write was possible");
  }),
});

/**
 * Tests an `IdempotencyStore` with the writes of the other storage ports. The suite of `UserStore` tests how erasures
 * change stored requests.
 */
export const idempotencyStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("IdempotencyStore", options, {
    ...claims,
    ...commits,
    ...commitOf("setGame"),
    ...commitOf("moveChat"),
    ...commitOf("removeGame"),
    ...commitOf("deleteScope"),
    ...commitOf("setReview"),
    ...commitOf("removeReview"),
    ...commitOf("createSession"),
    ...commitOf("advanceSession"),
  });
