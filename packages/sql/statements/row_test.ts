import { expect, test } from "@accountlink/test-servers/effect";
import { Effect, Fiber } from "effect";
import { readerOf } from "./row.ts";

const rowsOf = (count: number) => Effect.succeed(Array.from({ length: count }, (_, index) => index));

test("other work goes on while a long list of rows is decoded", function* () {
  let decoded = 0;
  const read = readerOf("links", (row: number) => {
    decoded++;
    return row;
  });
  const reading = yield* Effect.forkChild(read(rowsOf(1_000)));
  const seen: Array<number> = [];
  while (reading.pollUnsafe() === undefined) {
    seen.push(decoded);
    yield* Effect.yieldNow;
  }
  expect(seen).toEqual(expect.arrayContaining([100, 500, 900]));
  expect(yield* Fiber.join(reading)).toHaveLength(1_000);
});

test("a list with an invalid row is refused, however long it is", function* () {
  const read = readerOf("links", (row: number) => (row === 3 ? undefined : row));
  for (const count of [10, 1_000]) {
    expect(yield* Effect.flip(read(rowsOf(count)))).toMatchObject({ table: "links" });
  }
});
