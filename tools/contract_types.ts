/** The types of the v2 contract. The contracts of the clients are generated from these types. */
import type { ErrorCode } from "@accountlink/core/errors";
import { errorCodes, errorTable, type Parameter, type Route, routes } from "@accountlink/http-api";
import { Schema, type SchemaAST, SchemaRepresentation } from "effect";

export type Representation = SchemaRepresentation.Representation;

/** The types of all schemas in the contract, and the named types that these types refer to. */
export interface ContractTypes {
  readonly v2: ReadonlyArray<Route>;
  readonly codes: ReadonlyArray<ErrorCode>;
  readonly named: Readonly<Record<string, Representation>>;
  readonly parameter: (parameter: Parameter<unknown>) => Representation;
  readonly success: (route: Route) => Representation;
  readonly details: (code: ErrorCode) => Representation;
  readonly resolve: (type: Representation) => Representation;
}

/** Collects the types of all routes of v2. */
export const contractTypes = (): ContractTypes => {
  const v2 = routes.filter(({ generation }) => generation === "v2");
  const codes = errorCodes.filter((code) => v2.some((route) => route.codes.has(code)));
  const parameters = v2.flatMap((route) => Object.values(route.parameters));
  const asts = [
    ...v2.map(({ success }) => inEnvelope(Schema.toEncoded(success).ast)),
    ...parameters.map(({ schema }) => Schema.toType(schema).ast),
    ...codes.map((code) => errorTable[code].details.ast),
  ];
  const [first = Schema.Void.ast, ...others] = asts;
  const { representations, references } = SchemaRepresentation.toRepresentations([first, ...others]);
  const at = (index: number): Representation => representations[index] ?? representations[0];
  return {
    v2,
    codes,
    named: references,
    success: (route) => at(v2.indexOf(route)),
    parameter: (parameter) => at(v2.length + parameters.indexOf(parameter)),
    details: (code) => at(v2.length + parameters.length + codes.indexOf(code)),
    resolve: (type) => (type._tag === "Reference" ? (references[type.$ref] ?? type) : type),
  };
};

/**
 * Picks the response with an envelope from a union of responses. Such a union exists because code hosts report leaked
 * keys in their own format, and get a response without an envelope.
 */
const inEnvelope = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast._tag === "Union" ? (ast.types.find(({ _tag }) => _tag === "Objects") ?? ast) : ast;

/** Returns the type of `data` in the envelope of a route's response; undefined for a stream or a redirect. */
export const dataOf = (route: Route, types: ContractTypes): Representation | undefined => {
  const envelope = types.resolve(types.success(route));
  return envelope._tag === "Objects"
    ? envelope.propertySignatures.find(({ name }) => name === "data")?.type
    : undefined;
};

/** The description of a type. It may belong to the type itself, or to one of the checks of the type. */
export const descriptionOf = (type: Representation): string | undefined => {
  if (type._tag === "Reference") return undefined;
  return textIn(type.annotations) ?? type.checks.map(({ annotations }) => textIn(annotations)).find(Boolean);
};

export const textIn = (annotations: Schema.Annotations.Annotations | undefined): string | undefined => {
  const description = annotations?.["description"];
  return typeof description === "string" ? description : undefined;
};
