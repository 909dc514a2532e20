import { expect, it } from "@accountlink/test-servers/effect";
import { Duration } from "effect";
import { Headers } from "effect/http";
import { vi } from "vitest";
import { isGlobal, RateLimits, type Route } from "./rate_limits.ts";
import { budget } from "./test_discord.ts";

const members: Route = { name: "GET /guilds/:id/members/:id", place: "1" };
const roles: Route = { name: "GET /guilds/:id/roles", place: "1" };
const users: Route = { name: "GET /users/:id", place: "" };

/** `wait` returns how long a request has to wait, in milliseconds; 0 if it may be sent. */
const setUp = () => {
  const limits = new RateLimits();
  const wait = (route: Route, now: number) =>
    Duration.toMillis(limits.take(route, now)?.wait ?? Duration.zero);
  const observe = (route: Route, now: number, headers: Record<string, string>, status = 200) =>
    limits.observe(route, { status, headers: Headers.fromInput(headers), isForAll: false }, now);
  return { limits, wait, observe };
};

const refused = { status: 403, headers: Headers.empty };

const times = (count: number, send: () => number) => Array.from({ length: count }, send);

it("a server error, whose headers name no limits, does not change the known limits", () => {
  const { wait, observe } = setUp();
  observe(users, 0, budget(0, 10));
  observe(users, 0, {}, 502);
  expect(wait(users, 0)).toBe(10_000);
});

it("a new window starts when the last one ends", () => {
  const { wait, observe } = setUp();
  observe(users, 0, budget(0, 1.5));
  expect(wait(users, 1_499)).toBe(1);
  expect(times(6, () => wait(users, 1_500))).toEqual([0, 0, 0, 0, 0, 1_000]);
});

it("RateLimits counts requests in flight", () => {
  const { wait, observe } = setUp();
  observe(users, 0, budget(4, 10));
  expect(times(3, () => wait(users, 0))).toEqual([0, 0, 0]);
  // Three requests are in flight. This response to the first one says that three requests remain, since Discord has
  // not counted the other two yet.
  observe(users, 5, budget(3, 10));
  expect(times(2, () => wait(users, 5))).toEqual([0, 10_000]);
});

it("a new window looks at few others, however many have not ended", () => {
  const { wait, observe } = setUp();
  for (let place = 0; place < 10_000; place++) observe({ ...members, place: `${place}` }, 0, budget(4, 600));
  const steps = Object.getPrototypeOf(new Map().entries()) as Iterator<unknown>;
  const next = vi.spyOn(steps, "next");
  wait({ ...members, place: "new" }, 1);
  const looked = next.mock.calls.length;
  next.mockRestore();
  expect(looked).toBeLessThan(10);
});

it("routes with the same bucket share a limit, but guilds do not", () => {
  const { wait, observe } = setUp();
  observe(members, 0, budget(1, 10));
  observe(roles, 0, budget(0, 10));
  expect(wait(members, 0)).toBe(10_000);
  expect(wait({ ...members, place: "2" }, 0)).toBe(0);
});

it("at most 50 requests per second are sent in total", () => {
  const { wait, observe } = setUp();
  observe(users, 0, {});
  expect(times(51, () => wait(users, 400))).toEqual([...times(50, () => 0), 1_000]);
  expect(wait(users, 1_400)).toBe(0);
});

it("a sweep takes at most half of the requests that all share", () => {
  const { limits, wait, observe } = setUp();
  observe(users, 0, {});
  const sweep = () => limits.take(users, 400, { account: "", isCharged: true, isBackground: true });
  expect(wait(users, 400)).toBe(0);
  for (let sent = 0; sent < 24; sent++) expect(sweep()).toBeNull();
  expect(sweep()?.status).toBe(429);
  expect(times(26, () => wait(users, 400))).toEqual([...times(25, () => 0), 1_000]);
});

it("an account leaves a quarter of a limit that all share to others, until the limit resets", () => {
  const { limits, wait, observe } = setUp();
  observe(users, 0, {});
  const ask = (now: number) =>
    limits.take(users, now, { account: "ada", isCharged: true, isBackground: false });
  for (let sent = 0; sent < 38; sent++) expect(ask(400)).toBeNull();
  expect(ask(400)?.status).toBe(429);
  expect(times(13, () => wait(users, 400))).toEqual([...times(12, () => 0), 1_000]);
  expect(ask(1_400)).toBeNull();
});

it("after a 429, requests wait for the time in its Retry-After, or for one second if it has none", () => {
  const { wait, observe } = setUp();
  observe(users, 0, { ...budget(3, 5), "retry-after": "1337", "x-ratelimit-scope": "shared" }, 429);
  expect(wait(users, 0)).toBe(1_337_000);
  expect(wait(members, 0)).toBe(0);
  observe(members, 0, {}, 429);
  expect(wait(members, 0)).toBe(1_000);
  expect(wait(roles, 0)).toBe(0);
});

const channel = (place: string): Route => ({ name: "POST /channels/:id/messages", place });

it("a 429 without a bucket closes its route in its channel, and all routes if it says so", () => {
  const { limits, wait, observe } = setUp();
  const slowMode = { "retry-after": "21600" };
  observe(channel("1"), 0, budget(4, 5));
  observe(channel("1"), 0, slowMode, 429);
  expect([channel("1"), channel("2"), users].map((route) => wait(route, 0))).toEqual([21_600_000, 0, 0]);
  // The answer to an earlier request says nothing of the slow mode.
  observe(channel("2"), 1, budget(4, 5));
  expect(wait(channel("1"), 1)).toBe(21_599_999);
  limits.observe(users, { status: 429, headers: Headers.fromInput(slowMode), isForAll: true }, 0);
  expect(wait(channel("2"), 0)).toBe(21_600_000);
});

it.each([
  [true, { "x-ratelimit-scope": "global" }, '{"message":"…","retry_after":1,"global":true}'],
  [true, { "x-ratelimit-global": "true" }, ""],
  [true, {}, '{"message":"…","retry_after":1,"global":true}'],
  [true, {}, "error code: 1015"],
  [true, {}, ""],
  [false, {}, '{"message":"…","retry_after":21600,"code":20016}'],
  [false, {}, '{"message":"…","retry_after":3,"global":false,"code":30046}'],
  [false, { "x-ratelimit-scope": "user" }, ""],
  [false, { "x-ratelimit-bucket": "abcd" }, ""],
])("it is %s that a 429 with %o and the body %s is for all", (expected, headers, body) => {
  expect(isGlobal(Headers.fromInput(headers), body)).toBe(expected);
});

it("requests without an account stop before Discord would block the IP address", () => {
  const { limits, wait, observe } = setUp();
  observe(users, 0, {});
  for (let count = 0; count < 6_000; count++) {
    observe(users, 0, { ...budget(3, 0), "retry-after": "0.001", "x-ratelimit-scope": "shared" }, 429);
  }
  observe(users, 0, {});
  expect(wait(users, 1_000)).toBe(0);

  for (let count = 0; count < 5_000; count++)
    limits.observe(users, { ...refused, isForAll: false }, 1_000, true);
  expect(wait(users, 1_000)).toBe(0);

  for (let count = 0; count < 5_000; count++) observe(users, 1_000, {}, 403);
  expect(wait(users, 2_000)).toBe(599_000);
  expect(limits.take(users, 2_000, { account: "ada", isCharged: true, isBackground: false })).toBeNull();
  expect(wait(members, 601_000)).toBe(0);
});

it("a refused token stops all requests for a minute", () => {
  const { limits, observe } = setUp();
  observe(users, 0, {}, 401);
  expect(limits.take(members, 59_000)).toEqual({ status: 401, wait: Duration.seconds(1) });
  expect(limits.take(members, 60_000)).toBeNull();
});
