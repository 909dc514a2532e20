import { StorageMemory } from "@accountlink/memory";
import { expect, it, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, Stream } from "effect";
import { Digest } from "effect/crypto";
import { TestClock } from "effect/testing";
import { BlockStore } from "../admission/block_store.ts";
import { AuditLog } from "../audit/audit.ts";
import { type Conflict, StoreUnavailable } from "../errors.ts";
import type { ChatId, Pid } from "../ids.ts";
import type { NewAccount } from "../keys/api_key.ts";
import { KeyStore } from "../keys/key_store.ts";
import { LinkStore } from "../links/link_store.ts";
import { operator as origin } from "../test_services.ts";
import type { LeftOutLine, UnreadableLinkFile } from "./formats/link_format.ts";
import { linkReaders } from "./formats/link_formats.ts";
import { boundedLeftOut } from "./import_outcome.ts";
import { ImportStore } from "./import_store.ts";
import {
  batchSize,
  type ImportOptions,
  type ImportProgress,
  importLinks,
  type LinkSource,
} from "./link_import.ts";

const pid = "pid_0123456789abcdef" as Pid;
const account: NewAccount = { name: "acme", chatId: null, tier: "free" };
/** The rows of a batch of an import that gives way, whose batches are small. */
const batch = batchSize / 20;
const now = Date.parse("2034-01-01T00:00:00.000Z");

const csv = (count: number): string =>
  ["chatId,gameId", ...Array.from({ length: count }, (_, index) => `${100_000 + index},1`), ""].join("\n");

/** Memory storage with the account and its scope. */
const storage = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* TestClock.setTime(now);
    const keys = yield* KeyStore;
    yield* keys.ensureAccount(account);
    yield* keys.ensureScope("acme", { kind: "global" }, pid);
  }),
).pipe(Layer.provideMerge(Layer.merge(StorageMemory.layer, Digest.layerWebCrypto)));

type Source = LinkSource<UnreadableLinkFile>;

const fileOf = (content: string): Source => {
  const bytes = new TextEncoder().encode(content);
  return { lines: linkReaders.csv(Stream.succeed(bytes)), isRepeatable: true };
};

const realTurn = Effect.promise(() => new Promise((resolve) => setTimeout(resolve)));

const pipeOf = (content: string): Source => ({ ...fileOf(content), isRepeatable: false });

const run = Effect.fnUntraced(function* (
  source: Source,
  options: ImportOptions = {},
  after: (rows: number) => Effect.Effect<void, Conflict | StoreUnavailable, BlockStore> = () => Effect.void,
) {
  const shown: Array<ImportProgress> = [];
  const target = { findScope: Effect.succeed(pid), origin };
  const blocks = yield* Effect.context<BlockStore>();
  const show = (progress: ImportProgress) =>
    Effect.sync(() => void shown.push(progress)).pipe(
      Effect.andThen(after(progress.rows)),
      Effect.orDie,
      Effect.provideContext(blocks),
    );
  const running = importLinks(source, target, { ...options, givesWay: true }, { onProgress: show });
  // Such an import pauses after each batch. The test clock does not control Web Crypto.
  const passing = Effect.forever(Effect.andThen(TestClock.adjust("1 milli"), realTurn));
  const outcome = yield* Effect.raceFirst(running, passing);
  return { outcome, shown };
});

const stored = LinkStore.use((links) => links.exportPage(pid, null, 1_000_000));
const entries = Effect.map(
  AuditLog.use((log) => log.list("acme", null, 100)),
  (page) => page.entries,
);

/** Memory storage that refuses links after this many batches, until the test repairs it. */
const failingAfter = (batches: number) => {
  const state = { left: batches };
  const layer = Layer.effect(
    ImportStore,
    Effect.map(ImportStore, (imports) =>
      ImportStore.of({
        ...imports,
        importBatch: (write) =>
          Effect.suspend(() =>
            state.left-- > 0
              ? imports.importBatch(write)
              : Effect.fail(new StoreUnavailable({ operation: "ImportStore.importBatch" })),
          ),
      }),
    ),
  );
  return { state, layer: Layer.provideMerge(layer, storage) };
};

const test = testWith(storage);

test.each([
  { by: "a spreadsheet", mostByChance: 5, written: (id: string) => `${id.slice(0, -4)}0000` },
  { by: "JavaScript", mostByChance: 75, written: (id: string) => String(Number(id)) },
])(
  "a file is refused if $by has rounded its chat IDs, but not for a few",
  function* ({ mostByChance, written }) {
    const fileWith = (rounded: number) => {
      const ids = Array.from({ length: 100 }, (_, i) => `3000000000${1_000 + i}1234`);
      return fileOf(`chatId,gameId\n${ids.map((id, i) => `${i < rounded ? written(id) : id},1\n`).join("")}`);
    };
    for (const dryRun of [true, false]) {
      const refused = yield* Effect.flip(run(fileWith(mostByChance + 1), { dryRun }));
      const count = mostByChance + 1;
      expect(refused).toMatchObject({ _tag: "WrongLines", count, stored: 0, isRounded: true });
    }
    const { outcome } = yield* run(fileWith(mostByChance), { dryRun: true });
    expect(outcome.inserted).toBe(100);
  },
);

test("an import continues after the last stored batch", () => {
  const { state, layer } = failingAfter(2);
  return Effect.gen(function* () {
    const file = fileOf(csv(2.5 * batch));
    expect(yield* Effect.flip(run(file))).toMatchObject({ _tag: "StoreUnavailable" });
    expect(yield* stored).toHaveLength(2 * batch);
    const full = {
      action: "links.imported",
      pid,
      details: { inserted: batch, replaced: 0, unchanged: 0, kept: 0 },
    };
    expect(yield* entries).toMatchObject([full, full]);

    state.left = 100;
    const { outcome } = yield* run(file);
    expect(outcome).toMatchObject({
      links: 0.5 * batch,
      inserted: 0.5 * batch,
      kept: 0,
      resumedAfter: 2 * batch,
    });
    expect(yield* stored).toHaveLength(2.5 * batch);
    expect((yield* run(file)).outcome).toMatchObject({ resumedAfter: 0, unchanged: 2.5 * batch });
    expect((yield* entries).map(({ details }) => details["inserted"])).toEqual([0.5 * batch, batch, batch]);
  }).pipe(Effect.provide(layer));
});

test("links with and without a time of a batch are stored at once, or none of them", () => {
  const { state, layer } = failingAfter(0);
  return Effect.gen(function* () {
    const file = fileOf("chatId,gameId,verifiedAt\n100001,1,2033-01-01T00:00:00.000Z\n100002,1,\n");
    const options = { onConflict: "newest" } as const;
    yield* Effect.flip(run(file, options));
    state.left = 1;
    expect((yield* run(file, options)).outcome).toMatchObject({ inserted: 2, unchanged: 0 });
    state.left = 1;
    const again = fileOf("chatId,gameId,verifiedAt\n100001,2,2034-01-02T00:00:00.000Z\n100002,2,\n");
    expect((yield* run(again, options)).outcome).toMatchObject({ replaced: 1, kept: 1 });
  }).pipe(Effect.provide(layer));
});

test("a known file is read once, continues after the last stored batch, and stores nothing after all", () => {
  const { state, layer } = failingAfter(1);
  return Effect.gen(function* () {
    const { lines } = fileOf(csv(2 * batch));
    let reads = 0;
    const counted = Stream.suspend(() => {
      reads++;
      return lines;
    });
    const known = { name: "upload:1", rows: 2 * batch };
    const upload = { lines: counted, isRepeatable: true, known };
    yield* Effect.flip(run(upload));
    state.left = 100;
    const { outcome, shown } = yield* run(upload);
    expect(outcome).toMatchObject({ resumedAfter: batch, inserted: batch });
    expect(shown.at(-1)).toEqual({ phase: "importing", rows: 2 * batch, total: 2 * batch });
    expect(reads).toBe(2);
    const none = { resumedAfter: 2 * batch, links: 0, inserted: 0, unchanged: 0 };
    expect((yield* run(upload)).outcome).toMatchObject(none);
  }).pipe(Effect.provide(layer));
});

test("an import reads the blocks of its scope once, and again after a new one", () => {
  let pages = 0;
  const block = (user: string, at: number) =>
    BlockStore.use((blocks) =>
      blocks.set({ ...origin, pid, at, chatId: user as ChatId, gameId: null, hash: user, reason: null }),
    );
  const counted = Layer.effect(
    BlockStore,
    Effect.map(BlockStore, (blocks) =>
      BlockStore.of({
        ...blocks,
        page: (of, place, limit) => {
          if (limit > 1) pages++;
          return blocks.page(of, place, limit);
        },
      }),
    ),
  );
  return Effect.gen(function* () {
    yield* block("100000", now);
    const blockLast = (rows: number) =>
      rows === 2 * batch ? Effect.asVoid(block(String(100_000 + 3 * batch - 1), now + 1)) : Effect.void;
    const { outcome } = yield* run(pipeOf(csv(3 * batch)), {}, blockLast);
    expect(outcome).toMatchObject({ inserted: 3 * batch - 2, leftOut: 2, reasons: [{ reason: "blocked" }] });
    expect(pages).toBe(2);
  }).pipe(Effect.provide(Layer.provideMerge(counted, storage)));
});

test("a complete import begins again, also if its last rows were left out", function* () {
  const file = fileOf(`${csv(batch)}wrong,1\n`);
  yield* run(file);
  const counts = { resumedAfter: 0, inserted: 0, unchanged: batch, leftOut: 1 };
  expect((yield* run(file)).outcome).toMatchObject(counts);
});

test("an import does not resume with other content, another `onConflict` or `fromStart`", () => {
  const { state, layer } = failingAfter(1);
  return Effect.gen(function* () {
    yield* Effect.flip(run(fileOf(csv(2 * batch))));
    state.left = 100;
    const resumedAfter = 0;
    expect((yield* run(fileOf(csv(2 * batch + 1)))).outcome).toMatchObject({ resumedAfter });
    const file = fileOf(csv(2 * batch));
    expect((yield* run(file, { onConflict: "keep" })).outcome).toMatchObject({ resumedAfter });
    expect((yield* run(file, { fromStart: true })).outcome).toMatchObject({ resumedAfter });
  }).pipe(Effect.provide(layer));
});

test("an interrupted import begins anew after the data of its scope was deleted", () => {
  const { state, layer } = failingAfter(1);
  return Effect.gen(function* () {
    const file = fileOf(csv(2 * batch));
    yield* Effect.flip(run(file));
    yield* (yield* LinkStore).deleteScope({ ...origin, pid, at: now });
    state.left = 100;
    yield* run(fileOf("chatId,gameId\n10001,1\n"));
    expect((yield* run(file)).outcome).toMatchObject({ resumedAfter: 0, inserted: 2 * batch });
  }).pipe(Effect.provide(layer));
});

test("if a file names a chat user twice, the option `onConflict` decides which line counts", function* () {
  const twice = "chatId,gameId,lastVerifiedAt\n10001,1,2026-01-01\n10001,2,2026-01-02\n";
  const cases = [
    { onConflict: "keep", isFirst: true },
    { onConflict: "newest", isFirst: false },
    { onConflict: "replace", isFirst: false },
  ] as const;
  const store = yield* LinkStore;
  for (const { onConflict, isFirst } of cases) {
    yield* store.deleteScope({ ...origin, pid, at: 0 });
    const { outcome } = yield* run(fileOf(twice), { onConflict, fromStart: true });
    const [counts, other] = isFirst
      ? [["1", 2] as const, ["2", 3] as const]
      : [["2", 3] as const, ["1", 2] as const];
    const record = (yield* store.findByChatIds(pid, ["10001" as ChatId])).get("10001" as ChatId);
    expect(record?.gameId).toBe(counts[0]);
    expect(outcome).toMatchObject({ links: 1, inserted: 1 });
    const problem = `chat user 10001 is linked to ${other[0]} here and to ${counts[0]} on line ${counts[1]}, which counts`;
    const row = {
      line: other[1],
      reason: "conflict",
      problem,
      text: `10001,${other[0]},2026-01-0${other[0]}`,
    };
    expect(outcome.reasons).toEqual([{ reason: "conflict", count: 1, first: [row] }]);
  }
});

test("of two rows of a user, the main one counts whatever the order and the times are", function* () {
  const rows = [
    "10001,1,no,2026-02-01",
    "10001,2,yes,2026-01-01",
    "10002,3,,2026-02-01",
    "10002,4,0,2026-03-01",
  ];
  for (const onConflict of ["newest", "keep", "replace"] as const) {
    for (const lines of [rows, rows.toReversed()]) {
      yield* (yield* LinkStore).deleteScope({ ...origin, pid, at: 0 });
      const file = ["discord_id,roblox_id,is_primary,verified_at", ...lines, ""].join("\n");
      yield* run(fileOf(file), { onConflict, fromStart: true });
      expect((yield* stored).map(({ gameId }) => gameId)).toEqual(["2", "3"]);
    }
  }
});

test("a chat user in two batches is counted the same in an import, a repeated import and a dry run", function* () {
  const rows = csv(batch).split("\n").slice(1, -1);
  const lines = [...rows, "100000,2", "100001,1"].map((row, index) => `${row},${2_000_000_000 + index}\n`);
  const file = fileOf(`chatId,gameId,lastVerifiedAt\n${lines.join("")}`);
  for (const [onConflict, counts] of [
    ["keep", { inserted: batch, replaced: 0, unchanged: 1, kept: 1 }],
    ["newest", { inserted: batch, replaced: 2, unchanged: 0, kept: 0 }],
  ] as const) {
    yield* (yield* LinkStore).deleteScope({ ...origin, pid, at: 0 });
    const expected = { ...counts, links: batch + 2 };
    expect((yield* run(file, { onConflict, dryRun: true })).outcome).toMatchObject(expected);
    expect((yield* run(file, { onConflict })).outcome).toMatchObject(expected);
    const again = yield* run(file, { onConflict });
    expect(again.outcome).toMatchObject({ inserted: 0, replaced: 0, links: batch + 2 });
  }
});

test("a dry run counts the rows of others in all batches, if the scope allows one chat user", function* () {
  const allowOne = (oneChatUser: boolean) =>
    KeyStore.use((keys) => keys.updateSettings({ ...origin, pid, update: { oneChatUser }, at: now }));
  yield* allowOne(true);
  const rows = batch + 10;
  for (const dryRun of [true, false]) {
    const { outcome } = yield* run(fileOf(csv(rows)), { dryRun });
    expect([outcome.inserted, outcome.reasons.find(({ reason }) => reason === "game_taken")?.count]).toEqual([
      1,
      rows - 1,
    ]);
  }
  yield* allowOne(false);
  yield* run(fileOf(csv(2)));
  yield* allowOne(true);
  for (const dryRun of [true, false]) {
    const { outcome } = yield* run(fileOf(csv(3)), { dryRun, onConflict: "keep" });
    expect(outcome).toMatchObject({
      inserted: 0,
      unchanged: 2,
      reasons: [{ reason: "game_taken", count: 1 }],
    });
  }
});

test("a dry run counts what rows take that earlier batches have freed, if the scope allows one chat user", function* () {
  const update = { oneChatUser: true };
  yield* KeyStore.use((keys) => keys.updateSettings({ ...origin, pid, update, at: now }));
  yield* run(fileOf("chatId,gameId\n10001,2\n10002,3\n"));
  const first = Array.from({ length: batch - 1 }, (_, index) => `${100_000 + index},${100_000 + index}`);
  const second = ["10003,2", "10004,3", "10001,5", "10005,4"];
  const file = fileOf(["chatId,gameId", ...first, "10001,4", ...second, ""].join("\n"));
  for (const dryRun of [true, false]) {
    const { outcome } = yield* run(file, { dryRun, onConflict: "replace" });
    expect(outcome).toMatchObject({ inserted: batch, replaced: 2, leftOut: 2 });
  }
});

test("a strict import from a pipe keeps the batches that it stored before it read a wrong line", function* () {
  const wrong = yield* Effect.flip(run(pipeOf(`${csv(batch + 5)}wrong,1\n`), { strict: true }));
  expect(wrong).toMatchObject({ _tag: "WrongLines", count: 1, stored: batch });
  expect(yield* stored).toHaveLength(batch);
  const dryRun = run(pipeOf(`${csv(batch + 5)}wrong,1\n`), { strict: true, dryRun: true });
  expect(yield* Effect.flip(dryRun)).toMatchObject({ count: 1, stored: 0 });
  expect(yield* entries).toMatchObject([{ details: { inserted: batch } }]);
});

it("the file of left-out rows has a maximum size, and its last line counts the rows beyond it", () => {
  const row = (text: string): LeftOutLine => ({ line: 2, reason: "row", problem: "wrong", text });
  const fileWith = (rows: ReadonlyArray<LeftOutLine>) => {
    const { add, end } = boundedLeftOut();
    return add(rows.slice(0, 100)) + add(rows.slice(100)) + end();
  };
  const many = fileWith(Array.from({ length: 11_500 }, () => row("{}"))).split("\n");
  expect(many).toHaveLength(10_002);
  expect(many.slice(-3)).toEqual(["2,wrong,{}", ',"1,500 more rows were left out",', ""]);
  const large = fileWith(Array.from({ length: 9_000 }, () => row('"\u20AC'.repeat(250))));
  expect(new TextEncoder().encode(large).length).toBeLessThan(10_000_000);
  expect(large.split("\n").at(-2)).toMatch(/^,"[1-3],\d{3} more rows were left out",$/);
  expect(fileWith([row("{}")])).toBe("2,wrong,{}\n");
});

test("an import reports its progress while it checks the file and while it stores links", function* () {
  const { shown } = yield* run(fileOf(csv(batch + 1)));
  expect(shown.at(-1)).toEqual({ phase: "importing", rows: batch + 1, total: batch + 1 });
  expect(shown.map(({ phase }) => phase)).toEqual(["checking", "checking", "importing", "importing"]);
});

test("changes beyond those of a day are left out, and rows that change nothing are not", function* () {
  yield* run(fileOf(csv(2)));
  const target = { findScope: Effect.succeed(pid), origin, changesLeft: Effect.succeed(3) };
  for (const dryRun of [true, false]) {
    const { inserted, unchanged, kept, leftOut, reasons } = yield* importLinks(fileOf(csv(7)), target, {
      dryRun,
    });
    expect([inserted, unchanged + kept, leftOut, reasons[0]?.reason]).toEqual([3, 2, 2, "import_day"]);
  }
});
