/** Reads the parameters of a route: check 9. */
import { type ApiKey, type DataScope, InvalidParameter, SessionSettings } from "@accountlink/core";
import { InvalidBody, MissingParameter, type ParameterProblem } from "@accountlink/core/errors";
import {
  type Parameter,
  type ParameterSource,
  type Parameters,
  type ParameterValues,
  parameterCodec,
  type RawValues,
  type Route,
} from "@accountlink/http-api";
import { Effect, Option, Result, Schema, SchemaIssue } from "effect";

/** The value of a name that occurs more than once in a JSON body. */
export const repeated = Symbol("repeated");

type ParameterError = MissingParameter | InvalidParameter | InvalidBody;

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Returns a predicate: whether the values ask for something that needs a Premium key. */
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

/** Why a value is refused, and whether this refuses the parameter or the whole body. */
interface Problem {
  readonly kind: "parameter" | "missing" | "body";
  readonly reason: string;
}

const format = SchemaIssue.makeFormatterStandardSchemaV1();

const valueReader = (parameter: Parameter<unknown>, source: ParameterSource) => {
  const { presence, fallback, reason, refusesBody, itemRefusesBody, takesNull } = parameter;
  const decode = Schema.decodeUnknownResult(parameterCodec(parameter, source));

  /** IDs are strings, because JSON numbers lose their last digits. */
  const reasonFor = (value: unknown): string =>
    typeof value === "number" && source === "body" && reason.endsWith(" digits")
      ? reason.replace("expected", "expected a string of")
      : reason;

  const refuse = (value: unknown, { issue }: Schema.SchemaError): Problem => {
    if (refusesBody) return { kind: "body", reason };
    if (!itemRefusesBody) return { kind: "parameter", reason: reasonFor(value) };
    const item = format(issue).issues.find(({ path = [] }) => path.length > 0);
    return item === undefined ? { kind: "parameter", reason } : { kind: "body", reason: item.message };
  };

  return (value: unknown, scopeKind: DataScope["kind"]): Result.Result<unknown, Problem> => {
    const rule = scopeKind === "guild" ? presence.guildKeys : presence.globalKeys;
    // Refuse even an empty value or null: the client expects a narrower request.
    if (rule === "refused" && value !== undefined) return Result.fail(notTaken);
    if (isMissing(value) && !(takesNull && value === null)) {
      if (rule === "required") return Result.fail(notGiven);
      if (Option.isSome(fallback)) return Result.succeed(fallback.value);
    }
    if (value === repeated || (source === "query" && Array.isArray(value))) return Result.fail(givenTwice);
    return Result.mapError(decode(value), (error) => refuse(value, error));
  };
};

const notGiven: Problem = { kind: "missing", reason: "" };
const notTaken: Problem = { kind: "parameter", reason: "not taken with a global key" };
const givenTwice: Problem = { kind: "parameter", reason: "given more than once" };

type ParameterReader<P extends Parameters> = (
  raw: RawValues,
  scopeKind: DataScope["kind"],
  otherProblems?: (values: Partial<ParameterValues<P>>) => ReadonlyArray<ParameterProblem>,
) => Result.Result<ParameterValues<P>, ParameterError>;

/** Cached, so that all applications of the process share the readers. */
const readersByRoute = new WeakMap<object, ParameterReader<Parameters>>();

/**
 * Returns the reader of a route's parameters. It reports a refused body first, then all missing parameters together,
 * then all invalid ones together.
 */
export const parameterReader = <P extends Parameters>(route: Route<P>): ParameterReader<P> => {
  const reader = readersByRoute.get(route) ?? makeReader(route);
  readersByRoute.set(route, reader);
  return reader as ParameterReader<P>;
};

const makeReader = ({ parameters, source, requiresOneOf = [] }: Route): ParameterReader<Parameters> => {
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
      const { kind, reason } = reading.failure;
      if (kind === "body") return Result.fail(new InvalidBody({ problem: "content", reason }));
      if (kind === "missing") missing.push(name);
      else invalid.push({ name, reason });
    }
    if (missing.length > 0) return Result.fail(new MissingParameter({ parameters: missing }));
    invalid.push(...otherProblems(values));
    if (invalid.length > 0) {
      const inOrder = invalid.toSorted((one, other) => placeOf(one) - placeOf(other));
      return Result.fail(new InvalidParameter({ parameters: inOrder }));
    }
    return Result.succeed(values);
  };
};
