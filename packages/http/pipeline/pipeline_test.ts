import { type ApiKey, KeyAuthenticator, RequestLimits } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { RateLimited, StoreUnavailable } from "@accountlink/core/errors";
import { Idempotency } from "@accountlink/core/idempotency";
import { PlatformRefusals } from "@accountlink/core/platforms";
import type { SessionEvent } from "@accountlink/core/sessions";
import { RequestPlaces } from "@accountlink/core/turns";
import { UsageMeter } from "@accountlink/core/usage";
import { defineRoute, EnvelopeV1, EnvelopeV2, SessionEvents } from "@accountlink/http-api";
import { assert, testWith } from "@accountlink/test-servers/effect";
import { Effect, Fiber, identity, Latch, Layer, Logger, Schema, Stream } from "effect";
import { TestClock } from "effect/testing";
import type { Envelope } from "../envelopes/envelope.ts";
import { envelopeV1 } from "../envelopes/envelope_v1.ts";
import { envelopeV2 } from "../envelopes/envelope_v2.ts";
import { isStream } from "../http_app.ts";
import type { RequestContext } from "../request_context.ts";
import type { DatedContract } from "../service_versions/service_version.ts";
import { eventStream } from "../sessions/event_stream.ts";
import { HttpSettings } from "../settings.ts";
import { WebRequest } from "../web/web_request.ts";
import { type BoundRoute, makePipeline } from "./pipeline.ts";

const services = Layer.mergeAll(
  Layer.succeed(HttpSettings, { publicUrl: "http://localhost", trustedProxies: [] }),
  Layer.mock(KeyAuthenticator)({ checkThrottle: () => Effect.void }),
  Layer.mock(RequestLimits)({ admitBeside: null }),
  Layer.mock(PlatformRefusals)({ chargeTo: () => identity }),
  RequestPlaces.layer,
  Layer.mock(SecurityLog)({
    noteUse: () => Effect.void,
    noteRefusal: () => Effect.void,
    logKeyless: () => Effect.void,
  }),
  Layer.mock(UsageMeter)({ count: () => {} }),
  Layer.mock(Idempotency)({}),
);

const keyless = { access: "none", group: null, parameters: {}, errors: [] } as const;
const shared = { ...keyless, method: "GET", source: "query", summary: "" } as const;
const Counted = Schema.Struct({ count: Schema.Int });
const ofV2 = { ...shared, id: "countV2", generation: "v2", path: "/v2/count" } as const;
const ofV1 = { ...shared, id: "countV1", generation: "v1", path: "/api/v1/count" } as const;
const countV2 = defineRoute({ ...ofV2, success: EnvelopeV2.success(Counted) });
const countV1 = defineRoute({ ...ofV1, success: EnvelopeV1.success(Counted) });

/** An older dated contract. It puts the data of a response into a field that is named after the route. */
const older: DatedContract = {
  date: "2026-01-01",
  response: (routeId, data) => ({ [`old ${routeId}`]: data }),
};

const bodyOf = ({ path, answer }: BoundRoute) =>
  Effect.gen(function* () {
    const { body } = yield* answer(new WebRequest(new Request(`http://localhost${path}`), undefined), {});
    if (!isStream(body)) return String(body);
    return yield* Stream.mkString(Stream.decodeText(body.chunks));
  });

const data = (body: string): unknown => (JSON.parse(body) as { readonly data: unknown }).data;

const test = testWith(services);

const count =
  (envelope: Envelope) =>
  ({ context }: { readonly context: RequestContext }) =>
    Effect.succeed(envelope.success({ ...context, contract: older }, { data: { count: 1 } }));
const event = { event: "session", session: { change: 1 } } as SessionEvent;
const streamed = ({ context }: { readonly context: RequestContext }) =>
  Effect.succeed(eventStream({ ...context, contract: older }, Stream.make(event), () => 1));

test("a dated contract transforms v2 responses and events, but none of v1", function* () {
  const { keyless: bind } = yield* makePipeline;
  const [v2, v1] = [
    { ...countV2, success: SessionEvents },
    { ...countV1, success: SessionEvents },
  ];
  assert.deepStrictEqual(data(yield* bodyOf(bind(v2, count(envelopeV2)))), { "old countV2": { count: 1 } });
  assert.deepStrictEqual(data(yield* bodyOf(bind(v1, count(envelopeV1(countV1))))), { count: 1 });
  assert.include(yield* bodyOf(bind(v2, streamed)), 'data: {"old countV2":1}\n');
  assert.include(yield* bodyOf(bind(v1, streamed)), "data: 1\n");
});

test("the log of an outage has one error a minute for each cause of an operation", function* () {
  const { keyless: bind } = yield* makePipeline;
  const failures: Array<unknown> = [];
  const log = Logger.make(({ message, logLevel }) => {
    if (logLevel === "Error") failures.push(message);
  });
  const failed = (operation: string, cause: string) => {
    const error = new StoreUnavailable({ operation, cause: new Error(cause) });
    return Effect.provide(bodyOf(bind(countV2, () => Effect.fail(error))), Logger.layer([log]));
  };
  const failuresAfter = Effect.fnUntraced(function* (operation: string, cause = "refused") {
    for (let request = 0; request < 3; request++) {
      yield* failed(operation, cause);
      yield* TestClock.adjust("5 seconds");
    }
    return failures.length;
  });
  assert.strictEqual(yield* failuresAfter("find"), 1);
  assert.strictEqual(yield* failuresAfter("put"), 2);
  assert.strictEqual(yield* failuresAfter("find", "read-only"), 3);
  yield* TestClock.adjust("15 seconds");
  assert.strictEqual(yield* failuresAfter("find"), 4);
});

test("a handler returns the data that its route declares", function* () {
  const { keyless: bind } = yield* makePipeline;
  // @ts-expect-error the handler returns a string, but the route declares a number
  const bound = bind(countV2, () => Effect.succeed({ data: { count: "1" } }));
  assert.deepStrictEqual(data(yield* bodyOf(bound)), { count: "1" });
});

const lookup = defineRoute({
  ...shared,
  access: "key",
  group: "lookup",
  id: "lookUp",
  generation: "v2",
  path: "/v2/lookup",
  success: EnvelopeV2.success(Counted),
});

/** Counters of another process, which answer when the latch opens. */
const countingWith = (latch: Latch.Latch, refusal: RateLimited | null) => {
  const window = { bucket: "second", limit: 9, remaining: 8, resetsAt: 0 } as const;
  const counting = Effect.as(latch.await, { report: { window, day: null, addressDay: null }, refusal });
  return Layer.mock(RequestLimits)({ admitBeside: () => Effect.succeed(counting) });
};

const key = {
  id: "key",
  kind: "normal",
  access: "full",
  tier: "premium",
  scope: { kind: "global", pid: "pid", account: "acme" },
  allowIps: [],
  denyIps: [],
} as unknown as ApiKey;

const presenting = Layer.mock(KeyAuthenticator)({
  authenticate: () =>
    Effect.succeed({
      key,
      endsAt: null,
      quota: { perWindow: 9, windowMs: 1, daily: null, verifyDaily: null },
    }),
});

test("a lookup runs while it is counted, and the count decides first", function* () {
  const refused = new RateLimited({ bucket: "second", limit: 9, resetsAt: 0, retryAfter: 1 });
  for (const refusal of [null, refused]) {
    const [latch, begun] = [yield* Latch.make(), yield* Latch.make()];
    const answer = Effect.gen(function* () {
      const { keyed } = yield* makePipeline;
      const bound = keyed(lookup, () => Effect.as(begun.open, { data: { count: 1 } }));
      return yield* bound.answer(new WebRequest(new Request("http://localhost/v2/lookup"), undefined), {});
    }).pipe(Effect.provide(Layer.mergeAll(services, countingWith(latch, refusal), presenting)));
    const fiber = yield* Effect.forkChild(answer, { startImmediately: true });
    yield* begun.await;
    yield* latch.open;
    const { status, headers } = yield* Fiber.join(fiber);
    assert.deepStrictEqual([status, headers["x-ratelimit-remaining"]], [refusal === null ? 200 : 429, "8"]);
  }
});
