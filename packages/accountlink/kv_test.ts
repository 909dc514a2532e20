import { expect, it } from "vitest";
import { kv, memoryKv } from "./kv.ts";
import { createAccountLink } from "./mod.ts";
import { promiseApiSuite } from "./test_promise_api.ts";

promiseApiSuite(() => kv({ ...memoryKv(), maxChanges: 100 }), { shares: false });

it("services that share an engine share links, and need the same secret", async () => {
  const engine = memoryKv();
  const open = (byte: number) =>
    createAccountLink({
      storage: kv(engine),
      secret: new Uint8Array(32).fill(byte),
      gameUserExists: () => true,
    });
  const [one, other] = [await open(1), await open(1)];
  await one.links.set("100001", "1");
  expect(await other.links.get("100001")).toMatchObject({ gameId: "1" });
  await expect(open(2)).rejects.toMatchObject({ _tag: "SecretRejected" });
  await Promise.all([one.close(), other.close()]);
});

it("an engine whose commits have too little room for a sweep is refused", async () => {
  const storage = kv({ ...memoryKv(), maxChanges: 99 });
  const secret = new Uint8Array(32).fill(1);
  await expect(createAccountLink({ storage, secret, gameUserExists: () => true })).rejects.toMatchObject({
    problems: ["storage has an engine of 99 changes a commit, expected 100 or more"],
  });
});
