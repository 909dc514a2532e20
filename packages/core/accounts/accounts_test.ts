import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Option } from "effect";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyAuthenticator } from "../keys/key_authenticator.ts";
import { KeyStore } from "../keys/key_store.ts";
import { address, chatId, operator, services } from "../test_services.ts";
import { Accounts } from "./accounts.ts";
import { MemberStore } from "./member_store.ts";
import { Members } from "./members.ts";

const ada = chatId("10001");

const issue = ApiKeys.use((keys) =>
  keys.create(
    { account: { name: "acme", chatId: null, tier: "free" }, target: { kind: "global" } },
    operator,
  ),
);

const authenticate = (token: string) =>
  KeyAuthenticator.use((keys) => keys.authenticate(token, address("203.0.113.7")));

const test = testWith(services);

test("a chat user never signs in to another user's account of the same name", function* () {
  yield* (yield* KeyStore).ensureAccount({ name: "chat:10001", chatId: null, tier: "premium" });
  const account = yield* (yield* Accounts).ofChatUser(ada);
  assert.deepInclude(account, { name: "chat:10001:another", chatId: ada, tier: "free" });
});

test("`setTier` applies to an account's keys at once, and returns None for an unknown account", function* () {
  const accounts = yield* Accounts;
  const { token } = yield* issue;
  yield* authenticate(token);
  assert.deepStrictEqual(yield* accounts.setTier("acme", "premium", operator), Option.some(true));
  assert.strictEqual((yield* authenticate(token)).key.tier, "premium");
  assert.deepStrictEqual(yield* accounts.setTier("nobody", "premium", operator), Option.none());
});

testWith(Layer.provideMerge(Members.layer, services))(
  "whom an operator adds has accepted, with an open invitation too",
  function* () {
    yield* (yield* KeyStore).ensureAccount({ name: "acme", chatId: ada, tier: "free" });
    const [members, store] = [yield* Members, yield* MemberStore];
    const bob = chatId("10002");
    const member = { actor: { type: "account", id: "acme", member: ada }, requestId: "req_1" } as const;
    const add = { type: "add", chatId: bob, role: "admin" } as const;
    assert.isTrue(yield* members.change("acme", add, member));
    assert.strictEqual((yield* Effect.flip(members.change("acme", add, member)))._tag, "Conflict");
    assert.isTrue(yield* members.change("acme", { ...add, role: "owner" }, operator));
    const found = (yield* store.findByChatId(bob)).map(({ role, chosenAt, invitedBy }) => [
      role,
      chosenAt,
      invitedBy,
    ]);
    assert.deepStrictEqual(found, [["owner", 0, null]]);
    assert.strictEqual((yield* Effect.flip(members.change("acme", add, operator)))._tag, "Conflict");
  },
);
