import { ChatId } from "@accountlink/core";
import { SightingStore, type StoredSighting } from "@accountlink/core/alts";
import { DayCounts } from "@accountlink/core/limits";
import { SessionStore } from "@accountlink/core/sessions";
import { expect, testLive as test } from "@accountlink/test-servers/effect";
import { Effect } from "effect";
import { encode } from "./keys.ts";
import { memoryKv } from "./mod.ts";
import { makeScope, onStorage, pid } from "./stores/test_storage.ts";

test("records that a deletion of their scope has left take no place of a page", () => {
  const kv = memoryKv();
  const readPages = Effect.gen(function* () {
    const [sessions, store] = [yield* SessionStore, yield* SightingStore];
    yield* makeScope;
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
  });
  return onStorage(kv, readPages);
});

test("counts of a day are loaded from as many client addresses as there are", () => {
  const kv = memoryKv();
  const count = 130_000;
  return onStorage(
    kv,
    Effect.gen(function* () {
      const counts = Array.from({ length: count }, (_, number) => {
        const key = `ip:${number}`;
        return {
          key: encode(["day_counts", 9, key]),
          value: JSON.stringify({ key, endsAt: 9, counted: 1, epoch: 0 }),
        };
      });
      yield* kv.commit([], counts);
      expect((yield* DayCounts.use(({ load }) => load(1))).length).toBe(count);
    }),
  );
});
