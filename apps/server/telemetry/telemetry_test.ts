import { assert, test, testWith } from "@accountlink/test-servers/effect";
import { Effect, Layer, References } from "effect";
import { telemetryLayer } from "./telemetry.ts";

const OTEL_EXPORTER_OTLP_ENDPOINT = "http://127.0.0.1:4318";

testWith(telemetryLayer({ OTEL_EXPORTER_OTLP_ENDPOINT: " ", PATH: "/bin" }))(
  "no spans are created without an OTLP endpoint",
  function* () {
    assert.isFalse(yield* References.TracerEnabled);
  },
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
  test(`telemetry refuses ${JSON.stringify(variables)}`, function* () {
    const error = yield* Effect.flip(Layer.build(telemetryLayer(variables)));
    assert.include(error.message, problem);
  });
}
