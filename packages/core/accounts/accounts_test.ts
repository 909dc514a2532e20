import { assert, testWith } from "@accountlink/test-servers/effect";
import { Option } from "effect";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyAuthenticator } from "../keys/key_authenticator.ts";
import { KeyStore } from "../keys/key_store.ts";
import { address, chatId, operator, services } from "../test_services.ts";
import { Accounts } from "./accounts.ts";
import { MemberStore } from "./member_store.ts";

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

test("a suspended account keeps out those who own it, and nobody else of its team", function* () {
  const [accounts, members] = [yield* Accounts, yield* MemberStore];
  const [owner, name] = [chatId("10002"), "chat:10002"];
  yield* accounts.ofChatUser(owner);
  const change = { type: "add", chatId: ada, role: "admin" } as const;
  yield* members.change({ ...operator, account: name, change, at: 1 });
  assert.strictEqual((yield* accounts.ofChatUser(ada)).name, name);
  yield* accounts.suspend(name, operator);
  assert.strictEqual((yield* accounts.ofChatUser(ada)).name, "chat:10001");
  assert.strictEqual((yield* accounts.ofChatUser(owner)).status, "suspended");
});

test("`setTier` applies to an account's keys at once, and returns None for an unknown account", function* () {
  const accounts = yield* Accounts;
  const { token } = yield* issue;
  yield* authenticate(token);
  assert.deepStrictEqual(yield* accounts.setTier("acme", "premium", operator), Option.some(true));
  assert.strictEqual((yield* authenticate(token)).key.tier, "premium");
  assert.deepStrictEqual(yield* accounts.setTier("nobody", "premium", operator), Option.none());
});
