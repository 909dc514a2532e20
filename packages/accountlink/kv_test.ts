import { Effect } from "effect";
import { expect, it, vi } from "vitest";
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

it("a request whose engine was interrupted is answered with 500", async () => {
  const logged = vi.spyOn(console, "log").mockReturnValue();
  const engine = memoryKv();
  let isInterrupted = false;
  const get: typeof engine.get = (keys) => (isInterrupted ? Effect.interrupt : engine.get(keys));
  const al = await createAccountLink({
    storage: kv({ ...engine, get }),
    secret: new Uint8Array(32).fill(1),
    gameUserExists: () => true,
    http: { publicUrl: "https://ours.example", clientAddress: "none" },
  });
  const headers = { authorization: `Bearer ${(await al.keys.create({ kind: "staff" })).token}` };
  isInterrupted = true;
  const answer = await al.fetch(new Request("https://ours.example/v2/chat?chatId=100001", { headers }));
  expect([answer.status, await answer.json()]).toMatchObject([500, { error: { code: "INTERNAL_ERROR" } }]);
  await al.close();
  logged.mockRestore();
});

it("an engine whose commits have too little room for a sweep is refused", async () => {
  const storage = kv({ ...memoryKv(), maxChanges: 99 });
  const secret = new Uint8Array(32).fill(1);
  await expect(createAccountLink({ storage, secret, gameUserExists: () => true })).rejects.toMatchObject({
    problems: ["storage has an engine of 99 changes a commit, expected 100 or more"],
  });
});
