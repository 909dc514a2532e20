/**
 * One request and what has become known of it so far; answers are made from this.
 */
import {
  type AuthenticatedKey,
  type ClientAddress,
  clientAddress,
  type LimitReport,
  parseAddress,
} from "@accountlink/core";
import type { Route } from "@accountlink/http-api";
import { Clock, Context, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { HttpRouter, HttpServerRequest } from "effect/http";
import type { RawValues } from "./parameters.ts";
import { type DatedContract, defaultContract } from "./service_version.ts";
import type { HttpSettingsShape } from "./settings.ts";

/** One request on its way through the checks. */
export interface Exchange {
  readonly requestId: string;
  /** By `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  readonly request: HttpServerRequest.HttpServerRequest;
  /** What the query string and the path say, by name; nothing where no route matched. */
  readonly query: RawValues;
  /** The route that it matched, or what stands for it where it is none of the contract. */
  readonly route: Pick<Route, "id" | "generation">;
  readonly address: ClientAddress;
  readonly clock: Clock.Clock;
  /** The key, once it was accepted. */
  key: AuthenticatedKey | null;
  /** What is left of the key's limits, once they were asked. */
  limits: LimitReport | null;
  /** The dated contract of a v2 request. */
  contract: DatedContract;
}

/** Data in the shape of the dated contract of its request. There is none in v1. */
export const agreedData = ({ route, contract }: Exchange, data: unknown): unknown =>
  route.generation === "v2" ? contract.response(route.id, data) : data;

/** A new request id. */
export const newRequestId = (): string => `req_${SecureRandom.ulidUnsafe()}`;

/**
 * Makes the step that opens the exchange of the present request and goes on with it. It is one step, since every
 * request takes it.
 */
export const exchangeOpener = (settings: HttpSettingsShape) => {
  const addressOf = addressReader(settings);
  return <A, E, R>(route: Exchange["route"], use: (exchange: Exchange) => Effect.Effect<A, E, R>) =>
    Effect.withFiber<A, E, R | HttpServerRequest.HttpServerRequest>((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest);
      return use({
        requestId: newRequestId(),
        startedAt: performance.now(),
        request,
        query: sentValues(fiber.context),
        route,
        address: addressOf(request),
        clock: fiber.getRef(Clock.Clock),
        key: null,
        limits: null,
        contract: defaultContract,
      });
    });
};

const sentValues = (context: Context.Context<never>): RawValues => {
  const query = Context.getOrUndefined(context, HttpServerRequest.ParsedSearchParams) ?? {};
  const route = Context.getOrUndefined(context, HttpRouter.RouteContext);
  return route === undefined || Object.keys(route.params).length === 0
    ? query
    : { ...query, ...route.params };
};

/** Stands for a client whose address is not an IP address, such as one on a Unix socket. */
const unknownAddress = Option.getOrThrow(parseAddress("0.0.0.0"));

const rememberedAddresses = 4_096;

/** Reads client addresses, remembering the last few thousand texts that it read. */
const addressReader = ({ trustedProxies }: HttpSettingsShape) => {
  const known = new Map<string, ClientAddress>();

  const read = (text: string): ClientAddress => {
    let address = known.get(text);
    if (address === undefined) {
      address = Option.getOrElse(parseAddress(text), () => unknownAddress);
      if (known.size >= rememberedAddresses) known.clear();
      known.set(text, address);
    }
    return address;
  };

  return (request: HttpServerRequest.HttpServerRequest): ClientAddress => {
    const socket = Option.isSome(request.remoteAddress) ? read(request.remoteAddress.value) : unknownAddress;
    return trustedProxies.length === 0
      ? socket
      : clientAddress(socket, request.headers["x-forwarded-for"], trustedProxies);
  };
};
