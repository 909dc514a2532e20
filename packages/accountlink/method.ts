/** Methods that check their arguments when a program calls them, since plain JavaScript knows no types. */
import { InvalidParameter } from "@accountlink/core";
import { type Brand, Effect, Predicate, Schema, SchemaIssue, Stream } from "effect";

/** A parameter of a method: its name in errors, and the values that it accepts. */
export type Parameter<A> = readonly [name: string, schema: Schema.Decoder<A>];

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
    const checked = check<Args>(parameters, args);
    return checked instanceof InvalidParameter ? Effect.fail(checked) : run(...checked);
  };

/** Makes a method that returns a stream, which fails with `InvalidParameter` if an argument is wrong. */
export const streamMethod =
  <Args extends ReadonlyArray<unknown>, A, E>(
    parameters: Parameters<NoInfer<Args>>,
    run: (...args: Args) => Stream.Stream<A, E>,
  ): ((...args: Given<Args>) => Stream.Stream<A, E | InvalidParameter>) =>
  (...args) => {
    const checked = check<Args>(parameters, args);
    return checked instanceof InvalidParameter ? Stream.fail(checked) : run(...checked);
  };

const check = <Args>(
  parameters: ReadonlyArray<Parameter<unknown>>,
  args: ReadonlyArray<unknown>,
): Args | InvalidParameter => {
  const checked: Array<unknown> = [];
  for (const [index, [name, schema]] of parameters.entries()) {
    const result = Schema.decodeUnknownResult(schema)(args[index], { reportInput: true });
    if (result._tag === "Failure") return problemOf(name, result.failure.issue);
    checked.push(result.success);
  }
  return checked as Args;
};

const problemOf = (parameter: string, issue: SchemaIssue.Issue): InvalidParameter => {
  const [first] = formatIssue(issue).issues;
  const path = (first?.path ?? []).map((part) => (typeof part === "object" ? part.key : part));
  // A field is named without its object, an element with its list.
  const names = typeof path[0] === "string" ? path : [parameter, ...path];
  return InvalidParameter.one(names.join("."), first?.message ?? "is wrong");
};

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    if (issue._tag === "MissingKey") return "is missing";
    const { expected, isId } = (issue._tag === "InvalidType" ? issue.ast.annotations : undefined) ?? {};
    const reason = `expected ${String(expected ?? "another value")}`;
    // Other values, such as addresses, may be personal data.
    return isId === true ? `is ${quoted(issue.input)}, ${reason}` : reason;
  },
});

const quoted = (value: unknown): string =>
  Predicate.isString(value) ? `"${value.slice(0, 60)}"` : `of type ${typeof value}`;
