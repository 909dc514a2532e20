/** What an adapter of `LinkCache` must do. */
import {
  type CachedRecord,
  type CacheLease,
  type ChatId,
  type Fence,
  LinkCache,
  type LinkRecord,
  type RecordName,
} from "@accountlink/core";
import { Effect } from "effect";
import * as FastCheck from "fast-check";
import { eventually, expectEqual, expectThat } from "./internal/expect.ts";
import { check } from "./internal/property.ts";
import { type Cases, type SuiteOptions, suite } from "./suite.ts";
import { ada, bob, chess, cyd, uniquePid, uniqueText } from "./world.ts";

const minute = 60_000;
const atOnce = { concurrency: "unbounded" } as const;

const recordOf = (chatId: ChatId, linkVersion: number): LinkRecord => ({
  chatId,
  gameId: linkVersion % 2 === 0 ? null : chess,
  linkVersion,
  linkedAt: 1_000 + linkVersion,
  lastVerifiedAt: Number.MAX_SAFE_INTEGER,
});

const hit = (record: LinkRecord | null): CachedRecord => ({ _tag: "Hit", record });
const refused: CachedRecord = { _tag: "Miss", token: null };
const hasToken = (read: CachedRecord): boolean => read._tag === "Miss" && read.token !== null;

/** The cache under a lease, and records that no other case knows. */
const newBench = Effect.gen(function* () {
  const cache = yield* LinkCache;
  const { run, time } = yield* cache.look;
  const lease: CacheLease = { run, until: time + minute };
  const pid = uniquePid();
  const nameOf = (chatId: ChatId): RecordName => ({ pid, chatId });
  const bench = {
    cache,
    lease,
    nameOf,
    read: (chatId: ChatId = ada, tokenMs = minute) => cache.read(lease, nameOf(chatId), tokenMs),
    put: (token: string, record: LinkRecord | null, entryMs = minute) =>
      cache.put(lease, nameOf(record?.chatId ?? ada), { token, record, entryMs }),
    /** The token that who misses a record second is given; third, when one from before was over in between. */
    token: (chatId: ChatId = ada, tokenMs = minute) =>
      Effect.map(Effect.repeat(bench.read(chatId, tokenMs), { until: hasToken, times: 2 }), (read) => {
        expectThat(hasToken(read), "a record that is not there has a token");
        return read._tag === "Miss" ? (read.token ?? "") : "";
      }),
    newFence: (...chatIds: ReadonlyArray<ChatId>): Fence => ({
      run,
      records: chatIds.map(nameOf),
      id: uniqueText(),
    }),
    fence: (fence: Fence, fenceMs = minute) =>
      Effect.map(cache.fence(lease, fence, fenceMs), (stands) => expectEqual(stands, true)),
  };
  return bench;
});

const entries: Cases<LinkCache> = {
  "look gives the same run, and a time that goes on": Effect.gen(function* () {
    const cache = yield* LinkCache;
    const first = yield* cache.look;
    const second = yield* cache.look;
    expectEqual(second.run, first.run);
    expectThat(second.time >= first.time, "time goes on");
  }),

  "read gives what was filled in, the whole record, or that there is none": Effect.gen(function* () {
    const links = yield* newBench;
    const records = [recordOf(ada, 1), recordOf(bob, 2)];
    for (const record of records) yield* links.put(yield* links.token(record.chatId), record);
    const name = links.nameOf(cyd);
    const token = yield* links.token(cyd);
    yield* links.cache.put(links.lease, name, { token, record: null, entryMs: minute });
    expectEqual(yield* links.read(ada), hit(recordOf(ada, 1)));
    expectEqual(yield* links.read(bob), hit(recordOf(bob, 2)));
    expectEqual(yield* links.read(cyd), hit(null));
  }),

  "who misses a record first leaves a token, who comes next is given that": Effect.gen(function* () {
    const links = yield* newBench;
    const reads = yield* Effect.all([links.read(), links.read(), links.read()], atOnce);
    expectEqual(reads.filter(hasToken).length, 2);
    const tokens = yield* Effect.all([links.token(), links.token(), links.token()], atOnce);
    expectEqual(new Set(tokens).size, 1);
    expectThat((yield* links.token(bob)) !== tokens[0], "another record has another token");
  }),

  "put takes a token once, and no other": Effect.gen(function* () {
    const links = yield* newBench;
    yield* links.put(uniqueText(), recordOf(ada, 1));
    const token = yield* links.token();
    yield* links.put(uniqueText(), recordOf(ada, 2));
    expectEqual(yield* links.token(), token);
    yield* links.put(token, recordOf(ada, 3));
    yield* links.put(token, recordOf(ada, 4));
    expectEqual(yield* links.read(), hit(recordOf(ada, 3)));
  }),

  "an entry and a token are gone after their life": Effect.gen(function* () {
    const links = yield* newBench;
    const old = yield* links.token(ada, 20);
    yield* until(Effect.map(links.token(ada), (token) => token !== old));
    yield* links.put(old, recordOf(ada, 1));
    yield* links.put(yield* links.token(bob), recordOf(bob, 1), 20);
    yield* until(Effect.map(links.read(bob), ({ _tag }) => _tag === "Miss"));
    expectThat((yield* links.read(ada))._tag === "Miss", "a token that is over fills nothing in");
  }),

  "data of one scope is never visible from another": Effect.gen(function* () {
    const [here, there] = [yield* newBench, yield* newBench];
    yield* here.put(yield* here.token(), recordOf(ada, 1));
    yield* there.fence(there.newFence(ada));
    expectEqual(yield* there.read(), refused);
    expectEqual(yield* here.read(), hit(recordOf(ada, 1)));
  }),
};

const fences: Cases<LinkCache> = {
  "a fence removes records and tokens, of its records alone": Effect.gen(function* () {
    const links = yield* newBench;
    const token = yield* links.token(ada);
    for (const chatId of [bob, cyd]) yield* links.put(yield* links.token(chatId), recordOf(chatId, 1));
    yield* links.fence(links.newFence(ada, bob));
    yield* links.put(token, recordOf(ada, 1));
    expectEqual(yield* links.read(ada), refused);
    expectEqual(yield* links.read(bob), refused);
    expectEqual(yield* links.read(cyd), hit(recordOf(cyd, 1)));
  }),

  "a token from before a fence fills nothing in after it": Effect.gen(function* () {
    const links = yield* newBench;
    const token = yield* links.token();
    const fence = links.newFence(ada);
    yield* links.fence(fence);
    expectEqual(yield* links.cache.lift(fence), true);
    yield* links.put(token, recordOf(ada, 1));
    const next = yield* links.token();
    yield* links.put(token, recordOf(ada, 1));
    yield* links.put(next, recordOf(ada, 2));
    expectEqual(yield* links.read(), hit(recordOf(ada, 2)));
  }),

  "of several fences each stands until it is lifted": Effect.gen(function* () {
    const links = yield* newBench;
    const [first, second] = [links.newFence(ada, bob), links.newFence(ada)];
    yield* links.fence(first);
    yield* links.fence(second);
    expectEqual(yield* links.cache.lift(first), true);
    expectEqual(yield* links.read(ada), refused);
    yield* links.token(bob);
    expectEqual(yield* links.cache.lift(second), true);
    yield* links.token(ada);
  }),

  "a fence that was lifted, is over, or never was does not stand": Effect.gen(function* () {
    const links = yield* newBench;
    const [lifted, short] = [links.newFence(ada), links.newFence(bob)];
    yield* links.fence(lifted);
    yield* links.cache.lift(lifted);
    expectEqual(yield* links.cache.lift(lifted), false);
    expectEqual(yield* links.cache.lift(links.newFence(cyd)), false);
    yield* links.fence(short, 20);
    yield* until(Effect.map(links.read(bob), hasToken));
    expectEqual(yield* links.cache.lift(short), false);
  }),

  "a short fence beside a long one ends neither late nor early": Effect.gen(function* () {
    const links = yield* newBench;
    const [long, short] = [links.newFence(ada), links.newFence(ada)];
    yield* links.fence(long);
    yield* links.fence(short, 20);
    yield* until(Effect.map(links.cache.lift(links.newFence(bob)), () => true));
    expectEqual(yield* links.read(ada), refused);
    expectEqual(yield* links.cache.lift(long), true);
    yield* until(Effect.map(links.read(ada), hasToken));
  }),
};

const leases: Cases<LinkCache> = {
  "under a lease that is over, or of another run, nothing is read, filled in or fenced": Effect.gen(
    function* () {
      const links = yield* newBench;
      const { cache, lease } = links;
      const token = yield* links.token(ada);
      yield* links.put(yield* links.token(bob), recordOf(bob, 1));
      for (const other of [
        { ...lease, until: lease.until - minute },
        { ...lease, run: uniqueText() },
      ]) {
        const [name, record] = [links.nameOf(ada), recordOf(ada, 1)];
        expectEqual(yield* cache.read(other, links.nameOf(bob), minute), refused);
        expectEqual(yield* cache.read(other, links.nameOf(ada), minute), refused);
        yield* cache.put(other, name, { token, record, entryMs: minute });
        expectEqual(yield* cache.fence(other, { ...links.newFence(bob), run: other.run }, minute), false);
      }
      expectEqual(yield* links.token(ada), token);
      expectEqual(yield* links.read(bob), hit(recordOf(bob, 1)));
      expectEqual(yield* cache.lift({ ...links.newFence(bob), run: uniqueText() }), false);
    },
  ),
};

type Step =
  | { readonly op: "read"; readonly chatId: ChatId }
  | { readonly op: "write"; readonly chatId: ChatId }
  | { readonly op: "put"; readonly index: number }
  | { readonly op: "fence" | "commit" | "lift"; readonly index: number };

const someChat = FastCheck.constantFrom(ada, bob);
const index = FastCheck.nat(9);

const steps: FastCheck.Arbitrary<ReadonlyArray<Step>> = FastCheck.array(
  FastCheck.oneof(
    FastCheck.record({ op: FastCheck.constant("read"), chatId: someChat }),
    FastCheck.record({ op: FastCheck.constant("write"), chatId: someChat }),
    FastCheck.record({ op: FastCheck.constant("put"), index }),
    FastCheck.record({ op: FastCheck.constantFrom("fence", "commit", "lift"), index }),
  ),
  { maxLength: 60, size: "max" },
);

interface Read {
  readonly token: string;
  readonly record: LinkRecord;
}

interface Write {
  readonly chatId: ChatId;
  readonly fence: Fence;
  stage: "begun" | "fenced" | "committed" | "over";
}

const properties: Cases<LinkCache> = {
  "however readers and writers are interleaved, a hit is what the store holds": check(
    steps,
    Effect.fnUntraced(function* (sequence) {
      const links = yield* newBench;
      const versions = new Map<ChatId, number>([
        [ada, 0],
        [bob, 0],
      ]);
      const current = (chatId: ChatId) => recordOf(chatId, versions.get(chatId) as number);
      const [reads, writes]: [Array<Read>, Array<Write>] = [[], []];
      const tokenLeft = new Set<ChatId>();
      const isFenced = (chatId: ChatId) =>
        writes.some((write) => write.chatId === chatId && ["fenced", "committed"].includes(write.stage));

      const run = Effect.fnUntraced(function* (step: Step) {
        if (step.op === "write") {
          writes.push({ chatId: step.chatId, fence: links.newFence(step.chatId), stage: "begun" });
        } else if (step.op === "read") {
          const found = yield* links.read(step.chatId);
          if (found._tag === "Hit") expectEqual(found.record, current(step.chatId));
          else if (found.token !== null) reads.push({ token: found.token, record: current(step.chatId) });
          else if (!isFenced(step.chatId)) {
            expectThat(!tokenLeft.has(step.chatId), "a token that was left is given");
            tokenLeft.add(step.chatId);
          }
        } else if (step.op === "put") {
          const read = reads[step.index % Math.max(reads.length, 1)];
          if (read !== undefined) {
            yield* links.put(read.token, read.record);
          }
        } else {
          const write = writes[step.index % Math.max(writes.length, 1)];
          if (write !== undefined) yield* go(step.op, write);
        }
      });

      const go = Effect.fnUntraced(function* (op: "fence" | "commit" | "lift", write: Write) {
        if (op === "fence" && write.stage === "begun") {
          yield* links.fence(write.fence);
          tokenLeft.delete(write.chatId);
          write.stage = "fenced";
        } else if (op === "commit" && write.stage === "fenced") {
          versions.set(write.chatId, (versions.get(write.chatId) as number) + 1);
          write.stage = "committed";
        } else if (op === "lift" && write.stage === "committed") {
          expectEqual(yield* links.cache.lift(write.fence), true);
          write.stage = "over";
        }
      });

      for (const step of sequence) yield* run(step);
    }),
  ),
};

/** Asks until it holds: nothing but a clock that a test does not turn makes it so. */
const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  eventually(Effect.flatMap(condition, (holds) => (holds ? Effect.void : Effect.fail("not yet"))));

/**
 * Tests the cache of link records of a layer.
 *
 * @example
 * ```ts
 * import { CacheMemory } from "@accountlink/cache-memory";
 * import * as test from "vitest";
 *
 * linkCacheSuite({ name: "Memory", layer: CacheMemory.layer, test });
 * ```
 */
export const linkCacheSuite = (options: SuiteOptions<LinkCache>): void =>
  suite("LinkCache", options, { ...entries, ...fences, ...leases, ...properties });
