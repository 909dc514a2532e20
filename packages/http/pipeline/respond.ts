/** Finishes every request: turns an error into a response, updates metrics and usage, and logs the outcome. */
import type { PublicError } from "@accountlink/core";
import { SecurityLog } from "@accountlink/core/audit";
import { InternalError } from "@accountlink/core/errors";
import { monotonicMillisOf } from "@accountlink/core/monotonic_millis";
import { UsageMeter, type UsageOutcome } from "@accountlink/core/usage";
import { Cause, Effect, type Fiber, LogLevel, Metric, Result, type Tracer } from "effect";
import type { HttpResponse } from "../http_app.ts";
import type { RequestContext } from "../request_context.ts";

/**
 * The response to a failed request, and the error for metrics and logs. The error is null if operators need not know
 * it.
 */
interface Failure {
  readonly response: HttpResponse;
  readonly error: PublicError | null;
}

export interface Observers {
  readonly security: SecurityLog["Service"];
  readonly usage: UsageMeter["Service"];
  /** By operation of a store and cause of its failure, when this was logged, by the monotonic clock. */
  readonly outages: Map<string, number>;
}

export const makeObservers: Effect.Effect<Observers, never, SecurityLog | UsageMeter> = Effect.gen(
  function* () {
    return { security: yield* SecurityLog, usage: yield* UsageMeter, outages: new Map() };
  },
);

/** A step of a request that failed, and the context in which it ran. */
export class Refused<E> {
  readonly context: RequestContext;
  readonly error: E | InternalError;

  constructor(context: RequestContext, error: E | InternalError) {
    this.context = context;
    this.error = error;
  }
}

/**
 * Runs a step of a request. If the step fails, the response contains what earlier steps found. Defects become
 * `InternalError`, and so does a store that was interrupted; an interruption of the request itself passes by handlers.
 */
export const within = <A, E, R>(
  context: RequestContext,
  step: Effect.Effect<A, E | Refused<E>, R>,
): Effect.Effect<A, Refused<E>, R> =>
  Effect.catchCause(step, (cause) => {
    const error = Result.getOrElse(Cause.findError(cause), () => new InternalError({ cause }));
    return Effect.fail(error instanceof Refused ? error : new Refused<E>(context, error));
  });

export interface Outcome<A> {
  readonly context: RequestContext;
  readonly answer: A;
}

/** Runs the last step of a request, which makes its answer. */
export const answering = <A, E, R>(
  context: RequestContext,
  step: Effect.Effect<A, E, R>,
): Effect.Effect<Outcome<A>, Refused<E>, R> =>
  within(
    context,
    Effect.map(step, (answer) => ({ context, answer })),
  );

/** Counts and logs the outcome of a request. */
export const respond = <A, E, R>(
  observers: Observers,
  outcome: Effect.Effect<Outcome<A>, Refused<E>, R>,
  responseOf: (context: RequestContext, answer: A) => HttpResponse,
  failureOf: (context: RequestContext, error: E | InternalError) => Failure,
): Effect.Effect<HttpResponse, never, R> =>
  Effect.matchEffect(outcome, {
    onSuccess: ({ context, answer }) =>
      observeResponse(context, observers, responseOf(context, answer), null),
    onFailure: ({ context, error: found }) => {
      const { response, error } = failureOf(context, found);
      return Effect.andThen(
        observers.security.noteRefusal(error, context.address),
        observeResponse(context, observers, response, error),
      );
    },
  });

/** Caches metrics by their labels, because every request needs metrics, and each is slow to create. */
const metricsByLabels = new Map<string, ReturnType<typeof metricsOf>>();

const metricsOf = (route: string, status: number, code: string) => ({
  count: Metric.counter("accountlink_http_requests_total", {
    description: "Requests by route, status and code",
    incremental: true,
    attributes: { route, status: String(status), code },
  }),
  duration: Metric.histogram("accountlink_http_request_seconds", {
    description: "Time to answer by route",
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    attributes: { route },
  }),
});

const metricsFor = (route: string, status: number, code: string) => {
  const labels = `${route} ${status} ${code}`;
  let metrics = metricsByLabels.get(labels);
  if (metrics === undefined) {
    metrics = metricsOf(route, status, code);
    metricsByLabels.set(labels, metrics);
  }
  return metrics;
};

const observeResponse = (
  context: RequestContext,
  { security, usage, outages }: Observers,
  response: HttpResponse,
  error: PublicError | null,
): Effect.Effect<HttpResponse> => {
  const { count, duration } = metricsFor(context.route.id, response.status, error?.code ?? "OK");
  // Update the metrics without an effect for each update, because such effects would slow down every request.
  const counted = Effect.withFiber<HttpResponse>((fiber) => {
    count.updateUnsafe(1, fiber.context);
    duration.updateUnsafe((performance.now() - context.startedAt) / 1000, fiber.context);
    countUsage(context, usage, response.status, error);
    const { span } = fiber.cache;
    if (span?._tag === "Span") annotateSpan(span, context, error);
    const level = outcomeOf(response.status, error) === "served" ? "Debug" : "Info";
    if (!isLogged(fiber, level)) return Effect.succeed(response);
    const logged = logAccess(level, accessLine(context, response, error));
    const isKeylessRefusal = level === "Info" && context.key === null;
    return Effect.as(isKeylessRefusal ? security.logKeyless(context.address, logged) : logged, response);
  });
  return error !== null && response.status >= 500
    ? Effect.andThen(logFailure(context, error, outages), counted)
    : counted;
};

const countUsage = (
  { key, route: { group }, clock }: RequestContext,
  usage: UsageMeter["Service"],
  status: number,
  error: PublicError | null,
): void => {
  if (key === null || group === null) return;
  usage.count(key.key.id, group, outcomeOf(status, error), clock.currentTimeMillisUnsafe());
};

const outcomeOf = (status: number, error: PublicError | null): UsageOutcome => {
  if (status < 400 || (status === 404 && error?.code === "LINK_NOT_FOUND")) return "served";
  return status === 429 ? "refused" : "errors";
};

/** Lets operators find a trace by request ID. */
const annotateSpan = (
  span: Tracer.Span,
  { requestId, key }: RequestContext,
  error: PublicError | null,
): void => {
  span.attribute("accountlink.request_id", requestId);
  span.attribute("accountlink.code", error?.code ?? "OK");
  if (key !== null) span.attribute("accountlink.key", key.key.id);
};

/**
 * Whether a line of this level is logged. This is checked before the line is built, because by default most requests
 * log nothing.
 */
const isLogged = (fiber: Fiber.Fiber<unknown, unknown>, level: LogLevel.Severity): boolean =>
  LogLevel.getOrdinal(level) >= LogLevel.getOrdinal(fiber.cache.minimumLogLevel);

/** A line of the access log. It leaves out the query and the client address. */
type AccessLine = ReturnType<typeof accessLine>;

const accessLine = (
  { requestId, request, route, startedAt, key }: RequestContext,
  { status }: HttpResponse,
  error: PublicError | null,
) => ({
  requestId,
  method: request.method,
  route: route.id,
  status,
  code: error?.code ?? (status < 400 ? "OK" : null),
  startedAt,
  key: key?.key.id ?? null,
});

export const logAccess = (
  level: LogLevel.Severity,
  { startedAt, ...line }: AccessLine,
): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWithLevel(level)("Request answered"), {
    ...line,
    milliseconds: Math.round((performance.now() - startedAt) * 10) / 10,
  });

/** How long a failure of a store is not logged again, in milliseconds, so that the log of an outage stays short. */
const outageInterval = 60_000;
const maxOutages = 1_000;

/**
 * Whether the cause of an error is logged elsewhere, once for a whole outage, or was logged a moment ago. For an
 * unavailable platform, its circuit breaker logs the cause.
 */
const isLoggedAlready = ({ clock }: RequestContext, error: PublicError, outages: Observers["outages"]) => {
  if (error._tag !== "StoreUnavailable") return error._tag === "PlatformUnavailable";
  if (error.isLogged === true) return true;
  const outage = `${error.operation} ${String(error.cause)}`;
  const now = monotonicMillisOf(clock);
  if (now < (outages.get(outage) ?? -Infinity) + outageInterval) return true;
  if (outages.size >= maxOutages) outages.clear();
  outages.set(outage, now);
  return false;
};

const logFailure = (context: RequestContext, error: PublicError, outages: Observers["outages"]) =>
  Effect.suspend(() =>
    Effect.logWithLevel(isLoggedAlready(context, error, outages) ? "Debug" : "Error")("Request failed"),
  ).pipe(
    Effect.annotateLogs({
      requestId: context.requestId,
      route: context.route.id,
      key: context.key?.key.id ?? null,
      error: error._tag,
      operation: "operation" in error ? error.operation : null,
      cause: "cause" in error ? renderCause(error.cause) : null,
    }),
  );

const renderCause = (cause: unknown): string =>
  Cause.pretty(Cause.isCause(cause) ? cause : Cause.fail(cause));
