import { ChatId, Pid } from "@accountlink/core";
import { KeyStore, noSettings } from "@accountlink/core/keys";
import { LinkCap } from "@accountlink/core/links";
import { maxUploadsSize, type UploadFolder } from "@accountlink/http/for_pages";
import { StorageMemory } from "@accountlink/memory";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Layer, Stream } from "effect";
import { TestClock } from "effect/testing";
import { type ImportJob, makeImportJobs } from "./import_jobs.ts";

/** Makes an upload folder in memory. `kept` contains the files that are not removed. */
const memoryFolder = () => {
  const kept = new Set<object>();
  const folder: UploadFolder = {
    create: Effect.sync(() => {
      const parts: Array<Uint8Array> = [];
      kept.add(parts);
      return {
        append: (bytes) => Effect.sync(() => void parts.push(bytes)),
        read: Stream.suspend(() => Stream.fromIterable(parts)),
        remove: Effect.sync(() => void kept.delete(parts)),
      };
    }),
  };
  return { kept, folder };
};

const megabyte = 1_000_000;

const services = Layer.provideMerge(LinkCap.layer, StorageMemory.layer);

const makeBench = Effect.gen(function* () {
  const { kept, folder } = memoryFolder();
  const jobs = yield* makeImportJobs(folder);
  const keys = yield* KeyStore;
  const preview = Effect.fnUntraced(function* (name: string, megabytes: number) {
    const account = yield* keys.ensureAccount({ name, chatId: null, tier: "free" });
    const scope = yield* keys.ensureScope(name, { kind: "global" }, Pid.make(`pid_0123456789abcdef${name}`));
    const owner = { account, chatId: ChatId.make("100001"), requestId: name };
    const community = {
      scope,
      settings: noSettings,
      guildName: null,
      links: { count: 0, age: 0 },
      keys: 0,
      hasActiveKey: true,
      redirectOrigins: [],
    };
    const file = yield* jobs.uploads.create;
    for (let part = 0; part < megabytes; part++) yield* file.append(new Uint8Array(megabyte));
    // The job reads only this row. The megabytes in `file` only count against the size limit.
    const read = Stream.encodeText(Stream.make("chatId,gameId\n100001,1\n"));
    const made = { owner, community, fileName: name, file: { ...file, read } };
    const fiber = yield* Effect.forkChild(jobs.preview({ ...made, onConflict: "keep", options: {} }));
    yield* TestClock.adjust("1 second");
    return yield* Fiber.join(fiber);
  });
  const isKept = (job: ImportJob) => jobs.find(job.id, job.owner) === job;
  return { jobs, preview, isKept, kept };
});

const test = testWith(services);

test("previews are forgotten after half an hour, and their files deleted", function* () {
  const { preview, isKept, kept } = yield* makeBench;
  const job = yield* preview("acme", 1);
  yield* TestClock.adjust("29 minutes");
  expect([isKept(job), kept.size]).toEqual([true, 3]);
  yield* TestClock.adjust("2 minutes");
  expect([isKept(job), kept.size]).toEqual([false, 0]);
});

test("the total size of all files has a limit, and only the oldest preview is removed to make room", function* () {
  const { jobs, preview, isKept } = yield* makeBench;
  const [first, second] = [yield* preview("a", 40), yield* preview("b", 40)];
  const third = yield* preview("c", 40);
  expect([first, second, third].map(isKept)).toEqual([false, false, true]);
  const file = yield* jobs.uploads.create;
  const error = yield* Effect.flip(file.append(new Uint8Array(maxUploadsSize + 1)));
  expect(error).toMatchObject({
    _tag: "WrongUpload",
    reason: expect.stringContaining("Try again") as unknown,
  });
});

test("unfinished uploads have their own room, and the oldest of them is refused when it is full", function* () {
  const { jobs, preview, isKept } = yield* makeBench;
  const kept = yield* preview("a", 20);
  const slow = yield* Effect.forEach(Array.from({ length: 6 }), () => jobs.uploads.create);
  for (const file of slow) yield* Effect.ignore(file.append(new Uint8Array(18 * megabyte)));
  const outcomes = yield* Effect.forEach(slow, (file) =>
    Effect.match(file.append(new Uint8Array(1)), { onFailure: () => false, onSuccess: () => true }),
  );
  expect(outcomes).toEqual([false, false, false, false, true, true]);
  expect(isKept(kept)).toBe(true);
  expect(isKept(yield* preview("b", 20))).toBe(true);
});
