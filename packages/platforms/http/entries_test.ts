import { assert, test } from "@accountlink/test-servers/effect";
import { Effect, Logger, Option, Schema } from "effect";
import { TestClock } from "effect/testing";
import { entriesOf, ToldLists, tellingLeftOut, unlessOdd } from "./entries.ts";

const Named = Schema.Struct({ name: Schema.String, inner: unlessOdd(entriesOf(Schema.Int)) });

const read = (list: unknown, decides = false) =>
  Effect.option(Schema.decodeUnknownEffect(entriesOf(Named, { decides }))(list));

test("a list is read without the entries that cannot be read, unless there is no other", function* () {
  const [one, odd] = [{ name: "one", inner: null }, { name: 1 }];
  assert.deepEqual(yield* read([odd, one, null]), Option.some([one]));
  assert.deepEqual(yield* read([]), Option.some([]));
  assert.deepEqual(yield* read([odd]), Option.some([]));
  assert.deepEqual(yield* read([odd, odd]), Option.none());
  assert.deepEqual(yield* read({}), Option.none());
  // Absence would change something.
  assert.deepEqual(yield* read([odd], true), Option.none());
  assert.deepEqual(yield* read([odd, one], true), Option.some([one]));
});

test("a list in an entry is read entry by entry, and a field of another kind is null", function* () {
  const found = yield* read([
    { name: "one", inner: [1, "2"] },
    { name: "two", inner: "no" },
  ]);
  assert.deepEqual(
    found,
    Option.some([
      { name: "one", inner: [1] },
      { name: "two", inner: null },
    ]),
  );
});

test("an entry that is left out is told once an hour, with its field and nothing of its value", function* () {
  const told: Array<string> = [];
  const logger = Logger.make(({ message, fiber }) => {
    told.push(JSON.stringify([message, fiber.getRef(Logger.CurrentLoggers).size > 0]));
  });
  const decode = Schema.decodeUnknownEffect(entriesOf(Named));
  const readNow = (list: unknown, name = "GET /channels") =>
    tellingLeftOut(name, decode(list)).pipe(Effect.provide(Logger.layer([logger])));
  yield* Effect.gen(function* () {
    yield* readNow([{ name: "one" }]);
    assert.lengthOf(told, 0);
    yield* readNow([{ name: "one" }, { name: 815 }]);
    yield* readNow([{ name: "one" }, { name: 815 }]);
    assert.lengthOf(told, 1);
    yield* readNow([{ name: "one", inner: ["815"] }], "GET /members");
    assert.lengthOf(told, 2);
    yield* TestClock.adjust("1 hour");
    yield* readNow([null, { name: "one" }]);
    assert.lengthOf(told, 3);
    assert.notInclude(told.join(), "815");
  }).pipe(Effect.provideService(ToldLists, new Map()));
});
