/**
 * The way of every request through the checks, in their order, to its handler and into its envelope.
 */
import {
  type ApiKey,
  Forbidden,
  InternalError,
  isAddressAllowed,
  KeyAuthenticator,
  PremiumRequired,
  type PublicError,
  RequestLimits,
  SecurityLog,
} from "@accountlink/core";
import type { Parameters, ParameterValues, Route } from "@accountlink/http-api";
import { Cause, Effect, Result, type Schema, type Scope } from "effect";
import { type HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http";
import { bearerToken } from "./bearer_token.ts";
import { readJsonObject } from "./body.ts";
import type { Envelope, Success, SuccessOf } from "./envelope.ts";
import { envelopeV1 } from "./envelope_v1.ts";
import { envelopeV2 } from "./envelope_v2.ts";
import { type Exchange, exchangeOpener, newRequestId } from "./exchange.ts";
import { parameterReader, premiumTest, type RawValues } from "./parameters.ts";
import { logAccess, observeAnswer } from "./request_metrics.ts";
import { contractFor, defaultContract } from "./service_version.ts";
import { HttpSettings } from "./settings.ts";

/** What a handler works with. */
export interface Input<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly exchange: Exchange;
}

/** What a handler of a route with a key works with. */
export interface KeyedInput<P extends Parameters> extends Input<P> {
  readonly key: ApiKey;
}

type RequestServices = HttpServerRequest.HttpServerRequest | Scope.Scope;

type Response = HttpServerResponse.HttpServerResponse;

/** A route and what answers it. */
export interface BoundRoute {
  readonly method: HttpMethod.HttpMethod;
  readonly path: `/${string}`;
  readonly answer: Effect.Effect<Response, never, RequestServices>;
}

/** What goes into an envelope, or an answer that is in none. */
type Answered = Success | Response;

/** What a handler of a route does. What it holds ends with the request. */
type Handled<S extends Schema.Top> = Effect.Effect<SuccessOf<S["Encoded"]>, PublicError, RequestServices>;

/** Binds routes to handlers. */
export interface Pipeline {
  /**
   * A route that needs a key.
   *
   * @param validate what is checked of the values before the tier of the key is
   */
  readonly keyed: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: KeyedInput<P>) => Handled<S>,
    validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>,
  ) => BoundRoute;

  /** A route that takes no key and no part in the limits of one. */
  readonly open: <P extends Parameters, S extends Schema.Top>(
    route: Route<P, S>,
    handler: (input: Input<P>) => Handled<S>,
  ) => BoundRoute;

  /**
   * An answer that is in no contract and needs no key, counted against the second of its client address.
   *
   * @param id names it in metrics
   */
  readonly visit: (
    id: string,
    answer: Effect.Effect<Response, PublicError, RequestServices>,
  ) => BoundRoute["answer"];
}

/** Makes the pipeline from the services of core and `HttpSettings`. */
export const makePipeline = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const security = yield* SecurityLog;
  const withExchange = exchangeOpener(settings);

  const bind = (
    route: Route,
    answer: (exchange: Exchange) => Effect.Effect<Answered, PublicError, RequestServices>,
  ): BoundRoute => {
    const envelope = route.generation === "v2" ? envelopeV2(route) : envelopeV1(route);
    return {
      method: route.method,
      path: route.path,
      answer: withExchange(route, (exchange) => render(envelope, exchange, security, answer(exchange))),
    };
  };

  const keyed: Pipeline["keyed"] = (route, handler, validate) => {
    const read = readerFor(route);
    const asksForPremium = premiumTest(route);
    const { traffic = "mapping" } = route;
    const answer = Effect.fnUntraced(function* (exchange: Exchange) {
      const { address, request } = exchange;
      const authorization = request.headers["authorization"];
      if (route.access === "key_or_redirect" && authorization === undefined) {
        yield* authenticator.checkThrottle(address);
        yield* limits.admitVisit(address);
        return redirectIntoFlow(settings.publicUrl, exchange, queryOf(exchange));
      }
      const authenticated = yield* authenticator.authenticate(bearerToken(authorization), address);
      exchange.key = authenticated;
      const { key, quota } = authenticated;
      yield* security.noteUse(key.id, address);
      if (!isAddressAllowed(key, address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
      const { report, refusal } = yield* limits.admit({ key, quota, address, traffic });
      exchange.limits = report;
      if (refusal !== null) return yield* refusal;
      const values = yield* read(exchange);
      if (validate !== undefined) yield* validate(values);
      if (key.tier !== "premium" && asksForPremium(values)) return yield* new PremiumRequired();
      return yield* handler({ values, exchange, key });
    });
    return bind(route, answer);
  };

  const open: Pipeline["open"] = (route, handler) => {
    const read = readerFor(route);
    const answer = Effect.fnUntraced(function* (exchange: Exchange) {
      yield* authenticator.checkThrottle(exchange.address);
      if (route.access === "redirect") yield* limits.admitVisit(exchange.address);
      return yield* handler({ values: yield* read(exchange), exchange });
    });
    return bind(route, answer);
  };

  const visit: Pipeline["visit"] = (id, answer) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
      const generation = isUnder("/api/v1", url) ? "v1" : "v2";
      const isVerify = isUnder("/api/v1/verify", url);
      const envelope =
        generation === "v2" ? envelopeV2({}) : envelopeV1(isVerify ? { traffic: "verify" } : {});
      return withExchange({ id, generation }, (exchange) =>
        render(
          envelope,
          exchange,
          security,
          Effect.andThen(
            limits.admitVisit(exchange.address),
            Effect.map(answer, (response) => signed(response, exchange.requestId, url)),
          ),
        ),
      );
    });

  return { keyed, open, visit } satisfies Pipeline;
});

/**
 * Adds the headers that every answer has to one for operators.
 *
 * @param route what the access log calls it
 */
export const sign = <E, R>(route: string, answer: Effect.Effect<Response, E, R>) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url, method }) => {
    const startedAt = performance.now();
    const requestId = newRequestId();
    return Effect.flatMap(answer, (response) => {
      const line = { requestId, method, route, status: response.status, code: "OK", startedAt, key: null };
      return Effect.as(logAccess("Debug", line), signed(response, requestId, url));
    });
  });

const signed = (response: Response, requestId: string, url: string): Response =>
  HttpServerResponse.setHeaders(response, {
    "x-request-id": requestId,
    ...(isUnder("/v2", url) ? { "service-version": defaultContract.date } : {}),
  });

/** Whether the path of a URL is the prefix or below it. */
export const isUnder = (prefix: string, url: string): boolean =>
  url.startsWith(prefix) && ["", "/", "?"].includes(url.charAt(prefix.length));

/** Makes the step that chooses the dated contract and reads the parameters. */
const readerFor = <P extends Parameters>(route: Route<P>) => {
  const read = parameterReader(route);

  const readFrom = (exchange: Exchange, raw: RawValues) => {
    const scopeKind = exchange.key?.key.scope.kind ?? "global";
    if (route.generation === "v1") return Effect.fromResult(read(raw, scopeKind, []));
    const contract = contractFor(exchange.request.headers["service-version"]);
    if (Result.isSuccess(contract)) exchange.contract = contract.success;
    const values = exchange.contract.request(route.id, raw);
    return Effect.fromResult(read(values, scopeKind, Result.isFailure(contract) ? [contract.failure] : []));
  };

  return (exchange: Exchange) =>
    route.source === "body"
      ? Effect.flatMap(readJsonObject(exchange.request), (body) => readFrom(exchange, body))
      : readFrom(exchange, exchange.query);
};

/** Puts whatever comes out of the checks and the handler into an answer. */
const render = <R>(
  envelope: Envelope,
  exchange: Exchange,
  security: SecurityLog["Service"],
  answer: Effect.Effect<Answered, PublicError, R>,
) =>
  answer.pipe(
    Effect.map((success) =>
      HttpServerResponse.isHttpServerResponse(success) ? success : envelope.success(exchange, success),
    ),
    Effect.matchCauseEffect({
      onSuccess: (response) => observeAnswer(exchange, response, null),
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>);
        const error = Result.getOrElse(Cause.findError(cause), () => new InternalError({ cause }));
        return Effect.andThen(
          security.noteRefusal(error, exchange.address),
          observeAnswer(exchange, envelope.failure(exchange, error), error),
        );
      },
    }),
  );

/** Sends whoever asks into the public verification flow. */
export const redirectIntoFlow = (
  publicUrl: string,
  { requestId, contract }: Exchange,
  query: string,
): Response =>
  HttpServerResponse.redirect(`${publicUrl}/verify${query}`, {
    headers: { "x-request-id": requestId, "service-version": contract.date, "cache-control": "no-store" },
  });

const queryOf = ({ request: { url } }: Exchange): string =>
  url.includes("?") ? url.slice(url.indexOf("?")) : "";
