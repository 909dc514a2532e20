/** The context of a request, from which its envelope is made. */
import { type ClientAddress, clientAddress, parseAddress } from "@accountlink/core/addresses";
import { newUlid } from "@accountlink/core/ids";
import type { AuthenticatedKey } from "@accountlink/core/keys";
import type { LimitReport } from "@accountlink/core/limits";
import type { RawValues, Route } from "@accountlink/http-api";
import { Clock, Effect, Option } from "effect";
import type { HttpRequest, HttpResponse } from "./http_app.ts";
import { type DatedContract, defaultContract } from "./service_versions/service_version.ts";
import type { HttpSettingsShape } from "./settings.ts";

/** A request, and what the checks have found so far. Each check returns a new context with what it found. */
export interface RequestContext {
  readonly requestId: string;
  /** When the request started, in milliseconds of `performance.now()`. */
  readonly startedAt: number;
  readonly request: HttpRequest;
  /** Parameters of the query string and the path; empty if no route matched. */
  readonly query: RawValues;
  /**
   * The matched route. If the request matches no route of the API, another object with the same fields takes its place.
   */
  readonly route: Pick<Route, "id" | "generation" | "group">;
  /** Null if the deployment does not know client addresses. */
  readonly address: ClientAddress | null;
  /** Envelopes and metrics are plain functions, so they read the time with `currentTimeMillisUnsafe`. */
  readonly clock: Clock.Clock;
  /** The key of the request; null until the key is accepted. */
  readonly key: AuthenticatedKey | null;
  /** How many requests the limits still allow; null until this request is counted. */
  readonly limits: LimitReport | null;
  /** Whether the response was stored for an earlier request with the same idempotency key. */
  readonly isReplayed: boolean;
  readonly contract: DatedContract;
}

/** Converts v2 data to the dated contract of the request. */
export const toContract = ({ route, contract }: RequestContext, data: unknown): unknown =>
  contract.response === undefined || route.generation !== "v2" ? data : contract.response(route.id, data);

/** Answers a routed request, given its query and path parameters. */
export type Answer = (request: HttpRequest, query: RawValues) => Effect.Effect<HttpResponse>;

export const newRequestId = (): string => `req_${newUlid(Date.now())}`;

export const contextMaker =
  (settings: HttpSettingsShape) =>
  (route: RequestContext["route"], use: (context: RequestContext) => Effect.Effect<HttpResponse>): Answer =>
  (request, query) =>
    Effect.withFiber((fiber) =>
      use({
        requestId: newRequestId(),
        startedAt: performance.now(),
        request,
        query,
        route,
        address: addressOf(request, settings),
        clock: fiber.getRef(Clock.Clock),
        key: null,
        limits: null,
        isReplayed: false,
        contract: defaultContract,
      }),
    );

/** Stands for the address of a client that has no IP address, such as on a Unix socket. */
const unknownAddress = Option.getOrThrow(parseAddress("0.0.0.0"));

const addressOf = (
  request: HttpRequest,
  { trustedProxies, withoutAddresses = false }: HttpSettingsShape,
): ClientAddress | null => {
  if (withoutAddresses) return null;
  const socket = Option.getOrElse(parseAddress(request.remoteAddress ?? ""), () => unknownAddress);
  return trustedProxies.length === 0
    ? socket
    : clientAddress(socket, request.header("x-forwarded-for"), trustedProxies);
};
