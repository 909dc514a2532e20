import { assert, testWith } from "@accountlink/test-servers/effect";
import { Clock, Effect } from "effect";
import { TestClock } from "effect/testing";
import { LinkStore } from "../links/link_store.ts";
import { chatId, gameId, operator, scopes, services } from "../test_services.ts";
import { EventStore } from "./event_store.ts";
import { type EventSubscription, EventWatch } from "./event_watch.ts";

/** Writes to the store without a signal, like another process whose signals do not arrive. */
const linkElsewhere = Effect.fnUntraced(function* (game: string) {
  const { global } = yield* scopes;
  const at = yield* Clock.currentTimeMillis;
  const link = { chatId: chatId("10001"), gameId: gameId(game) };
  yield* (yield* LinkStore).setGame({ ...operator, ...link, pid: global.pid, at });
});

const positions = Effect.gen(function* () {
  const { global } = yield* scopes;
  return { pid: global.pid, ...(yield* (yield* EventStore).range(global.pid)) };
});

/** Starts counting the notices of a subscription. Returns a function that reads the count. */
const countNotices = Effect.fnUntraced(function* (subscription: EventSubscription) {
  let count = 0;
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.map(subscription.next, () => {
        count++;
      }),
    ),
  );
  return () => count;
});

const test = testWith(services);

test("a waiting reader wakes within a second without a signal", function* () {
  const { pid, end } = yield* positions;
  const notices = yield* countNotices(yield* (yield* EventWatch).subscribe(pid, end, null));
  yield* TestClock.adjust("5 seconds");
  assert.strictEqual(notices(), 0);
  yield* linkElsewhere("1");
  yield* TestClock.adjust("1 second");
  assert.isAbove(notices(), 0);
});

test("a lagging reader that is not waiting never causes other readers to wake", function* () {
  const { subscribe } = yield* EventWatch;
  const before = yield* positions;
  yield* linkElsewhere("1");
  const { pid, end } = yield* positions;
  yield* subscribe(pid, before.end, null);
  const notices = yield* countNotices(yield* subscribe(pid, end, null));
  yield* TestClock.adjust("10 seconds");
  assert.strictEqual(notices(), 0);
  yield* linkElsewhere("2");
  yield* TestClock.adjust("1 second");
  assert.isAbove(notices(), 0);
});
