import { KeyAuthenticator, RequestLimits } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { RateLimited } from "@accountlink/core/errors";
import { Idempotency } from "@accountlink/core/idempotency";
import type { SessionEvent } from "@accountlink/core/sessions";
import { UsageMeter } from "@accountlink/core/usage";
import { defineRoute, EnvelopeV1, EnvelopeV2, SessionEvents } from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect";
import { isStream } from "../http_response.ts";
import type { RequestContext } from "../request_context.ts";
import type { DatedContract } from "../service_versions/service_version.ts";
import { eventStream } from "../sessions/event_stream.ts";
import { HttpSettings } from "../settings.ts";
import { WebRequest } from "../web/web_request.ts";
import { type BoundRoute, makePipeline } from "./pipeline.ts";

const services = Layer.mergeAll(
  Layer.succeed(HttpSettings, { publicUrl: "http://localhost", trustedProxies: [] }),
  Layer.mock(KeyAuthenticator)({ checkThrottle: () => Effect.void }),
  Layer.mock(RequestLimits)({}),
  Layer.mock(SecurityLog)({}),
  Layer.mock(UsageMeter)({ count: () => {} }),
  Layer.mock(Idempotency)({}),
);

const shared = { method: "GET", parameters: {}, source: "query", summary: "", errors: [] } as const;
const Counted = Schema.Struct({ count: Schema.Int });
const countV2 = defineRoute({
  ...shared,
  id: "countV2",
  generation: "v2",
  path: "/v2/count",
  access: "none",
  group: null,
  success: EnvelopeV2.success(Counted),
});
const countV1 = defineRoute({
  ...shared,
  id: "countV1",
  generation: "v1",
  path: "/api/v1/count",
  access: "none",
  group: null,
  success: EnvelopeV1.success(Counted),
});

/** A contract with other names for the data of each route. */
const older: DatedContract = {
  date: "2026-01-01",
  response: (routeId, data) => ({ [`old ${routeId}`]: data }),
};

/** The body that a client gets. */
const bodyOf = ({ path, answer }: BoundRoute) =>
  Effect.gen(function* () {
    const { body } = yield* answer(new WebRequest(new Request(`http://localhost${path}`), undefined), {});
    if (!isStream(body)) return String(body);
    return yield* Stream.mkString(Stream.decodeText(body.chunks));
  });

const data = (body: string): unknown => (JSON.parse(body) as { readonly data: unknown }).data;

describe("a dated contract", () => {
  const count = ({ context }: { readonly context: RequestContext }) => {
    context.contract = older;
    return Effect.succeed({ data: { count: 1 } });
  };
  const event = { event: "session", session: { change: 1 } } as SessionEvent;
  const streamed = ({ context }: { readonly context: RequestContext }) => {
    context.contract = older;
    return Effect.succeed(eventStream(context, Stream.make(event), () => 1));
  };

  it.effect("shapes what v2 answers, and nothing of v1", () =>
    Effect.gen(function* () {
      const { open } = yield* makePipeline;
      assert.deepStrictEqual(data(yield* bodyOf(open(countV2, count))), { "old countV2": { count: 1 } });
      assert.deepStrictEqual(data(yield* bodyOf(open(countV1, count))), { count: 1 });
    }).pipe(Effect.provide(services)),
  );

  it.effect("shapes the events of v2, and not those of v1", () =>
    Effect.gen(function* () {
      const { open } = yield* makePipeline;
      const v2 = open({ ...countV2, success: SessionEvents }, streamed);
      assert.include(yield* bodyOf(v2), 'data: {"old countV2":1}\n');
      const v1 = open({ ...countV1, success: SessionEvents }, streamed);
      assert.include(yield* bodyOf(v1), "data: 1\n");
    }).pipe(Effect.provide(services)),
  );
});

describe("a speculative request", () => {
  const lookup = defineRoute({
    ...shared,
    id: "lookup",
    generation: "v2",
    path: "/v2/lookup",
    access: "key",
    group: "lookup",
    success: EnvelopeV2.success(Counted),
  });
  const own = { id: "id", access: "full", scope: { kind: "global" }, allowIps: [], denyIps: [] };
  const report = { window: null, day: null, addressDay: null };
  const refusal = new RateLimited({ bucket: "second", limit: 1, resetsAt: 0, retryAfter: 1 });

  /** Asks the route, while its limits are counted by hand. */
  const ask = (isSpeculative: boolean) =>
    Effect.gen(function* () {
      const [counted, begun] = [yield* Deferred.make<RateLimited | null>(), yield* Deferred.make<void>()];
      const limits = Layer.mock(RequestLimits)({
        admit: () => Effect.map(Deferred.await(counted), (refused) => ({ report, refusal: refused })),
      });
      const authenticated = { key: own as never, quota: {} as never, endsAt: null };
      const keys = Layer.mock(KeyAuthenticator)({ authenticate: () => Effect.succeed(authenticated) });
      const security = Layer.mock(SecurityLog)({
        noteUse: () => Effect.void,
        noteRefusal: () => Effect.void,
      });
      const { keyed } = yield* makePipeline.pipe(
        Effect.provide(Layer.mergeAll(services, limits, keys, security)),
      );
      const bound = keyed(
        lookup,
        () => Effect.as(Deferred.succeed(begun, undefined), { data: { count: 1 } }),
        { isSpeculative: () => isSpeculative },
      );
      const body = yield* Effect.forkChild(bodyOf(bound), { startImmediately: true });
      return { body, counted, begun };
    });

  it.effect("is answered while its limits are counted, and refused when they are full", () =>
    Effect.gen(function* () {
      const admitted = yield* ask(true);
      yield* Deferred.await(admitted.begun);
      assert.isUndefined(admitted.body.pollUnsafe());
      yield* Deferred.succeed(admitted.counted, null);
      assert.deepStrictEqual(data(yield* Fiber.join(admitted.body)), { count: 1 });

      const refused = yield* ask(true);
      yield* Deferred.await(refused.begun);
      yield* Deferred.succeed(refused.counted, refusal);
      assert.include(yield* Fiber.join(refused.body), "RATE_LIMITED");

      const other = yield* ask(false);
      yield* Deferred.succeed(other.counted, refusal);
      assert.include(yield* Fiber.join(other.body), "RATE_LIMITED");
      assert.isFalse(yield* Deferred.isDone(other.begun));
    }),
  );
});

describe("a handler", () => {
  it.effect("gives what its route says", () =>
    Effect.gen(function* () {
      const { open } = yield* makePipeline;
      // @ts-expect-error the route says that it is a number
      const bound = open(countV2, () => Effect.succeed({ data: { count: "1" } }));
      assert.deepStrictEqual(data(yield* bodyOf(bound)), { count: "1" });
    }).pipe(Effect.provide(services)),
  );
});
