/** What grows with an account's data is changed in commits that every engine makes, and goes on after a death. */
import { ChatId, type Conflict, GameId, GuildId, LinkStore, Pid, StoreUnavailable } from "@accountlink/core";
import { BlockStore } from "@accountlink/core/admission";
import { CommunityStore } from "@accountlink/core/communities";
import { FlowStore } from "@accountlink/core/flow";
import { GuildLogStore } from "@accountlink/core/guild_log";
import type { SessionId } from "@accountlink/core/ids";
import { ImportStore } from "@accountlink/core/imports";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { UserStore } from "@accountlink/core/users";
import { makeFlow, makeKey, makeSession, uniqueText } from "@accountlink/testing";
import { Effect, Fiber, Latch, Option } from "effect";
import { expect, it } from "vitest";
import { rangeOf } from "../keys.ts";
import { type Kv, layer, maxChanges, memoryKv } from "../mod.ts";

const ada = ChatId.make("10001");
const chess = GameId.make("1");
const pid = Pid.make(`pid_${"1".repeat(32)}`);
const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;
const count = 150;
const numbers = Array.from({ length: count }, (_, index) => index);

const makeScope = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  const scope = yield* keys.ensureScope("acme", { kind: "global" }, pid);
  const key = makeKey(scope);
  yield* keys.insertKey({ ...origin, key, hash: uniqueText(), maxKeys: null, at: 1 });
  return { scope, key };
});

/** Opens sessions of a linked chat user, and as many flows that proved the user. */
const openMany = Effect.gen(function* () {
  const { scope, key } = yield* makeScope;
  const [links, sessions, flows] = [yield* LinkStore, yield* SessionStore, yield* FlowStore];
  yield* links.setGame({ ...origin, pid, at: 1, chatId: ada, gameId: chess });
  for (const _ of numbers) {
    const session = makeSession(key, { chatId: ada });
    yield* sessions.create({ session, burst: null });
    yield* flows.begin(makeFlow(scope, { chatId: ada, session: session.id }));
  }
});

/** An engine that refuses the commits after some of them. */
const dying = () => {
  const kv = memoryKv();
  const left = { commits: Infinity };
  const engine: Kv = {
    ...kv,
    maxChanges,
    commit: (checks, changes) =>
      left.commits-- > 0
        ? kv.commit(checks, changes)
        : Effect.fail(new StoreUnavailable({ operation: "commit", cause: "refused" })),
  };
  return { left, engine, storage: layer(Effect.succeed(engine)) };
};

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
      const { sessions, flows } = yield* users.find(ada);
      expect([flows.length, new Set(sessions.map(({ state }) => state))]).toEqual([0, new Set(["failed"])]);
    }).pipe(Effect.provide(storage));
  }).pipe(Effect.runPromise);
});

it("an account with any number of keys gets another tier, also after a death", () => {
  const { left, engine, storage } = dying();
  return Effect.gen(function* () {
    const { scope } = yield* makeScope;
    const keys = yield* KeyStore;
    for (const index of numbers) {
      const key = makeKey(scope);
      yield* keys.insertKey({ ...origin, key, hash: String(index), maxKeys: null, at: 1 });
    }
    const update = keys.updateAccount({ ...origin, name: "acme", update: { tier: "premium" }, at: 2 });
    left.commits = 2;
    yield* Effect.flip(update);
    left.commits = Infinity;
    const updated = Option.getOrThrow(yield* update);
    expect([updated.changed, updated.keys.length]).toEqual([true, count + 1 - 50]);
    expect(new Set((yield* keys.listKeys("acme", 3)).map(({ tier }) => tier))).toEqual(new Set(["premium"]));
    expect(Option.getOrThrow(yield* update)).toEqual({ changed: false, keys: [] });
    // Answers that need no key list no revoked keys.
    for (const id of updated.keys) {
      yield* keys.updateKey({ ...origin, id, update: { status: "revoked" }, at: 4 });
    }
    expect(yield* engine.count(rangeOf("key.byScope", [pid]))).toBe(50);
  }).pipe(Effect.provide(storage), Effect.runPromise);
});

it("sign-ins of a flow, logs of a scope and old imports are as many as they are", () =>
  Effect.gen(function* () {
    const { scope } = yield* makeScope;
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

    const imports = yield* ImportStore;
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
  }).pipe(Effect.provide(dying().storage), Effect.runPromise));

it("no account has the queue of other work, whatever its name is", () => {
  const kv = memoryKv();
  const release = Latch.makeUnsafe();
  const held: Kv = {
    ...kv,
    commit: (checks, changes) =>
      changes.some(({ key }) => key.startsWith("import "))
        ? Effect.andThen(release.await, kv.commit(checks, changes))
        : kv.commit(checks, changes),
  };
  return Effect.gen(function* () {
    const [keys, imports] = [yield* KeyStore, yield* ImportStore];
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
