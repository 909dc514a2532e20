/**
 * Reads the parameters of a route. Step 9 of the order of checks.
 */
import {
  type DataScope,
  InvalidBody,
  InvalidParameter,
  MissingParameter,
  type ParameterProblem,
} from "@accountlink/core";
import type { Parameter, ParameterSource, Parameters, ParameterValues, Route } from "@accountlink/http-api";
import { Result } from "effect";

/** Stands for the values of a name that a JSON body gives more than once. */
export const repeated = Symbol("repeated");

/** Values by name, as a query string (a list where a name stands twice) or a JSON body gives them. */
export type RawValues = { readonly [name: string]: unknown };

export type ParameterError = MissingParameter | InvalidParameter | InvalidBody;

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Makes the test whether values ask for what only a Premium key gets. */
export const premiumTest = <P extends Parameters>({ parameters }: Route<P>) => {
  const names = Object.keys(parameters).filter((name) => parameters[name]?.needsPremium === true);
  return (values: ParameterValues<P>): boolean => names.some((name) => values[name] === true);
};

const readOne = (
  parameter: Parameter<unknown>,
  value: unknown,
  source: ParameterSource,
  presence: "required" | "optional" | "refused",
): Result.Result<unknown, { readonly kind: "parameter" | "body" | "missing"; readonly reason: string }> => {
  // Refused in any form, empty or null too: whoever sends it expects a narrower request.
  if (presence === "refused" && value !== undefined) {
    return Result.fail({ kind: "parameter", reason: "not taken with a global key" });
  }
  if (isMissing(value)) {
    return presence === "required" ? Result.fail({ kind: "missing", reason: "" }) : parameter.absent;
  }
  if (value === repeated || (source === "query" && Array.isArray(value))) {
    return Result.fail({ kind: "parameter", reason: "given more than once" });
  }
  return parameter.read(value, source);
};

/**
 * Makes the reader of a route's parameters. It reports everything that is wrong with the body first, then all that is
 * missing, then all that is invalid.
 */
export const parameterReader = <P extends Parameters>(route: Route<P>) => {
  const entries = Object.entries(route.parameters);
  const { source } = route;

  return (
    raw: RawValues,
    scopeKind: DataScope["kind"],
    otherProblems: ReadonlyArray<ParameterProblem>,
  ): Result.Result<ParameterValues<P>, ParameterError> => {
    const values: Record<string, unknown> = {};
    const missing: Array<string> = [];
    const invalid: Array<ParameterProblem> = [];
    for (const [name, parameter] of entries) {
      const presence = scopeKind === "guild" ? parameter.presence.guildKeys : parameter.presence.globalKeys;
      const reading = readOne(parameter, raw[name], source, presence);
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
    invalid.push(...otherProblems);
    if (invalid.length > 0) return Result.fail(new InvalidParameter({ parameters: invalid }));
    return Result.succeed(values as ParameterValues<P>);
  };
};
