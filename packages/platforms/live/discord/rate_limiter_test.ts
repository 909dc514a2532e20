import { TurnAccount } from "@accountlink/core/turns";
import { expect, test } from "@accountlink/test-servers/effect";
import { Clock, Duration, Effect, Fiber } from "effect";
import { HttpClient, HttpClientResponse } from "effect/http";
import { TestClock } from "effect/testing";
import { resilientClient } from "../../http/mod.ts";
import { makeRateLimiter, observeRateLimits, RateLimits } from "./rate_limits.ts";
import { budget } from "./test_discord.ts";

const guild = "197038439483310086";
const member = (id: number) => `https://discord.test/api/v10/guilds/${guild}/members/${10_000 + id}`;

/**
 * Makes a client of a server that answers after 100 ms. The server refuses more than five requests per window, and
 * answers with a 502 during an outage.
 */
const setUp = Effect.fnUntraced(function* (windowMs: number, isOutage: (nth: number) => boolean) {
  const sent = { all: 0, refused: 0 };
  let window = { left: 5, resetsAt: 0 };
  const platform = HttpClient.make(
    Effect.fnUntraced(function* (request) {
      yield* Effect.sleep(50);
      const now = yield* Clock.currentTimeMillis;
      if (now >= window.resetsAt) window = { left: 5, resetsAt: now + windowMs };
      window.left--;
      sent.all++;
      const nth = sent.all;
      const isRefused = window.left < 0;
      if (isRefused) sent.refused++;
      const wait = (window.resetsAt - now) / 1_000;
      const headers = {
        ...budget(Math.max(0, window.left), wait),
        ...(isRefused ? { "retry-after": String(Math.ceil(wait)) } : {}),
      };
      yield* Effect.sleep(50);
      if (isOutage(nth)) return HttpClientResponse.fromWeb(request, new Response("", { status: 502 }));
      return HttpClientResponse.fromWeb(
        request,
        new Response("{}", { status: isRefused ? 429 : 200, headers }),
      );
    }),
  );
  const limits = new RateLimits();
  const client = yield* resilientClient(
    observeRateLimits(platform, limits),
    "test",
    {},
    yield* makeRateLimiter(limits),
  );
  return { client, sent };
});

/** Advances the test clock until the effect completes. */
const passTime = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true });
  while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust(Duration.millis(10));
  return yield* Fiber.join(fiber);
});

test("the rate limiter delays 50 requests so that Discord refuses none of them", function* () {
  const { client, sent } = yield* setUp(1_000, () => false);
  const urls = Array.from({ length: 50 }, (_, index) => member(index));
  const answers = yield* passTime(Effect.forEach(urls, (url) => client.get(url), { concurrency: 8 }));
  expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
  expect(sent).toEqual({ all: 50, refused: 0 });
});

test("a rate limit delays retries too", function* () {
  const { client, sent } = yield* setUp(1_000, (nth) => nth <= 4);
  const urls = Array.from({ length: 4 }, (_, index) => member(index));
  const answers = yield* passTime(
    Effect.forEach(urls, (url) => client.get(url), { concurrency: "unbounded" }),
  );
  expect(answers.map(({ status }) => status)).toEqual(urls.map(() => 200));
  expect(sent).toEqual({ all: 8, refused: 0 });
});

test("a request that would wait too long fails at once, and so do the requests queued behind it", function* () {
  const { client, sent } = yield* setUp(60_000, () => false);
  const urls = Array.from({ length: 5 }, (_, index) => member(index));
  yield* passTime(Effect.forEach(urls, (url) => client.get(url)));
  for (const url of [member(6), member(7)]) {
    expect(yield* Effect.flip(client.get(url))).toMatchObject({ reason: "status", status: 429 });
  }
  expect(sent).toEqual({ all: 5, refused: 0 });
});

test("accounts take turns at a limit", function* () {
  const { client } = yield* setUp(1_000, () => false);
  const answered: Array<string> = [];
  const ask = (account: string, id: number) =>
    client.get(member(id)).pipe(
      Effect.ignore,
      Effect.tap(() => Effect.sync(() => answered.push(account))),
      Effect.provideService(TurnAccount, account),
    );
  const many = Array.from({ length: 20 }, (_, id) => ask("ada", id));
  const few = [ask("bob", 30), ask("bob", 31)];
  yield* passTime(Effect.all([...many, ...few], { concurrency: "unbounded" }));
  expect(answered.indexOf("bob")).toBeLessThan(8);
});

test("a request that waits in the queue for too long fails", function* () {
  const { client, sent } = yield* setUp(2_000, () => false);
  const urls = Array.from({ length: 20 }, (_, index) => member(index));
  const results = yield* passTime(
    Effect.forEach(urls, (url) => Effect.result(client.get(url)), { concurrency: "unbounded" }),
  );
  const failures = results.flatMap((result) => (result._tag === "Failure" ? [result.failure.reason] : []));
  expect(failures).toEqual(Array.from({ length: 10 }, () => "busy"));
  expect(sent).toEqual({ all: 10, refused: 0 });
});
