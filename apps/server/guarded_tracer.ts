/**
 * A tracer whose spans say nothing of users: no query, no address, no message of an error.
 */
import { Cause, Exit, Option, Predicate, Tracer } from "effect";

/** What a span may say. All else that instrumentation adds is dropped, such as the URL and the address of the client. */
const attributes = new Set([
  "accountlink.code",
  "accountlink.key",
  "accountlink.request_id",
  "batchSize",
  "db.client.connection.wait_time_ms",
  // The text of a statement has placeholders for its values.
  "db.query.text",
  "db.system.name",
  "http.request.method",
  "http.response.status_code",
  "http.route",
]);

/** Guards the spans of a tracer that exports them. */
export const guardTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
  tracer === Tracer.nativeTracer
    ? tracer
    : Tracer.make({
        span: (options) => {
          // What no request asks for, such as a lease that is renewed every 300 ms, is no trace.
          const isOfRequest = options.kind === "server" || Option.isSome(options.parent);
          return guardSpan(tracer.span({ ...options, sampled: options.sampled && isOfRequest }));
        },
      });

const guardSpan = (span: Tracer.Span): Tracer.Span => {
  const [attribute, event, end] = [
    span.attribute.bind(span),
    span.event.bind(span),
    span.end.bind(span),
  ] as const;
  return Object.assign(span, {
    attribute: (key: string, value: unknown) => {
      if (attributes.has(key)) attribute(key, value);
    },
    event: (name: string, time: bigint) => event(name, time),
    end: (time: bigint, exit: Exit.Exit<unknown, unknown>) => {
      const route = span.attributes.get("http.route");
      if (typeof route === "string") Object.assign(span, { name: `${span.name} ${route}` });
      end(time, withoutMessages(exit));
    },
  });
};

/** A message may hold what a user sent; the name of the error does not. */
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
