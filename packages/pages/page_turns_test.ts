import { HttpResponse } from "@accountlink/http/for_pages";
import { expect, test } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { PageTurns } from "./page_turns.ts";

test.each(["read", "write"] as const)(
  "four %ss of an account run at a time, the rest wait, and those of others run",
  function* (kind) {
    const { [kind]: answer } = yield* PageTurns.make;
    const end = yield* Deferred.make<void>();
    const started: Array<string> = [];
    const start = (account: string) =>
      Effect.forkChild(
        answer(
          account,
          Effect.andThen(
            Effect.sync(() => started.push(account)),
            Deferred.await(end),
          ),
        ),
        { startImmediately: true },
      );
    const all = yield* Effect.forEach([...Array.from({ length: 20 }, () => "ada"), "bob"], start);
    expect(started).toEqual([...Array.from({ length: 4 }, () => "ada"), "bob"]);
    yield* Deferred.succeed(end, undefined);
    yield* Fiber.joinAll(all);
    expect(started).toHaveLength(21);
  },
);

test("a file counts as a read until its last byte", function* () {
  const turns = yield* PageTurns.make;
  const file = new HttpResponse(200, {}, { chunks: Stream.never, release: Effect.void });
  for (let sent = 0; sent < 4; sent++) {
    const { body } = yield* turns.read("ada", Effect.succeed(file));
    if (body === null || typeof body === "string" || body instanceof Uint8Array) throw new Error("No file");
    yield* Effect.forkChild(Stream.runDrain(body.chunks), { startImmediately: true });
  }
  const fifth = yield* Effect.forkChild(turns.read("ada", Effect.succeed(1)), { startImmediately: true });
  expect(fifth.pollUnsafe()).toBeUndefined();
  expect(yield* turns.read("bob", Effect.succeed(2))).toBe(2);
});

test("files of several accounts are read in turns, page by page, with pauses in between", function* () {
  const turns = yield* PageTurns.make;
  const read: Array<string> = [];
  const fileOf = (account: string) => {
    const page = Effect.as(
      Effect.delay(
        Effect.sync(() => read.push(account)),
        "10 millis",
      ),
      new Uint8Array(1),
    );
    const chunks = Stream.take(Stream.fromEffectRepeat(page), 3);
    return new HttpResponse(200, {}, { chunks, release: Effect.void });
  };
  const all = [];
  for (const account of ["ada", "ada", "bob"]) {
    const { body } = yield* turns.read(account, Effect.succeed(fileOf(account)));
    if (body === null || typeof body === "string" || body instanceof Uint8Array) throw new Error("No file");
    all.push(yield* Effect.forkChild(Stream.runDrain(body.chunks), { startImmediately: true }));
  }
  yield* TestClock.adjust("100 millis");
  expect(read).toEqual(["ada", "ada", "bob", "ada", "ada"]);
  yield* TestClock.adjust("1 second");
  yield* Fiber.joinAll(all);
  expect(read).toHaveLength(9);
});

test("bodies of an account are read four at a time, and a slow one leaves its place until it is there", function* () {
  const turns = yield* PageTurns.make;
  const arrived = yield* Deferred.make<string>();
  const read: Array<string> = [];
  const send = (account: string) =>
    Effect.forkChild(
      turns.writeWith(
        account,
        Effect.suspend(() => {
          read.push(account);
          return account === "ada" ? Deferred.await(arrived) : Effect.succeed("at once");
        }),
        (body) => Effect.succeed(body),
      ),
      { startImmediately: true },
    );
  const all = yield* Effect.forEach([...Array.from({ length: 6 }, () => "ada"), "bob"], send);
  expect(read).toEqual(["ada", "ada", "ada", "ada", "bob"]);
  expect(yield* Fiber.join(all[6] as (typeof all)[0])).toBe("at once");
  yield* TestClock.adjust("1 second");
  expect(read).toHaveLength(7);
  yield* Deferred.succeed(arrived, "late");
  expect(yield* Fiber.joinAll(all)).toEqual([...Array.from({ length: 6 }, () => "late"), "at once"]);
});
