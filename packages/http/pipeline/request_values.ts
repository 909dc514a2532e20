/** Reads what a request asks for: the dated contract, the parameters, and the form of its headers. */
import { InvalidParameter } from "@accountlink/core";
import type { InvalidBody } from "@accountlink/core/errors";
import type { Parameters, ParameterValues, RawValues, Route } from "@accountlink/http-api";
import { Effect, Struct } from "effect";
import type { RequestContext } from "../request_context.ts";
import { contractFor, unknownContract } from "../service_versions/service_version.ts";
import { readAnyFields, readJsonObject } from "./body.ts";
import { idempotencyProblems } from "./idempotency.ts";
import { type FindProblems, parameterReader } from "./parameters.ts";

/**
 * Makes the step that selects the dated contract and reads parameters.
 *
 * @param findProblems asked where there is a key
 */
export const readerFor = <P extends Parameters>(
  route: Route<P>,
  findProblems: FindProblems<P> = () => [],
) => {
  const read = parameterReader(route);

  return (context: RequestContext, raw: RawValues) => {
    const key = context.key?.key;
    const scopeKind = key?.scope.kind ?? "global";
    const problemsOf = (given: Partial<ParameterValues<P>>) =>
      key === undefined ? [] : findProblems(given, key);
    if (route.generation !== "v2") return Effect.fromResult(read(raw, scopeKind, problemsOf));
    const contract = contractFor(context.request.header("service-version"));
    if (contract !== undefined) context.contract = contract;
    const values = contract?.request?.(route.id, raw) ?? raw;
    const headerProblems = contract === undefined ? [unknownContract] : [];
    if (route.isIdempotent === true) headerProblems.push(...idempotencyProblems(context));
    return Effect.fromResult(read(values, scopeKind, (given) => [...problemsOf(given), ...headerProblems]));
  };
};

const queryValues = ({ query }: RequestContext) => Effect.succeed(query);

const bodyValues = ({ request }: RequestContext) => readJsonObject(request);

const bodyFields = ({ request }: RequestContext) => readAnyFields(request);

/**
 * Reads the raw parameters of a route, from its query or its body. What a global key must not give in one is refused in
 * the other, too: ignored there, a deletion that was meant for one guild would delete everything.
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
  const otherValues = source === "body" ? queryValues : bodyFields;
  return (context: RequestContext): Effect.Effect<RawValues, InvalidBody> =>
    context.key?.key.scope.kind === "guild"
      ? values(context)
      : Effect.zipWith(values(context), otherValues(context), (own, other) => ({
          ...own,
          ...Struct.pick(other, refused),
        }));
};

/** Refuses an unknown dated contract, where there are no parameters to read. */
export const checkContract = ({ request }: RequestContext): Effect.Effect<void, InvalidParameter> =>
  contractFor(request.header("service-version")) === undefined
    ? Effect.fail(new InvalidParameter({ parameters: [unknownContract] }))
    : Effect.void;

/** Whether a lookup asks the store, and no platform for guilds, members or profiles. */
export const asksStoreAlone = ({ query }: RequestContext): boolean =>
  query["guildId"] === undefined && query["resolved"] === undefined;
