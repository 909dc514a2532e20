import { AuditLog, ChatId, GameId, GuildId, LinkStore, Pid } from "@accountlink/core";
import { MemberStore } from "@accountlink/core/accounts";
import { KeyStore } from "@accountlink/core/keys";
import { UserStore, unfinishedAfter } from "@accountlink/core/users";
import { makeKey } from "@accountlink/testing";
import { Effect, Exit, Option } from "effect";
import { expect, it } from "vitest";
import { rangeOf } from "../keys.ts";
import { layer, memoryKv } from "../mod.ts";
import { dyingKv } from "./test_dying_kv.ts";
import { origin } from "./test_storage.ts";

const ada = ChatId.make("10001");
const count = 40;
const numbers = Array.from({ length: count }, (_, index) => index);
const pids = numbers.map((index) => Pid.make(`pid_${String(index).padStart(32, "0")}`));

/** Stores links of a user in many scopes, invitations to many accounts, and an account of theirs with many keys. */
const fill = Effect.gen(function* () {
  const [keys, links, members] = [yield* KeyStore, yield* LinkStore, yield* MemberStore];
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  for (const [index, pid] of pids.entries()) {
    const guildId = GuildId.make(String(700_000_000_000_000_000n + BigInt(index)));
    yield* keys.ensureScope("acme", { kind: "guild", guildId }, pid);
    yield* links.setGame({ ...origin, pid, at: 1, chatId: ada, gameId: GameId.make("1") });
    const name = `other ${index}`;
    yield* keys.ensureAccount({ name, chatId: null, tier: "free" });
    const change = { type: "add", chatId: ada, role: "owner" } as const;
    yield* members.change({ ...origin, account: name, change, at: 1 });
  }
  yield* keys.ensureAccount({ name: "ada", chatId: ada, tier: "free" });
  const own = yield* keys.ensureScope("ada", { kind: "global" }, Pid.make(`pid_${"a".repeat(32)}`));
  for (const index of numbers) {
    const key = makeKey(own, { allowIps: ["192.0.2.1"] });
    yield* keys.insertKey({ ...origin, key, hash: String(index), maxKeys: null, at: 1 });
  }
});

const erase = UserStore.use((users) =>
  users.erase({ ...origin, chatId: ada, at: 2, scopes: pids, pseudonym: "erased", ownerHash: "hash" }),
);

const ends = (account: string) =>
  Effect.map(
    AuditLog.use((log) => log.list(account, null, 1_000)),
    ({ entries }) => entries.filter(({ action }) => action === "user.erased").map(({ details }) => details),
  );

it("a user in many scopes and accounts is erased in commits that every engine makes, and no guard names them", () => {
  const kv = memoryKv();
  return Effect.gen(function* () {
    yield* fill;
    const erased = Option.getOrThrow(yield* erase);
    expect(erased).toMatchObject({ records: count, entries: count * 2, accounts: 1 });
    expect(new Set(erased.revokedKeys).size).toBe(count);
    const told = yield* ends("acme");
    expect(told.length).toBe(count);
    expect(told[0]).toMatchObject({ records: 1, entries: 1 });
    expect(yield* ends("erased")).toEqual([{ revokedKeys: count }]);
    expect(yield* ends("other 0")).toEqual([{ revokedKeys: 0 }]);
    const users = yield* UserStore;
    expect(yield* users.entries(ada, null, 10)).toEqual([]);
    expect((yield* users.find(ada)).memberships).toEqual([]);
    expect(yield* users.unfinished(Number.MAX_SAFE_INTEGER)).toEqual([]);
    const guards = yield* kv.list(rangeOf("guard", []), { limit: 10_000, reverse: false });
    expect(guards.length).toBeGreaterThan(count);
    expect(guards.filter(({ key }) => key.includes(ada))).toEqual([]);
  }).pipe(Effect.provide(layer(Effect.succeed(kv))), Effect.runPromise);
});

it("an interrupted erasure is found, leaves no active key without its addresses, and ends when it is repeated", () => {
  const { left, engine } = dyingKv(memoryKv(), Infinity);
  return Effect.gen(function* () {
    yield* fill;
    left.commits = 2;
    yield* Effect.flip(erase);
    const [users, keys] = [yield* UserStore, yield* KeyStore];
    expect(yield* users.unfinished(Date.now() + unfinishedAfter)).toEqual([{ chatId: ada, ...origin }]);
    let steps = 0;
    for (let ended = false; !ended; steps++) {
      left.commits = 1;
      ended = Exit.isSuccess(yield* Effect.exit(erase));
      const living = (yield* keys.listKeys("ada", 2)).filter(({ status }) => status === "active");
      expect(living.filter(({ allowIps }) => allowIps.length === 0)).toEqual([]);
    }
    expect(steps).toBeGreaterThan(count);
    expect(yield* users.findRecords(ada)).toEqual([]);
    expect(yield* users.unfinished(Number.MAX_SAFE_INTEGER)).toEqual([]);
  }).pipe(Effect.provide(layer(Effect.succeed(engine))), Effect.runPromise);
});
