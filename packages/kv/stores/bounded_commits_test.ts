/** What grows with an account's data is changed in commits that the smallest engine makes, and goes on after a death. */
import { ChatId, type Conflict, GameId, GuildId, LinkStore, StoreUnavailable } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { CommunityStore } from "@accountlink/core/communities";
import { FlowStore } from "@accountlink/core/flow";
import { GuildLogStore } from "@accountlink/core/guild_log";
import type { SessionId } from "@accountlink/core/ids";
import { UploadStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { noPlan, RolePlanStore } from "@accountlink/core/roles";
import { SessionStore } from "@accountlink/core/sessions";
import { UserStore } from "@accountlink/core/users";
import { expect, it, testLiveWith } from "@accountlink/test-servers/effect";
import { makeFlow, makeKey, makeSession, uniqueText } from "@accountlink/testing";
import { Effect, Fiber, Latch, Option } from "effect";
import { rangeOf } from "../keys.ts";
import { type Kv, layer, memoryKv } from "../mod.ts";
import { dyingKv } from "./test_dying_kv.ts";
import { makeScope, origin, pid } from "./test_storage.ts";

const ada = ChatId.make("10001");
const chess = GameId.make("1");
const count = 150;
const numbers = Array.from({ length: count }, (_, index) => index);

const makeScopeWithKey = Effect.gen(function* () {
  const scope = yield* makeScope;
  const key = makeKey(scope);
  const keys = yield* KeyStore;
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 1 });
  return { scope, key };
});

/** Opens sessions of a linked chat user, and as many flows that proved the user. */
const openMany = Effect.gen(function* () {
  const { scope, key } = yield* makeScopeWithKey;
  const [links, sessions, flows] = [yield* LinkStore, yield* SessionStore, yield* FlowStore];
  yield* links.setGame({ ...origin, pid, at: 1, chatId: ada, gameId: chess });
  for (const _ of numbers) {
    const session = makeSession(key, { chatId: ada });
    yield* sessions.create({ session, burst: null });
    yield* flows.begin(makeFlow(scope, { chatId: ada, session: session.id }));
  }
});

const dying = () => {
  const { left, engine } = dyingKv(memoryKv(), Infinity);
  return { left, engine, storage: layer(Effect.succeed(engine)) };
};

const test = testLiveWith(layer(Effect.sync(() => dying().engine)));

it("a removal, a block and a deletion end any number of sessions, and go on after a death", () => {
  const chat = { chatId: ada, gameId: null, hash: "hash", reason: null } as const;
  const game = { ...chat, chatId: null, gameId: chess };
  type Change = Effect.Effect<ReadonlyArray<SessionId>, Conflict | StoreUnavailable, LinkStore | BlockStore>;
  const changes: ReadonlyArray<Change> = [
    LinkStore.use((links) =>
      Effect.map(
        links.removeGame({ ...origin, pid, at: 2, chatId: ada }),
        (removed) => Option.getOrThrow(removed).ended,
      ),
    ),
    LinkStore.use((links) => Effect.map(links.deleteScope({ ...origin, pid, at: 2 }), ({ ended }) => ended)),
    ...[chat, game].map((block) =>
      BlockStore.use((blocks) =>
        Effect.map(blocks.set({ ...origin, ...block, pid, at: 2 }), ({ removed }) => removed[0]?.ended ?? []),
      ),
    ),
  ];
  return Effect.forEach(changes, (change) => {
    const { left, storage } = dying();
    return Effect.gen(function* () {
      yield* openMany;
      const [links, users] = [yield* LinkStore, yield* UserStore];
      left.commits = 3;
      yield* Effect.flip(change);
      expect(yield* links.countLinks(pid)).toBe(1);
      left.commits = Infinity;
      const ended = yield* change;
      expect(ended.length).toBeGreaterThan(count / 2);
      expect(ended.length).toBeLessThan(count);
      expect(yield* links.countLinks(pid)).toBe(0);
      const { sessions = [], flows = [] } = (yield* users.find(ada)).downloads;
      expect([flows.length, new Set(sessions.map(({ state }) => state))]).toEqual([0, new Set(["failed"])]);
    }).pipe(Effect.provide(storage));
  }).pipe(Effect.runPromise);
});

it("an account with any number of keys gets another tier, also after a death", () => {
  const { left, engine, storage } = dying();
  return Effect.gen(function* () {
    const { scope } = yield* makeScopeWithKey;
    const keys = yield* KeyStore;
    for (const index of numbers) {
      const key = makeKey(scope);
      yield* keys.insertKey({ ...origin, key, hash: String(index), maxKeys: null, at: 1 });
    }
    const update = keys.updateAccount({ ...origin, name: "acme", update: { tier: "premium" }, at: 2 });
    left.commits = 2;
    yield* Effect.flip(update);
    left.commits = Infinity;
    const before = (yield* keys.listKeys("acme", 3)).filter(({ tier }) => tier === "premium").length;
    expect(before).toBeGreaterThan(1);
    const updated = Option.getOrThrow(yield* update);
    expect([updated.changed, updated.keys.length]).toEqual([true, count + 1 - before]);
    expect(new Set((yield* keys.listKeys("acme", 3)).map(({ tier }) => tier))).toEqual(new Set(["premium"]));
    expect(Option.getOrThrow(yield* update)).toEqual({ changed: false, keys: [] });
    // Answers that need no key list no revoked keys.
    for (const id of updated.keys) {
      yield* keys.updateKey({ ...origin, id, update: { status: "revoked" }, at: 4 });
    }
    expect(yield* engine.count(rangeOf("keys.living", [pid]))).toBe(before);
  }).pipe(Effect.provide(storage), Effect.runPromise);
});

test("sign-ins of a flow, logs of a scope and old imports are as many as they are", function* () {
  const scope = yield* makeScope;
  const [flows, sessions] = [yield* FlowStore, yield* SessionStore];
  const flow = makeFlow(scope);
  yield* flows.begin(flow);
  for (const index of numbers) {
    const challenge = { stateHash: String(index), flow: flow.id, step: "chat", expiresAt: index } as const;
    yield* flows.challenge(challenge);
  }
  expect(Option.isNone(yield* flows.takeChallenge(flow.id, "0", -1))).toBe(true);
  expect(Option.isSome(yield* flows.takeChallenge(flow.id, String(count - 1), -1))).toBe(true);
  yield* sessions.sweep({ at: 1_000_000, sessionsBefore: 0, sightingsBefore: 0 });
  expect(Option.isNone(yield* flows.find(flow.id, 0))).toBe(true);

  const [communities, logs] = [yield* CommunityStore, yield* GuildLogStore];
  const guilds = numbers.map((index) => GuildId.make(String(70_000 + index)));
  for (const guildId of guilds) {
    yield* communities.update({
      ...origin,
      pid,
      guildId,
      at: 1,
      position: 0,
      update: { logChannelId: "7" },
    });
  }
  yield* logs.add(pid, { is: "refused", chatId: ada, gameId: null, why: "blocked" }, 2);
  for (const guildId of guilds) expect((yield* logs.waiting({ pid, guildId }, 9)).length).toBe(1);

  const imports = yield* UploadStore;
  const held = { node: "node", at: 1, until: 2 };
  for (const index of [...numbers, ...numbers.map((each) => each + count)]) {
    const id = `import ${index}`;
    yield* imports.begin({ ...held, id, account: id, room: Infinity });
    yield* imports.append({ id, node: "node" }, { file: "rows", part: 0, bytes: new Uint8Array(10) });
  }
  let left = 2 * count;
  for (let begun = 0; left > 0; begun++) {
    yield* imports.begin({ ...held, id: `next ${begun}`, account: "acme", room: 0 });
    const found = yield* Effect.forEach(numbers, (index) => imports.find(`import ${index}`, 1));
    const others = yield* Effect.forEach(numbers, (index) => imports.find(`import ${index + count}`, 1));
    const kept = [...found, ...others].filter(Option.isSome).length;
    expect(kept).toBeLessThan(left);
    left = kept;
  }
});

test("a completion takes a game user from any number of chat users whose sessions are open", function* () {
  const { scope, key } = yield* makeScopeWithKey;
  const [links, sessions, flows, keys] = [
    yield* LinkStore,
    yield* SessionStore,
    yield* FlowStore,
    yield* KeyStore,
  ];
  const others = numbers.slice(0, 19).map((index) => ChatId.make(String(20_000 + index)));
  for (const chatId of others) {
    yield* links.setGame({ ...origin, pid, at: 1, chatId, gameId: chess });
    yield* sessions.create({ session: makeSession(key, { chatId }), burst: null });
  }
  yield* keys.updateSettings({ ...origin, pid, at: 1, update: { oneChatUser: true } });
  const session = makeSession(key, { chatId: ada });
  yield* sessions.create({ session, burst: null });
  const proof = { chatId: ada, gameId: chess, gameProof: "oauth", connections: [] } as const;
  const flow = makeFlow(scope, { ...proof, session: session.id, seenVersion: 0 });
  yield* flows.begin(flow);
  for (const index of numbers) {
    yield* flows.challenge({ stateHash: `state ${index}`, flow: flow.id, step: "game", expiresAt: index });
  }
  const address = { hash: "hash", sealed: "sealed", addressKeyId: "key" };
  const seen = { address, browser: "browser" };
  const completion = { ...origin, ...proof, ...seen, pid, at: 2, flow: flow.id, proof: "oauth" } as const;
  const [newest, second] = others as [ChatId, ChatId];
  for (const moves of [false, second])
    expect((yield* sessions.complete({ ...completion, moves }))._tag).toBe("Taken");
  yield* flows.begin(makeFlow(scope, { chatId: newest, session: session.id, seenVersion: 0 }));
  const completed = yield* sessions.complete({ ...completion, moves: newest });
  const losers = completed._tag === "Completed" ? completed.losers : [];
  expect(losers.map(({ chatId, ended }) => [chatId, ended.length])).toEqual(others.map((id) => [id, 1]));
  expect(Option.getOrNull(yield* sessions.find(session.id))).toMatchObject({ state: "completed" });
  expect((yield* links.findByGameIds(pid, [chess])).get(chess)).toEqual([ada]);
});

test("a message of a log names as many users, and tells as many entries, as it does", function* () {
  yield* makeScope;
  const [communities, logs] = [yield* CommunityStore, yield* GuildLogStore];
  const place = { pid, guildId: GuildId.make("70000") };
  yield* communities.update({ ...origin, ...place, at: 1, position: 0, update: { logChannelId: "7" } });
  const entry = { is: "refused", chatId: ada, gameId: null, why: "blocked" } as const;
  for (const _ of numbers) yield* logs.add(pid, entry, 2);
  const told = (yield* logs.waiting(place, count)).map(({ id }) => id);
  yield* logs.hold({ node: "node", at: 1, until: 9, limit: 1 });
  const lineOf = (line: number) => ({
    text: "line",
    chatIds: [0, 1, 2].map((user) => ChatId.make(String(30_000 + 3 * line + user))),
  });
  const message = { channelId: "7", messageId: "1", lines: numbers.slice(0, 10).map(lineOf) };
  const held = { ...place, node: "node", position: 1, problems: [], closedAt: null };
  expect(yield* logs.record({ ...held, at: 2, told, message })).toBe(true);
  expect(yield* logs.waiting(place, count)).toEqual([]);
  const users = yield* UserStore;
  const last = ChatId.make("30029");
  expect((yield* users.find(last)).messages.length).toBe(1);
  // Another message is posted when the first one is old.
  expect(
    yield* logs.record({ ...held, at: 1e12, told: [], message: { ...message, messageId: "2", lines: [] } }),
  ).toBe(true);
  expect((yield* users.find(last)).messages).toEqual([]);
});

test("a member of a plan, and the plan itself, have a problem for each rule, again and again", function* () {
  yield* makeScope;
  const plans = yield* RolePlanStore;
  const place = { pid, guildId: GuildId.make("70000") };
  const settings = { ...noPlan, state: "on" } as const;
  yield* plans.put({ ...origin, ...place, settings, at: 1, position: 0 });
  for (const at of [2, 3]) {
    const [held] = yield* plans.hold({ node: "node", at, until: 9, limit: 1 });
    const problemsOf = (chatId: ChatId | null) =>
      numbers
        .slice(0, 50)
        .map((role) => ({ chatId, roleId: String(role), reason: "role_missing", at }) as const);
    const member = { chatId: ada, mark: null, retryAt: null, nickname: null, problems: problemsOf(ada) };
    const others = numbers.map((index) => ({
      ...member,
      chatId: ChatId.make(String(20_000 + index)),
      problems: [],
    }));
    const settled = yield* plans.settle({
      ...place,
      node: "node",
      at,
      members: [...others, member],
      problems: problemsOf(null),
      revision: held?.revision ?? 0,
      sweep: null,
    });
    expect(settled).toBe(true);
    yield* plans.settleOne(place, member, at);
    expect((yield* plans.status(place)).problems.every((problem) => problem.at === at)).toBe(true);
  }
});

it("no account has the queue of other work, whatever its name is", () => {
  const kv = memoryKv();
  const release = Latch.makeUnsafe();
  const held: Kv = {
    ...kv,
    commit: (checks, changes) =>
      changes.some(({ key }) => key.startsWith("imports "))
        ? Effect.andThen(release.await, kv.commit(checks, changes))
        : kv.commit(checks, changes),
  };
  return Effect.gen(function* () {
    const [keys, imports] = [yield* KeyStore, yield* UploadStore];
    const begun = { id: "1", node: "node", at: 1, until: 2, account: "acme", room: 1 };
    const fiber = yield* Effect.forkChild(imports.begin(begun));
    yield* Effect.yieldNow;
    for (const name of ["imports", "all imports"]) {
      yield* keys.ensureAccount({ name, chatId: null, tier: "free" });
    }
    expect(fiber.pollUnsafe()).toBeUndefined();
    yield* release.open;
    expect(yield* Fiber.join(fiber)).toBe(true);
  }).pipe(Effect.provide(layer(Effect.succeed(held))), Effect.runPromise);
});
