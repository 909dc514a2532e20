import { ChatId, Pid } from "@accountlink/core";
import { expect, test } from "@accountlink/test-servers/effect";
import { Context, Effect, Exit, Fiber, Latch } from "effect";
import { SqlError } from "effect/sql";
import { batched, batchedLookup } from "./batching.ts";

const pid = Pid.make("pid_0123456789abcdef");
const otherPid = Pid.make("pid_fedcba9876543210");
const chatIds = Array.from({ length: 1_200 }, (_, i) => ChatId.make(`${10_000 + i}`));
const [ada, bob] = [ChatId.make("10001"), ChatId.make("10002")];

const remote = { isRemote: true };
const atOnce = { concurrency: "unbounded" } as const;

type Pairs = ReadonlyArray<readonly [Pid, ChatId]>;

const rowsOf = (pairs: Pairs) => pairs.map(([of, chatId]) => ({ pid: of, chat_id: chatId }));

/** A lookup that records its statements; `answer` simulates the database. */
const recordingLookup = (
  answer: (pairs: Pairs) => Effect.Effect<ReturnType<typeof rowsOf>, SqlError.SqlError> = (pairs) =>
    Effect.as(Effect.yieldNow, rowsOf(pairs)),
) => {
  const asked: Array<Pairs> = [];
  const ask = (pairs: ReadonlyArray<[Pid, ChatId]>) => {
    asked.push(pairs);
    return answer(pairs);
  };
  const find = batchedLookup<[Pid, ChatId]>(remote, {
    columns: ["pid", "chat_id"],
    one: (...pair) => ask([pair]),
    several: ask,
  });
  return { asked, find };
};

const Asker = Context.Reference("Asker", { defaultValue: () => "nobody" });

test("`batched` runs the inputs of a group together, in the context of the first input", function* () {
  const ran: Array<readonly [asker: string, inputs: ReadonlyArray<string>]> = [];
  const ask = batched<string, string, never>(
    remote,
    (inputs) =>
      Effect.map(Asker, (asker) => {
        ran.push([asker, inputs]);
        return inputs.map((input) => Exit.succeed(input.toUpperCase()));
      }),
    { maxSize: 2, groupOf: (input) => input.charAt(0) },
  );
  const answers = yield* Effect.forEach(
    ["a1", "b1", "a2", "b2", "a3"],
    (input) => Effect.provideService(ask(input), Asker, `asker of ${input}`),
    { concurrency: "unbounded" },
  );
  expect(answers).toEqual(["A1", "B1", "A2", "B2", "A3"]);
  expect(ran).toEqual([
    ["asker of a1", ["a1", "a2"]],
    ["asker of a3", ["a3"]],
    ["asker of b1", ["b1", "b2"]],
  ]);
});

test("if `run` throws for a batch, only the requests of this batch fail", function* () {
  const bug = new TypeError("Cannot read properties of undefined");
  const ask = batched<string, string, never>(
    remote,
    (inputs) => {
      if (inputs.includes("a1")) throw bug;
      return Effect.succeed(inputs.map(Exit.succeed));
    },
    { maxSize: 2, groupOf: (input) => input.charAt(0) },
  );
  const exits = yield* Effect.forEach(["a1", "b1", "a2"], (input) => Effect.exit(ask(input)), atOnce);
  expect(exits).toEqual([Exit.die(bug), Exit.succeed("b1"), Exit.die(bug)]);
  expect(yield* ask("a3")).toBe("a3");
});

test("lookups in one turn of the event loop share a statement", function* () {
  const { asked, find } = recordingLookup((pairs) =>
    Effect.as(Effect.yieldNow, rowsOf(pairs.filter(([, id]) => id !== bob))),
  );
  const lookups = [find(pid, ada), find(pid, bob), find(otherPid, ada), find(pid, ada)];
  const found = [{ pid, chat_id: ada }];
  expect(yield* Effect.all(lookups, atOnce)).toEqual([found, [], [{ pid: otherPid, chat_id: ada }], found]);
  expect(asked).toEqual([
    [
      [pid, ada],
      [pid, bob],
      [otherPid, ada],
    ],
  ]);
});

test("lookups of one key get its rows, which need not have the columns of the key", function* () {
  const row = { game_id: "1" };
  const find = batchedLookup<[Pid, ChatId]>(remote, {
    columns: ["pid", "chat_id"],
    one: () => Effect.succeed([row]),
    several: () => Effect.die("several keys"),
  });
  expect(yield* find(pid, ada)).toEqual([row]);
  expect(yield* Effect.all([find(pid, ada), find(pid, ada)], atOnce)).toEqual([[row], [row]]);
});

test("a statement has at most 500 keys", function* () {
  const { asked, find } = recordingLookup();
  const answers = yield* Effect.forEach(chatIds, (chatId) => find(pid, chatId), atOnce);
  expect(answers).toEqual(chatIds.map((chatId) => [{ pid, chat_id: chatId }]));
  expect(asked.map((pairs) => pairs.length)).toEqual([500, 500, 200]);
});

test("a lookup never joins a statement that was already sent", function* () {
  const [sent, answered] = [yield* Latch.make(), yield* Latch.make()];
  const { asked, find } = recordingLookup((pairs) =>
    sent.open.pipe(Effect.andThen(answered.await), Effect.as(rowsOf(pairs))),
  );
  const first = yield* Effect.forkChild(find(pid, ada));
  yield* sent.await;
  const second = yield* Effect.forkChild(find(pid, ada));
  yield* answered.open;
  yield* Fiber.join(first);
  yield* Fiber.join(second);
  expect(asked).toEqual([[[pid, ada]], [[pid, ada]]]);
});

test("if a batched statement fails, every lookup in it fails, and the next statement succeeds", function* () {
  const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: undefined }) });
  let isLost = true;
  const { find } = recordingLookup((pairs) => (isLost ? Effect.fail(lost) : Effect.succeed(rowsOf(pairs))));
  const exits = yield* Effect.forEach([ada, bob], (chatId) => Effect.exit(find(pid, chatId)), atOnce);
  expect(exits).toEqual([Exit.fail(lost), Exit.fail(lost)]);
  isLost = false;
  expect(yield* find(pid, ada)).toHaveLength(1);
});

test("a statement omits lookups that were interrupted before it was sent", function* () {
  const { asked, find } = recordingLookup();
  const start = (lookup: ReturnType<typeof find>) => Effect.forkChild(lookup, { startImmediately: true });
  const interrupted = yield* start(find(pid, ada));
  const other = yield* start(find(pid, bob));
  yield* Fiber.interrupt(interrupted);
  expect(yield* Fiber.join(other)).toEqual([{ pid, chat_id: bob }]);
  expect(asked).toEqual([[[pid, bob]]]);
});

test("other lookups continue when the first one is interrupted while the statement runs", function* () {
  const [sent, answered] = [yield* Latch.make(), yield* Latch.make()];
  const { find } = recordingLookup((pairs) =>
    sent.open.pipe(Effect.andThen(answered.await), Effect.as(rowsOf(pairs))),
  );
  const first = yield* Effect.forkChild(find(pid, ada), { startImmediately: true });
  const second = yield* Effect.forkChild(find(pid, bob), { startImmediately: true });
  yield* sent.await;
  yield* Fiber.interrupt(first);
  yield* answered.open;
  expect(yield* Fiber.join(second)).toEqual([{ pid, chat_id: bob }]);
});
