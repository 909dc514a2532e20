import { chownSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, testWith } from "@accountlink/test-servers/effect";
import * as NodeServices from "@effect/platform-node/NodeServices";
import { Deferred, Effect, Exit, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { makeFolder } from "../commands/test_folder.ts";
import { writeAtomically, writeIfAbsent } from "./atomic_write.ts";

const test = testWith(NodeServices.layer);

test("writeAtomically replaces a file, and only its owner can read the new one", function* () {
  const file = join(yield* makeFolder, "links.csv");
  for (const text of ["first", "second, and longer", "third"]) {
    yield* writeAtomically(file, Stream.fromIterable(text), "replace");
    expect(readFileSync(file, "utf8")).toBe(text);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
});

test("an atomic write changes nothing if its text fails midway", function* () {
  const folder = yield* makeFolder;
  const file = join(folder, "links.csv");
  writeFileSync(file, "before");
  const failing = Stream.concat(Stream.make("half"), Stream.fail("broken"));
  expect(yield* Effect.exit(writeAtomically(file, failing, "replace"))).toEqual(Exit.fail("broken"));

  const halfway = yield* Deferred.make<void>();
  const waiting = Stream.concat(
    Stream.make("half"),
    Stream.fromEffect(Effect.andThen(Deferred.succeed(halfway, undefined), Effect.never)),
  );
  const writing = yield* Effect.forkChild(writeAtomically(file, waiting, "replace"));
  yield* Deferred.await(halfway);
  expect(readdirSync(folder)).toHaveLength(2);
  yield* Fiber.interrupt(writing);
  expect(readdirSync(folder)).toEqual(["links.csv"]);
  expect(readFileSync(file, "utf8")).toBe("before");
});

test("an atomic write removes what killed processes left, and no part that is being written", function* () {
  const folder = yield* makeFolder;
  const [left, running] = [0, 1].map((digit) => join(folder, `.accountlink-${`${digit}`.repeat(36)}.part`));
  for (const part of [left, running]) writeFileSync(String(part), "half");
  utimesSync(String(left), 1, 1);
  yield* TestClock.adjust("1 day");
  yield* writeAtomically(join(folder, "secret"), Stream.make("after"), "replace");
  expect(readdirSync(folder).toSorted()).toEqual([basename(String(running)), "secret"]);
});

test("an atomic write can refuse an existing file, even one created during the write", function* () {
  const folder = yield* makeFolder;
  const file = join(folder, "links.csv");
  const exists = expect.objectContaining({ _tag: "FileExists", file }) as unknown;
  const meanwhile = Stream.fromEffect(Effect.sync(() => (writeFileSync(file, "theirs"), "ours")));
  expect(yield* Effect.flip(writeAtomically(file, meanwhile, "refuse"))).toEqual(exists);
  expect(yield* Effect.flip(writeAtomically(file, Stream.die("It was read"), "refuse"))).toEqual(exists);
  expect(readFileSync(file, "utf8")).toBe("theirs");
  expect(readdirSync(folder)).toEqual(["links.csv"]);
});

test.skipIf(process.getuid?.() !== 0)("an atomic write by root keeps the owner of the replaced file", () =>
  Effect.gen(function* () {
    const file = join(yield* makeFolder, "secret");
    writeFileSync(file, "before");
    chownSync(file, 65_534, 65_534);
    yield* writeAtomically(file, Stream.make("after"), "replace");
    expect(readFileSync(file, "utf8")).toBe("after");
    expect(statSync(file)).toMatchObject({ uid: 65_534, gid: 65_534 });
  }).pipe(Effect.provide(NodeServices.layer)),
);

test("writeIfAbsent creates a file that only its owner can read, and never replaces an existing file", function* () {
  const folder = yield* makeFolder;
  const file = join(folder, "secret");
  yield* writeIfAbsent(file, "first");
  yield* writeIfAbsent(file, "second");
  expect(readFileSync(file, "utf8")).toBe("first");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(["secret"]);
});

test("writeIfAbsent fails if the folder does not exist", function* () {
  const nowhere = join(yield* makeFolder, "none", "secret");
  expect((yield* Effect.flip(writeIfAbsent(nowhere, "first")))._tag).toBe("PlatformError");
});
