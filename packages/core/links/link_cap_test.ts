import { StorageMemory } from "@accountlink/memory";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { Conflict } from "../errors.ts";
import { ChatId, GameId, Pid } from "../ids.ts";
import { KeyStore } from "../keys/key_store.ts";
import { Limits } from "../limits/quota.ts";
import { operator } from "../test_services.ts";
import { LinkCap } from "./link_cap.ts";
import { LinkStore } from "./link_store.ts";

const most = 25;

const limits = Layer.effect(
  Limits,
  Effect.map(Limits, (usual) => ({ ...usual, free: { ...usual.free, links: most } })),
);

const capped = Layer.provide(LinkCap.layer, limits);
const services = Layer.provideMerge(capped, StorageMemory.layer);

/** A store whose counts return after all writes that run beside them. */
const countsLate = Layer.effect(
  LinkStore,
  Effect.map(LinkStore, (store) => ({
    ...store,
    countLinks: (...asked: Parameters<typeof store.countLinks>) =>
      Effect.tap(store.countLinks(...asked), () => Effect.repeat(Effect.yieldNow, { times: 20 })),
  })),
);
const lateServices = Layer.provideMerge(capped, Layer.provideMerge(countsLate, StorageMemory.layer));

/** An account with two scopes, and a function that links new chat users through the cap. */
const makeAccount = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const store = yield* LinkStore;
  const cap = yield* LinkCap;
  yield* keys.ensureAccount({ name: "acme", chatId: ChatId.make("100001"), tier: "free" });
  const [one, two] = [Pid.make("pid_0123456789abcdef"), Pid.make("pid_0123456789abcdeg")];
  const scope = yield* keys.ensureScope("acme", { kind: "global" }, one);
  const other = yield* keys.ensureScope("acme", { kind: "guild", guildId: "70001" as never }, two);
  const set = (index: number, within = scope) => {
    const chatId = ChatId.make(String(10_000 + index));
    const write = store.setGame({ ...operator, pid: within.pid, at: 0, chatId, gameId: GameId.make("1") });
    return cap.admit(within, chatId, Effect.andThen(Effect.yieldNow, write));
  };
  const count = Effect.map(
    Effect.all([store.countLinks(one), store.countLinks(two)]),
    ([links, more]) => links + more,
  );
  return { cap, scope, other, set, count };
});

const test = testWith(services);

const writeConcurrently = Effect.gen(function* () {
  const { other, scope, set, count } = yield* makeAccount;
  const writes = Array.from({ length: 2 * most }, (_, index) =>
    Effect.result(set(index, index % 2 === 0 ? scope : other)),
  );
  const results = yield* Effect.all(writes, { concurrency: "unbounded" });
  assert.strictEqual(yield* count, most);
  const refused = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []));
  assert.deepStrictEqual(
    refused,
    Array.from({ length: most }, () => new Conflict({ reason: "link_limit" })),
  );
  yield* set(0);
});

test("concurrent writes in all scopes of an account make exactly as many links as its plan allows", () =>
  writeConcurrently);

testWith(lateServices)(
  "writes that end while links are counted make no more links than the plan allows",
  () => writeConcurrently,
);

test("changed links take no room, and a full account has room again when a link was removed here, or 5 seconds after another node did", function* () {
  const { cap, scope, set } = yield* makeAccount;
  const store = yield* LinkStore;
  const remove = (index: number) =>
    store.removeGame({ ...operator, pid: scope.pid, at: 0, chatId: ChatId.make(String(10_000 + index)) });
  for (let index = 0; index < most; index++) yield* set(0);
  for (let index = 0; index < most; index++) yield* set(index);
  yield* Effect.flip(set(most));
  yield* remove(0);
  yield* Effect.flip(set(most));
  yield* cap.freed(scope);
  yield* set(most);
  yield* Effect.flip(set(0));
  yield* remove(1);
  yield* TestClock.adjust("5 seconds");
  yield* set(0);
});

test("a write that makes no link takes no room of another one that makes the last", function* () {
  const { cap, scope, set } = yield* makeAccount;
  for (let index = 0; index < most - 1; index++) yield* set(index);
  const confirming = cap.admit(scope, ChatId.make("10000"), Effect.never);
  yield* Effect.forkChild(confirming, { startImmediately: true });
  yield* set(most);
  yield* Effect.flip(set(most + 1));
});

test("a full account has the room of another plan at once", function* () {
  const { set } = yield* makeAccount;
  for (let index = 0; index < most; index++) yield* set(index);
  yield* Effect.flip(set(most));
  yield* (yield* KeyStore).updateAccount({ ...operator, name: "acme", update: { tier: "premium" }, at: 0 });
  yield* set(most);
});
