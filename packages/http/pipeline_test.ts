import { KeyAuthenticator, RequestLimits, SecurityLog, type SessionEvent } from "@accountlink/core";
import { defineRoute, EnvelopeV1, EnvelopeV2, SessionEvents } from "@accountlink/http-api";
import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, Schema, Stream } from "effect";
import { HttpServerRequest, HttpServerResponse } from "effect/http";
import { eventStream } from "./event_stream.ts";
import type { Exchange } from "./exchange.ts";
import { type BoundRoute, makePipeline } from "./pipeline.ts";
import type { DatedContract } from "./service_version.ts";
import { HttpSettings } from "./settings.ts";

const services = Layer.mergeAll(
  Layer.succeed(HttpSettings, { publicUrl: "http://localhost", trustedProxies: [] }),
  Layer.mock(KeyAuthenticator)({ checkThrottle: () => Effect.void }),
  Layer.mock(RequestLimits)({}),
  Layer.mock(SecurityLog)({}),
);

const shared = { method: "GET", parameters: {}, source: "query", summary: "", errors: [] } as const;
const Counted = Schema.Struct({ count: Schema.Int });
const countV2 = defineRoute({
  ...shared,
  id: "countV2",
  generation: "v2",
  path: "/v2/count",
  access: "none",
  success: EnvelopeV2.success(Counted),
});
const countV1 = defineRoute({
  ...shared,
  id: "countV1",
  generation: "v1",
  path: "/api/v1/count",
  access: "none",
  success: EnvelopeV1.success(Counted),
});

/** A contract that knows the data of each route by another name. */
const older: DatedContract = {
  date: "2026-01-01",
  request: (_routeId, values) => values,
  response: (routeId, data) => ({ [`old ${routeId}`]: data }),
};

/** What a client is told that has asked for the older contract. */
const told = ({ path, answer }: BoundRoute) =>
  Effect.gen(function* () {
    const request = HttpServerRequest.fromWeb(new Request(`http://localhost${path}`));
    const response = yield* Effect.provideService(answer, HttpServerRequest.HttpServerRequest, request);
    return yield* Effect.promise(() => HttpServerResponse.toWeb(response).text());
  }).pipe(Effect.scoped);

const data = (body: string): unknown => (JSON.parse(body) as { readonly data: unknown }).data;

describe("a dated contract", () => {
  const count = ({ exchange }: { readonly exchange: Exchange }) => {
    exchange.contract = older;
    return Effect.succeed({ data: { count: 1 } });
  };
  const event = { event: "session", session: { change: 1 } } as SessionEvent;
  const streamed = ({ exchange }: { readonly exchange: Exchange }) => {
    exchange.contract = older;
    return Effect.succeed(eventStream(exchange, Stream.make(event), () => 1));
  };

  it.effect("shapes what v2 answers, and nothing of v1", () =>
    Effect.gen(function* () {
      const { open } = yield* makePipeline;
      assert.deepStrictEqual(data(yield* told(open(countV2, count))), { "old countV2": { count: 1 } });
      assert.deepStrictEqual(data(yield* told(open(countV1, count))), { count: 1 });
    }).pipe(Effect.provide(services)),
  );

  it.effect("shapes the events of v2, and not those of v1", () =>
    Effect.gen(function* () {
      const { open } = yield* makePipeline;
      const v2 = open({ ...countV2, success: SessionEvents }, streamed);
      assert.include(yield* told(v2), 'data: {"old countV2":1}\n');
      const v1 = open({ ...countV1, success: SessionEvents }, streamed);
      assert.include(yield* told(v1), "data: 1\n");
    }).pipe(Effect.provide(services)),
  );
});

describe("a handler", () => {
  it.effect("gives what its route says", () =>
    Effect.gen(function* () {
      const { open } = yield* makePipeline;
      // @ts-expect-error the route says that it is a number
      const bound = open(countV2, () => Effect.succeed({ data: { count: "1" } }));
      assert.deepStrictEqual(data(yield* told(bound)), { count: "1" });
    }).pipe(Effect.provide(services)),
  );
});
