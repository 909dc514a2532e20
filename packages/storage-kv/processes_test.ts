/** Several processes on one store, and one that dies in the middle of a write. */
import { AuditLog, ChatId, GameId, LinkStore, Pid, type StoragePorts } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { Effect } from "effect";
import * as test from "vitest";
import { StorageKv } from "./mod.ts";
import type { SingleKeyStore } from "./single_process.ts";
import { breakingSingleKeys } from "./test_breaking_store.ts";
import { makeMapStore, makeSingleKeys } from "./test_map_store.ts";

const pid = Pid.make("pid_0123456789abcdef");
const origin = { actor: { type: "operator", id: "test" }, requestId: null } as const;
const [ada, game] = [ChatId.make("10001"), GameId.make("1")];
const lines = Array.from({ length: 30 }, (_, i) => ({
  chatId: ChatId.make(`${20_000 + i}`),
  gameId: game,
  lastVerifiedAt: 1,
}));

const on = <A, E>(open: () => Promise<StorageKv.KeyValueStore>, effect: Effect.Effect<A, E, StoragePorts>) =>
  Effect.runPromise(Effect.provide(effect, StorageKv.layer(open), { local: true }));

const makeScope = Effect.gen(function* () {
  const keys = yield* KeyStore;
  yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "free" });
  yield* keys.ensureScope("acme", { kind: "global" }, pid);
});

const importLines = Effect.flatMap(LinkStore, (links) =>
  links.importBatch({ ...origin, pid, at: 1, links: lines, existing: "keep", progress: null }),
);

const seen = Effect.gen(function* () {
  const links = yield* (yield* LinkStore).exportPage(pid, null, 100);
  const entries = yield* (yield* AuditLog).list("acme", null, 100);
  return { links: links.length, entries: entries.length };
});

const setEach = (first: number) =>
  Effect.forEach(Array.from({ length: 10 }), (_, i) =>
    Effect.flatMap(LinkStore, (links) =>
      links.setGame({ ...origin, pid, at: 1, chatId: ada, gameId: GameId.make(`${first + i}`) }),
    ),
  );

/**
 * @param isDone whether the write that fails has happened
 * @param fails asked before each write
 */
const failingOnce = (store: SingleKeyStore, isDone: boolean, fails: () => boolean): SingleKeyStore => {
  const write = async (run: () => Promise<void>) => {
    const isFailing = fails();
    if (!isFailing || isDone) await run();
    if (isFailing) throw new Error("The write failed");
  };
  return {
    ...store,
    set: (key, value) => write(() => store.set(key, value)),
    remove: (key) => write(() => store.remove(key)),
  };
};

test.describe("processes on a key-value store", () => {
  for (const [name, largestCommit] of [
    ["large commits", 1_000],
    ["small commits", 2],
  ] as const) {
    test.it(`two that write at once, with ${name}: every write counts once`, async () => {
      const entries = new Map<string, string>();
      const open = async () => ({ ...makeMapStore(entries), largestCommit });
      await on(open, makeScope);
      const sets = (await Promise.all([on(open, setEach(1_000)), on(open, setEach(2_000))])).flat();
      const versions = sets.map(({ record }) => record.linkVersion).toSorted((one, other) => one - other);
      test.expect(versions).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
      test.expect(await on(open, seen)).toEqual({ links: 1, entries: 20 });
      test.expect([...entries.keys()].filter((key) => key.startsWith("journal"))).toEqual([]);
    });
  }

  test.it("the second on a store of single keys is refused", async () => {
    const entries = new Map<string, string>();
    const open = () => StorageKv.singleProcess(makeSingleKeys(entries));
    await on(
      open,
      Effect.gen(function* () {
        yield* makeScope;
        yield* Effect.promise(() => on(open, importLines));
        const failure = yield* Effect.flip(setEach(1));
        test.expect(String(failure.cause)).toContain("another process has written to the store");
      }),
    );
  });

  test.it("one that dies after any write: its operation has happened, or has not", async () => {
    let isWhole = false;
    const outcomes = new Set<number>();
    for (let writes = 0; !isWhole; writes++) {
      const entries = new Map<string, string>();
      const open = () => StorageKv.singleProcess(makeSingleKeys(entries));
      await on(open, makeScope);
      let left = writes;
      const dying = breakingSingleKeys(makeSingleKeys(entries), () => left-- > 0);
      await on(() => StorageKv.singleProcess(dying), Effect.exit(importLines));
      isWhole = left >= 0;
      const { links, entries: logged } = await on(open, seen);
      test.expect([links, logged]).toEqual(links === 0 ? [0, 0] : [lines.length, 1]);
      outcomes.add(links);
    }
    test.expect([...outcomes]).toEqual([0, lines.length]);
  });

  test.it.each([
    ["was done", true],
    ["was not done", false],
  ])("one goes on after any write that failed and %s", async (_, isDone) => {
    let hasFailed = true;
    for (let writes = 0; hasFailed; writes++) {
      const entries = new Map<string, string>();
      await on(() => StorageKv.singleProcess(makeSingleKeys(entries)), makeScope);
      let left = writes;
      const failing = failingOnce(makeSingleKeys(entries), isDone, () => left-- === 0);
      await on(
        () => StorageKv.singleProcess(failing),
        Effect.gen(function* () {
          yield* Effect.exit(importLines);
          yield* importLines;
          test.expect((yield* seen).links).toBe(lines.length);
        }),
      );
      hasFailed = left < 0;
    }
  });

  test.it("a store of a later release is refused", async () => {
    const entries = new Map([["head", JSON.stringify({ format: 2, commits: 1, sequence: 1 })]]);
    const opened = on(async () => makeMapStore(entries), makeScope);
    await test.expect(opened).rejects.toThrow("its records have form 2, expected 1 or lower");
  });
});
