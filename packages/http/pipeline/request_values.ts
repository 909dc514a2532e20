/** Reads the dated contract, the parameters and the header formats of a request. */
import { type ApiKey, InvalidParameter } from "@accountlink/core";
import type { InvalidBody } from "@accountlink/core/errors";
import type { Parameters, ParameterValues, RawValues, Route } from "@accountlink/http-api";
import { Effect, Result, Struct } from "effect";
import type { RequestContext } from "../request_context.ts";
import {
  contractFor,
  type DatedContract,
  defaultContract,
  unknownContract,
} from "../service_versions/service_version.ts";
import { readAnyFields, readJsonObject } from "./body.ts";
import { idempotencyProblems } from "./idempotency.ts";
import { type FindProblems, parameterReader } from "./parameters.ts";

/** The parameters of a request, and the dated contract that they follow. */
export interface RequestValues<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly contract: DatedContract;
}

/**
 * Makes check 9: reads the dated contract, the parameters of query or body, and the header formats, and reports all
 * problems together.
 */
export const valuesReader = <P extends Parameters>(
  route: Route<P>,
  findProblems: FindProblems<P> = () => [],
) => {
  const readRaw = rawValuesOf(route);
  const readBound = boundValuesReader(route, findProblems);
  return (context: RequestContext, key: ApiKey) =>
    Effect.flatMap(readRaw(context, key), (raw) => readBound(context, raw, key));
};

/** Makes the part of check 9 that parses raw values. */
export const boundValuesReader = <P extends Parameters>(
  route: Route<P>,
  findProblems: FindProblems<P> = () => [],
) => {
  const read = parameterReader(route);

  return (context: RequestContext, raw: RawValues, key: ApiKey | null) => {
    const scopeKind = key?.scope.kind ?? "global";
    const problemsOf = (given: Partial<ParameterValues<P>>) => (key === null ? [] : findProblems(given, key));
    const contract =
      route.generation === "v2" ? contractFor(context.request.header("service-version")) : defaultContract;
    const values = contract?.request?.(route.id, raw) ?? raw;
    const headerProblems = contract === undefined ? [unknownContract] : [];
    if (route.isIdempotent === true) headerProblems.push(...idempotencyProblems(context));
    const found = read(values, scopeKind, (given) => [...problemsOf(given), ...headerProblems]);
    return Effect.fromResult(
      Result.map(
        found,
        (known): RequestValues<P> => ({ values: known, contract: contract ?? defaultContract }),
      ),
    );
  };
};

const queryValues = ({ query }: RequestContext) => Effect.succeed(query);

const bodyValues = ({ request }: RequestContext) => readJsonObject(request);

/**
 * Reads the raw parameters of a route from its query or its body. A parameter that a global key must not send is
 * refused in both places: if the query were ignored, a deletion meant for one guild would delete everything.
 */
export const rawValuesOf = ({
  method,
  source,
  parameters,
}: Pick<Route, "method" | "source" | "parameters">) => {
  const values = source === "body" ? bodyValues : queryValues;
  const refused = Object.keys(parameters).filter(
    (name) => parameters[name]?.presence.globalKeys === "refused",
  );
  if (refused.length === 0 || method === "GET") return values;
  const otherValues =
    source === "body" ? queryValues : ({ request }: RequestContext) => readAnyFields(request, refused);
  return (context: RequestContext, key: ApiKey | null): Effect.Effect<RawValues, InvalidBody> =>
    key?.scope.kind === "guild"
      ? values(context)
      : Effect.zipWith(values(context), otherValues(context), (own, other) => ({
          ...own,
          ...Struct.pick(other, refused),
        }));
};

/** Refuses an unknown dated contract on routes without parameters. */
export const checkContract = ({ request }: RequestContext): Effect.Effect<void, InvalidParameter> =>
  contractFor(request.header("service-version")) === undefined
    ? Effect.fail(new InvalidParameter({ parameters: [unknownContract] }))
    : Effect.void;
