/**
 * Step 9 of `checks.ts`: reads the parameters of a request, and checks the headers `Service-Version` and
 * `Idempotency-Key`.
 */
import { type ApiKey, type DataScope, InvalidParameter, SessionSettings } from "@accountlink/core";
import {
  type Expected,
  InvalidBody,
  MissingParameter,
  type ParameterProblem,
} from "@accountlink/core/errors";
import {
  type Parameter,
  type ParameterSource,
  type Parameters,
  type ParameterValues,
  parameterCodec,
  type RawValues,
  type Route,
} from "@accountlink/http-api";
import { Effect, Option, Result, Schema, SchemaIssue, Struct } from "effect";
import type { HttpRequest } from "../http_app.ts";
import type { RequestContext } from "../request_context.ts";
import {
  contractsByHeader,
  type DatedContract,
  defaultContract,
  unknownContract,
} from "../service_versions/service_version.ts";
import { readAnyFields, readCsv, readJsonObject, repeated } from "./body.ts";
import { idempotencyProblems } from "./idempotency.ts";

type ParameterError = MissingParameter | InvalidParameter | InvalidBody;

/** The parameters of a request, and the version of the contract (a date) that they follow. */
export interface RequestValues<P extends Parameters> {
  readonly values: ParameterValues<P>;
  readonly contract: DatedContract;
}

/** Returns a predicate that tells whether the values ask for something that needs a Premium key. */
export const premiumTest = <P extends Parameters>({ parameters }: Route<P>) => {
  const names = Object.keys(parameters).filter((name) => parameters[name]?.needsPremium === true);
  return (values: ParameterValues<P>): boolean => names.some((name) => values[name] === true);
};

/**
 * Finds problems that involve more than the format of one value, such as two values that exclude each other. Malformed
 * values are omitted.
 */
export type FindProblems<P extends Parameters> = (
  values: Partial<ParameterValues<P>>,
  key: ApiKey,
) => ReadonlyArray<ParameterProblem>;

/** Checks that a request does not ask to wait longer than the deployment allows. */
export const makeWaitProblems = Effect.map(
  SessionSettings,
  ({ longPollMax }) =>
    ({ wait = 0 }: { readonly wait?: number }): ReadonlyArray<ParameterProblem> =>
      longPollMax === 0 || wait * 1_000 <= longPollMax
        ? []
        : [{ name: "wait", reason: `expected at most ${Math.floor(longPollMax / 1_000)} seconds` }],
);

/**
 * Makes the function that reads the parameters of a route's requests.
 *
 * @param findProblems runs for requests with a key
 */
export const valuesReader = <P extends Parameters>(
  route: Route<P>,
  findProblems: FindProblems<P> = () => [],
) => {
  const readRaw = rawReader(route);
  const readParameters = parameterReader(route);

  /**
   * @param key null on a route without keys
   * @param body the parsed body, if the caller has read it
   */
  return (
    context: RequestContext,
    key: ApiKey | null,
    body?: RawValues,
  ): Effect.Effect<RequestValues<P>, ParameterError> =>
    Effect.flatMapEager(body === undefined ? readRaw(context, key) : Effect.succeed(body), (raw) => {
      const header = context.request.header("service-version");
      const contract = route.generation === "v2" ? contractsByHeader.get(header) : defaultContract;
      const headerProblems = contract === undefined ? [unknownContract] : [];
      if (route.isIdempotent === true) headerProblems.push(...idempotencyProblems(context));
      const values = readParameters(
        contract?.request?.(route.id, raw) ?? raw,
        key?.scope.kind ?? "global",
        (given) => [...(key === null ? [] : findProblems(given, key)), ...headerProblems],
      );
      return Effect.fromResult(
        Result.map(values, (read) => ({ values: read, contract: contract ?? defaultContract })),
      );
    });
};

/**
 * Refuses a request whose header `Service-Version` names an unknown contract. `valuesReader` does this for requests
 * with parameters.
 */
export const checkContract = ({ request }: RequestContext): Effect.Effect<void, InvalidParameter> =>
  contractsByHeader.has(request.header("service-version"))
    ? Effect.void
    : Effect.fail(new InvalidParameter({ parameters: [unknownContract] }));

const queryValues = ({ query }: RequestContext) => Effect.succeed(query);

const bodyReader = (parameters: Parameters, csvBody: string | undefined) => {
  const inPath = Object.keys(parameters).filter((name) => parameters[name]?.isInPath);
  // The body may be left out if every parameter has a default.
  const isNeeded = Object.values(parameters).some(
    ({ isInPath, fallback }) => !isInPath && Option.getOrUndefined(fallback) === undefined,
  );
  return ({ request, query }: RequestContext): Effect.Effect<RawValues, InvalidBody> => {
    const csv = csvBody === undefined ? undefined : readCsv(request);
    if (csvBody !== undefined && csv !== undefined)
      return Effect.map(csv, (text) => ({ ...query, [csvBody]: text }));
    const body = isNeeded || hasBody(request) ? readJsonObject(request) : Effect.succeed({});
    return inPath.length === 0
      ? body
      : Effect.map(body, (values) => ({ ...values, ...Struct.pick(query, inPath) }));
  };
};

const hasBody = (request: HttpRequest): boolean =>
  (request.header("content-length") ?? "0") !== "0" || request.header("transfer-encoding") !== undefined;

/**
 * Reads the raw parameters of a route from its query or its body. Parameters that a global key must not send are read
 * from both, so that they are refused in either place. Otherwise, a deletion that was meant for one guild could delete
 * everything.
 */
export const rawReader = ({
  method,
  source,
  parameters,
  csvBody,
}: Pick<Route, "method" | "source" | "parameters" | "csvBody">) => {
  const values = source === "body" ? bodyReader(parameters, csvBody) : queryValues;
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

/** Why a value is refused. The kind `body` means that the whole body is refused because of this value. */
interface Problem {
  readonly kind: "parameter" | "missing" | "body";
  readonly reason: string;
  readonly expected?: Expected | undefined;
}

const format = SchemaIssue.makeFormatterStandardSchemaV1();

const valueReader = (parameter: Parameter<unknown>, source: ParameterSource) => {
  const { presence, fallback, reason, expected, refusesBody, itemRefusesBody, takesNull } = parameter;
  const decode = Schema.decodeUnknownResult(parameterCodec(parameter, source));

  /**
   * A client that sends an ID as a JSON number is told to send a string, because large JSON numbers lose their last
   * digits.
   */
  const reasonFor = (value: unknown): string =>
    typeof value === "number" && source === "body" && reason.endsWith(" digits")
      ? reason.replace("expected", "expected a string of")
      : reason;

  const refuse = (value: unknown, { issue }: Schema.SchemaError): Problem => {
    if (refusesBody) return { kind: "body", reason };
    if (!itemRefusesBody) return { kind: "parameter", reason: reasonFor(value), expected };
    const item = format(issue).issues.find(({ path = [] }) => path.length > 0);
    return item === undefined
      ? { kind: "parameter", reason, expected }
      : { kind: "body", reason: item.message };
  };

  return (value: unknown, scopeKind: DataScope["kind"]): Result.Result<unknown, Problem> => {
    const rule = scopeKind === "guild" ? presence.guildKeys : presence.globalKeys;
    // Refuse the parameter even if it is empty or null, because its sender expects that the request is for one guild
    // only.
    if (rule === "refused" && value !== undefined) return Result.fail(notTaken);
    if (isMissing(value) && !(takesNull && value === null)) {
      if (rule === "required") return Result.fail(notGiven);
      if (Option.isSome(fallback)) return Result.succeed(fallback.value);
    }
    if (value === repeated || (source === "query" && Array.isArray(value))) return Result.fail(givenTwice);
    return Result.mapError(decode(value), (error) => refuse(value, error));
  };
};

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

const notGiven: Problem = { kind: "missing", reason: "" };
const notTaken: Problem = { kind: "parameter", reason: "not taken with a global key" };
const givenTwice: Problem = { kind: "parameter", reason: "given more than once" };

type ParameterReader<P extends Parameters> = (
  raw: RawValues,
  scopeKind: DataScope["kind"],
  otherProblems?: (values: Partial<ParameterValues<P>>) => ReadonlyArray<ParameterProblem>,
) => Result.Result<ParameterValues<P>, ParameterError>;

/**
 * Makes the reader of a route's parameters. It reports a refused body first, then all missing parameters together, then
 * all invalid ones together.
 */
export const parameterReader = <P extends Parameters>({
  parameters,
  source,
  requiresOneOf = [],
}: Pick<Route<P>, "parameters" | "source" | "requiresOneOf">): ParameterReader<P> => {
  const readers = Object.entries(parameters).map(
    ([name, parameter]) => [name, valueReader(parameter, source)] as const,
  );
  const places = new Map(readers.map(([name], place) => [name, place]));
  const placeOf = ({ name }: ParameterProblem) => places.get(name) ?? places.size;

  return (raw, scopeKind, otherProblems = () => []) => {
    const values: Record<string, unknown> = {};
    const missing: Array<string> = [];
    const invalid: Array<ParameterProblem> = [];
    const isOneGiven = requiresOneOf.some((name) => !isMissing(raw[name]));
    for (const [name, read] of readers) {
      if (!isOneGiven && requiresOneOf.includes(name)) {
        missing.push(name);
        continue;
      }
      const reading = read(raw[name], scopeKind);
      if (Result.isSuccess(reading)) {
        values[name] = reading.success;
        continue;
      }
      const { kind, reason, expected } = reading.failure;
      if (kind === "body") return Result.fail(new InvalidBody({ problem: "content", reason }));
      if (kind === "missing") missing.push(name);
      else invalid.push(expected === undefined ? { name, reason } : { name, reason, expected });
    }
    if (missing.length > 0) return Result.fail(new MissingParameter({ parameters: missing }));
    invalid.push(...otherProblems(values as Partial<ParameterValues<P>>));
    if (invalid.length > 0) {
      const inOrder = invalid.toSorted((one, other) => placeOf(one) - placeOf(other));
      return Result.fail(new InvalidParameter({ parameters: inOrder }));
    }
    return Result.succeed(values as ParameterValues<P>);
  };
};
