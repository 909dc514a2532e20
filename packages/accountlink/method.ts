/** Methods that check their arguments when a program calls them, since plain JavaScript knows no types. */
import { InvalidParameter } from "@accountlink/core";
import { type Brand, Effect, Predicate, Schema, SchemaIssue, Stream } from "effect";

/** A parameter of a method: its name in errors, the values that it accepts, and what becomes of unknown fields. */
export type Parameter<A> = readonly [
  name: string,
  schema: Schema.Decoder<A>,
  unknownFields?: "ignored" | "refused",
];

type Parameters<Args extends ReadonlyArray<unknown>> = {
  readonly [Index in keyof Args]-?: Parameter<Args[Index]>;
};

/** The arguments that a program passes: plain text for the IDs that the method receives. */
type Given<Args extends ReadonlyArray<unknown>> = {
  [Index in keyof Args]: Args[Index] extends Id
    ? string
    : Args[Index] extends ReadonlyArray<Id>
      ? ReadonlyArray<string>
      : Args[Index];
};
type Id = string & Brand.Brand<string>;

/** Makes a method that fails with `InvalidParameter` if an argument is wrong. */
export const method =
  <Args extends ReadonlyArray<unknown>, A, E, R>(
    parameters: Parameters<NoInfer<Args>>,
    run: (...args: Args) => Effect.Effect<A, E, R>,
  ): ((...args: Given<Args>) => Effect.Effect<A, E | InvalidParameter, R>) =>
  (...args) => {
    const checked = check(parameters, args);
    return checked instanceof InvalidParameter ? Effect.fail(checked) : run(...(checked as Args));
  };

/** Makes a method that returns a stream, which fails with `InvalidParameter` if an argument is wrong. */
export const streamMethod =
  <Args extends ReadonlyArray<unknown>, A, E>(
    parameters: Parameters<NoInfer<Args>>,
    run: (...args: Args) => Stream.Stream<A, E>,
  ): ((...args: Given<Args>) => Stream.Stream<A, E | InvalidParameter>) =>
  (...args) => {
    const checked = check(parameters, args);
    return checked instanceof InvalidParameter ? Stream.fail(checked) : run(...(checked as Args));
  };

const check = (
  parameters: ReadonlyArray<Parameter<unknown>>,
  args: ReadonlyArray<unknown>,
): ReadonlyArray<unknown> | InvalidParameter => {
  const checked: Array<unknown> = [];
  // A misspelled `guildId` would widen the call to every guild.
  for (const [index, [name, schema, unknownFields = "refused"]] of parameters.entries()) {
    const onExcessProperty = unknownFields === "ignored" ? "ignore" : "error";
    const parsing = { onExcessProperty, reportInput: true } as const;
    const given = name === "options" && args[index] === undefined ? {} : args[index];
    const result = Schema.decodeUnknownResult(schema)(given, parsing);
    if (result._tag === "Success") {
      checked.push(result.success);
      continue;
    }
    const [{ path, reason } = unknownProblem] = problemsIn(result.failure.issue, false);
    // A field is named without its object, an element with its list.
    const names = typeof path[0] === "string" ? path : [name, ...path];
    return InvalidParameter.one(names.join("."), reason);
  }
  return checked;
};

const unknownProblem = { path: [], reason: "is wrong" };

/** The path of a wrong value, and the expected value. */
export interface Problem {
  readonly path: ReadonlyArray<PropertyKey>;
  readonly reason: string;
}

/**
 * Describes the problems that a schema found.
 *
 * @param showsValues whether the reasons contain the values; otherwise only IDs, since other values, such as addresses,
 * may be personal data
 */
export const problemsIn = (issue: SchemaIssue.Issue, showsValues: boolean): ReadonlyArray<Problem> =>
  SchemaIssue.makeFormatterStandardSchemaV1({ leafHook: (leaf) => reasonOf(leaf, showsValues) })(
    issue,
  ).issues.map(({ path = [], message }) => ({
    path: path.map((part) => (typeof part === "object" ? part.key : part)),
    reason: message,
  }));

const reasonOf = (issue: SchemaIssue.Leaf, showsValues: boolean): string => {
  if (issue._tag === "MissingKey") return "is missing";
  if (issue._tag === "UnexpectedKey") {
    const known = issue.ast._tag === "Objects" ? issue.ast.propertySignatures.map(({ name }) => name) : [];
    return `is unknown, expected one of ${known.join(", ")}`;
  }
  const { expected, isId } = (issue._tag === "InvalidType" ? issue.ast.annotations : undefined) ?? {};
  const given = showsValues || isId === true ? `is ${shown(issue.input)}, ` : "";
  return `${given}expected ${Predicate.isString(expected) ? expected : "another value"}`;
};

const shown = (value: unknown): string => {
  if (Predicate.isString(value)) return `"${value.slice(0, 60)}"`;
  return Predicate.isNumber(value) || Predicate.isBoolean(value) || value === null
    ? String(value)
    : `of type ${typeof value}`;
};
