import { RequestPlaces } from "@accountlink/core/turns";
import { HttpResponse } from "@accountlink/http/for_pages";
import { expect, testWith } from "@accountlink/test-servers/effect";
import { Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { readInPlace } from "./page_turns.ts";

const test = testWith(RequestPlaces.layer);

const chunksOf = ({ body }: HttpResponse) => {
  if (body === null || typeof body === "string" || body instanceof Uint8Array) throw new Error("No file");
  return body.chunks;
};

test("files of several accounts are read in turns, page by page, with pauses in between", function* () {
  const places = yield* RequestPlaces;
  const read: Array<string> = [];
  const fileOf = (account: string) => {
    const page = Effect.delay(
      Effect.sync(() => {
        read.push(account);
        return new Uint8Array(1);
      }),
      "10 millis",
    );
    const chunks = Stream.take(Stream.fromEffectRepeat(page), 3);
    return Effect.succeed(new HttpResponse(200, {}, { chunks, release: Effect.void }));
  };
  const all = [];
  for (const account of ["ada", "ada", "bob"]) {
    const answered = yield* readInPlace(places, { account }, fileOf(account));
    all.push(yield* Effect.forkChild(Stream.runDrain(chunksOf(answered)), { startImmediately: true }));
  }
  yield* TestClock.adjust("100 millis");
  expect(read).toEqual(["ada", "ada", "bob", "ada", "bob"]);
  yield* TestClock.adjust("1 second");
  yield* Fiber.joinAll(all);
  expect(read).toHaveLength(9);
});
