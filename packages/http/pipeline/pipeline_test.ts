import { type ApiKey, KeyAuthenticator, KeyId, LinkNotFound, Pid, RequestLimits } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { RateLimited } from "@accountlink/core/errors";
import { Idempotency } from "@accountlink/core/idempotency";
import type { SessionEvent } from "@accountlink/core/sessions";
import { UsageMeter } from "@accountlink/core/usage";
import { defineRoute, EnvelopeV1, EnvelopeV2, LookupsV2, SessionEvents } from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect";
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
  Layer.mock(RequestLimits)({}),
  Layer.mock(SecurityLog)({ noteUse: () => Effect.void, noteRefusal: () => Effect.void }),
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

describe("a dated contract", () => {
  const count =
    (envelope: Envelope) =>
    ({ context }: { readonly context: RequestContext }) =>
      Effect.succeed(envelope.success({ ...context, contract: older }, { data: { count: 1 } }));
  const event = { event: "session", session: { change: 1 } } as SessionEvent;
  const streamed = ({ context }: { readonly context: RequestContext }) =>
    Effect.succeed(eventStream({ ...context, contract: older }, Stream.make(event), () => 1));

  it.effect("a dated contract transforms v2 responses but not v1 responses", () =>
    Effect.gen(function* () {
      const { keyless } = yield* makePipeline;
      assert.deepStrictEqual(
        data(yield* bodyOf(keyless({ ...countV2, success: SessionEvents }, count(envelopeV2)))),
        { "old countV2": { count: 1 } },
      );
      assert.deepStrictEqual(
        data(yield* bodyOf(keyless({ ...countV1, success: SessionEvents }, count(envelopeV1(countV1))))),
        { count: 1 },
      );
    }).pipe(Effect.provide(services)),
  );

  it.effect("a dated contract transforms v2 events but not v1 events", () =>
    Effect.gen(function* () {
      const { keyless } = yield* makePipeline;
      const v2 = keyless({ ...countV2, success: SessionEvents }, streamed);
      assert.include(yield* bodyOf(v2), 'data: {"old countV2":1}\n');
      const v1 = keyless({ ...countV1, success: SessionEvents }, streamed);
      assert.include(yield* bodyOf(v1), "data: 1\n");
    }).pipe(Effect.provide(services)),
  );
});

describe("a handler", () => {
  it.effect("a handler returns the data that its route declares", () =>
    Effect.gen(function* () {
      const { keyless } = yield* makePipeline;
      // @ts-expect-error the handler returns a string, but the route declares a number
      const bound = keyless(countV2, () => Effect.succeed({ data: { count: "1" } }));
      assert.deepStrictEqual(data(yield* bodyOf(bound)), { count: "1" });
    }).pipe(Effect.provide(services)),
  );
});

describe("a lookup", () => {
  const report = { window: null, day: null, addressDay: null };
  const refusal = new RateLimited({ bucket: "second", limit: 1, resetsAt: 2_000, retryAfter: 1 });

  /**
   * Returns a function that sends one lookup. The result is the status, whether the record was read before the limits
   * were counted, and the number of reads.
   */
  const makeLookups = Effect.fnUntraced(function* () {
    const key: ApiKey = {
      id: KeyId.make("Aa0Bb1Cc2Dd3"),
      name: "bot",
      scope: { kind: "global", pid: Pid.make("pid_0123456789abcdef"), account: "acme" },
      tier: "free",
      kind: "normal",
      access: "full",
      status: "active",
      suspended: false,
      expiresAt: null,
      limits: {},
      allowIps: [],
      denyIps: [],
      redirectOrigins: [],
      createdAt: 0,
    };
    const quota = { perWindow: 1, windowMs: 1_000, daily: null, verifyDaily: null };
    let counted = yield* Deferred.make<RateLimited | null>();
    let reads = 0;
    const { lookup } = yield* makePipeline.pipe(
      Effect.provide(
        Layer.merge(
          Layer.mock(KeyAuthenticator)({ authenticate: () => Effect.succeed({ key, quota, endsAt: null }) }),
          Layer.mock(RequestLimits)({
            admit: () => Effect.map(Deferred.await(counted), (refused) => ({ report, refusal: refused })),
          }),
        ),
      ),
    );
    const { answer } = lookup(LookupsV2.getChat, () =>
      Effect.suspend(() => {
        reads++;
        return Effect.fail(new LinkNotFound());
      }),
    );
    return Effect.fnUntraced(function* (refused: RateLimited | null, query = {}) {
      counted = yield* Deferred.make<RateLimited | null>();
      const before = reads;
      const headers = { authorization: "Bearer alk_key", "service-version": "2026-01-01" };
      const request = new WebRequest(new Request("http://localhost/v2/chat", { headers }), undefined);
      const fiber = yield* Effect.forkChild(answer(request, { chatId: "100001", ...query }), {
        startImmediately: true,
      });
      const isAhead = reads > before;
      yield* Deferred.succeed(counted, refused);
      const { status } = yield* Fiber.join(fiber);
      return [status, isAhead, reads - before] as const;
    });
  });

  it.effect(
    "a lookup reads the store while its limits are still being counted, unless the previous lookup was refused",
    () =>
      Effect.gen(function* () {
        const send = yield* makeLookups();
        assert.deepStrictEqual(yield* send(null), [404, true, 1]);
        assert.deepStrictEqual(yield* send(refusal), [429, true, 1]);
        assert.deepStrictEqual(yield* send(refusal), [429, false, 0]);
        assert.deepStrictEqual(yield* send(null), [404, false, 1]);
        assert.deepStrictEqual(yield* send(null), [404, true, 1]);
      }).pipe(Effect.provide(services)),
  );

  it.effect("a lookup calls platforms only after its limits admitted it", () =>
    Effect.gen(function* () {
      const send = yield* makeLookups();
      assert.deepStrictEqual(yield* send(refusal, { guildId: "500001" }), [429, false, 0]);
      assert.deepStrictEqual(yield* send(null), [404, false, 1]);
      assert.deepStrictEqual(yield* send(null, { guildId: "500001" }), [404, false, 1]);
      assert.deepStrictEqual(yield* send(refusal, { resolved: "true" }), [429, false, 0]);
    }).pipe(Effect.provide(services)),
  );
});
