/** A tracer whose spans contain no user data: no URL, no IP address, no error message. */
import { Cause, Exit, Option, Predicate, Tracer } from "effect";

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

export const redactTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
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
    end: (time: bigint, exit: Exit.Exit<unknown, unknown>) => end(time, withoutMessages(exit)),
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
