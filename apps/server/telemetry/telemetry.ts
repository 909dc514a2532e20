import { Cause, ConfigProvider, Effect, Exit, Layer, Option, Predicate, References, Tracer } from "effect";
import { FetchHttpClient, HttpClient } from "effect/http";
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability";
import { type Environment, InvalidConfig } from "../config/config.ts";
import manifest from "../package.json" with { type: "json" };

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

/**
 * The allowed attributes. Other attributes that instrumentation adds are dropped, such as URLs and client addresses.
 */
const attributes = new Set([
  "accountlink.code",
  "accountlink.key",
  "accountlink.request_id",
  "batchSize",
  "db.client.connection.wait_time_ms",
  // Allowed, since statements contain placeholders instead of values.
  "db.query.text",
  "db.system.name",
  "http.request.method",
  "http.response.status_code",
  "http.route",
]);

/** Makes a tracer whose spans contain no user data: no URL, no IP address, no error message. */
const redactTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
  tracer === Tracer.nativeTracer
    ? tracer
    : Tracer.make({
        span: (options) => {
          // Background work, such as renewing a lease every 300 ms, is not traced.
          const isOfRequest = options.kind === "server" || Option.isSome(options.parent);
          return redactSpan(tracer.span({ ...options, sampled: options.sampled && isOfRequest }));
        },
      });

const redactSpan = (span: Tracer.Span): Tracer.Span => {
  const own = {
    attribute: span.attribute.bind(span),
    event: span.event.bind(span),
    end: span.end.bind(span),
  };
  return Object.assign(span, {
    attribute: (key: string, value: unknown) => {
      if (attributes.has(key)) own.attribute(key, value);
    },
    event: (name: string, time: bigint) => own.event(name, time),
    end: (time: bigint, exit: Exit.Exit<unknown, unknown>) => own.end(time, withoutMessages(exit)),
  });
};

/** Error messages may contain user input; error names do not. */
const withoutMessages = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return exit;
  const error = Cause.squash(exit.cause);
  const name = Predicate.hasProperty(error, "_tag")
    ? String(error._tag)
    : error instanceof Error
      ? error.name
      : "Error";
  return Exit.fail(Object.assign(new Error(name), { name, stack: name }));
};
