import { KeyAuthenticator, RequestLimits } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { Idempotency } from "@accountlink/core/idempotency";
import type { SessionEvent } from "@accountlink/core/sessions";
import { UsageMeter } from "@accountlink/core/usage";
import { defineRoute, EnvelopeV1, EnvelopeV2, SessionEvents } from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema, Stream } from "effect";
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
