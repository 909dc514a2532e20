import { Cause, ConfigProvider, Effect, Layer, References, Tracer } from "effect";
import { FetchHttpClient, HttpClient } from "effect/http";
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability";
import { type Environment, InvalidConfig } from "../config/config.ts";
import manifest from "../package.json" with { type: "json" };
import { redactTracer } from "./redacted_tracer.ts";

const defaults = {
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
  OTEL_METRICS_EXPORTER: "otlp",
  OTEL_SERVICE_NAME: "accountlink",
  OTEL_SERVICE_VERSION: manifest.version,
  OTEL_TRACES_EXPORTER: "otlp",
};

const endpoints = [
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
];

const serializations = new Map([
  ["http/protobuf", OtlpSerialization.layerProtobuf],
  ["http/json", OtlpSerialization.layerJson],
]);

/** Exports traces and metrics by OTLP, as the variables `OTEL_…` configure. Without an endpoint, does nothing. */
export const telemetryLayer = (environment: Environment): Layer.Layer<never, InvalidConfig> => {
  const given = Object.entries(environment).flatMap(([name, value = ""]) =>
    value.trim() === "" ? [] : [[name, value] as const],
  );
  const variables: Record<string, string> = { ...defaults, ...Object.fromEntries(given) };
  const named = endpoints.filter((name) => name in variables);
  if (named.length === 0) return Layer.succeed(References.TracerEnabled, false);

  for (const name of named) {
    if (!/^https?:$/.test(URL.parse(variables[name] ?? "")?.protocol ?? "")) {
      return refused(`${name} is "${variables[name]}", expected an http or https URL`);
    }
  }
  const protocol = variables["OTEL_EXPORTER_OTLP_PROTOCOL"] ?? "";
  const serialization = serializations.get(protocol);
  if (serialization === undefined) {
    const expected = [...serializations.keys()].join(" or ");
    return refused(`OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}", expected ${expected}`);
  }
  const tracer = Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, redactTracer)).pipe(
    Layer.provide(OtlpTracer.layerFromConfig()),
  );
  return Layer.merge(tracer, OtlpMetrics.layerFromConfig()).pipe(
    Layer.provide([serialization, FetchHttpClient.layer]),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: variables }))),
    // The exporters fail with a defect if a variable is invalid.
    Layer.catchCause((cause) => refused(`OpenTelemetry: ${messageOf(cause)}`)),
    Layer.merge(ownContext),
  );
};

// Trace IDs are not disclosed to platforms.
const ownContext = Layer.succeed(HttpClient.TracerPropagationEnabled, false);

const refused = (problem: string) => Layer.effectDiscard(Effect.fail(new InvalidConfig({ problem })));

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause);
  return error instanceof Error ? error.message : String(error);
};
