import { Predicate, SchemaIssue } from "effect";

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
