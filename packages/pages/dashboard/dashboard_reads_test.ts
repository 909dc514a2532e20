import { HttpResponse } from "@accountlink/http/for_pages";
import { expect, test } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Fiber, Stream } from "effect";
import { DashboardReads } from "./dashboard_reads.ts";

test("four reads of an account run at a time, the rest wait, and reads of others run", function* () {
  const reads = yield* DashboardReads.make;
  const end = yield* Deferred.make<void>();
  const started: Array<string> = [];
  const start = (account: string) =>
    Effect.forkChild(
      reads.answer(
        account,
        Effect.andThen(
          Effect.sync(() => started.push(account)),
          Deferred.await(end),
        ),
      ),
      { startImmediately: true },
    );
  const all = yield* Effect.forEach([...Array.from({ length: 20 }, () => "ada"), "bob"], start);
  expect(started).toEqual(["ada", "ada", "ada", "ada", "bob"]);
  yield* Deferred.succeed(end, undefined);
  yield* Fiber.joinAll(all);
  expect(started).toHaveLength(21);
});

test("a file counts as a read until its last byte", function* () {
  const reads = yield* DashboardReads.make;
  const file = new HttpResponse(200, {}, { chunks: Stream.never, release: Effect.void });
  for (let sent = 0; sent < 4; sent++) {
    const { body } = yield* reads.answer("ada", Effect.succeed(file));
    if (body === null || typeof body === "string" || body instanceof Uint8Array) throw new Error("No file");
    yield* Effect.forkChild(Stream.runDrain(body.chunks), { startImmediately: true });
  }
  const fifth = yield* Effect.forkChild(reads.answer("ada", Effect.succeed(1)), { startImmediately: true });
  expect(fifth.pollUnsafe()).toBeUndefined();
  expect(yield* reads.answer("bob", Effect.succeed(2))).toBe(2);
});
