import type { ErrorCode, PublicError } from "@accountlink/core/errors";
import { groupBy } from "@accountlink/core/group_by";
import { type JsonSchema, Schema } from "effect";
import { compatRoutes } from "../compat/compat_routes.ts";
import type { Reason } from "../error_details.ts";
import { errorCodes, errorTable, statusesOf } from "../errors.ts";
import type { OtherService } from "../other_service.ts";
import { type Route, refusalsOf } from "../route.ts";
import { routes } from "../routes.ts";
import { failure as failureV1 } from "../v1/envelope.ts";
import { AnyFailure, failure as failureV2, reasonsOf } from "../v2/envelope.ts";
import type { Components } from "./components.ts";
import type { Content, MediaType, Reference, Response } from "./document.ts";
import { errorExample, errorExampleV1, successExample } from "./examples.ts";
import { redirectHeaders, refusalHeaders, successHeaders } from "./headers.ts";

/** Names a schema of a route by the capitalized route ID and the kind of schema, such as `GetChatAnswer`. */
export const typeName = (route: Route, kind: string): string =>
  `${route.id.slice(0, 1).toUpperCase()}${route.id.slice(1)}${kind}`;

const contentOf = (components: Components, route: Route): Content => {
  const example = successExample(route);
  if (route.isCsv === true) return { "text/csv; charset=utf-8": { schema: { type: "string" }, example } };
  return route.isStream === true
    ? { "text/event-stream": { schema: components.schema(route.success), example } }
    : {
        "application/json": {
          schema: components.schema(route.success.annotate({ identifier: typeName(route, "Answer") })),
          example,
        },
      };
};

const redirectOf = (components: Components, route: Route): Response => ({
  description:
    route.access === "redirect"
      ? "To the public verification flow, whatever the sid"
      : "Without an Authorization header: to the public verification flow, with every query parameter kept",
  headers: redirectHeaders(components, route),
});

const successesOf = (
  components: Components,
  route: Route,
): Readonly<Record<string, Response | Reference>> => {
  if (route.access === "redirect") {
    return { 302: redirectOf(components, route), default: otherFailure(components, route) };
  }
  const { status = 200 } = route;
  const success = {
    description: "Success",
    headers: successHeaders(components, route),
    content: contentOf(components, route),
  };
  return route.access === "key_or_redirect"
    ? { [status]: success, 302: redirectOf(components, route) }
    : { [status]: success };
};

/** The refusals of another service. They depend on the error alone, so all routes of the service share them. */
const refusalsOfService = (
  components: Components,
  route: Route,
  service: OtherService,
): Readonly<Record<string, Reference>> => {
  const sharing = compatRoutes.filter((each) => each.service === service);
  const errors = inOrder(sharing.flatMap(({ codes }) => [...codes]))
    .flatMap((code): ReadonlyArray<PublicError> => errorTable[code].examples)
    .filter(isOfLookup);
  const byStatus = groupBy(errors, (error) => service.refuse(error).status);
  return Object.fromEntries(
    [...byStatus].map(([status, alike]) => {
      const codes = inOrder(alike.map(({ code }) => code));
      const bodies = new Map(alike.map((error) => [error.message, { value: service.refuse(error).body }]));
      const response = components.share("responses", `${service.name.replaceAll(" ", "")}.${status}`, {
        description: codes.map((code) => `\`${code}\``).join(", "),
        headers: refusalHeaders(components, route, status),
        content: json(components.schema(service.failure), Object.fromEntries(bodies)),
      });
      return [status, response];
    }),
  );
};

/** Whether a lookup in the emulated API of another link service, such as Bloxlink, can fail with this error. */
const isOfLookup = (error: PublicError): boolean => {
  if (error._tag === "Forbidden") return lookupReasons.has(error.reason);
  if (error._tag === "BadRequest") return error.problem === "unreadable";
  if (error._tag === "RateLimited") return error.bucket === "second" || error.bucket === "day";
  if (error._tag === "SharedIpRateLimited") return error.bucket !== "ip_verify_day";
  return error._tag !== "MalformedRequest";
};

const lookupReasons: ReadonlySet<string> = new Set([
  "bot_not_in_guild",
  "user_not_in_guild",
  "wrong_guild",
  "ip_not_allowed",
  "key_access",
]);

const meaningOf = (code: ErrorCode): string => `\`${code}\`: ${errorTable[code].when}`;

const inOrder = (codes: ReadonlyArray<ErrorCode>): ReadonlyArray<ErrorCode> =>
  errorCodes.filter((code) => codes.includes(code));

const json = (schema: JsonSchema.JsonSchema, examples: MediaType["examples"] = {}): Content => ({
  "application/json": { schema, ...(Object.keys(examples).length === 0 ? {} : { examples }) },
});

/** Builds the name of a refusal from its error codes. Appends the status if a single code has several statuses. */
const nameOf = (status: number, codes: ReadonlyArray<ErrorCode>): string => {
  const [code, ...others] = codes;
  const isOfOneStatus = others.length > 0 || code === undefined || statusesOf(code).length === 1;
  return [...codes, ...(isOfOneStatus ? [] : [status])].join(".");
};

/** Returns a v2 refusal. Routes with the same error codes and reasons share one, named by the first of them. */
const refusalV2 = (
  components: Components,
  route: Route,
  status: number,
  codes: ReadonlyArray<ErrorCode>,
): Reference => {
  const isForOwners = route.access === "session";
  const traffic = trafficOf(route, status);
  const examples = (isForOwners ? [] : codes).map((code) => {
    const [reason] = reasonsOf(route, code);
    // Routes of sessions tell another limit.
    const more = [...(reason === undefined ? [] : [reason]), ...(traffic === undefined ? [] : [traffic])];
    const value = errorExample(status, code, traffic, reason);
    return [code, components.share("examples", [nameOf(status, [code]), ...more].join("."), { value })];
  });
  const hasReasons = codes.some((code) => reasonsOf(route, code).length > 0);
  const of = hasReasons || traffic !== undefined ? `.${route.id}` : "";
  const name = `${isForOwners ? "Dashboard." : ""}${nameOf(status, codes)}${of}`;
  return components.share("responses", name, {
    description: isForOwners ? codes.join(", ") : codes.map(meaningOf).join("\n\n"),
    headers: refusalHeaders(components, route, status),
    content: json(components.schema(failureV2(route, status, codes)), Object.fromEntries(examples)),
  });
};

interface RouteError {
  readonly route: Route;
  readonly status: number;
  readonly code: ErrorCode;
}

/** The v1 refusals by status. Their bodies have no code, so all routes share them; `x-reasons` tells which are theirs. */
const refusalsV1 = groupBy(
  routes
    .filter(({ generation }) => generation === "v1")
    .flatMap((route) =>
      refusalsOf(route).flatMap(([status, codes]) =>
        codes.map((code): RouteError => ({ route, status, code })),
      ),
    ),
  ({ status }) => status,
);

const refusalV1 = (components: Components, route: Route, status: number): Reference => {
  const refusals = refusalsV1.get(status) ?? [];
  const codes = inOrder(refusals.map(({ code }) => code));
  const examples = codes.flatMap((code) => {
    const sharing = refusals.flatMap((each) => (each.code === code ? [each.route] : []));
    const exampleOf = (reason?: Reason) => [
      reason ?? code,
      { value: errorExampleV1(status, code, sharing[0]?.wordings?.[code], reason) },
    ];
    const reasons = reasonsOf({ reasons: new Set(sharing.flatMap((each) => [...each.reasons])) }, code);
    return reasons.length === 0 ? [exampleOf()] : reasons.map((reason) => exampleOf(reason));
  });
  const failures = [failureV1(status, "mapping"), failureV1(status, "verify")];
  return components.share("responses", `V1.${status}`, {
    description: codes.map(meaningOf).join("\n\n"),
    headers: refusalHeaders(components, route, status),
    content: json(components.schema(Schema.Union(failures)), Object.fromEntries(examples)),
  });
};

/** Refusals of requests that are not valid HTTP, documented once for all routes. */
const otherFailure = (components: Components, route: Route): Reference =>
  components.share("responses", "OtherFailure", {
    description: "Any other failure, such as a request that is not valid HTTP",
    headers: refusalHeaders(components, route, 400),
    content: json(components.schema(AnyFailure)),
  });

const refusals = (components: Components, route: Route): Readonly<Record<string, Reference>> =>
  Object.fromEntries(
    refusalsOf(route).map(([status, codes]) => [
      status,
      route.generation === "v2"
        ? components.once(sharedBy(route, status, inOrder(codes)), () =>
            refusalV2(components, route, status, inOrder(codes)),
          )
        : components.once(`v1 ${status}`, () => refusalV1(components, route, status)),
    ]),
  );

/** The limit that a refusal tells; a request without a valid key is told none. */
const trafficOf = ({ traffic }: Route, status: number) => (status === 401 ? undefined : traffic);

/** Routes with the same error codes and reasons share a refusal. */
const sharedBy = (route: Route, status: number, codes: ReadonlyArray<ErrorCode>): string =>
  [
    route.access === "session",
    trafficOf(route, status),
    status,
    ...codes,
    ...codes.flatMap((code) => reasonsOf(route, code)),
  ].join();

export const responsesOf = (
  components: Components,
  route: Route,
): Readonly<Record<string, Response | Reference>> => ({
  ...successesOf(components, route),
  ...(route.service === undefined
    ? refusals(components, route)
    : refusalsOfService(components, route, route.service)),
});
