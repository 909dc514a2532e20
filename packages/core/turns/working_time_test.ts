import { expect, test } from "@accountlink/test-servers/effect";
import { Clock, Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { bounds } from "./bounds.ts";
import { BusyTime, uncounted, WorkingTime } from "./working_time.ts";

const { longestTurn, presence, workedAtOnce, workingPart } = bounds;

/** A process that works while the test says so. */
class Process {
  readonly #time = new WorkingTime();
  #busy = 0;
  readonly busyTime = () => this.#busy;

  noteRequest(account: string) {
    return Effect.map(Clock.currentTimeMillis, (now) => this.#time.note(account, now));
  }

  /** Starts a step of an account, beside an account that has just sent a request. */
  begin(account: string, takes: number, isBeside = true) {
    return this.#fork(this.#time.pace(account, Effect.sleep(takes)), isBeside);
  }

  /** Starts a step of an account that does something else than to sleep. */
  beginWith(account: string, step: Effect.Effect<unknown>) {
    return this.#fork(Effect.asVoid(this.#time.pace(account, step)), true);
  }

  /** Waits for the working time of an account. */
  rest(account: string) {
    return this.#time.rest(account);
  }

  /** Finds an account in a millisecond of work. */
  find(account: string) {
    return Effect.andThen(this.work(1), this.#time.count(account, Effect.void));
  }

  #fork(step: Effect.Effect<void>, isBeside: boolean) {
    const arrived = isBeside ? this.noteRequest("another") : Effect.void;
    return Effect.forkChild(Effect.andThen(arrived, step), { startImmediately: true });
  }

  /** Lets time pass, in which the process works. */
  work(milliseconds: number) {
    this.#busy += milliseconds;
    return TestClock.adjust(milliseconds);
  }
}

const pacingTest = (title: string, body: (process: Process) => Effect.fn.Return<void>) =>
  test(title, () => {
    const process = new Process();
    return Effect.provideService(
      Effect.gen({ self: null }, () => body(process)),
      BusyTime,
      process.busyTime,
    );
  });

/** Works for an account, and returns how long its next step waits, in milliseconds. */
const waitAfter = Effect.fnUntraced(function* (process: Process, account: string) {
  const next = yield* process.begin(account, 0);
  for (let waited = 0; ; waited++) {
    yield* Effect.yieldNow;
    if (next.pollUnsafe() !== undefined) return waited;
    yield* process.noteRequest("another");
    yield* TestClock.adjust(1);
  }
});

pacingTest("an account that works for longer than its share rests beside another one", function* (process) {
  const takes = 2 * workedAtOnce;
  yield* process.begin("ada", takes);
  yield* process.work(takes);
  expect(yield* waitAfter(process, "ada")).toBe(Math.ceil(workedAtOnce / workingPart));
});

pacingTest("a rest is not too short, since each one costs time", function* (process) {
  yield* process.begin("ada", workedAtOnce + 1);
  yield* process.work(workedAtOnce + 1);
  expect(yield* waitAfter(process, "ada")).toBe(longestTurn);
});

pacingTest("dear steps begin one after the other once one has shown what they cost", function* (process) {
  const takes = 1.2 * workedAtOnce;
  yield* process.begin("ada", takes);
  yield* process.work(takes);
  yield* TestClock.adjust(presence / 2);
  const ran: Array<number> = [];
  for (let step = 0; step < 4; step++)
    yield* process.beginWith(
      "ada",
      Effect.andThen(
        Effect.sync(() => ran.push(step)),
        Effect.sleep(takes),
      ),
    );
  yield* Effect.yieldNow;
  expect(ran).toEqual([0]);
  for (let passed = 0; ran.length < 4 && passed < 20 * takes; passed++) {
    yield* process.noteRequest("another");
    yield* passed % (4 * takes) < takes ? process.work(1) : TestClock.adjust(1);
  }
  expect(ran).toEqual([0, 1, 2, 3]);
});

pacingTest("dear steps that rest between their parts go on beside each other", function* (process) {
  yield* process.begin("ada", 2 * workedAtOnce);
  yield* process.work(2 * workedAtOnce);
  yield* TestClock.adjust(presence / 2);
  const parts = Effect.andThen(Effect.sleep(1), process.rest("ada"));
  const step = yield* process.beginWith("ada", parts);
  for (let passed = 0; passed < presence; passed++) {
    yield* process.noteRequest("another");
    yield* TestClock.adjust(1);
  }
  expect(step.pollUnsafe()).toBeDefined();
});

pacingTest("what finds an account counts for it, however short its steps are", function* (process) {
  for (let request = 0; request < 4 * workedAtOnce; request++) yield* process.find("ada");
  expect(yield* waitAfter(process, "ada")).toBeGreaterThan(workedAtOnce);
});

pacingTest(
  "a millisecond counts once, however many steps run, and waiting does not count",
  function* (process) {
    for (let step = 0; step < 32; step++) yield* process.begin("ada", workedAtOnce / 2);
    yield* process.work(workedAtOnce / 2);
    const waiting = yield* process.begin("ada", 60_000);
    yield* TestClock.adjust(60_000);
    yield* Fiber.join(waiting);
    expect(yield* waitAfter(process, "ada")).toBe(0);
  },
);

pacingTest("a step does not count while it waits for work in the background", function* (process) {
  yield* process.beginWith("ada", uncounted(Effect.sleep(2 * workedAtOnce)));
  yield* process.work(2 * workedAtOnce);
  expect(yield* waitAfter(process, "ada")).toBe(0);
  yield* process.begin("ada", 2 * workedAtOnce);
  yield* process.work(2 * workedAtOnce);
  expect(yield* waitAfter(process, "ada")).toBeGreaterThan(0);
});

pacingTest("what works beside a part that waits is counted", function* (process) {
  const waits = uncounted(Effect.sleep(2 * workedAtOnce));
  const both = Effect.all([waits, Effect.sleep(2 * workedAtOnce)], { concurrency: "unbounded" });
  yield* process.beginWith("ada", both);
  yield* process.work(2 * workedAtOnce);
  expect(yield* waitAfter(process, "ada")).toBeGreaterThan(0);
});

pacingTest("a step that waited for long counts what it works then", function* (process) {
  const waited = Effect.andThen(uncounted(Effect.sleep(3 * presence)), Effect.sleep(2 * workedAtOnce));
  yield* process.beginWith("ada", waited);
  for (const passed of [2 * presence, presence]) {
    yield* TestClock.adjust(passed);
    yield* process.begin("bob", 0);
  }
  yield* process.work(2 * workedAtOnce);
  expect(yield* waitAfter(process, "ada")).toBeGreaterThan(0);
});

pacingTest("what waits beyond the end of its step counts and frees nothing", function* (process) {
  const left = Effect.forkDetach(uncounted(Effect.sleep(2 * workedAtOnce)), { startImmediately: true });
  yield* process.beginWith("ada", left);
  yield* process.begin("ada", 4 * workedAtOnce);
  yield* process.work(4 * workedAtOnce);
  expect(yield* waitAfter(process, "ada")).toBe(Math.ceil(workedAtOnce / workingPart));
  yield* process.begin("bob", workedAtOnce / 2);
  yield* process.work(workedAtOnce / 2);
  expect(yield* waitAfter(process, "bob")).toBe(0);
});

pacingTest("accounts share the time in which steps of each of them run", function* (process) {
  yield* process.begin("ada", 2 * workedAtOnce);
  yield* process.begin("bob", workedAtOnce);
  yield* process.work(workedAtOnce);
  yield* process.work(workedAtOnce);
  expect(yield* waitAfter(process, "bob")).toBe(0);
});

pacingTest("one that works more than others uses what they leave of the part of all", function* (process) {
  for (let other = 0; other < 50; other++) yield* process.begin(`quiet ${other}`, 0);
  yield* process.begin("ada", 2 * workedAtOnce);
  yield* process.work(2 * workedAtOnce);
  expect(yield* waitAfter(process, "ada")).toBeLessThanOrEqual(Math.ceil(workedAtOnce / workingPart));
});

pacingTest("one within its share works on while another one is over it", function* (process) {
  yield* process.begin("ada", 2 * workedAtOnce);
  yield* process.work(2 * workedAtOnce);
  expect(yield* waitAfter(process, "bob")).toBe(0);
});

pacingTest("an account that is alone uses all time", function* (process) {
  yield* process.noteRequest("ada");
  yield* process.begin("ada", 10 * workedAtOnce, false);
  yield* TestClock.adjust(presence);
  yield* process.work(10 * workedAtOnce);
  const next = yield* process.begin("ada", 0, false);
  yield* Effect.yieldNow;
  expect(next.pollUnsafe()).toBeDefined();
});
