/** What ends or is deleted in several commits, killed after each of them on the smallest engine. */
import { AuditLog, ChatId, GameId, GuildId, LinkStore, Signals, type StoragePorts } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, RoleHistoryStore, RolePlanStore, StoredPlans } from "@accountlink/core/roles";
import { SessionStore } from "@accountlink/core/sessions";
import { WebhookStore } from "@accountlink/core/webhooks";
import { makeDelivery, makeKey, makeSession, makeWebhook } from "@accountlink/testing";
import { Effect, Exit, Layer, Option } from "effect";
import { assert, expect, it, onTestFinished, vi } from "vitest";
import { type Entry, type Kv, memoryKv } from "../mod.ts";
import { dyingKv } from "./test_dying_kv.ts";
import { makeScope, onStorage, origin, pid } from "./test_storage.ts";

const owner = ChatId.make("00001");
const numbers = Array.from({ length: 12 }, (_, index) => index);
const chatIds = numbers.map((index) => ChatId.make(String(10_000 + index)));

const fill = Effect.gen(function* () {
  const [keys, members, links, sessions] = [
    yield* KeyStore,
    yield* MemberStore,
    yield* LinkStore,
    yield* SessionStore,
  ];
  const scope = yield* makeScope;
  const add = (chatId: ChatId, role: "owner" | "moderator") =>
    members.change({ ...origin, account: "acme", change: { type: "add", chatId, role }, at: 1 });
  yield* add(owner, "owner");
  for (const chatId of chatIds) {
    const key = makeKey(scope);
    yield* keys.insertKey({ ...origin, key, hash: chatId, maxKeys: null, at: 1 });
    yield* links.setGame({ ...origin, pid, at: 1, chatId, gameId: GameId.make("1") });
    yield* sessions.create({ session: makeSession(key, { chatId }), burst: null });
    yield* add(chatId, "moderator");
  }
});

const everything = { start: " ", end: "~" };

const stored = (kv: Kv) => Effect.runPromise(kv.list(everything, { limit: Infinity, reverse: false }));

const openOn = (entries: ReadonlyArray<Entry>, commits: number) => {
  const kv = memoryKv();
  Effect.runSync(kv.commit([], entries));
  const { left, engine } = dyingKv(kv, commits);
  const run = <A, E>(effect: Effect.Effect<A, E, StoragePorts>) =>
    Effect.runPromiseExit(onStorage(engine, effect));
  return { kv, left, run };
};

/** The records and index entries, without the journal, whose numbers follow the time, and without guards. */
const dataOf = async (kv: Kv) =>
  (await stored(kv))
    .filter(({ key }) => !/^(guard|journal|place)\b/.test(key))
    .map(({ key, value }) => [key, value]);

/**
 * Kills a change after each number of commits, and returns how often it was killed.
 *
 * @param resume ends the change in a process that starts afterwards
 */
const killAfterEach = async <E>(
  change: Effect.Effect<unknown, E, StoragePorts>,
  resume: Effect.Effect<unknown, E, StoragePorts>,
  isEnded: Effect.Effect<void, unknown, StoragePorts>,
  filling: Effect.Effect<unknown, unknown, StoragePorts> = fill,
) => {
  const filled = openOn([], Infinity);
  expect(Exit.isSuccess(await filled.run(filling))).toBe(true);
  // The first start that finds webhooks or plans stores that it did.
  expect(Exit.isSuccess(await filled.run(Effect.void))).toBe(true);
  const entries = await stored(filled.kv);
  const whole = openOn(entries, Infinity);
  expect(Exit.isSuccess(await whole.run(change))).toBe(true);
  const expected = await dataOf(whole.kv);
  for (let commits = 0; ; commits++) {
    const { kv, left, run } = openOn(entries, commits);
    if (Exit.isSuccess(await run(change))) return commits;
    left.commits = Infinity;
    const resumed = await run(Effect.andThen(resume, isEnded));
    expect(resumed).toSatisfy(Exit.isSuccess);
    expect([commits, await dataOf(kv)]).toEqual([commits, expected]);
  }
};

const actionsOf = (account: string) =>
  Effect.map(
    AuditLog.use((log) => log.list(account, null, 1_000)),
    ({ entries }) => entries.map(({ action }) => action),
  );

it("an account's end that is killed keeps its owner, and ends when the owner repeats it", async () => {
  const end = KeyStore.use((keys) =>
    keys.endAccount({ ...origin, name: "acme", pseudonym: "erased", at: 2 }),
  );
  const repeat = Effect.gen(function* () {
    expect((yield* MemberStore.use((members) => members.findByChatId(owner))).length).toBe(1);
    expect(Option.isSome(yield* end)).toBe(true);
  });
  const isEnded = Effect.gen(function* () {
    expect(Option.isNone(yield* end)).toBe(true);
    expect((yield* actionsOf("erased")).filter((action) => action === "account.updated").length).toBe(1);
    for (const chatId of [owner, ...chatIds]) {
      expect(yield* MemberStore.use((members) => members.findByChatId(chatId))).toEqual([]);
    }
  });
  expect(await killAfterEach(end, repeat, isEnded)).toBeGreaterThan(3);
});

it("a deletion of a scope that is killed ends in the background once it was stored", async () => {
  const remove = LinkStore.use((links) => links.deleteScope({ ...origin, pid, at: 2 }));
  const resume = Effect.gen(function* () {
    const isStored = (yield* actionsOf("acme")).includes("scope.deleted");
    if (!isStored) return yield* remove;
    assert.strictEqual(yield* LinkStore.use((links) => links.countLinks(pid)), 0);
    return yield* AuditLog.use((log) => log.forget(0));
  });
  const isEnded = Effect.gen(function* () {
    expect((yield* actionsOf("acme")).filter((action) => action === "scope.deleted").length).toBe(1);
  });
  expect(await killAfterEach(remove, resume, isEnded)).toBeGreaterThan(5);
});

it("a webhook whose removal is killed has all of its deliveries, or is gone and leaves them to the sweep", async () => {
  const webhook = makeWebhook({ pid, account: "acme", kind: "global" });
  const { id } = webhook;
  const node = "node";
  const add = Effect.gen(function* () {
    yield* makeScope;
    const store = yield* WebhookStore;
    yield* store.insert({ ...origin, webhook, sealed: "sealed", position: 0, maxOfScope: 1 });
    yield* store.hold({ node, at: 1, until: 9, limit: 1 });
    const deliveries = numbers.map(() => makeDelivery());
    const rest = { position: 1, freedLanes: [], deliveredAt: null, failedAt: 1 };
    yield* store.record({ id, node, at: 1, deliveries, ...rest });
  });
  const remove = WebhookStore.use((store) => store.remove({ ...origin, id, at: 2 }));
  const listed = WebhookStore.use((store) =>
    store.deliveries(id, { status: null, before: null, limit: 100 }),
  );
  const resume = Effect.gen(function* () {
    const store = yield* WebhookStore;
    if (Option.isNone(yield* store.find(id))) return yield* store.sweep(0);
    expect((yield* listed).length).toBe(numbers.length);
    return yield* remove;
  });
  const isEnded = Effect.map(listed, (left) => expect(left).toEqual([]));
  expect(await killAfterEach(remove, resume, isEnded, add)).toBeGreaterThan(3);
});

it("rules whose removal is killed are off before they forget a member, and the log says so once", async () => {
  const place = { pid, guildId: GuildId.make("70001") };
  const add = Effect.gen(function* () {
    yield* makeScope;
    const store = yield* RolePlanStore;
    yield* store.put({ ...origin, ...place, settings: { ...noPlan, state: "on" }, position: 0, at: 1 });
    yield* store.hold({ node: "node", at: 1, until: 9, limit: 1 });
    yield* store.mark({ ...place, node: "node", at: 1, position: 0, chatIds, erased: [], sweepOf: null });
  });
  const remove = RolePlanStore.use((store) => store.remove({ ...origin, ...place, at: 2 }));
  const resume = Effect.gen(function* () {
    const store = yield* RolePlanStore;
    const plan = Option.getOrNull(yield* store.find(place));
    const { pending } = yield* store.status(place);
    expect(plan?.state === "on" ? pending : numbers.length).toBe(numbers.length);
    const told = (yield* actionsOf("acme")).filter((action) => action === "roles.updated");
    expect(told.length).toBe(plan?.state === "on" ? 1 : 2);
    yield* remove;
  });
  const isEnded = Effect.gen(function* () {
    expect(Option.isNone(yield* RolePlanStore.use((store) => store.find(place)))).toBe(true);
    const actions = (yield* actionsOf("acme")).filter((action) => action.startsWith("roles."));
    expect(actions).toEqual(["roles.deleted", "roles.updated", "roles.updated"]);
  });
  expect(await killAfterEach(remove, resume, isEnded, add)).toBeGreaterThan(3);
});

it("rules whose storing is killed are the earlier ones, or the roles that they drop are taken", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 5 });
  onTestFinished(() => void vi.useRealTimers());
  const guildId = GuildId.make("70001");
  const place = { pid, guildId };
  const rules = [{ roleId: "5", when: { is: "linked" }, nickname: null }] as const;
  const add = Effect.gen(function* () {
    yield* makeScope;
    const settings = { ...noPlan, rules, state: "on" } as const;
    yield* RolePlanStore.use((store) => store.put({ ...origin, ...place, settings, position: 0, at: 1 }));
  });
  const silent = Layer.mock(Signals, { publish: () => Effect.void });
  const drop = Effect.gen(function* () {
    const scope = { pid, account: "acme", kind: "global" } as const;
    const chosen = { ...noPlan, state: "on", take: ["5"] } as const;
    yield* StoredPlans.use((plans) => plans.put({ scope, guildId }, chosen, origin));
  }).pipe(Effect.provide(Layer.provide(StoredPlans.layer, silent)));
  const isTaken = Effect.gen(function* () {
    const plan = yield* RolePlanStore.use((store) => store.find(place));
    const taken = yield* RoleHistoryStore.use((history) => history.reversals(place));
    return [Option.getOrThrow(plan).rules.length, taken.map(({ roleId }) => roleId)];
  });
  const resume = Effect.gen(function* () {
    expect([
      [1, []],
      [0, ["5"]],
    ]).toContainEqual(yield* isTaken);
    yield* drop;
  });
  const isEnded = Effect.map(isTaken, (taken) => expect(taken).toEqual([0, ["5"]]));
  expect(await killAfterEach(drop, resume, isEnded, add)).toBe(1);
});
