/** Routes as values, from which handlers, the OpenAPI document and tests are made. */
import type { MemberRole } from "@accountlink/core/accounts";
import type { ErrorCode } from "@accountlink/core/errors";
import type { KeyAccess } from "@accountlink/core/keys";
import type { Traffic } from "@accountlink/core/limits";
import type { UsageGroup } from "@accountlink/core/usage";
import type { Schema } from "effect";
import type { CompatService } from "./compat_service.ts";
import { statusesOf } from "./errors.ts";
import type { Parameter, ParameterSource, Parameters, RawValues } from "./parameter.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The generations of the interface, and those of other services. They differ in names and envelopes only. */
export type Generation = "v1" | "v2" | "compat";

/** The status and message of an error on a v1 route, where they differ from the usual ones. */
export interface Wording {
  readonly status: number;
  readonly message: string;
}

/** A request and its answer, which the demo gives too. */
export interface Example<S extends Schema.Top = Schema.Top> {
  /** The parameters by name. */
  readonly values: RawValues;
  /** What the handler returns: the answer without what the envelope adds. */
  readonly answer: Answered<S["Encoded"]>;
}

type Answered<Answer> = Answer extends { readonly data: unknown }
  ? Pick<Answer, keyof Answer & ("data" | "message" | "resolved")> &
      (Answer extends { readonly meta: infer Meta } ? Pick<Meta, keyof Meta & "bulk"> : unknown)
  : Answer;

/** The definition of a route. */
export interface RouteOptions<P extends Parameters, S extends Schema.Top = Schema.Top> {
  /** Unique; the operation id of the OpenAPI document. */
  readonly id: string;
  readonly generation: Generation;
  /** The service whose interface it is of; only with `compat`. */
  readonly service?: CompatService;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly summary: string;
  /** Sentences beyond the summary; all that the documentation shows has one. */
  readonly description?: string;
  readonly parameters: P;
  /** Parameters of which at least one has to be given. */
  readonly requiresOneOf?: ReadonlyArray<string>;
  /** Where the parameters are. */
  readonly source: ParameterSource;
  /**
   * `key`: needs an API key. `key_or_redirect`: redirects without one. `none`: takes no key and
   * counts against none. `redirect`: the same, and redirects. `session`: needs a sign-in to the
   * dashboard.
   */
  readonly access: "key" | "key_or_redirect" | "none" | "redirect" | "session";
  /**
   * The least role in the account that a `session` route needs; `owner` when left out. `owner_or_self`: members may do
   * it to themselves, by the `chatId` of the path.
   */
  readonly role?: MemberRole | "owner_or_self";
  /** Which keys of restricted access may use the route beside those of full access; none when left out. */
  readonly keyAccess?: ReadonlyArray<Exclude<KeyAccess, "full">>;
  /** What the requests of keys are counted as in their usage; null for a route that takes no key. */
  readonly group: UsageGroup | null;
  /** Which keys may use the route; all when left out. `custom` are partner and staff keys. */
  readonly tier?: "premium" | "premium_or_global" | "premium_or_custom";
  /** The quota that the route counts against; mapping when left out. */
  readonly traffic?: Traffic;
  /** The items of a JSON array that the body may be instead of an object. */
  readonly listItem?: Schema.Top;
  /** The whole answer on success. */
  readonly success: S;
  /** The status of a success that is not a redirect; 200 when left out. */
  readonly status?: 201;
  /** What the documentation shows. */
  readonly example?: Example<S>;
  /** Whether a request may carry an `Idempotency-Key`, under which its answer is kept. */
  readonly isIdempotent?: true;
  /** Whether the answer is a stream of server-sent events. */
  readonly isStream?: true;
  /** Codes beyond those that follow from access and parameters; none when left out. */
  readonly errors?: ReadonlyArray<ErrorCode>;
  /** v1 only: errors with a status and message of their own. */
  readonly wordings?: Partial<Record<ErrorCode, Wording>>;
  /** v1 only: the version that every answer names. */
  readonly version?: string;
}

/** A route of the contract. */
export interface Route<P extends Parameters = Parameters, S extends Schema.Top = Schema.Top>
  extends Omit<RouteOptions<P, S>, "example"> {
  readonly example?: Example;
  /** Every error code of the route. */
  readonly codes: ReadonlySet<ErrorCode>;
}

/**
 * Makes a route, with the codes that follow from its access and parameters.
 *
 * @internal
 */
export const defineRoute = <const P extends Parameters, S extends Schema.Top>(
  options: RouteOptions<P, S>,
): Route<P, S> => {
  const codes = new Set<ErrorCode>([
    "BAD_REQUEST",
    "INTERNAL_ERROR",
    "SHARED_IP_RATE_LIMITED",
    ...(options.errors ?? []),
  ]);
  const parameters = Object.values(options.parameters);
  const sent = parameters.filter(({ isInPath }) => !isInPath);
  // Every v2 request can ask for an unknown dated contract.
  if (sent.length > 0 || options.generation === "v2") codes.add("INVALID_PARAMETER");
  if (sent.some(isEverRequired) || options.requiresOneOf !== undefined) codes.add("MISSING_PARAMETER");
  if (options.source === "body") codes.add("INVALID_BODY");
  if (options.access === "session") codes.add("INVALID_SESSION").add("FORBIDDEN");
  if (takesKey(options)) codes.add("INVALID_API_KEY").add("RATE_LIMITED").add("FORBIDDEN");
  if (options.isIdempotent === true) codes.add("CONFLICT");
  if (options.tier !== undefined || parameters.some(({ needsPremium }) => needsPremium))
    codes.add("PREMIUM_REQUIRED");
  return { ...options, codes };
};

/**
 * Whether the route takes a key.
 *
 * @internal
 */
export const takesKey = ({ access }: Pick<RouteOptions<Parameters>, "access">): boolean =>
  access === "key" || access === "key_or_redirect";

/**
 * Whether a route of GET answers HEAD. Waits and streams do not.
 *
 * @internal
 */
export const takesHead = ({ parameters, isStream }: Pick<Route, "parameters" | "isStream">): boolean =>
  isStream !== true && parameters["wait"] === undefined;

const isEverRequired = ({ presence }: Parameter<unknown>): boolean =>
  Object.values(presence).includes("required");

/** The path of a route as OpenAPI writes it, such as `/v2/sessions/{sid}`. */
export const pathTemplate = ({ path }: Pick<Route, "path">): string => path.replaceAll(/:(\w+)/g, "{$1}");

/**
 * The error statuses of a route, ascending, each with its codes.
 *
 * @example
 * ```ts
 * const [, notFound] = refusalsOf(WritesV2.deleteGame).find(([status]) => status === 404) ?? [];
 * notFound; // ["LINK_NOT_FOUND"]
 * ```
 */
export const refusalsOf = (
  route: Route,
): ReadonlyArray<readonly [status: number, codes: ReadonlyArray<ErrorCode>]> => {
  const byStatus = new Map<number, Array<ErrorCode>>();
  for (const code of route.codes) {
    const wording = route.wordings?.[code];
    for (const status of wording === undefined ? statusesOf(code) : [wording.status]) {
      // An id that is not one of the account is unknown to its owner.
      const isUnknownId = route.access === "session" && status === 404;
      if (code === "BAD_REQUEST" && status !== 400 && !isUnknownId) continue;
      if (code === "INVALID_BODY" && status !== 400 && route.source !== "body") continue;
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  return [...byStatus].toSorted(([one], [other]) => one - other);
};
