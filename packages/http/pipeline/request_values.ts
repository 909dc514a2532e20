/**
 * Reads what a request asks for: the dated contract, the parameters, and the form of its headers.
 */
import { InvalidParameter } from "@accountlink/core";
import type { Parameters, RawValues, Route } from "@accountlink/http-api";
import { Effect } from "effect";
import type { RequestContext } from "../request_context.ts";
import { contractFor, unknownContract } from "../service_versions/service_version.ts";
import { readJsonObject } from "./body.ts";
import { idempotencyProblems } from "./idempotency.ts";
import { parameterReader } from "./parameters.ts";

/** Makes the step that selects the dated contract and reads parameters. */
export const readerFor = <P extends Parameters>(route: Route<P>) => {
  const read = parameterReader(route);
  const refused = refusedInQuery(route);

  return (context: RequestContext, given: RawValues) => {
    const scopeKind = context.key?.key.scope.kind ?? "global";
    const misplaced = scopeKind === "global" ? refused.filter((name) => name in context.query) : [];
    const raw =
      misplaced.length === 0
        ? given
        : { ...given, ...Object.fromEntries(misplaced.map((name) => [name, context.query[name]])) };
    if (route.generation !== "v2") return Effect.fromResult(read(raw, scopeKind, []));
    const contract = contractFor(context.request.header("service-version"));
    if (contract !== undefined) context.contract = contract;
    const values = contract?.request?.(route.id, raw) ?? raw;
    const problems = contract === undefined ? [unknownContract] : [];
    if (route.isIdempotent === true) problems.push(...idempotencyProblems(context));
    return Effect.fromResult(read(values, scopeKind, problems));
  };
};

/**
 * Parameters of a body that a global key must not give. In the query they are refused, too: ignored there, a deletion
 * that was meant for one guild would delete everything.
 */
const refusedInQuery = ({ parameters, source }: Route): ReadonlyArray<string> =>
  source === "query"
    ? []
    : Object.entries(parameters).flatMap(([name, { presence }]) =>
        presence.globalKeys === "refused" ? [name] : [],
      );

const queryValues = ({ query }: RequestContext) => Effect.succeed(query);

/** Reads the raw parameters of a route, from its query or its body. */
export const rawValuesOf = ({ source }: Pick<Route, "source">) =>
  source === "body" ? ({ request }: RequestContext) => readJsonObject(request) : queryValues;

/** Refuses an unknown dated contract, where there are no parameters to read. */
export const checkContract = ({ request }: RequestContext): Effect.Effect<void, InvalidParameter> =>
  contractFor(request.header("service-version")) === undefined
    ? Effect.fail(new InvalidParameter({ parameters: [unknownContract] }))
    : Effect.void;
