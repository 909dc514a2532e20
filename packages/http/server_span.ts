/** Answers a request in a span that continues the client's trace. */
import { Effect, Option, Tracer } from "effect";
import { Headers, HttpTraceContext } from "effect/http";
import type { HttpRequest, HttpResponse } from "./http_app.ts";

/** @param path the path of the route, such as `/v2/chat` */
export const inServerSpan = (
  request: HttpRequest,
  path: string,
  answer: Effect.Effect<HttpResponse>,
): Effect.Effect<HttpResponse> => {
  const { method } = request;
  const attributes = { "http.request.method": method, "http.route": path };
  const parent = Option.getOrUndefined(HttpTraceContext.fromHeaders(traceHeaders(request)));
  return Effect.useSpan(`${method} ${path}`, { kind: "server", parent, attributes }, (span) =>
    Effect.tap(Effect.provideService(answer, Tracer.ParentSpan, span), ({ status }) =>
      Effect.sync(() => span.attribute("http.response.status_code", status)),
    ),
  );
};

const traceHeaders = (request: HttpRequest): Headers.Headers =>
  Headers.fromInput(
    traceHeaderNames.flatMap((name) => {
      const value = request.header(name);
      return value === undefined ? [] : [[name, value] as const];
    }),
  );

const traceHeaderNames = [
  "traceparent",
  "tracestate",
  "b3",
  "x-b3-traceid",
  "x-b3-spanid",
  "x-b3-sampled",
] as const;
