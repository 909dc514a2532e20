import { shownError } from "@accountlink/core/errors";
import { PlatformRefusals, Urgency } from "@accountlink/core/platforms";
import { TurnAccount } from "@accountlink/core/turns";
import { CacheMemory } from "@accountlink/memory";
import { expect, test } from "@accountlink/test-servers/effect";
import { MemoryWorld } from "@accountlink/testing";
import { Clock, Effect, Exit, Fiber, Layer, Logger, Metric, References, Result } from "effect";
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http";
import { TestClock } from "effect/testing";
import { platformCircuit, platformRequests } from "./metrics.ts";
import { asUnavailable } from "./request_failed.ts";
import type { Resilience } from "./resilience.ts";
import { type ResilientClient, resilientClient } from "./resilient_client.ts";

type Step = { readonly status: number; readonly headers?: Record<string, string> } | "break" | "hang";

const url = "http://platform.test/users/1";

/** Makes a client of a platform that answers each request with the next step, and finally repeats the last step. */
const clientOf = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>, overrides?: Partial<Resilience>) {
  const sentAt: Array<number> = [];
  const platform = HttpClient.make((request) =>
    Effect.gen(function* () {
      const step = steps[Math.min(sentAt.length, steps.length - 1)];
      sentAt.push(yield* Clock.currentTimeMillis);
      if (step === "hang" || step === undefined) return yield* Effect.never;
      if (step === "break") {
        const reason = new HttpClientError.TransportError({ request, cause: new Error(`${url} refused`) });
        return yield* new HttpClientError.HttpClientError({ reason });
      }
      return HttpClientResponse.fromWeb(request, new Response(step.status === 204 ? null : "{}", step));
    }),
  );
  // As the client of a platform with a host for each service does.
  const withScheme = HttpClientRequest.updateUrl((given) => given.replace(/^(?=users\.)/, "https://"));
  const mapped = HttpClient.mapRequest(platform, withScheme);
  const client = yield* resilientClient(mapped, "test", overrides);
  return { client, sentAt };
});

const ask = (client: ResilientClient) =>
  Effect.match(client.get(url), { onSuccess: ({ status }) => status, onFailure: ({ reason }) => reason });

/** Runs the effect while the test clock advances, and returns its result. */
const timeless = Effect.fnUntraced(function* <A>(effect: Effect.Effect<A>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true });
  for (let waited = 0; waited < 5_000 && fiber.pollUnsafe() === undefined; waited += 50) {
    yield* TestClock.adjust(50);
  }
  return yield* Fiber.join(fiber);
});

const repeat = (step: Step, times: number): Array<Step> => Array.from({ length: times }, () => step);

test.each<Step>(["break", { status: 429 }, { status: 502 }, { status: 503 }, { status: 504 }, "hang"])(
  "a request is retried at most twice after %o",
  function* (step) {
    const passing = yield* clientOf([step, step, { status: 200 }]);
    expect(yield* timeless(ask(passing.client))).toBe(200);

    const lasting = yield* clientOf([step]);
    expect(Result.isFailure(yield* timeless(Effect.result(lasting.client.get(url))))).toBe(true);
    expect(lasting.sentAt).toHaveLength(3);
  },
);

test.each([200, 204, 301, 400, 401, 404])("a response with status %i is returned", function* (status) {
  const { client, sentAt } = yield* clientOf([{ status: 503 }, { status }]);
  expect(yield* timeless(ask(client))).toBe(status);
  expect(sentAt).toHaveLength(2);
});

test("a request whose response has status 500 fails without a retry", function* () {
  const { client, sentAt } = yield* clientOf([{ status: 500 }]);
  const result = yield* timeless(Effect.result(client.get(url)));
  expect(Result.getFailure(result)).toMatchObject({ value: { reason: "status", status: 500 } });
  expect(sentAt).toHaveLength(1);
});

test.each<["post" | "put" | "patch" | "del", sent: number]>([
  ["post", 1],
  ["put", 3],
  ["patch", 3],
  ["del", 3],
])("a failing %s is sent %i times", function* ([method, sent]) {
  const { client, sentAt } = yield* clientOf(["break"]);
  expect(Result.isFailure(yield* timeless(Effect.result(client[method](url))))).toBe(true);
  expect(sentAt).toHaveLength(sent);
});

test("each retry doubles the pause, which is cut at random by up to a half", function* () {
  const { client, sentAt } = yield* clientOf(["break"]);
  const fiber = yield* Effect.forkChild(Effect.exit(client.get(url)), { startImmediately: true });
  for (let millis = 0; millis < 300; millis++) yield* TestClock.adjust(1);
  yield* Fiber.join(fiber);
  const [first = 0, second = 0, third = 0] = sentAt;
  expect(second - first).toBeGreaterThanOrEqual(50);
  expect(second - first).toBeLessThanOrEqual(101);
  expect(third - second).toBeGreaterThanOrEqual(100);
  expect(third - second).toBeLessThanOrEqual(201);
});

test("the pause after a 429 without a time begins at a second", function* () {
  const { client, sentAt } = yield* clientOf([{ status: 429 }]);
  yield* timeless(Effect.result(client.get(url)));
  const [first = 0, second = 0, third = 0] = sentAt;
  expect(second - first).toBeGreaterThanOrEqual(1_000);
  expect(second - first).toBeLessThan(1_100);
  expect(third - second).toBeGreaterThanOrEqual(2_000);
  expect(third - second).toBeLessThan(2_200);
});

test.each<[headers: Record<string, string>, waited: number]>([
  [{ "x-ratelimit-reset": "3" }, 3_000],
  [{ "x-ratelimit-reset": "3", "retry-after": "2" }, 2_000],
  // Discord's reset is a time, in seconds since 1970.
  [{ "x-ratelimit-reset": "1470173023.123" }, 1_000],
  [{ "x-ratelimit-reset": "soon" }, 1_000],
])("after a 429 with %o, the request is sent again after %i ms", function* ([headers, waited]) {
  const { client, sentAt } = yield* clientOf([{ status: 429, headers }, { status: 200 }]);
  expect(yield* timeless(ask(client))).toBe(200);
  expect(sentAt[1]).toBeGreaterThanOrEqual(waited);
  expect(sentAt[1]).toBeLessThan(waited + 200);
});

test.each<[header: string, sent: number]>([
  ["2", 2],
  ["4", 1],
  ["Thu, 01 Jan 1970 00:00:02 GMT", 2],
  ["Thu, 01 Jan 1970 00:01:00 GMT", 1],
  ["soon", 2],
])(
  'a request is retried after a Retry-After of "%s" only if that ends before the deadline',
  function* ([header, sent]) {
    const { client, sentAt } = yield* clientOf([
      { status: 429, headers: { "retry-after": header } },
      { status: 200 },
    ]);
    expect(yield* timeless(ask(client))).toBe(sent === 2 ? 200 : "status");
    expect(sentAt).toHaveLength(sent);
    if (sent === 2 && header !== "soon") expect(sentAt[1]).toBeGreaterThanOrEqual(2_000);
  },
);

test("an attempt times out after 1.5 s, and a request after 4 s", function* () {
  const { client, sentAt } = yield* clientOf(["hang"]);
  const fiber = yield* Effect.forkChild(Effect.flip(client.get(url)), { startImmediately: true });
  yield* TestClock.adjust(3_999);
  expect(fiber.pollUnsafe()).toBeUndefined();
  yield* TestClock.adjust(1);
  expect(yield* Fiber.join(fiber)).toMatchObject({ reason: "timeout" });
  expect(sentAt).toHaveLength(3);
  expect(sentAt[1]).toBeGreaterThan(1_500);
});

test("a request is aborted when its caller is interrupted", function* () {
  let stopped = 0;
  const platform = HttpClient.make(() =>
    Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++)),
  );
  const client = yield* resilientClient(platform, "test", { failuresToOpen: 1 });
  const fiber = yield* Effect.forkChild(client.get(url), { startImmediately: true });
  yield* Fiber.interrupt(fiber);
  expect(stopped).toBe(1);
});

test("concurrency is limited, and requests that wait until the deadline fail", function* () {
  const { client, sentAt } = yield* clientOf(["hang"], { concurrency: 3, retries: 0, failuresToOpen: 1_000 });
  const fibers = yield* Effect.forEach(Array.from({ length: 20 }), () =>
    Effect.forkChild(Effect.flip(client.get(url)), { startImmediately: true }),
  );
  expect(sentAt).toHaveLength(3);
  yield* TestClock.adjust("4 seconds");
  const reasons = (yield* Fiber.joinAll(fibers)).map(({ reason }) => reason);
  // Three attempts run at a time, and each times out after 1.5 s. So 9 attempts start before the deadline of 4 s.
  expect(reasons.filter((reason) => reason === "timeout")).toHaveLength(9);
  expect(reasons.filter((reason) => reason === "busy")).toHaveLength(11);
  expect(sentAt).toHaveLength(9);
});

test("every attempt frees its place under the concurrency limit, whatever its outcome", function* () {
  const steps = [...repeat("break", 3), ...repeat({ status: 500 }, 3), "hang" as const, { status: 200 }];
  const { client } = yield* clientOf(steps, { concurrency: 1, retries: 0, failuresToOpen: 1_000 });
  for (let asked = 0; asked < 7; asked++) yield* timeless(Effect.result(client.get(url)));
  expect(yield* timeless(ask(client))).toBe(200);
});

const settings = { retries: 0 };

test("the circuit opens for 2 s after 5 consecutive failures", function* () {
  const { client, sentAt } = yield* clientOf([...repeat({ status: 503 }, 5), { status: 200 }], settings);
  for (let asked = 0; asked < 5; asked++) expect(yield* ask(client)).toBe("status");
  expect(yield* ask(client)).toBe("circuit_open");
  yield* TestClock.adjust(1_999);
  expect(yield* ask(client)).toBe("circuit_open");
  expect(sentAt).toHaveLength(5);
  yield* TestClock.adjust(1);
  expect(yield* ask(client)).toBe(200);
  expect(yield* ask(client)).toBe(200);
});

test("the circuit reopens when the probe fails, and lets one probe through at a time", function* () {
  const steps = [...repeat("break", 5), "hang" as const, { status: 200 }];
  const { client, sentAt } = yield* clientOf(steps, settings);
  for (let asked = 0; asked < 5; asked++) yield* ask(client);
  yield* TestClock.adjust("2 seconds");
  const probe = yield* Effect.forkChild(Effect.flip(client.get(url)), { startImmediately: true });
  expect(yield* ask(client)).toBe("circuit_open");
  yield* TestClock.adjust("1500 millis");
  expect(yield* Fiber.join(probe)).toMatchObject({ reason: "timeout" });
  expect(yield* ask(client)).toBe("circuit_open");
  expect(sentAt).toHaveLength(6);
  yield* TestClock.adjust("2 seconds");
  expect(yield* ask(client)).toBe(200);
});

test("an outage is logged at its beginning, with its cause, and at its end", () => {
  const lines: Array<string> = [];
  const logger = Logger.make(({ message }) => void lines.push(String(message)));
  return Effect.gen(function* () {
    const { client } = yield* clientOf([...repeat({ status: 503 }, 7), { status: 200 }], settings);
    for (let asked = 0; asked < 5; asked++) yield* ask(client);
    for (let probed = 0; probed < 3; probed++) {
      yield* TestClock.adjust("2 seconds");
      yield* ask(client);
    }
    expect(lines).toEqual([
      'Cannot ask the platform: the status is "503"',
      'The platform is not asked for now, since requests failed. Cannot ask the platform: the status is "503"',
      "The platform is asked again: it answers",
    ]);
  }).pipe(Effect.provide(Logger.layer([logger])));
});

test.each<[step: Step, message: string]>([
  ["hang", "Cannot ask the platform: it did not answer in time"],
  ["break", "Cannot ask the platform: the connection failed"],
  [{ status: 503 }, 'Cannot ask the platform: the status is "503"'],
])("under a light load, %o is logged with its route, once in ten minutes", ([step, message]) => {
  const lines: Array<unknown> = [];
  const logger = Logger.make(({ message: text, fiber }) => {
    lines.push([String(text), fiber.getRef(References.CurrentLogAnnotations)]);
  });
  return Effect.gen(function* () {
    const { client } = yield* clientOf([step], { retries: 0 });
    const secret = "aW50ZXJhY3Rpb246MTIz";
    const request = Effect.exit(
      client.post(`https://ada:pw@platform.test/v9/webhooks/17/${secret}?key=${secret}`),
    );
    yield* timeless(request);
    yield* timeless(request);
    const route = "POST /v9/webhooks/:id/:id";
    const line = [message, { platform: "test", route }];
    expect(lines).toEqual([line]);
    yield* TestClock.adjust("10 minutes");
    yield* timeless(Effect.exit(client.get("users.platform.test/v1/users/17")));
    expect(lines).toEqual([
      line,
      [message, { platform: "test", route: "GET users.platform.test/v1/users/:id" }],
    ]);
  }).pipe(Effect.provideService(TurnAccount, "ada"), Effect.provide(Logger.layer([logger])));
});

test("a request is not sent again after its failures have opened the circuit", function* () {
  const { client, sentAt } = yield* clientOf(["break"], { failuresToOpen: 2 });
  expect(yield* timeless(ask(client))).toBe("circuit_open");
  expect(sentAt).toHaveLength(2);
});

test.each([404, 401, 429])("the circuit does not open for status %i", function* (status) {
  const { client, sentAt } = yield* clientOf([{ status }], settings);
  for (let asked = 0; asked < 20; asked++) yield* ask(client);
  expect(sentAt).toHaveLength(20);
});

test("a response resets the count of consecutive failures", function* () {
  const round: ReadonlyArray<Step> = [...repeat("break", 4), { status: 404 }];
  const { client, sentAt } = yield* clientOf([...round, ...round, ...round], settings);
  for (let asked = 0; asked < 15; asked++) yield* ask(client);
  expect(sentAt).toHaveLength(15);
});

test("metrics count the outcomes of requests, and show the state of the circuit breaker", () =>
  Effect.gen(function* () {
    const platform = "test";
    const counted = (outcome: string) =>
      Effect.map(
        Metric.value(Metric.withAttributes(platformRequests, { platform, outcome })),
        ({ count }) => count,
      );
    const circuit = Effect.map(
      Metric.value(Metric.withAttributes(platformCircuit, { platform })),
      ({ value }) => value,
    );

    const { client } = yield* clientOf(["break", { status: 503 }, { status: 200 }], {
      retries: 0,
      failuresToOpen: 2,
    });
    expect(yield* circuit).toBe(0);
    for (let asked = 0; asked < 3; asked++) yield* ask(client);
    expect(yield* circuit).toBe(2);
    yield* TestClock.adjust("2 seconds");
    yield* ask(client);
    expect(yield* circuit).toBe(0);
    const seen = yield* Effect.all([
      counted("connection"),
      counted("status"),
      counted("circuit_open"),
      counted("answered"),
    ]);
    expect(seen).toEqual([1, 1, 1, 1]);
  }).pipe(Effect.provideService(Metric.MetricRegistry, new Map())));

const charged = Effect.provide(
  Effect.gen(function* () {
    const { chargeTo } = yield* PlatformRefusals;
    return { ofAda: chargeTo("ada"), ofBob: chargeTo("bob"), ofCleo: chargeTo("cleo") };
  }),
  PlatformRefusals.layer.pipe(Layer.provide([CacheMemory.layer, MemoryWorld.secrets])),
);

test.each([401, 403, 404, 429])(
  "an account that caused 200 responses with status %i asks no more",
  function* (status) {
    const { client, sentAt } = yield* clientOf([...repeat({ status }, 200), { status: 200 }], settings);
    const { ofAda, ofBob } = yield* charged;
    for (let asked = 0; asked < 200; asked++) yield* ofAda(ask(client));
    const refused = yield* ofAda(Effect.flip(asUnavailable("Test")(client.get(url))));
    expect(shownError(refused)).toMatchObject({
      code: "RATE_LIMITED",
      details: { bucket: "platform_refusals" },
    });
    expect(refused.retryAfterMs).toBe(600_000);
    expect(sentAt).toHaveLength(200);
    expect(yield* ofBob(ask(client))).toBe(200);
    expect(yield* ask(client)).toBe(200);
    yield* TestClock.adjust("10 minutes");
    expect(yield* ofAda(ask(client))).toBe(200);
  },
);

test("sweeps and changes leave three of four slots to requests that somebody waits for", function* () {
  const { client, sentAt } = yield* clientOf(["hang"], { concurrency: 8 });
  const asking = (urgency: "background" | "change") =>
    Effect.forkChild(Effect.provideService(ask(client), Urgency, urgency), { startImmediately: true });
  for (let asked = 0; asked < 10; asked++) yield* asking(asked % 2 === 0 ? "background" : "change");
  expect(sentAt).toHaveLength(2);
  for (let asked = 0; asked < 10; asked++) yield* Effect.forkChild(ask(client), { startImmediately: true });
  expect(sentAt).toHaveLength(6);
  const { ofAda } = yield* charged;
  for (let asked = 0; asked < 10; asked++) {
    yield* Effect.forkChild(ofAda(ask(client)), { startImmediately: true });
  }
  expect(sentAt).toHaveLength(8);
});

test("an account alone has three of four places, and a quarter of them while others wait", function* () {
  const { client, sentAt } = yield* clientOf(["hang"], { ...settings, concurrency: 8 });
  const { ofAda, ofBob } = yield* charged;
  const ask10 = (ofAccount: typeof ofAda) =>
    Effect.forEach(Array.from({ length: 10 }), () =>
      Effect.forkChild(ofAccount(Effect.flip(client.get(url))), { startImmediately: true }),
    );
  const asked = yield* ask10(ofAda);
  expect(sentAt).toHaveLength(6);
  yield* ask10(ofBob);
  expect(sentAt).toHaveLength(8);
  yield* Fiber.interruptAll(asked.slice(0, 6));
  yield* Effect.yieldNow;
  const { ofCleo } = yield* charged;
  yield* ask10(ofCleo);
  // Two each, and no more, since all of them wait.
  expect(sentAt.length - 6).toBeLessThanOrEqual(8);
  expect(sentAt.length - 6).toBeGreaterThanOrEqual(6);
});

test("requests of an account beyond those that may wait are refused, and none of others", function* () {
  const { client } = yield* clientOf(["hang"], { ...settings, concurrency: 4 });
  const { ofAda, ofBob } = yield* charged;
  const start = (ofAccount: typeof ofAda) =>
    Effect.forkChild(ofAccount(ask(client)), { startImmediately: true });
  for (let asked = 0; asked < 19; asked++) yield* start(ofAda);
  expect(yield* ofAda(ask(client))).toBe("busy");
  const other = yield* Effect.forEach([1, 2, 3], () => start(ofBob));
  expect(other.map((fiber) => fiber.pollUnsafe())).toEqual([undefined, undefined, undefined]);
});

test("failures of one account alone open the circuit for no other account", function* () {
  const { client, sentAt } = yield* clientOf([...repeat("break", 12), { status: 200 }], settings);
  const { ofAda, ofBob } = yield* charged;
  for (let asked = 0; asked < 12; asked++) yield* ofAda(ask(client));
  expect(sentAt).toHaveLength(5);
  expect(yield* ofAda(ask(client))).toBe("circuit_open");
  expect(yield* ofBob(ask(client))).toBe("connection");
  expect(yield* ask(client)).toBe("connection");
});

test("failures of several accounts open the circuit for all", function* () {
  const { client, sentAt } = yield* clientOf(["break"], settings);
  const { ofAda, ofBob } = yield* charged;
  for (let asked = 0; asked < 4; asked++) yield* ofAda(ask(client));
  for (let asked = 0; asked < 2; asked++) yield* ofBob(ask(client));
  expect(sentAt).toHaveLength(6);
  for (const asking of [ofAda, ofBob, (asked: Effect.Effect<unknown>) => asked]) {
    expect(yield* asking(ask(client))).toBe("circuit_open");
  }
});

test("an account is charged for no other response", function* () {
  const { client, sentAt } = yield* clientOf([{ status: 200 }, { status: 400 }, { status: 409 }], settings);
  const { ofAda } = yield* charged;
  for (let asked = 0; asked < 300; asked++) yield* ofAda(ask(client));
  expect(sentAt).toHaveLength(300);
});

test("the error contains neither the URL nor the token", function* () {
  const { client } = yield* clientOf(["break"]);
  const request = HttpClientRequest.bearerToken(HttpClientRequest.get(url), "secret-token");
  const exit = yield* timeless(Effect.exit(client.execute(request)));
  const shown = `${JSON.stringify(exit)} ${String(Exit.findErrorOption(exit))}`;
  expect(shown).toContain("connection");
  expect(shown).not.toMatch(/secret-token|platform\.test/);
});

test("a request with an invalid URL is not sent", function* () {
  const { client, sentAt } = yield* clientOf([{ status: 200 }]);
  const result = yield* Effect.result(client.get("not an address"));
  expect(Result.getFailure(result)).toMatchObject({ value: { reason: "unsendable" } });
  expect(sentAt).toHaveLength(0);
});
