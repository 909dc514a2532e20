import { setImmediate } from "node:timers/promises";
import { ChatId, GameId, LinkStore, Pid, StoreUnavailable } from "@accountlink/core";
import { KeyStore } from "@accountlink/core/keys";
import { LinkCap } from "@accountlink/core/links";
import { Secrets } from "@accountlink/core/secrets";
import { StorageMemory } from "@accountlink/memory";
import { isProof } from "@accountlink/test-servers";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Exit, Layer, Redacted, Scope, Struct } from "effect";
import { TestClock } from "effect/testing";
import type { StoreEffect } from "../errors.ts";
import { StorageUse } from "../storage_use.ts";
import { operator } from "../test_services.ts";
import { ImportRefused } from "./import_files.ts";
import { makeImportJobs } from "./import_jobs.ts";
import { ImportStore } from "./import_store.ts";

const secrets = Secrets.layerWebCrypto(Redacted.make(new Uint8Array(32)));
/** Whether the storage refuses batches and undos. */
const away = { isOn: false };
/** Whether the storage rests. */
const resting = { isOn: false };
const rest = { since: 0, reason: "restored" } as const;

const storage = Layer.effect(
  ImportStore,
  Effect.map(ImportStore, (store) => {
    const orAway =
      <A extends ReadonlyArray<unknown>, B>(operation: (...args: A) => StoreEffect<B>) =>
      (...args: A) =>
        away.isOn ? Effect.fail(new StoreUnavailable({ operation: "away" })) : operation(...args);
    return { ...store, importBatch: orAway(store.importBatch), undo: orAway(store.undo) };
  }),
).pipe(Layer.provideMerge(StorageMemory.layer));

const test = testWith(Layer.merge(Layer.provideMerge(LinkCap.layer, storage), secrets));

const most = 4_000;

/** Lets Web Crypto finish, which the test clock does not control. */
const realTurn = Effect.promise(() => setImmediate());

const file = new TextEncoder().encode(
  `chatId,gameId\n${Array.from({ length: most }, (_, index) => `${200_001 + index},1`).join("\n")}\n`,
);

const makeBench = Effect.gen(function* () {
  const keys = yield* KeyStore;
  const links = yield* LinkStore;
  const account = yield* keys.ensureAccount({ name: "acme", chatId: null, tier: "premium" });
  const scope = yield* keys.ensureScope("acme", { kind: "global" }, Pid.make("pid_0123456789abcdefghij"));
  const owner = { account, chatId: ChatId.make("100001"), requestId: "1", scopes: null };
  const node = Effect.gen(function* () {
    const life = yield* Scope.make();
    const jobs = yield* makeImportJobs.pipe(
      Effect.provideService(Scope.Scope, life),
      Effect.updateService(StorageUse, Struct.assign({ resting: () => (resting.isOn ? rest : null) })),
    );
    return { ...jobs, stop: Scope.close(life, Exit.void) };
  });
  const [one, two] = [yield* node, yield* node];
  /** Runs an effect while time passes. */
  const passing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.raceFirst(effect, Effect.forever(Effect.andThen(TestClock.adjust("2 millis"), realTurn)));
  /** Lets a minute pass, with turns in which Web Crypto finishes. */
  const aMinute = Effect.repeat(Effect.andThen(TestClock.adjust("50 millis"), realTurn), { times: 1_199 });
  const upload = passing(
    one.admit(owner, ({ append }) =>
      Effect.as(append(file), {
        pid: scope.pid,
        fileName: "links.csv",
        onConflict: "keep" as const,
        options: {},
      }),
    ),
  );
  const state = (id: string) => Effect.map(two.find(id, owner), (job) => job?.state);
  const untilIs = (id: string, tag: "Done" | "Failed") =>
    passing(until(Effect.map(state(id), (now) => now?._tag === tag)));
  const begin = (id: string) =>
    Effect.flatMap(one.find(id, owner), (job) => one.start(job ?? expect.fail(), owner));
  const count = links.countLinks(scope.pid);
  const isImporting = Effect.map(count, (stored) => stored > 0);
  const jobs = { one, two, passing, aMinute, upload, begin, state, untilIs };
  return { ...jobs, owner, scope, links, isImporting, count };
});

const until = <E, R>(condition: Effect.Effect<boolean, E, R>) =>
  Effect.repeat(Effect.delay(condition, "2 millis"), { until: Boolean });

test("another node shows a running import, and finishes it when its node stops", function* () {
  const { one, two, owner, passing, upload, begin, state, untilIs, isImporting, count } = yield* makeBench;
  const { id } = yield* upload;
  const job = yield* two.find(id, owner);
  expect(job).toMatchObject({
    fileName: "links.csv",
    state: { _tag: "Preview", outcome: { inserted: most } },
  });
  yield* begin(id);
  yield* passing(until(isImporting));
  expect((yield* state(id))?._tag).toBe("Running");
  yield* one.stop;
  expect(yield* count).toBeLessThan(most);
  yield* untilIs(id, "Done");
  expect(yield* state(id)).toMatchObject({ outcome: { inserted: most, replaced: 0, unchanged: 0, kept: 0 } });
  expect(yield* count).toBe(most);
});

test("an import goes on when its storage is back", function* () {
  const { passing, upload, begin, state, untilIs, isImporting, count } = yield* makeBench;
  const { id } = yield* upload;
  yield* begin(id);
  yield* passing(until(isImporting));
  away.isOn = true;
  yield* TestClock.adjust("1 minute");
  expect([(yield* state(id))?._tag, (yield* count) < most]).toEqual(["Running", true]);
  away.isOn = false;
  yield* untilIs(id, "Done");
  expect(yield* state(id)).toMatchObject({ outcome: { inserted: most, replaced: 0, unchanged: 0, kept: 0 } });
});

test("a running import ends when its scope is deleted", function* () {
  const { scope, links, passing, aMinute, upload, begin, state, isImporting, count } = yield* makeBench;
  const { id } = yield* upload;
  yield* begin(id);
  yield* passing(until(isImporting));
  yield* links.deleteScope({ ...operator, pid: scope.pid, at: 0 });
  yield* aMinute;
  expect([yield* state(id), yield* count]).toEqual([undefined, 0]);
});

test("an undo continues when its storage is back, and when its node died", function* () {
  const { one, two, owner, scope, passing, upload, begin, untilIs, count } = yield* makeBench;
  const { id } = yield* upload;
  yield* begin(id);
  yield* untilIs(id, "Done");
  yield* passing(one.undo(owner, { id, pid: scope.pid }));
  away.isOn = true;
  yield* TestClock.adjust("1 minute");
  const left = yield* count;
  expect(left).toBeGreaterThan(0);
  away.isOn = false;
  yield* passing(until(Effect.map(count, (now) => now < left)));
  yield* one.stop;
  expect(yield* count).toBeGreaterThan(0);
  yield* passing(until(Effect.map(count, (now) => now === 0)));
  expect((yield* two.undoable(owner))[0]?.undone).toEqual({ removed: most, restored: 0, isDone: true });
});

test("an undo stops when the storage begins to rest, and continues when it is resumed", function* () {
  const { one, owner, scope, passing, aMinute, upload, begin, untilIs, count } = yield* makeBench;
  const { id } = yield* upload;
  yield* begin(id);
  yield* untilIs(id, "Done");
  yield* passing(one.undo(owner, { id, pid: scope.pid }));
  resting.isOn = true;
  yield* aMinute;
  const left = yield* count;
  expect(left).toBeGreaterThan(0);
  yield* aMinute;
  expect(yield* count).toBe(left);
  resting.isOn = false;
  yield* passing(until(Effect.map(count, (now) => now === 0)));
});

test("an undo that a member begins while the storage rests goes on to its end", function* () {
  const { one, owner, scope, passing, aMinute, upload, state, count } = yield* makeBench;
  const { id } = yield* upload;
  yield* one.start((yield* one.find(id, owner)) ?? expect.fail(), owner);
  yield* passing(until(Effect.map(state(id), (now) => now?._tag === "Done")));
  resting.isOn = true;
  yield* passing(one.undo(owner, { id, pid: scope.pid }));
  yield* aMinute;
  resting.isOn = false;
  expect(yield* count).toBe(0);
});

test("no file is imported into a list while an import of it is undone, and no undo begins while one is", function* () {
  const { one, owner, scope, passing, upload, begin, untilIs, count } = yield* makeBench;
  const { id } = yield* upload;
  yield* begin(id);
  yield* untilIs(id, "Done");
  const ready = yield* upload;
  yield* passing(one.undo(owner, { id, pid: scope.pid }));
  resting.isOn = true;
  expect(yield* Effect.flip(upload)).toEqual(new ImportRefused({ reason: "busy" }));
  yield* begin(ready.id);
  yield* untilIs(ready.id, "Failed");
  resting.isOn = false;
  yield* passing(until(Effect.map(count, (now) => now === 0)));

  const undoable = Effect.map(one.undoable(owner), (all) => all.map((each) => each.id));
  const later = yield* upload;
  yield* begin(later.id);
  yield* untilIs(later.id, "Done");
  const again = yield* upload;
  yield* begin(again.id);
  expect(yield* undoable).toEqual([id]);
  yield* untilIs(again.id, "Done");
  expect(yield* undoable).toEqual([later.id, id]);
});

test("the question before an undo counts all links of a large import", function* () {
  const { one, scope } = yield* makeBench;
  const removed = isProof ? 100_001 : 2_001;
  const many = Array.from({ length: removed }, (_, index) => ({
    chatId: ChatId.make(`${200_001 + index}`),
    gameId: GameId.make("1"),
    lastVerifiedAt: 1,
  }));
  yield* (yield* ImportStore).importBatch({
    ...operator,
    pid: scope.pid,
    at: 0,
    existing: "keep",
    proof: "import",
    progress: null,
    links: many,
    file: { id: "large", name: "links.csv", isUndoable: true },
  });
  const preview = yield* one.previewUndo({ id: "large", pid: scope.pid, importedAt: 0 });
  expect(preview).toMatchObject({ removed, restored: 0, kept: 0 });
});

test("previews are forgotten after an hour", function* () {
  const { upload, state } = yield* makeBench;
  const { id } = yield* upload;
  yield* TestClock.adjust("59 minutes");
  expect((yield* state(id))?._tag).toBe("Preview");
  yield* TestClock.adjust("2 minutes");
  expect(yield* state(id)).toBeUndefined();
});

test("a refused upload leaves the import that waits", function* () {
  const { one, owner, passing, upload, begin, untilIs } = yield* makeBench;
  const { id } = yield* upload;
  const refusal = new ImportRefused({ reason: "busy" });
  const refused = yield* passing(Effect.flip(one.admit(owner, () => Effect.fail(refusal))));
  expect(refused).toBe(refusal);
  yield* begin(id);
  yield* untilIs(id, "Done");
});
