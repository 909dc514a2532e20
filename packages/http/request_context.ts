/**
 * A request and what the checks have found out about it so far. Envelopes are made of it.
 */
import { type ClientAddress, clientAddress, parseAddress } from "@accountlink/core/addresses";
import * as Immediate from "@accountlink/core/immediate";
import type { AuthenticatedKey } from "@accountlink/core/keys";
import type { LimitReport } from "@accountlink/core/limits";
import { memoize } from "@accountlink/core/memoize";
import type { RawValues, Route } from "@accountlink/http-api";
import { Clock, Context, type Effect, type Fiber, Option } from "effect";
import { HttpRouter, HttpServerRequest } from "effect/http";
import { newRequestId } from "./request_id.ts";
import type { DatedContract } from "./service_versions/dated_contract.ts";
import { defaultContract } from "./service_versions/service_version.ts";
import type { HttpSettingsShape } from "./settings.ts";

/**
 * The head of a request, as Node and Effect have it.
 *
 * @internal
 */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: { readonly [name: string]: string | undefined };
}

/**
 * A request outside of Effect's HTTP server.
 *
 * @internal
 */
export interface DirectRequest extends RequestHead {
  /** The whole body, as long as its `Content-Length` says. */
  readonly bytes: Effect.Effect<Uint8Array>;
}

/** A request whose body can be read. */
export type ReadableRequest = DirectRequest | HttpServerRequest.HttpServerRequest;

/** A request on its way through the checks. */
export interface RequestContext {
  readonly requestId: string;
  /** By `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  readonly request: RequestHead;
  /** Parameters of the query string and the path; empty where no route matched. */
  readonly query: RawValues;
  /** The matched route, or a stand-in outside the contract. */
  readonly route: Pick<Route, "id" | "generation" | "group">;
  /** Null where clients have none. */
  readonly address: ClientAddress | null;
  readonly clock: Clock.Clock;
  /** The key; null until it is accepted. */
  key: AuthenticatedKey | null;
  /** What is left of the limits; null until they are counted. */
  limits: LimitReport | null;
  /** Whether the answer is one that was kept under an idempotency key. */
  isReplayed: boolean;
  /** The dated contract of a v2 request. */
  contract: DatedContract;
}

/** The context of a request whose body can be read. */
export interface ReadableContext extends RequestContext {
  readonly request: ReadableRequest;
}

/** The context of a request that Effect's HTTP server has. */
export interface ServedContext extends RequestContext {
  readonly request: HttpServerRequest.HttpServerRequest;
}

/** Shapes v2 data for the dated contract of the request. */
export const toContract = ({ route, contract }: RequestContext, data: unknown): unknown =>
  route.generation === "v2" ? contract.response(route.id, data) : data;

/** Makes the function that makes the context of a request. */
export const contextMaker = (settings: HttpSettingsShape) => {
  const addressOf = addressReader(settings);
  return <Head extends RequestHead>(
    fiber: Fiber.Fiber<unknown, unknown>,
    route: RequestContext["route"],
    request: Head,
    query: RawValues,
    remoteAddress: string | undefined,
  ): RequestContext & { readonly request: Head } => ({
    requestId: newRequestId(),
    startedAt: performance.now(),
    request,
    query,
    route,
    address: addressOf(request, remoteAddress),
    clock: fiber.getRef(Clock.Clock),
    key: null,
    limits: null,
    isReplayed: false,
    contract: defaultContract,
  });
};

/** Makes the function that runs an effect with the context of the current request. */
export const requestContextMaker = (settings: HttpSettingsShape) => {
  const makeContext = contextMaker(settings);
  return <A, E, R>(
    route: RequestContext["route"],
    use: (context: ServedContext) => Effect.Effect<A, E, R>,
  ): Effect.Effect<A, E, R | HttpServerRequest.HttpServerRequest> =>
    Immediate.withFiber<A, E, R | HttpServerRequest.HttpServerRequest>((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest);
      const remoteAddress = Option.getOrUndefined(request.remoteAddress);
      const context = makeContext(fiber, route, request, rawValues(fiber.context), remoteAddress);
      return use(context);
    });
};

const rawValues = (context: Context.Context<never>): RawValues => {
  const query = Context.getOrUndefined(context, HttpServerRequest.ParsedSearchParams) ?? {};
  const route = Context.getOrUndefined(context, HttpRouter.RouteContext);
  return route === undefined || Object.keys(route.params).length === 0
    ? query
    : { ...query, ...route.params };
};

/** The address of a client without an IP address, such as one on a Unix socket. */
const unknownAddress = Option.getOrThrow(parseAddress("0.0.0.0"));

const cachedAddresses = 4_096;

/** Reads client addresses, with a small cache of parsed texts. */
const addressReader = ({ trustedProxies, withoutAddresses = false }: HttpSettingsShape) => {
  const read = memoize(cachedAddresses, (text: string) =>
    Option.getOrElse(parseAddress(text), () => unknownAddress),
  );

  return ({ headers }: RequestHead, remoteAddress: string | undefined): ClientAddress | null => {
    if (withoutAddresses) return null;
    const socket = remoteAddress === undefined ? unknownAddress : read(remoteAddress);
    return trustedProxies.length === 0
      ? socket
      : clientAddress(socket, headers["x-forwarded-for"], trustedProxies);
  };
};
