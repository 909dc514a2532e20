import { assert, it } from "@accountlink/test-servers/effect";
import { aFixture, memoryWorld } from "@accountlink/testing";
import { Effect } from "effect";
import { ChatId } from "../ids.ts";
import { ApiKeys } from "../keys/api_keys.ts";
import { KeyStore } from "../keys/key_store.ts";
import { operator } from "../test_services.ts";
import { Webhooks } from "../webhooks/webhooks.ts";
import { UserData } from "./user_data.ts";

const ada = ChatId.make("100001");

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
