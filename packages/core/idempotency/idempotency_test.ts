import { assert, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber, Option } from "effect";
import { TestClock } from "effect/testing";
import { Conflict, LinkNotFound } from "../errors.ts";
import { KeyId } from "../ids.ts";
import { Secrets } from "../secrets/secrets.ts";
import { chatId, later, operator, services } from "../test_services.ts";
import { UserStore } from "../users/user_store.ts";
import { Idempotency, type IdempotentRequest } from "./idempotency.ts";
import { type Commit, IdempotencyStore, Replayed } from "./idempotency_store.ts";

const ada = chatId("10001");

const requestOf = (parts: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  keyId: KeyId.make("Aa0Bb1Cc2Dd3"),
  idempotencyKey: "my request",
  content: { write: "a write", chatId: ada },
  ...parts,
});

/** Sends requests that run a write, and counts how often the write ran. */
const bench = Effect.map(Idempotency, ({ begin }) => {
  let runs = 0;
  const commitOne = (commit: Commit<object>) =>
    commit(
      Effect.sync(() => ++runs),
      resultOf,
    );
  /** Returns the outcome of the write, or the answer that was kept. */
  const once = <A, E, R>(
    parts: Partial<IdempotentRequest>,
    run: (commit: Commit<object>) => Effect.Effect<A, E, R>,
  ) =>
    begin<object>(requestOf(parts)).pipe(
      Effect.flatMap(({ commit }) => run(commit)),
      Effect.catchIf(
        (error) => error instanceof Replayed,
        ({ answer }) => Effect.succeed(answer),
      ),
      Effect.scoped,
    );
  return {
    once,
    runs: () => runs,
    commitOne,
    send: (parts: Partial<IdempotentRequest> = {}) => once(parts, commitOne),
  };
});

const resultOf = (run: number) => ({ text: `result ${run}`, chatId: ada });

const another = { content: { write: "another", chatId: ada } };
const erase = UserStore.use((users) =>
  users.erase({ ...operator, chatId: ada, at: 0, scopes: [], pseudonym: "erased", ownerHash: "hash" }),
);

/** The kept row of the idempotency key that `requestOf` uses. */
const kept = Effect.gen(function* () {
  const { keyId, idempotencyKey } = requestOf();
  const id = yield* Secrets.use(({ idempotencyHash }) =>
    idempotencyHash("key", `${keyId}\n${idempotencyKey}`),
  );
  return yield* IdempotencyStore.use(({ find }) => find(id));
});

const reused = new Conflict({ reason: "idempotency_key_reused" });
const inUse = new Conflict({ reason: "idempotency_key_in_use" });
const userErased = new Conflict({ reason: "user_erased" });

const test = testWith(services);

test("a request runs once, and its result is replayed for 24 hours", function* () {
  const { send, runs } = yield* bench;
  assert.strictEqual(yield* send(), 1);
  assert.deepStrictEqual(yield* later("23 hours")(send()), { result: resultOf(1) });
  assert.deepStrictEqual(yield* Effect.flip(send(another)), reused);
  assert.strictEqual(runs(), 1);
  assert.strictEqual(yield* later("24 hours")(send()), 2);
});

test("a repeated request waits for the first one, for a second", function* () {
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
  const impatient = yield* Effect.forkChild(Effect.flip(send()), { startImmediately: true });
  assert.deepStrictEqual(yield* Effect.flip(send(another)), reused);
  // The second request hashes its key in real time, and may begin to wait only after the clock was first adjusted.
  const seconds = Effect.forever(Effect.andThen(TestClock.adjust("1 second"), Effect.yieldNow));
  assert.deepStrictEqual(yield* Effect.raceFirst(Fiber.join(impatient), seconds), inUse);
  const second = yield* Effect.forkChild(send(), { startImmediately: true });
  yield* Deferred.succeed(go, undefined);
  assert.strictEqual(yield* Fiber.join(first), 1);
  assert.deepStrictEqual(yield* Fiber.join(second), { result: resultOf(1) });
});

test("a request runs if an earlier one with its key failed, died or was interrupted", function* () {
  const { once, send } = yield* bench;
  const ends = [Effect.fail(new LinkNotFound()), Effect.die("broken"), Effect.interrupt];
  for (const end of ends) yield* Effect.exit(once({}, () => end));
  assert.strictEqual(yield* send(another), 1);
});

test("work ahead of a write is done only for the first request", function* () {
  const { once, runs } = yield* bench;
  let ahead = 0;
  const send = once({}, (commit) =>
    commit(Effect.succeed(1), resultOf, { ahead: Effect.sync(() => void ahead++) }),
  );
  assert.strictEqual(yield* send, 1);
  assert.deepStrictEqual(yield* send, { result: resultOf(1) });
  assert.deepStrictEqual([ahead, runs()], [1, 0]);
});

test("a refusal is kept, and replayed", function* () {
  const { begin } = yield* Idempotency;
  const refusal = { code: "LINK_NOT_FOUND", details: null };
  yield* Effect.scoped(Effect.flatMap(begin(requestOf()), ({ keep }) => keep(refusal)));
  const replayed = yield* Effect.flip(
    Effect.scoped(Effect.flatMap(begin(requestOf()), ({ replay }) => replay)),
  );
  assert.deepStrictEqual(replayed instanceof Replayed && replayed.answer, refusal);
});

test("after a user is erased, retries of answered requests about this user are refused", function* () {
  const { send, runs } = yield* bench;
  yield* send();
  yield* erase;
  assert.deepStrictEqual(yield* Effect.flip(later("23 hours")(send())), userErased);
  assert.deepStrictEqual(yield* Effect.flip(send(another)), reused);
  assert.strictEqual(runs(), 1);
  assert.strictEqual(yield* later("24 hours")(send()), 2);
});

test("an erasure finds its user in all chat ID fields of a result, and in no other fields", function* () {
  const { once } = yield* bench;
  const send = (result: object) =>
    once({ idempotencyKey: JSON.stringify(result), content: {} }, (commit) =>
      commit(Effect.void, () => result),
    );
  const theirs = [{ previousChatId: ada }, { data: { review: { chatId: "10002", otherChatId: ada } } }];
  const ofAnother = { chatId: "10002", gameId: ada };
  for (const result of [...theirs, ofAnother]) yield* send(result);
  yield* erase;
  for (const result of theirs) assert.deepStrictEqual(yield* Effect.flip(send(result)), userErased);
  assert.deepStrictEqual<unknown>(yield* send(ofAnother), { result: ofAnother });
});

test("keys and requests are stored as hashes, and a result with a sid is encrypted", function* () {
  const { once } = yield* bench;
  yield* once({}, (commit) => commit(Effect.void, () => ({ sid: "secret", chatId: ada })));
  const stored = JSON.stringify(Option.getOrThrow(yield* kept));
  for (const text of ["my request", "a write", "secret"]) assert.notInclude(stored, text);
});
