/**
 * Nodes that share one cache and one store, for tests: everything takes its time, gets lost or comes late, on the test
 * clock and by one seed, and what clients saw is checked.
 */
import { CacheMemory } from "@accountlink/cache-memory";
import { StorageMemory } from "@accountlink/storage-memory";
import { Context, Effect, Exit, Layer, Option } from "effect";
import { StoreUnavailable } from "../errors.ts";
import type { ChatId, GameId, Pid } from "../ids.ts";
import type { LinkRecord } from "../link.ts";
import { CacheAgreement, MayCommit } from "../ports/cache_agreement.ts";
import { LinkCache } from "../ports/link_cache.ts";
import { SharedLinks } from "../services/shared_links.ts";

/** A number from 0 up to 1, the next of a sequence that the seed decides (mulberry32). */
export const randomOf = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

type Random = ReturnType<typeof randomOf>;

/** Mostly quick, now and then as slow as `most` milliseconds. */
const slowness = (random: Random, most: number): number => (random() < 0.05 ? most : 10) * random();

const lost = new StoreUnavailable({ operation: "test" });

/** What changes how a world works, to see that the check finds it. */
export interface Mistakes {
  readonly cache?: (cache: LinkCache["Service"]) => Partial<LinkCache["Service"]>;
  readonly agreement?: (agreement: CacheAgreement["Service"]) => Partial<CacheAgreement["Service"]>;
  /** Whether a write is committed however late it is. */
  readonly commitsLate?: boolean;
}

/** How long a write may take, in milliseconds. */
const longestWrite = { ofRecord: 2_000, ofScope: 4_000 };

/** The chat users of each scope; no two scopes share one, so that a chat ID names a record. */
const scopes = [
  { pid: "pid_0000000000000001", chatIds: ["10001", "10002"] },
  { pid: "pid_0000000000000002", chatIds: ["20001", "20002"] },
  { pid: "pid_0000000000000003", chatIds: ["30001", "30002"] },
] as ReadonlyArray<unknown> as ReadonlyArray<{ readonly pid: Pid; readonly chatIds: ReadonlyArray<ChatId> }>;

const oneOf = <A>(values: ReadonlyArray<A>, random: Random): A =>
  values[Math.floor(values.length * random())] as A;

/** The one store: the version of each record, which every write makes greater. */
class VersionStore {
  readonly #versions = new Map<ChatId, number>();
  #lateCommits = 0;

  get isCommitLate(): boolean {
    return this.#lateCommits > 0;
  }

  /** Commits after a while, and is late in the end when that is longer than it should be. */
  commitAfter<A>(commit: Effect.Effect<A>, delay: number, lateAfter: number): Effect.Effect<A> {
    if (delay <= lateAfter) return Effect.delay(commit, delay);
    const late = Effect.acquireUseRelease(
      Effect.sync(() => this.#lateCommits++),
      () => Effect.delay(commit, delay - lateAfter),
      () => Effect.sync(() => this.#lateCommits--),
    );
    return Effect.delay(late, lateAfter);
  }

  version(chatId: ChatId): number {
    return this.#versions.get(chatId) ?? 0;
  }

  record(chatId: ChatId): Option.Option<LinkRecord> {
    const linkVersion = this.version(chatId);
    const record = { chatId, gameId: "1" as GameId, linkVersion, linkedAt: 0, lastVerifiedAt: 0 };
    return linkVersion === 0 ? Option.none() : Option.some(record);
  }

  write(written: ReadonlyArray<ChatId>): void {
    for (const chatId of written) this.#versions.set(chatId, this.version(chatId) + 1);
  }
}

/** A cache that can be started again, lost by a node, and split: then nodes reach different ones. */
class SharedCache {
  readonly #caches: Array<LinkCache["Service"]> = [];
  readonly #cutOff = new Set<number>();

  /** Nodes reach a cache that was just started. */
  restartFor(nodes: ReadonlyArray<number>): Effect.Effect<void> {
    return Effect.map(Effect.scoped(Layer.build(Layer.fresh(CacheMemory.layer))), (built) => {
      for (const node of nodes) this.#caches[node] = Context.get(built, LinkCache);
    });
  }

  /** A node reaches the cache that another one reaches. */
  join(node: number, other: number): void {
    this.#caches[node] = this.#caches[other] as LinkCache["Service"];
  }

  cut(node: number, isCut: boolean): void {
    if (isCut) this.#cutOff.add(node);
    else this.#cutOff.delete(node);
  }

  /** The cache as a node reaches it: what is asked may be lost, or applied without an answer. */
  reachedBy(node: number, random: Random, { cache: change }: Mistakes): LinkCache["Service"] {
    const through = <A>(ask: (cache: LinkCache["Service"]) => Effect.Effect<A, StoreUnavailable>) =>
      Effect.gen({ self: this }, function* () {
        yield* Effect.sleep(slowness(random, 1_500));
        if (this.#cutOff.has(node)) return yield* lost;
        const cache = this.#caches[node] as LinkCache["Service"];
        const answer = yield* ask({ ...cache, ...change?.(cache) });
        yield* Effect.sleep(slowness(random, 1_500));
        return this.#cutOff.has(node) ? yield* lost : answer;
      });
    return LinkCache.of({
      look: through(({ look }) => look),
      read: (...asked) => through(({ read }) => read(...asked)),
      put: (...asked) => through(({ put }) => put(...asked)),
      fence: (...asked) => through(({ fence }) => fence(...asked)),
      lift: (...asked) => through(({ lift }) => lift(...asked)),
    });
  }
}

/** What clients saw, in the order in which it happened. */
export class History {
  readonly problems: Array<string> = [];
  reads = 0;
  /** Reads that did not ask the store. */
  hits = 0;
  writes = 0;
  readonly #seen = new Map<ChatId, number>();

  /** The least version that whoever begins now may see. */
  floor(chatId: ChatId): number {
    return this.#seen.get(chatId) ?? 0;
  }

  saw(chatId: ChatId, version: number): void {
    this.#seen.set(chatId, Math.max(version, this.floor(chatId)));
  }
}

/** Builds nodes, whose clients work until the scope closes, and gives what they see and the cache that they share. */
export const startNodes = Effect.fnUntraced(function* (
  count: number,
  random: Random,
  mistakes: Mistakes = {},
) {
  const store = new VersionStore();
  const history = new History();
  const cache = new SharedCache();
  const nodes = Array.from({ length: count }, (_, node) => node);
  yield* cache.restartFor(nodes);
  const agreed = Context.get(yield* Layer.build(StorageMemory.layer), CacheAgreement);
  const read = Effect.map(agreed.read, (terms) => ({
    ...terms,
    isOpen: terms.isOpen && !store.isCommitLate,
  }));
  const agreement = { ...agreed, read, longestWrite, ...mistakes.agreement?.(agreed) };

  for (const node of nodes) {
    const ports = Layer.merge(
      Layer.succeed(LinkCache, cache.reachedBy(node, random, mistakes)),
      Layer.succeed(CacheAgreement, slowly(agreement, random)),
    );
    const built = yield* Layer.build(Layer.fresh(SharedLinks.layer).pipe(Layer.provide(ports)));
    const shared = Context.get(built, SharedLinks);
    for (const client of [reader, reader, writer]) {
      yield* Effect.forkScoped(Effect.forever(client({ shared, store, history, random, mistakes })));
    }
  }
  return { history, cache, nodes };
});

const slowly = (agreement: CacheAgreement["Service"], random: Random): CacheAgreement["Service"] => {
  const through = <A>(asked: Effect.Effect<A, StoreUnavailable>) =>
    asked.pipe(
      Effect.delay(slowness(random, 500)),
      Effect.tap(() => Effect.sleep(slowness(random, 500))),
    );
  return CacheAgreement.of({
    longestWrite: agreement.longestWrite,
    read: through(agreement.read),
    adopt: (...asked) => through(agreement.adopt(...asked)),
    close: (...asked) => through(agreement.close(...asked)),
  });
};

interface Client {
  readonly shared: SharedLinks["Service"];
  readonly store: VersionStore;
  readonly history: History;
  readonly random: Random;
  readonly mistakes: Mistakes;
}

const reader = Effect.fnUntraced(function* ({ shared, store, history, random }: Client) {
  yield* Effect.sleep(50 * random());
  const { pid, chatIds } = oneOf(scopes, random);
  const chatId = oneOf(chatIds, random);
  const name = { pid, chatId };
  const floor = history.floor(chatId);
  let asked = false;
  const lookUp = Effect.suspend(() => {
    asked = true;
    return Effect.delay(
      Effect.sync(() => store.record(chatId)),
      slowness(random, 100),
    ).pipe(Effect.tap(() => Effect.sleep(slowness(random, 3_000))));
  });
  const found = yield* shared.end(name, yield* shared.begin(name), lookUp);
  const version = Option.match(found, { onNone: () => 0, onSome: ({ linkVersion }) => linkVersion });
  history.reads++;
  if (!asked) history.hits++;
  if (version < floor) history.problems.push(`${chatId}: read ${version} after ${floor} was seen`);
  history.saw(chatId, version);
});

const writer = Effect.fnUntraced(function* ({ shared, store, history, random, mistakes }: Client) {
  yield* Effect.sleep(3_000 * random());
  const { pid, chatIds } = oneOf(scopes, random);
  const isWholeScope = random() < 0.02;
  const changed = isWholeScope || random() < 0.2 ? chatIds : [oneOf(chatIds, random)];
  const longest = isWholeScope ? longestWrite.ofScope : longestWrite.ofRecord;
  const commit = Effect.sync(() => {
    store.write(changed);
    return changed.map((chatId) => [chatId, store.version(chatId)] as const);
  });
  const write = Effect.gen(function* () {
    // Now and then its node stands still for longer than anything lasts.
    yield* Effect.sleep(random() < 0.05 ? 3 * longest : slowness(random, longest / 2));
    if (!(yield* Effect.flatten(MayCommit)) && mistakes.commitsLate !== true) return yield* lost;
    if (random() < 0.05) {
      // Whoever waited gave up, and it takes effect all the same.
      const delay = random() < 0.2 ? 3 * longest : (longest / 2) * random();
      yield* Effect.forkDetach(store.commitAfter(commit, delay, longest / 2));
      return yield* lost;
    }
    const versions = yield* commit;
    yield* Effect.sleep(slowness(random, 500));
    return versions;
  });
  const run = isWholeScope ? shared.changingScopes([pid], write) : shared.changing(pid, changed, write);
  const answered = yield* Effect.exit(run);
  if (Exit.isFailure(answered)) return;
  history.writes++;
  for (const [chatId, version] of answered.value) history.saw(chatId, version);
});
