/** Routes as values. Handlers, the OpenAPI document and tests are made from them. */
import type { NeededRole } from "@accountlink/core/accounts";
import type { ConflictReason, ErrorCode, PublicError } from "@accountlink/core/errors";
import { fullAccesses, type KeyAccess } from "@accountlink/core/keys";
import type { Traffic } from "@accountlink/core/limits";
import type { UsageGroup } from "@accountlink/core/usage";
import { Array, Order, Predicate, type Schema } from "effect";
import { type Reason, reasonsByCode } from "./error_details.ts";
import { statusesOf } from "./errors.ts";
import type { OtherService } from "./other_service.ts";
import type { Parameter, ParameterSource, Parameters, RawValues } from "./parameter.ts";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The versions of the API, and `compat` for the APIs of other services. All three call the same services of core. */
export type Generation = "v1" | "v2" | "compat";

/** The status and message that a v1 route uses for an error instead of the usual ones. */
export interface Wording {
  readonly status: number;
  /** One message, or a message for each reason of a conflict. */
  readonly message: string | Readonly<Partial<Record<ConflictReason, string>>>;
}

/** Returns the message of an error in a wording; undefined if the wording has none for the error. @internal */
export const wordedMessage = ({ message }: Wording, error: PublicError): string | undefined => {
  if (typeof message === "string") return message;
  return error._tag === "Conflict" ? message[error.reason] : undefined;
};

export interface RouteOptions<P extends Parameters, S extends Schema.Top = Schema.Top> {
  /** Unique; also the operation ID in the OpenAPI document. */
  readonly id: string;
  readonly generation: Generation;
  /** The service whose API the route belongs to; only with `compat`. */
  readonly service?: OtherService;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly summary: string;
  /** The sentences after the summary. Only undocumented routes have none. */
  readonly description?: string;
  readonly parameters: P;
  /** At least one of these parameters must be sent. */
  readonly requiresOneOf?: ReadonlyArray<string>;
  readonly source: ParameterSource;
  /**
   * `key`: needs an API key. `key_or_redirect`: needs an API key, but redirects requests that send none. `none`: takes
   * no key and counts against no key. `redirect`: like `none`, and redirects. `session`: needs a sign-in to the
   * dashboard, or a key whose access is in `keyAccess`.
   */
  readonly access: "key" | "key_or_redirect" | "none" | "redirect" | "session";
  /**
   * The lowest role in the account that may use a `session` route; `owner` when left out. `owner_or_self`: an owner may
   * use the route for every member, and other members only for themselves. The `chatId` of the path is the member.
   * `admin_of_all`: members of some communities alone may not.
   */
  readonly role?: NeededRole | "owner_or_self";
  /** The kinds of access that allow a key to use the route, besides `fullAccesses` on routes that need a key. */
  readonly keyAccess?: ReadonlyArray<Exclude<KeyAccess, "full">>;
  /** The usage group in which requests with a key are counted; null for a route that takes no key. */
  readonly group: UsageGroup | null;
  /** Which keys may use the route; all when left out. `custom` means partner and staff keys. */
  readonly tier?: "premium" | "premium_or_global" | "premium_or_custom";
  /** Whether every response to a Premium key has profiles. Other routes have a parameter that asks for them. */
  readonly addsProfiles?: true;
  /** The quota that the route counts against; `mapping` when left out. */
  readonly traffic?: Traffic;
  /** The schema of the items, if the body may be a JSON array instead of an object. */
  readonly listItem?: Schema.Top;
  /** The whole response on success. */
  readonly success: S;
  /** The status of a success that is not a redirect; 200 when left out. */
  readonly status?: 201;
  /** The values of a sample request, whose answer by the demo is in `open_api/answers.json`. */
  readonly example?: RawValues;
  /** Whether a request may carry an `Idempotency-Key`, under which its response is stored. */
  readonly isIdempotent?: true;
  /** Whether the response is a CSV file. */
  readonly isCsv?: true;
  /** The parameter that a body of the type `text/csv` is; the others are then in the query. */
  readonly csvBody?: string;
  /** Whether the response is a stream of server-sent events. */
  readonly isStream?: true;
  /**
   * Error codes besides those that follow from `access` and `parameters`; none when left out. A route lists
   * `BAD_REQUEST` if it answers 404 with this code for an unknown ID.
   */
  readonly errors?: ReadonlyArray<ErrorCode>;
  /**
   * Reasons of refusals, and limits, besides those that follow from `access`, `parameters` and `isIdempotent`; none when
   * left out. With a reason of a conflict, the route answers `CONFLICT` too.
   */
  readonly refuses?: ReadonlyArray<Reason>;
  /** v1 only: errors for which the route does not use the usual status and message. */
  readonly wordings?: Partial<Record<ErrorCode, Wording>>;
  /** v1 only: the value of the field `version` in every response. */
  readonly version?: string;
}

export interface Route<P extends Parameters = Parameters, S extends Schema.Top = Schema.Top>
  extends RouteOptions<P, S> {
  readonly codes: ReadonlySet<ErrorCode>;
  /** Every reason of `FORBIDDEN` and `CONFLICT`, and every limit, with which the route refuses. */
  readonly reasons: ReadonlySet<Reason>;
}

const when = (holds: boolean, ...reasons: ReadonlyArray<Reason>) => (holds ? reasons : []);

const impliedReasons = (options: RouteOptions<Parameters>): ReadonlyArray<Reason> => {
  const { access, role, method, parameters, traffic, path } = options;
  const isOfDashboard = access === "session";
  // The dashboard's JSON counts and refuses a key also where it takes none.
  const readsKeys = isOfDashboard || takesKey(options);
  const isWrite = isOfDashboard && method !== "GET";
  const isManaged = accessesOf(options).length > 0;
  return [
    ...when(readsKeys, "ip_not_allowed", "key_access"),
    ...when(readsKeys && traffic === "verify", "ip_verify_day", "verify_day"),
    ...when(readsKeys && traffic !== "verify", "ip_day", "second", "day"),
    "ip_auth",
    ...when(access !== "none", "ip_second"),
    ...when(isOfDashboard, "account_suspended"),
    ...when(isOfDashboard && role !== "moderator", "role"),
    ...when(isWrite, "csrf"),
    // What changes the sign-in alone is not counted.
    ...when(isWrite && !path.startsWith("/dashboard/api/session"), "dashboard_day"),
    ...when(isManaged && "guildId" in parameters, "bot_not_in_guild", "wrong_guild"),
    ...when(
      isManaged && ("guildId" in parameters || (isOfDashboard && "pid" in parameters)),
      "not_guild_manager",
      "platform_refusals",
    ),
    ...when(options.isIdempotent === true, "idempotency_key_reused", "idempotency_key_in_use", "user_erased"),
  ];
};

/** Makes a route, and adds the error codes that follow from its access and parameters. @internal */
export const defineRoute = <const P extends Parameters, S extends Schema.Top>(
  options: RouteOptions<P, S>,
): Route<P, S> => {
  const codes = new Set<ErrorCode>([
    "BAD_REQUEST",
    "INTERNAL_ERROR",
    "SHARED_IP_RATE_LIMITED",
    ...(options.errors ?? []),
  ]);
  const reasons = new Set([...impliedReasons(options), ...(options.refuses ?? [])]);
  const parameters = Object.values(options.parameters);
  const sent = parameters.filter(({ isInPath }) => !isInPath);
  // Every v2 request can have an invalid `Service-Version` header.
  if (sent.length > 0 || options.generation === "v2") codes.add("INVALID_PARAMETER");
  if (sent.some(isEverRequired) || options.requiresOneOf !== undefined) codes.add("MISSING_PARAMETER");
  if (options.source === "body") codes.add("INVALID_BODY");
  if (options.access === "session") codes.add("INVALID_SESSION");
  if (options.access === "session" || takesKey(options)) {
    codes.add("INVALID_API_KEY").add("RATE_LIMITED").add("FORBIDDEN");
  }
  if (reasonsByCode.CONFLICT.some((reason) => reasons.has(reason))) codes.add("CONFLICT");
  if (options.tier !== undefined || parameters.some(({ needsPremium }) => needsPremium))
    codes.add("PREMIUM_REQUIRED");
  return { ...options, codes, reasons };
};

/** @internal */
export const takesKey = ({ access }: Pick<RouteOptions<Parameters>, "access">): boolean =>
  access === "key" || access === "key_or_redirect";

/** Returns the kinds of access that allow a key to use a route. @internal */
export const accessesOf = (route: Pick<RouteOptions<Parameters>, "access" | "keyAccess">) => [
  ...(takesKey(route) ? fullAccesses : []),
  ...(route.keyAccess ?? []),
];

/** Whether a GET route answers HEAD. Routes that wait or stream do not, as the contract says. @internal */
export const takesHead = ({ parameters, isStream }: Pick<Route, "parameters" | "isStream">): boolean =>
  isStream !== true && parameters["wait"] === undefined;

const isEverRequired = ({ presence }: Parameter<unknown>): boolean =>
  Object.values(presence).includes("required");

/** The path of a route in OpenAPI syntax, such as `/v2/sessions/{sid}`. */
export const pathTemplate = ({ path }: Pick<Route, "path">): string => path.replaceAll(/:(\w+)/g, "{$1}");

/** Returns the error statuses of a route in ascending order, each with its error codes. */
export const refusalsOf = (
  route: Route,
): ReadonlyArray<readonly [status: number, codes: ReadonlyArray<ErrorCode>]> => {
  const byStatus = new Map<number, Array<ErrorCode>>();
  for (const code of route.codes) {
    const wording = route.wordings?.[code];
    for (const status of wording === undefined ? statusesOf(code) : [wording.status]) {
      // Dashboard routes answer 404 with `BAD_REQUEST` for an unknown ID or an ID of another account. Other routes that
      // do this list the code in `errors`.
      const hasUnknown = route.access === "session" || route.errors?.includes("BAD_REQUEST") === true;
      const isUnknownId = hasUnknown && status === 404;
      if (code === "BAD_REQUEST" && status !== 400 && !isUnknownId) continue;
      if (code === "INVALID_BODY" && status !== 400 && route.source !== "body") continue;
      byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
    }
  }
  return [...byStatus].toSorted(([one], [other]) => one - other);
};

/** Returns the routes that a module exports, sorted by path. @internal */
export const routesIn = (group: Readonly<Record<string, unknown>>): ReadonlyArray<Route> =>
  Array.sortWith(Object.values(group).filter(isRoute), ({ path }) => path, Order.String);

const isRoute = (value: unknown): value is Route => Predicate.hasProperty(value, "generation");
