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
} from "@accountlink/core";
import type { Parameters, ParameterValues, Route } from "@accountlink/http-api";
import { Cause, Context, Effect, Result, type Scope } from "effect";
import { type HttpMethod, HttpServerRequest, HttpServerResponse } from "effect/http";
import { bearerToken } from "./bearer_token.ts";
import { readJsonObject } from "./body.ts";
import type { Envelope, Success } from "./envelope.ts";
import { envelopeV1 } from "./envelope_v1.ts";
import { envelopeV2 } from "./envelope_v2.ts";
import { type Exchange, exchangeOpener, newRequestId } from "./exchange.ts";
import { lookupBeginner } from "./look_ahead.ts";
import { parameterReader, type RawValues } from "./parameters.ts";
import { observeAnswer } from "./request_metrics.ts";
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

/** A route and what answers it. */
export interface BoundRoute {
  readonly method: HttpMethod.HttpMethod;
  readonly path: `/${string}`;
  readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, RequestServices>;
}

/** What a handler gives: data for the envelope, or an answer that is in none. What it holds ends with the request. */
type Handled = Effect.Effect<
  Success | HttpServerResponse.HttpServerResponse,
  PublicError,
  Scope.Scope | HttpServerRequest.HttpServerRequest
>;

/** Binds routes to handlers. */
export class Pipeline extends Context.Service<
  Pipeline,
  {
    /**
     * A route that needs a key.
     *
     * @param validate what is checked of the values before the tier of the key is
     */
    readonly keyed: <P extends Parameters>(
      route: Route<P>,
      handler: (input: KeyedInput<P>) => Handled,
      validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>,
    ) => BoundRoute;

    /** A route that needs a key and looks the chat user of its query up, which begins while the limits are asked. */
    readonly lookup: <P extends Parameters>(
      route: Route<P>,
      handler: (input: KeyedInput<P>) => Handled,
    ) => BoundRoute;

    /** A route that takes no key and no part in the limits. */
    readonly open: <P extends Parameters>(
      route: Route<P>,
      handler: (input: Input<P>) => Handled,
    ) => BoundRoute;

    /** An answer to a request that matches no route. */
    readonly refuse: (error: PublicError) => BoundRoute["answer"];
  }
>()("@accountlink/http/Pipeline") {}

export const makePipeline = Effect.gen(function* () {
  const settings = yield* HttpSettings;
  const authenticator = yield* KeyAuthenticator;
  const limits = yield* RequestLimits;
  const withExchange = exchangeOpener(settings);
  const beginLookup = yield* lookupBeginner;

  const bind = <P extends Parameters>(
    route: Route<P>,
    answer: (
      exchange: Exchange,
    ) => Effect.Effect<Success | HttpServerResponse.HttpServerResponse, PublicError, RequestServices>,
  ): BoundRoute => {
    const envelope = route.generation === "v2" ? envelopeV2(route) : envelopeV1(route);
    return {
      method: route.method,
      path: route.path,
      answer: withExchange(route.generation, (exchange) =>
        render(envelope, exchange, route.id, answer(exchange)),
      ),
    };
  };

  const keyed: Pipeline["Service"]["keyed"] = (route, handler, validate) =>
    keyedAhead(null, route, handler, validate);

  const keyedAhead = <P extends Parameters>(
    ahead: typeof beginLookup,
    route: Route<P>,
    handler: (input: KeyedInput<P>) => Handled,
    validate?: (values: ParameterValues<P>) => Effect.Effect<void, PublicError>,
  ): BoundRoute => {
    const read = readerFor(route);
    const { traffic = "mapping" } = route;
    const answer = Effect.fnUntraced(function* (exchange: Exchange) {
      const { address, request } = exchange;
      const authorization = request.headers["authorization"];
      if (route.access === "key_or_redirect" && authorization === undefined) {
        yield* authenticator.checkThrottle(address);
        return redirectIntoFlow(settings.publicUrl, exchange, queryOf(exchange));
      }
      const authenticated = yield* authenticator.authenticate(bearerToken(authorization), address);
      exchange.key = authenticated;
      const { key, quota } = authenticated;
      if (!isAddressAllowed(key, address)) return yield* new Forbidden({ reason: "ip_not_allowed" });
      if (ahead !== null) exchange.begun = yield* ahead(key.scope, exchange.query);
      const { report, refusal } = yield* limits.admit({ key, quota, address, traffic });
      exchange.limits = report;
      if (refusal !== null) return yield* refusal;
      const values = yield* read(exchange);
      if (validate !== undefined) yield* validate(values);
      if ("resolved" in values && values["resolved"] === true && key.tier !== "premium") {
        return yield* new PremiumRequired();
      }
      const success = yield* handler({ values, exchange, key });
      if (HttpServerResponse.isHttpServerResponse(success)) return success;
      const data = exchange.contract.response(route.id, success.data);
      return data === success.data ? success : { ...success, data };
    });
    return bind(route, answer);
  };

  const open: Pipeline["Service"]["open"] = (route, handler) => {
    const read = readerFor(route);
    const answer = Effect.fnUntraced(function* (exchange: Exchange) {
      yield* authenticator.checkThrottle(exchange.address);
      return yield* handler({ values: yield* read(exchange), exchange });
    });
    return bind(route, answer);
  };

  const refuse = (error: PublicError) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ url }) => {
      const generation = isUnder("/api/v1", url) ? "v1" : "v2";
      const isVerify = isUnder("/api/v1/verify", url);
      const envelope =
        generation === "v2" ? envelopeV2({}) : envelopeV1(isVerify ? { traffic: "verify" } : {});
      return withExchange(generation, (exchange) =>
        render(envelope, exchange, "unmatched", Effect.fail(error)),
      );
    });

  const lookup: Pipeline["Service"]["lookup"] = (route, handler) => keyedAhead(beginLookup, route, handler);

  return Pipeline.of({ keyed, lookup, open, refuse });
});

/** Adds the headers that every answer has to one that is in no envelope. */
export const sign = (response: HttpServerResponse.HttpServerResponse) =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) =>
    HttpServerResponse.setHeaders(response, {
      "x-request-id": newRequestId(),
      ...(isUnder("/v2", url) ? { "service-version": defaultContract.date } : {}),
    }),
  );

/** Whether the path of a URL is the prefix or below it. */
const isUnder = (prefix: string, url: string): boolean =>
  url.startsWith(prefix) && ["", "/", "?"].includes(url.charAt(prefix.length));

/** Makes the step that chooses the dated contract and reads the parameters. */
const readerFor = <P extends Parameters>(route: Route<P>) => {
  const read = parameterReader(route);
  const isVersioned = route.generation === "v2";

  const readFrom = (exchange: Exchange, raw: RawValues) => {
    const header = isVersioned ? exchange.request.headers["service-version"] : undefined;
    const contract = contractFor(header);
    if (Result.isSuccess(contract)) exchange.contract = contract.success;
    const values = exchange.contract.request(route.id, raw);
    const scopeKind = exchange.key?.key.scope.kind ?? "global";
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
  routeId: string,
  answer: Effect.Effect<Success | HttpServerResponse.HttpServerResponse, PublicError, R>,
) =>
  answer.pipe(
    Effect.map((success) =>
      HttpServerResponse.isHttpServerResponse(success) ? success : envelope.success(exchange, success),
    ),
    Effect.matchCauseEffect({
      onSuccess: (response) => observeAnswer(exchange, routeId, response, null),
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>);
        const error = Result.getOrElse(Cause.findError(cause), () => new InternalError({ cause }));
        return observeAnswer(exchange, routeId, envelope.failure(exchange, error), error);
      },
    }),
  );

/** Sends whoever asks into the public verification flow. */
export const redirectIntoFlow = (
  publicUrl: string,
  { requestId, contract }: Exchange,
  query: string,
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.redirect(`${publicUrl}/verify${query}`, {
    headers: { "x-request-id": requestId, "service-version": contract.date, "cache-control": "no-store" },
  });

const queryOf = ({ request: { url } }: Exchange): string =>
  url.includes("?") ? url.slice(url.indexOf("?")) : "";
