/**
 * Routes as values. The handlers, the OpenAPI document and the tests read them; nothing of the contract stands twice.
 */
import type { ErrorCode } from "@accountlink/core/errors";
import type { Traffic } from "@accountlink/core/quota";
import type { Schema } from "effect";
import type { Parameter, ParameterSource, Parameters } from "./parameter.ts";
import { statusesByCode } from "./status.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The two generations of the interface; they differ in names and envelopes, not in what they do. */
export type Generation = "v1" | "v2";

/** How v1 words a refusal that has a status and a message of its own on a route. */
export interface Wording {
  readonly status: number;
  readonly message: string;
}

/** What is said of a route. */
export interface RouteOptions<P extends Parameters, S extends Schema.Top = Schema.Top> {
  /** Unique name, also the operation id of the OpenAPI document. */
  readonly id: string;
  readonly generation: Generation;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly summary: string;
  readonly description?: string;
  readonly parameters: P;
  /** Where the parameters are. */
  readonly source: ParameterSource;
  /**
   * `key`: an API key is needed. `key_or_redirect`: without one the answer is a redirect. `none`: the route takes no
   * key and no part in the limits. `redirect`: the same, and the answer is a redirect.
   */
  readonly access: "key" | "key_or_redirect" | "none" | "redirect";
  /** Which quotas the route counts against; mapping when left out. */
  readonly traffic?: Traffic;
  /** The whole answer on success. */
  readonly success: S;
  /** Whether the answer is a stream of server-sent events. */
  readonly isStream?: true;
  /** The codes that this route adds to those that every route with its access and parameters has. */
  readonly errors: ReadonlyArray<ErrorCode>;
  /** v1 only: refusals that it words in another way than their error does. */
  readonly wordings?: Partial<Record<ErrorCode, Wording>>;
}

/** A route of the contract. */
export interface Route<P extends Parameters = Parameters, S extends Schema.Top = Schema.Top>
  extends RouteOptions<P, S> {
  /** Every code that the route can answer with. */
  readonly codes: ReadonlySet<ErrorCode>;
}

/** Completes a route with the codes that follow from its access and parameters. */
export const defineRoute = <const P extends Parameters, S extends Schema.Top>(
  options: RouteOptions<P, S>,
): Route<P, S> => {
  const codes = new Set<ErrorCode>([
    "BAD_REQUEST",
    "INTERNAL_ERROR",
    "SHARED_IP_RATE_LIMITED",
    ...options.errors,
  ]);
  const parameters = Object.values(options.parameters);
  const sent = parameters.filter(({ isInPath }) => !isInPath);
  // Every v2 request can ask for a dated contract that there is not.
  if (sent.length > 0 || options.generation === "v2") codes.add("INVALID_PARAMETER");
  if (sent.some(isEverRequired)) codes.add("MISSING_PARAMETER");
  if (options.source === "body") codes.add("INVALID_BODY");
  if (takesKey(options)) codes.add("INVALID_API_KEY").add("RATE_LIMITED").add("FORBIDDEN");
  if (parameters.some(({ needsPremium }) => needsPremium)) codes.add("PREMIUM_REQUIRED");
  return { ...options, codes };
};

/** Whether a request of the route can carry a key. */
export const takesKey = ({ access }: Pick<RouteOptions<Parameters>, "access">): boolean =>
  access === "key" || access === "key_or_redirect";

const isEverRequired = ({ presence }: Parameter<unknown>): boolean =>
  Object.values(presence).includes("required");

/** The path of a route as OpenAPI writes it, such as `/v2/sessions/{sid}`. */
export const pathTemplate = ({ path }: Pick<Route, "path">): string => path.replaceAll(/:(\w+)/g, "{$1}");

/** The statuses of a route's refusals, each with its codes, in ascending order. */
export const refusalsOf = (
  route: Route,
): ReadonlyArray<readonly [status: number, codes: ReadonlyArray<ErrorCode>]> => {
  const byStatus = new Map<number, Array<ErrorCode>>();
  for (const code of route.codes) {
    const wording = route.wordings?.[code];
    for (const status of wording === undefined ? statusesByCode[code] : [wording.status]) {
      if (code === "BAD_REQUEST" && status !== 400) continue;
      if (code === "INVALID_BODY" && status !== 400 && route.source !== "body") continue;
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  return [...byStatus].toSorted(([one], [other]) => one - other);
};
