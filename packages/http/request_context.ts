/**
 * A request and what the checks have found out about it so far. Envelopes are made of it.
 */
import { type ClientAddress, clientAddress, parseAddress } from "@accountlink/core/addresses";
import type { AuthenticatedKey } from "@accountlink/core/keys";
import type { LimitReport } from "@accountlink/core/limits";
import type { RawValues, Route } from "@accountlink/http-api";
import { Clock, Context, Effect, Option } from "effect";
import { SecureRandom } from "effect/crypto";
import { HttpRouter, HttpServerRequest } from "effect/http";
import type { DatedContract } from "./service_versions/dated_contract.ts";
import { defaultContract } from "./service_versions/service_version.ts";
import type { HttpSettingsShape } from "./settings.ts";

/** A request on its way through the checks. */
export interface RequestContext {
  readonly requestId: string;
  /** By `performance.now()`, in milliseconds. */
  readonly startedAt: number;
  readonly request: HttpServerRequest.HttpServerRequest;
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

/** Shapes v2 data for the dated contract of the request. */
export const toContract = ({ route, contract }: RequestContext, data: unknown): unknown =>
  route.generation === "v2" ? contract.response(route.id, data) : data;

export const newRequestId = (): string => `req_${SecureRandom.ulidUnsafe()}`;

/**
 * Makes the function that runs an effect with the context of the current request. It reads the
 * fiber in one step, because every request takes it.
 */
export const requestContextMaker = (settings: HttpSettingsShape) => {
  const addressOf = addressReader(settings);
  return <A, E, R>(
    route: RequestContext["route"],
    use: (context: RequestContext) => Effect.Effect<A, E, R>,
  ) =>
    Effect.withFiber<A, E, R | HttpServerRequest.HttpServerRequest>((fiber) => {
      const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest);
      return use({
        requestId: newRequestId(),
        startedAt: performance.now(),
        request,
        query: rawValues(fiber.context),
        route,
        address: addressOf(request),
        clock: fiber.getRef(Clock.Clock),
        key: null,
        limits: null,
        isReplayed: false,
        contract: defaultContract,
      });
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
  const known = new Map<string, ClientAddress>();

  const read = (text: string): ClientAddress => {
    let address = known.get(text);
    if (address === undefined) {
      address = Option.getOrElse(parseAddress(text), () => unknownAddress);
      if (known.size >= cachedAddresses) known.clear();
      known.set(text, address);
    }
    return address;
  };

  return (request: HttpServerRequest.HttpServerRequest): ClientAddress | null => {
    if (withoutAddresses) return null;
    const socket = Option.isSome(request.remoteAddress) ? read(request.remoteAddress.value) : unknownAddress;
    return trustedProxies.length === 0
      ? socket
      : clientAddress(socket, request.headers["x-forwarded-for"], trustedProxies);
  };
};
