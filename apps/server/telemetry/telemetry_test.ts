import { assert, describe, it } from "@effect/vitest";
import { Effect, Layer, References } from "effect";
import { telemetryLayer } from "./telemetry.ts";

const OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:4318";

describe("telemetryLayer", () => {
  it.effect("no spans are created without an OTLP endpoint", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* References.TracerEnabled);
    }).pipe(Effect.provide(telemetryLayer({ OTEL_EXPORTER_OTLP_ENDPOINT: " ", PATH: "/bin" }))),
  );

  for (const [variables, problem] of [
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" },
      'OTEL_EXPORTER_OTLP_ENDPOINT is "collector:4318", expected an http or https URL',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc", expected http/protobuf or http/json',
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_BSP_SCHEDULE_DELAY: "soon" }, "OTEL_BSP_SCHEDULE_DELAY"],
  ] as const) {
    it.effect(`telemetry refuses ${JSON.stringify(variables)}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Layer.build(telemetryLayer(variables)));
        assert.include(error.message, problem);
      }),
    );
  }
});
