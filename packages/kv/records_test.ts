import { ChatId, Pid } from "@accountlink/core";
import { SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { KeyStore } from "@accountlink/core/keys";
import { SessionStore } from "@accountlink/core/sessions";
import { Effect } from "effect";
import { expect, it } from "vitest";
import { encode } from "./keys.ts";
import { layer, memoryKv } from "./mod.ts";

it("records that a deletion of their scope has left take no place of a page", () => {
  const kv = memoryKv();
  return Effect.gen(function* () {
    const [keys, sessions, store] = [yield* KeyStore, yield* SessionStore, yield* SightingStore];
    const pid = Pid.make("pid_0123456789abcdefghij");
    yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
    const chatIds = ["100001", "100003", "100005"].map((id) => ChatId.make(id));
    const address = { hash: "hash", sealed: "sealed", addressKeyId: "k1" };
    yield* sessions.recordSightings(
      pid,
      chatIds.map((chatId) => ({ chatId, address, seenAt: 1 })),
    );
    const left = ["100000", "100002", "100004", "100006"].map((chatId) => ({
      key: encode(["sightings", pid, chatId, "hash"]),
      value: JSON.stringify({ pid, chatId, ...address, seenAt: 1, firstSeenAt: 1, epoch: 0 }),
    }));
    yield* kv.commit([], left);
    const found: Array<StoredSighting> = [];
    for (let page = yield* store.listUnderOtherKeys("k2", null, 1); page.length > 0; ) {
      found.push(...page);
      page = yield* store.listUnderOtherKeys("k2", page.at(-1) ?? null, 1);
    }
    expect(found.map(({ chatId }) => chatId)).toEqual(chatIds);
    expect(yield* store.countByKey()).toEqual(new Map([["k1", 3]]));
  }).pipe(Effect.provide(layer(Effect.succeed(kv))), Effect.scoped, Effect.runPromise);
});
