import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Option } from "effect";
import { TestClock } from "effect/testing";
import { Conflict, LinkNotFound } from "../errors.ts";
import { KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { chatId, later, operator, services } from "../test_services.ts";
import { UserStore } from "../users/user_store.ts";
import type { Commit } from "./commit.ts";
import { Idempotency, type IdempotentRequest } from "./idempotency.ts";
import { IdempotencyStore, type NewClaim } from "./idempotency_store.ts";

const ada = chatId("10001");

let requests = 0;
const requestOf = (parts: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  keyId: KeyId.make("Aa0Bb1Cc2Dd3"),
  idempotencyKey: "my request",
  content: { write: "a write", chatId: ada },
  requestId: `req_${++requests}`,
  ...parts,
});

/** Sends requests that run a write, and counts how often the write ran. */
const bench = Effect.map(Idempotency, ({ begin }) => {
  let runs = 0;
  const commitOne = (commit: Commit<number>) =>
    commit(
      Effect.sync(() => ++runs),
      (run) => run,
    );
  const once = <A, E, R>(
    parts: Partial<IdempotentRequest>,
    run: (commit: Commit<number>) => Effect.Effect<A, E, R>,
  ) =>
    begin(requestOf(parts), answerTo).pipe(
      Effect.flatMap((begun) => (begun._tag === "First" ? run(begun.commit) : Effect.succeed(begun.answer))),
      Effect.scoped,
    );
  return {
    once,
    runs: () => runs,
    commitOne,
    send: (parts: Partial<IdempotentRequest> = {}) => once(parts, commitOne),
  };
});

const answerTo = (run: number) => ({ text: `secret answer ${run}`, chatId: ada });

const another = { content: { write: "another", chatId: ada } };
const erase = UserStore.use((users) =>
  users.erase({ ...operator, chatId: ada, at: 0, scopes: [], pseudonym: "erased", ownerHash: "hash" }),
);

/** A claim that holds its key from time 0 for 20 seconds. */
const claimOf = (parts: Partial<NewClaim>): NewClaim => ({
  id: "",
  requestId: "later",
  fingerprint: "",
  chatIds: [],
  at: 0,
  heldUntil: 20_000,
  endsAt: 60_000,
  ...parts,
});

/** The stored id of the idempotency key that `requestOf` uses. */
const idOfKey = Secrets.use(({ idempotencyHash }) => {
  const { keyId, idempotencyKey } = requestOf();
  return idempotencyHash("key", `${keyId}\n${idempotencyKey}`);
});

const reused = new Conflict({ reason: "idempotency_key_reused" });
const inUse = new Conflict({ reason: "idempotency_key_in_use" });
const userErased = new Conflict({ reason: "user_erased" });

describe("Idempotency.begin", () => {
  it.effect("a request runs once, and its answer is replayed for 24 hours", () =>
    Effect.gen(function* () {
      const { send, runs } = yield* bench;
      assert.strictEqual(yield* send(), 1);
      assert.deepStrictEqual(yield* later("23 hours")(send()), answerTo(1));
      assert.strictEqual(runs(), 1);
      assert.strictEqual(yield* later("24 hours")(send()), 2);
    }).pipe(Effect.provide(services)),
  );

  it.effect(
    "a request is refused while an earlier request with the same key runs, however long that takes",
    () =>
      Effect.gen(function* () {
        const { once, send, commitOne } = yield* bench;
        const [started, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()];
        const first = yield* Effect.forkChild(
          once({}, (commit) =>
            Deferred.succeed(started, undefined).pipe(
              Effect.andThen(Deferred.await(go)),
              Effect.andThen(commitOne(commit)),
            ),
          ),
        );
        yield* Deferred.await(started);
        for (let seconds = 0; seconds < 20; seconds++) yield* TestClock.adjust("1 second");
        assert.deepStrictEqual(yield* Effect.flip(send()), inUse);
        assert.deepStrictEqual(yield* Effect.flip(send(another)), reused);
        yield* Deferred.succeed(go, undefined);
        assert.strictEqual(yield* Fiber.join(first), 1);
        assert.deepStrictEqual(yield* send(), answerTo(1));
      }).pipe(Effect.provide(services)),
  );

  it.effect(
    "a request runs if an earlier one with its key failed, died or was interrupted without an answer",
    () =>
      Effect.gen(function* () {
        const { once, send } = yield* bench;
        const ends = [Effect.fail(new LinkNotFound()), Effect.die("broken"), Effect.interrupt];
        for (const end of ends) yield* Effect.exit(once({}, () => end));
        assert.strictEqual(yield* send(another), 1);
      }).pipe(Effect.provide(services)),
  );

  it.effect(
    "after a user is erased, retries of earlier requests about this user are refused, and other requests run",
    () =>
      Effect.gen(function* () {
        const { once, send, runs, commitOne } = yield* bench;
        const erased = [
          { idempotencyKey: "answered" },
          { idempotencyKey: "under way" },
          { idempotencyKey: "failed" },
        ] as const;
        const [answered, underWay, failed] = erased;
        yield* send(answered);
        yield* Effect.exit(once(failed, () => Effect.fail(new LinkNotFound())));
        const bob = { idempotencyKey: "of another", content: { chatId: "10002" } };
        yield* Effect.exit(once(bob, () => Effect.fail(new LinkNotFound())));
        const late = once(underWay, (commit) => Effect.andThen(erase, commitOne(commit)));
        assert.deepStrictEqual(yield* Effect.flip(late), userErased);
        assert.strictEqual(runs(), 1);

        for (const parts of erased) {
          assert.deepStrictEqual(yield* Effect.flip(later("23 hours")(send(parts))), userErased);
          assert.deepStrictEqual(yield* Effect.flip(send({ ...parts, ...another })), reused);
        }
        assert.strictEqual(runs(), 1);
        assert.strictEqual(yield* send(bob), 2);
        assert.strictEqual(yield* send({ idempotencyKey: "new" }), 3);
        for (const [i, parts] of erased.entries()) {
          assert.strictEqual(yield* later("24 hours")(send(parts)), 4 + i);
        }
      }).pipe(Effect.provide(services)),
  );

  it.effect("an erasure finds its user in all chat ID fields of an answer, and in no other fields", () =>
    Effect.gen(function* () {
      const { begin } = yield* Idempotency;
      const send = (answer: object) =>
        begin(requestOf({ idempotencyKey: JSON.stringify(answer) }), () => answer).pipe(
          Effect.flatMap((begun) =>
            begun._tag === "First" ? begun.commit(Effect.void, () => {}) : Effect.succeed(begun.answer),
          ),
          Effect.scoped,
        );
      const theirs = [{ previousChatId: ada }, { data: { review: { chatId: "10002", otherChatId: ada } } }];
      const ofAnother = { chatId: "10002", gameId: ada };
      for (const answer of [...theirs, ofAnother]) yield* send(answer);
      yield* erase;
      for (const answer of theirs) assert.deepStrictEqual(yield* Effect.flip(send(answer)), userErased);
      assert.deepStrictEqual<unknown>(yield* send(ofAnother), ofAnother);
    }).pipe(Effect.provide(services)),
  );

  it.effect("idempotency keys are stored as hashes, and answers are encrypted", () =>
    Effect.gen(function* () {
      const { send } = yield* bench;
      yield* send();
      const store = yield* IdempotencyStore;
      const retry = claimOf({ id: yield* idOfKey });
      const stored = JSON.stringify(Option.getOrThrow(yield* store.claim(retry)));
      for (const text of ["my request", "a write", "secret"]) assert.notInclude(stored, text);
    }).pipe(Effect.provide(services)),
  );

  it.effect("a stored request is deleted after its `endsAt`", () =>
    Effect.gen(function* () {
      const store = yield* IdempotencyStore;
      const claim = claimOf({ id: yield* idOfKey });
      yield* store.claim(claim);
      yield* TestClock.adjust("59 seconds");
      assert.isTrue(Option.isSome(yield* store.find(claim.id)));
      yield* TestClock.adjust("1 second");
      assert.deepStrictEqual(yield* store.find(claim.id), Option.none());
    }).pipe(Effect.provide(services)),
  );
});
