import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { pagedCsv, whileAllowed } from "./csv_file.ts";

test("a file in parts has its header once, and ends after its last row", function* () {
  const pages = new Map([
    [null, [1, 2]],
    [2, [3]],
  ]);
  const page = (last: number | null) => Effect.succeed(pages.get(last) ?? []);
  const file = pagedCsv(["number"], page, (number) => [number]);
  expect(yield* Stream.mkString(Stream.decodeText(file))).toBe("number\r\n1\r\n2\r\n3\r\n");
});

const slowly = (part: number) => Effect.delay(Effect.succeed(part), "10 millis");

/** As many pages as a file of 600,000 links has. */
const pages = 1_202;

test("a file asks for the rights of its reader once a second and at its end, not for each of its parts", function* () {
  let [asked, parts] = [0, 0];
  const file = Stream.range(1, pages).pipe(Stream.rechunk(1));
  const read = (each: Stream.Stream<number>) =>
    Stream.runForEach(
      whileAllowed(
        each,
        Effect.sync(() => asked++),
      ),
      () => Effect.sync(() => parts++),
    );
  yield* read(file);
  expect([asked, parts]).toEqual([2, pages]);
  const slow = yield* Effect.forkChild(read(Stream.mapEffect(file, slowly)));
  yield* TestClock.adjust("13 seconds");
  yield* Fiber.join(slow);
  expect([asked, parts]).toEqual([16, 2 * pages]);
});

test("a file whose list is deleted with its account does not look complete", function* () {
  let isDeleted = false;
  const file = Stream.range(1, 300).pipe(
    Stream.rechunk(1),
    Stream.takeWhile((part) => !(isDeleted = part > 50)),
  );
  const mayRead = Effect.suspend(() => (isDeleted ? Effect.fail("deleted") : Effect.void));
  const reading = yield* Effect.exit(Stream.runDrain(whileAllowed(file, mayRead)));
  expect([isDeleted, reading._tag]).toEqual([true, "Failure"]);
});
