import { expect, testWith } from "@accountlink/test-servers/effect";
import { Deferred, Effect, Exit, Fiber, Option, Stream } from "effect";
import { TestClock } from "effect/testing";
import { parseAddress } from "../addresses/mod.ts";
import { bounds } from "./bounds.ts";
import { RequestPlaces } from "./request_places.ts";
import { BusyTime, WorkingTime, WorkingTimes } from "./working_time.ts";

const test = testWith(RequestPlaces.layer);

test.each([
  ["bulk", bounds.bulks],
  ["list", bounds.dearRequests],
  ["reverse", bounds.dearRequests],
  ["platform", bounds.dearRequests],
  ["write", bounds.writes],
  ["read", bounds.dearRequests],
  ["form", bounds.dearRequests],
] as const)(
  "an account has its places of the kind %s, and another account none that waits for them",
  function* ([kind, most]) {
    const places = yield* RequestPlaces;
    // Alone, an account may answer any number of reverse lookups.
    (yield* WorkingTimes).accounts.note("eve", 0);
    const started: Array<string> = [];
    const ask = (account: string) =>
      Effect.forkChild(
        places[kind](
          { account },
          Effect.suspend(() => {
            started.push(account);
            return Effect.never;
          }),
        ),
        { startImmediately: true },
      );
    for (let count = 0; count < most + 5; count++) yield* ask("ada");
    expect(started).toHaveLength(most);
    yield* ask("bob");
    expect(started.at(-1)).toBe("bob");
  },
);

test("a download counts as a read until it ends", function* () {
  const places = yield* RequestPlaces;
  const ended = yield* Deferred.make<void>();
  const download = Stream.runDrain(places.file({ account: "ada" }, Stream.fromEffect(Deferred.await(ended))));
  for (let count = 0; count < bounds.dearRequests; count++)
    yield* Effect.forkChild(download, { startImmediately: true });
  const next = yield* Effect.forkChild(places.read({ account: "ada" }, Effect.void), {
    startImmediately: true,
  });
  expect(next.pollUnsafe()).toBeUndefined();
  yield* Deferred.done(ended, Exit.void);
  yield* Fiber.join(next);
});

/** Makes visits that note from where they started. */
const visitsOf = (places: RequestPlaces["Service"]) => {
  const started: Array<string> = [];
  const visit = <E>(from: string, answer: Effect.Effect<void, E>) =>
    places.visit(
      Option.getOrThrow(parseAddress(from)),
      Effect.suspend(() => {
        started.push(from);
        return answer;
      }),
    );
  const begin = (from: string, answer: Effect.Effect<void>) =>
    Effect.forkChild(visit(from, answer), { startImmediately: true });
  return { started, visit, begin };
};

test("visits of all addresses begin a few at a time, and a platform that hangs stops none", function* () {
  const { started, begin } = visitsOf(yield* RequestPlaces);
  for (let count = 0; count < 2 * bounds.dearRequests; count++)
    yield* begin(`198.18.0.${count}`, Effect.never);
  expect(started).toHaveLength(bounds.dearRequests);
  yield* TestClock.adjust(bounds.commitJoined);
  expect(started).toHaveLength(2 * bounds.dearRequests);
});

test.each([
  ["ends", Effect.void],
  ["fails", Effect.fail("no")],
  ["is interrupted", Effect.interrupt],
] as const)("a visit that %s early gives its place back at once", function* ([, answer]) {
  const { started, visit, begin } = visitsOf(yield* RequestPlaces);
  for (let count = 0; count < bounds.dearRequests; count++)
    yield* Effect.exit(visit("198.18.0.1", answer as Effect.Effect<void, string>));
  for (let count = 0; count < bounds.dearRequests; count++) yield* begin("198.18.0.2", Effect.never);
  expect(started.filter((from) => from === "198.18.0.2")).toHaveLength(bounds.dearRequests);
});

test("the first visits of an address in a second wait for no time, and its further ones do", () => {
  let busy = 0;
  const time = { accounts: new WorkingTime(), visits: new WorkingTime() };
  const body = Effect.gen(function* () {
    const { started, begin } = visitsOf(yield* RequestPlaces.make);
    const work = 2 * bounds.workedAtOnce;
    const visitsFrom = (address: string) => started.filter((from) => from === address).length;
    yield* begin("198.18.0.1", Effect.sleep(work));
    busy += work;
    yield* TestClock.adjust(work);
    for (let count = 0; count < bounds.visits; count++) yield* begin("198.18.0.1", Effect.void);
    expect(visitsFrom("198.18.0.1")).toBe(bounds.dearRequests);
    yield* begin("198.18.0.2", Effect.void);
    expect(visitsFrom("198.18.0.2")).toBe(1);
    yield* TestClock.adjust(work);
    expect(visitsFrom("198.18.0.1")).toBe(1 + bounds.visits);
  });
  return body.pipe(
    Effect.provideService(WorkingTimes, time),
    Effect.provideService(BusyTime, () => busy),
  );
});

test.each(["write", "bulk", "list", "form"] as const)(
  "beside another account, a %s waits once its account has worked for more than its share",
  (kind) => {
    let busy = 0;
    const time = { accounts: new WorkingTime(), visits: new WorkingTime() };
    const body = Effect.gen(function* () {
      const { [kind]: inPlace } = yield* RequestPlaces.make;
      const started: Array<string> = [];
      const ask = (account: string, answer: Effect.Effect<void>) => {
        time.accounts.note(account, 0);
        const step = Effect.suspend(() => {
          started.push(account);
          return answer;
        });
        return Effect.forkChild(inPlace({ account }, step), { startImmediately: true });
      };
      const work = 4 * bounds.workedAtOnce;
      yield* ask("ada", Effect.sleep(work));
      busy += work;
      yield* TestClock.adjust(work);
      yield* ask("bob", Effect.void);
      yield* ask("ada", Effect.void);
      expect(started).toEqual(["ada", "bob"]);
      yield* TestClock.adjust(work);
      expect(started).toEqual(["ada", "bob", "ada"]);
    });
    return body.pipe(
      Effect.provideService(WorkingTimes, time),
      Effect.provideService(BusyTime, () => busy),
    );
  },
);
