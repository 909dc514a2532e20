import { assert, it } from "@accountlink/test-servers/effect";
import { aFixture, memoryWorld } from "@accountlink/testing";
import { Effect } from "effect";
import { MemberStore } from "../accounts/member_store.ts";
import { ChatId } from "../ids.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyStore } from "../keys/key_store.ts";
import { operator } from "../test_services.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import { UserData } from "./user_data.ts";

const [ada, bob] = [ChatId.make("100001"), ChatId.make("100002")];

it("before an erasure, each account says what happens to its keys, and who is left", async () => {
  const world = await memoryWorld(aFixture({}));
  const program = Effect.gen(function* () {
    const [store, members, keys] = [yield* KeyStore, yield* MemberStore, yield* ApiKeys];
    for (const [name, chatId] of [
      ["own", ada],
      ["of bob", bob],
      ["left", null],
    ] as const) {
      const account = { name, chatId, tier: "free" } as const;
      yield* store.ensureAccount(account);
      yield* keys.create({ account, target: { kind: "global" } }, operator);
    }
    const add = (account: string, chatId: ChatId, role: "admin" | "moderator") =>
      members.change({ ...operator, account, change: { type: "add", chatId, role }, at: 0 });
    yield* add("own", bob, "admin");
    yield* add("of bob", ada, "moderator");
    yield* add("left", ada, "admin");
    yield* add("left", bob, "moderator");
    return (yield* UserData.use((users) => users.previewErasure(ada))).accounts;
  });
  const accounts = (await world.run(program)).map(({ account, keys, left, ...rest }) => ({
    name: account.name,
    ...rest,
    keys: keys.length,
    left: left.map(({ chatId }) => chatId),
  }));
  await world.close();
  assert.sameDeepMembers(accounts, [
    { name: "own", role: "owner", isOwn: true, closes: false, links: 0, keys: 1, left: [bob] },
    { name: "of bob", role: "moderator", isOwn: false, closes: false, links: 0, keys: 0, left: [bob] },
    { name: "left", role: "admin", isOwn: false, closes: true, links: 0, keys: 1, left: [bob] },
  ]);
});

it("what an owner had open during an erasure makes no account, neither theirs nor the operator's", async () => {
  const world = await memoryWorld(aFixture({}));
  const target = { kind: "global" } as const;
  const program = Effect.gen(function* () {
    const [store, keys, webhooks] = [yield* KeyStore, yield* ApiKeys, yield* Webhooks];
    const account = yield* store.ensureAccount({ name: `chat:${ada}`, chatId: ada, tier: "free" });
    yield* UserData.use((users) => users.erase(ada, operator));
    const left = yield* store.listAccounts();
    for (const write of [
      keys.create({ account, target }, operator),
      keys.scopeOf(account, target),
      webhooks.create({ account, target, url: "https://example.com/" }, operator),
    ]) {
      assert.deepInclude(yield* Effect.flip<unknown, unknown, never>(write), {
        _tag: "Conflict",
        reason: "account_suspended",
      });
    }
    assert.deepEqual(yield* store.listAccounts(), left);
    assert.isFalse(left.some(({ name }) => name === account.name));
  });
  await world.run(program);
  await world.close();
});
