/** The v2 contract as a TypeScript module without imports, for clients that do not use schemas. */
import type { ErrorCode } from "@accountlink/core/errors";
import { Option, Schema, type SchemaAST, SchemaRepresentation } from "effect";
import { errorCodes, errorTable } from "./errors.ts";
import type { Parameter } from "./parameter.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes.ts";
import { serviceVersions } from "./v2/envelope.ts";

type Representation = SchemaRepresentation.Representation;

/**
 * Generates the source of the module: types of every record and route, the error codes, and the table of routes.
 *
 * @internal
 */
export const clientContract = (): string => {
  const v2 = routes.filter(({ generation }) => generation === "v2");
  const codes = errorCodes.filter((code) => v2.some((route) => route.codes.has(code)));
  const types = typesOf(v2, codes);
  return `/** The contract of v2. Generated from the routes of @accountlink/http-api. */
${types.declarations}
/** The parameters and the data of each route. */
export interface Routes {
${v2.map((route) => routeType(route, types)).join("")}}

/** The name of a route. */
export type RouteId = keyof Routes;

/** The \`details\` of each error code that the service refuses a request with. */
export interface RefusalDetails {
${codes.map((code) => property({ name: code, text: typeText(types.details(code), "  "), description: errorTable[code].when }, "  ")).join("")}}

/** The dated contract that these types follow. */
export const serviceVersion = ${quoted(serviceVersions.at(-1) ?? "")};

/** The method and path of each route. \`isIdempotent\`: the route accepts an \`Idempotency-Key\`. */
export const routes = {
${v2.map(routeEntry).join("")}} as const;
`;
};

/** Collects the type of every schema, and of the named types that these refer to. */
interface Types {
  readonly declarations: string;
  readonly parameter: (parameter: Parameter<unknown>) => Representation;
  readonly success: (route: Route) => Representation;
  readonly details: (code: ErrorCode) => Representation;
  readonly resolve: (type: Representation) => Representation;
}

const typesOf = (v2: ReadonlyArray<Route>, codes: ReadonlyArray<ErrorCode>): Types => {
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
    declarations: Object.entries(references).map(declaration).join(""),
    success: (route) => at(v2.indexOf(route)),
    parameter: (parameter) => at(v2.length + parameters.indexOf(parameter)),
    details: (code) => at(v2.length + parameters.length + codes.indexOf(code)),
    resolve: (type) => (type._tag === "Reference" ? (references[type.$ref] ?? type) : type),
  };
};

const declaration = ([name, type]: [string, Representation]): string => {
  const written =
    type._tag === "Objects"
      ? `export interface ${name} ${typeText(type, "")}\n`
      : typeDeclaration(name, typeText(type, ""));
  return `\n${comment(descriptionOf(type), "")}${written}`;
};

const typeDeclaration = (name: string, text: string): string => {
  const line = `export type ${name} = ${text};\n`;
  return line.length > maxWidth ? `export type ${name} =${broken(text, "  ")};\n` : line;
};

const routeType = (route: Route, types: Types): string => {
  const { id, method, path, summary, parameters } = route;
  const fields = Object.entries(parameters).map(([name, parameter]) => {
    const type = typeText(types.parameter(parameter), "      ");
    const field = Option.isSome(parameter.fallback)
      ? { name: `${name}?`, text: `${type} | null | undefined` }
      : { name, text: type };
    return property({ ...field, description: parameter.description }, "      ");
  });
  const answers = answersOf(types.success(route), types).map(([name, type]) =>
    property({ name, text: typeText(type, "    ") }, "    "),
  );
  return `${comment(`${summary}. \`${method} ${path}\``, "  ")}  readonly ${id}: {
    readonly parameters: {
${fields.join("")}    };
${answers.join("")}  };
`;
};

/** Picks the alternative with an envelope; the others answer code hosts. */
const inEnvelope = (ast: SchemaAST.AST): SchemaAST.AST =>
  ast._tag === "Union" ? (ast.types.find(({ _tag }) => _tag === "Objects") ?? ast) : ast;

/** The data in the envelope of a response. */
const answersOf = (
  success: Representation,
  { resolve }: Types,
): ReadonlyArray<readonly ["data" | "meta", Representation]> => {
  const type = resolve(success);
  if (type._tag !== "Objects") return [];
  return type.propertySignatures.flatMap((property) =>
    property.name === "data" || property.name === "meta" ? [[property.name, property.type] as const] : [],
  );
};

const routeEntry = ({ id, method, path, isIdempotent }: Route): string =>
  `  ${id}: { method: ${quoted(method)}, path: ${quoted(path)}${isIdempotent === true ? ", isIdempotent: true" : ""} },\n`;

const keywords: Partial<Record<Representation["_tag"], string>> = {
  String: "string",
  Number: "number",
  Boolean: "boolean",
  Null: "null",
  Unknown: "unknown",
};

const typeText = (type: Representation, indent: string): string => {
  switch (type._tag) {
    case "Reference":
      return type.$ref;
    case "Literal":
      return quoted(type.literal);
    case "Union":
      return type.types.map((each) => typeText(each, indent)).join(" | ");
    case "Arrays":
      return `ReadonlyArray<${type.rest.map((each) => elementText(each, indent)).join()}>`;
    case "Objects":
      return objectText(type, indent);
    default: {
      const keyword = keywords[type._tag];
      if (keyword === undefined) throw new Error(`Cannot write a type: found "${type._tag}"`);
      return keyword;
    }
  }
};

/** Writes the members of a union of objects one below the other. */
const elementText = (type: Representation, indent: string): string => {
  if (type._tag !== "Union" || type.types.every(({ _tag }) => _tag !== "Objects"))
    return typeText(type, indent);
  const members = type.types.map((each) => `\n${indent}  | ${typeText(each, `${indent}    `)}`);
  return `${members.join("")}\n${indent}`;
};

const objectText = (type: SchemaRepresentation.Objects, indent: string): string => {
  const inner = `${indent}  `;
  const properties = type.propertySignatures.map(({ name, type: value, isOptional, annotations }) =>
    property(
      {
        name: `${String(name)}${isOptional ? "?" : ""}`,
        text: typeText(value, inner),
        description: textIn(annotations) ?? descriptionOf(value),
      },
      inner,
    ),
  );
  const indexes = type.indexSignatures.map(({ parameter, type: value }) =>
    property({ name: `[name: ${typeText(parameter, inner)}]`, text: typeText(value, inner) }, inner),
  );
  return `{\n${[...properties, ...indexes].join("")}${indent}}`;
};

interface Property {
  readonly name: string;
  readonly text: string;
  readonly description?: string | undefined;
}

const maxWidth = 110;

const property = ({ name, text, description }: Property, indent: string): string => {
  const line = `${indent}readonly ${name}: ${text};\n`;
  const isLong = !text.includes("\n") && line.length > maxWidth;
  return `${comment(description, indent)}${isLong ? `${indent}readonly ${name}:${broken(text, `${indent}  `)};\n` : line}`;
};

const broken = (union: string, indent: string): string =>
  union
    .split(" | ")
    .map((member) => `\n${indent}| ${member}`)
    .join("");

const quoted = (value: unknown): string => JSON.stringify(value);

const comment = (description: string | undefined, indent: string): string => {
  if (description === undefined) return "";
  const line = `${indent}/** ${description} */\n`;
  if (line.length <= maxWidth) return line;
  const wrapped = description.match(new RegExp(`.{1,${maxWidth - indent.length - 3}}(?: |$)`, "g")) ?? [];
  return `${indent}/**\n${wrapped.map((text) => `${indent} * ${text.trimEnd()}\n`).join("")}${indent} */\n`;
};

/** A check that refines a type may carry the description. */
const descriptionOf = (type: Representation): string | undefined => {
  if (type._tag === "Reference") return undefined;
  return textIn(type.annotations) ?? type.checks.map(({ annotations }) => textIn(annotations)).find(Boolean);
};

const textIn = (annotations: Schema.Annotations.Annotations | undefined): string | undefined => {
  const description = annotations?.["description"];
  return typeof description === "string" ? description : undefined;
};
