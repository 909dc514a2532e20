import { makeDelivery } from "@accountlink/testing";
import { expect, it } from "vitest";
import type { StoredDelivery } from "../webhook.ts";
import { DeliveryWindow, type Entry } from "./delivery_window.ts";

type Parts = Partial<Pick<Entry, "isStored">> & Partial<Pick<StoredDelivery, "type">>;

/** Makes an entry whose event ID is `name`. */
const entry = (
  name: string,
  position: number,
  lanes: ReadonlyArray<string>,
  { isStored = false, type = "link.set" }: Parts = {},
): Entry => ({
  delivery: {
    ...makeDelivery({ eventId: name, type, status: "waiting", attempts: 0, nextAttemptAt: null, lanes }),
    position,
  },
  isStored,
});

/**
 * Makes a window and adds the given events in order. Each letter of `lanes` is a lane. `isBlocked` means that an
 * earlier failure in the store blocks the event.
 */
const makeWindow = (
  ...events: ReadonlyArray<readonly [name: string, lanes: string, isBlocked?: boolean]>
) => {
  const window = new DeliveryWindow(0);
  for (const [index, [name, lanes, isBlocked = false]] of events.entries()) {
    window.addNew(entry(name, index + 1, Array.from(lanes)), isBlocked);
  }
  return window;
};

const takeReady = (window: DeliveryWindow): Array<Entry> => {
  const ready: Array<Entry> = [];
  for (let next = window.next(); next !== undefined; next = window.next()) ready.push(next);
  return ready;
};

const namesOf = (entries: ReadonlyArray<Entry>) => entries.map(({ delivery }) => delivery.eventId);

const over = ({ delivery }: Entry, status: "delivered" | "failing" | "given_up"): StoredDelivery => ({
  ...delivery,
  status,
  attempts: delivery.attempts + 1,
  nextAttemptAt: status === "failing" ? 5_000 : null,
  lanes: status === "failing" ? delivery.lanes : [],
});

const saved = (window: DeliveryWindow) =>
  [...window.takeUnsaved().deliveries.values()].map(({ eventId, status }) => [eventId, status]);

it("a delivery window offers the first event of each lane, then the second when the first is delivered", () => {
  const window = makeWindow(["a1", "a"], ["b1", "b"], ["a2", "a"], ["x", ""], ["a3", "a"]);
  const [a1, b1, x] = takeReady(window);
  expect(window.oldestAt).toBe(a1?.delivery.at);
  expect(new DeliveryWindow(0).oldestAt).toBe(null);
  expect(namesOf([a1, b1, x] as ReadonlyArray<Entry>)).toEqual(["a1", "b1", "x"]);
  window.finish(a1 as Entry, over(a1 as Entry, "delivered"), 7);
  const [a2] = takeReady(window);
  expect(a2?.delivery.eventId).toBe("a2");
  window.finish(a2 as Entry, over(a2 as Entry, "delivered"), 8);
  expect(namesOf(takeReady(window))).toEqual(["a3"]);
  expect(window.takeUnsaved().deliveredAt).toBe(8);
});

it("when an event fails, the window moves to the store all events that wait for it, directly or indirectly", () => {
  const window = makeWindow(["a1", "a"], ["ab", "ab"], ["b2", "b"], ["bc", "bc"], ["c2", "c"], ["d1", "d"]);
  const ready = takeReady(window);
  expect(namesOf(ready)).toEqual(["a1", "d1"]);
  window.finish(ready[0] as Entry, over(ready[0] as Entry, "failing"), 1);
  expect(saved(window)).toEqual([
    ["a1", "failing"],
    ["ab", "waiting"],
    ["b2", "waiting"],
    ["bc", "waiting"],
    ["c2", "waiting"],
  ]);
  expect(window.size).toBe(1);
});

it("a new event waits behind failures of its lane, whether they are stored or not", () => {
  const window = makeWindow(["a1", "a"], ["b1", "b", true]);
  const [a1] = takeReady(window) as [Entry];
  window.finish(a1, over(a1, "failing"), 1);
  window.addNew(entry("a2", 3, ["a"]), false);
  window.addNew(entry("b2", 4, ["b"]), false);
  expect(takeReady(window)).toEqual([]);
  expect(saved(window)).toEqual([
    ["b1", "waiting"],
    ["a1", "failing"],
    ["a2", "waiting"],
    ["b2", "waiting"],
  ]);
  // `saved` has taken the failures out of the window, and `false` says that no failure in the store blocks `a3`.
  window.addNew(entry("a3", 5, ["a"]), false);
  expect(namesOf(takeReady(window))).toEqual(["a3"]);
});

it("the lanes of a stored delivery become free when it is done", () => {
  const window = makeWindow(["a1", "a"]);
  window.addDue(entry("b1", 1, ["b", "c"], { isStored: true }));
  window.addDue(entry("b1", 1, ["b", "c"], { isStored: true }));
  const [a1, b1] = takeReady(window) as [Entry, Entry];
  window.finish(a1, over(a1, "delivered"), 1);
  window.finish(b1, over(b1, "given_up"), 2);
  // The store still returns b1 as due, because the result of b1 is not saved yet. The window must ignore b1.
  window.addDue(entry("b1", 1, ["b", "c"], { isStored: true }));
  const { freedLanes, deliveredAt, failedAt } = window.takeUnsaved();
  expect([[...freedLanes], deliveredAt, failedAt, window.size]).toEqual([["b", "c"], 1, 2, 0]);
});

it("a `user.erased` event is sent when the user's attempts in flight end, even if they fail", () => {
  const window = makeWindow(["a1", "a"], ["a2", "a"]);
  const [a1] = takeReady(window) as [Entry];
  window.addNew(entry("erased", 3, ["a"], { type: "user.erased" }), true);
  window.addNew(entry("a4", 4, ["a"]), false);
  expect(takeReady(window)).toEqual([]);
  window.finish(a1, over(a1, "failing"), 1);
  const [erased] = takeReady(window) as [Entry];
  expect(saved(window)).toEqual([
    ["a1", "failing"],
    ["a2", "waiting"],
  ]);
  window.finish(erased, over(erased, "delivered"), 2);
  expect(takeReady(window)).toEqual([]);
  expect(saved(window)).toEqual([
    ["erased", "delivered"],
    ["a4", "waiting"],
  ]);
});
