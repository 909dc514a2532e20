/** The v2 contract as TypeScript modules without imports, for clients that do not use schemas. */
import { EnvelopeV2, errorTable, type Parameter, type Route } from "@accountlink/http-api";
import { Option, type SchemaRepresentation } from "effect";
import {
  type ContractTypes,
  contractTypes,
  dataOf,
  descriptionOf,
  type Representation,
  textIn,
} from "./contract_types.ts";

/** Generates the types of every record and route, and the error codes. */
export const typescriptContract = (): string => {
  const types = contractTypes();
  const { v2, codes } = types;
  const shared = sharedParameters(types);
  return `/** The contract of v2. Generated from the routes of @accountlink/http-api. */
${declarations(types).join("")}${bulkResults}
/** The parameters that several routes take. */
interface SharedParameters {
${[...shared.values()].join("")}}

/** The parameters and the data of each route. */
export interface Routes {
${v2.map((route) => routeType(route, types, shared)).join("")}}

/** The ID of a route, such as \`getChat\`. */
export type RouteId = keyof Routes;

/** The type of \`details\` for each error code of the service. */
export interface RefusalDetails {
${codes.map((code) => property({ name: code, text: typeText(types.details(code), "  "), description: errorTable[code].when }, "  ")).join("")}}
`;
};

/** Generates the table of routes. */
export const typescriptRoutes =
  (): string => `/** The routes of v2. Generated from the routes of @accountlink/http-api. */

/** The value of the request header \`Service-Version\` for which the types of the contract are correct. */
export const serviceVersion = ${quoted(EnvelopeV2.serviceVersions.at(-1) ?? "")};

/** The method and path of each route. \`isIdempotent\`: the route accepts an \`Idempotency-Key\`. */
export const routes = {
${contractTypes().v2.map(routeEntry).join("")}} as const;
`;

/** The named types. Before the members of a union stands an interface with the properties that all of them share. */
const declarations = ({ named, resolve }: ContractTypes): ReadonlyArray<string> => {
  const bases = new Map<string, { readonly base: string; readonly shared: ReadonlyArray<string> }>();
  const firsts = new Map<string, string>();
  for (const [union, type] of Object.entries(named)) {
    const members = type._tag === "Union" ? type.types : [];
    const properties = members.map((member) => propertiesOf(resolve(member), "  "));
    const shared = properties[0]?.filter((each) => properties.every((own) => own.includes(each))) ?? [];
    if (shared.length < 2) continue;
    const names = members.flatMap((member) => (member._tag === "Reference" ? [member.$ref] : []));
    for (const name of names) bases.set(name, { base: `${union}Base`, shared });
    firsts.set(
      names[0] ?? "",
      `\n/** What all kinds of \`${union}\` have. */\nexport interface ${union}Base {\n${shared.join("")}}\n`,
    );
  }
  return Object.entries(named).map(([name, type]) => {
    const { base, shared = [] } = bases.get(name) ?? {};
    const own = propertiesOf(type, "  ").filter((each) => !shared.includes(each));
    const written =
      type._tag === "Objects"
        ? `export interface ${name} ${base === undefined ? "" : `extends ${base} `}{\n${own.join("")}}\n`
        : typeDeclaration(name, typeText(type, ""));
    return `${firsts.get(name) ?? ""}\n${comment(descriptionOf(type), "")}${written}`;
  });
};

const typeDeclaration = (name: string, text: string): string => {
  const line = `export type ${name} = ${text};\n`;
  return line.length > maxWidth ? `export type ${name} =${broken(text, "  ")};\n` : line;
};

const parameterText = (
  name: string,
  parameter: Parameter<unknown>,
  type: Representation,
  indent: string,
): string => {
  const isOptional = Option.isSome(parameter.fallback);
  const text = typeText(type, indent);
  return property(
    {
      name: isOptional ? `${name}?` : name,
      text: isOptional ? `${text} | null | undefined` : text,
      description: parameter.description,
    },
    indent,
  );
};

/** The text of each parameter that at least two routes take; of several texts of a name, the most frequent one. */
const sharedParameters = (types: ContractTypes): ReadonlyMap<string, string> => {
  const uses = new Map<string, { readonly name: string; count: number }>();
  for (const { parameters } of types.v2) {
    for (const [name, parameter] of Object.entries(parameters)) {
      const text = parameterText(name, parameter, types.parameter(parameter), "  ");
      const use = uses.get(text) ?? { name, count: 0 };
      uses.set(text, { name, count: use.count + 1 });
    }
  }
  const byUse = [...uses]
    .filter(([, { count }]) => count > 1)
    .toSorted(([, one], [, other]) => one.count - other.count);
  return new Map(byUse.map(([text, { name }]) => [name, text]));
};

const routeType = (route: Route, types: ContractTypes, shared: ReadonlyMap<string, string>): string => {
  const { id, method, path, summary, parameters } = route;
  const given = Object.entries(parameters).map(([name, parameter]) => {
    const textAt = (indent: string) => parameterText(name, parameter, types.parameter(parameter), indent);
    return { name, isShared: shared.get(name) === textAt("  "), text: textAt("      ") };
  });
  const picked = given.filter(({ isShared }) => isShared).map(({ name }) => quoted(name));
  const own = given.filter(({ isShared }) => !isShared).map(({ text }) => text);
  const taken = [
    ...(picked.length === 0 ? [] : [`Pick<SharedParameters, ${picked.join(" | ")}>`]),
    ...(own.length === 0 ? [] : [`{\n${own.join("")}    }`]),
  ];
  const data = dataOf(route, types);
  const answer = data === undefined ? "" : property({ name: "data", text: typeText(data, "    ") }, "    ");
  return `${comment(`${summary}. \`${method} ${path}\``, "  ")}  readonly ${id}: {
    readonly parameters: ${taken.join(" & ")};
${answer}  };
`;
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
      return bulkText(type, indent) ?? objectText(type, indent);
    default: {
      const keyword = keywords[type._tag];
      if (keyword === undefined) throw new Error(`Cannot write a type: found "${type._tag}"`);
      return keyword;
    }
  }
};

/** Returns the text of the data of a bulk route; undefined for another type. */
const bulkText = (type: SchemaRepresentation.Objects, indent: string): string | undefined => {
  const [results] = type.propertySignatures;
  if (results?.name !== "results" || results.type._tag !== "Arrays") return undefined;
  const [item] = results.type.rest;
  const found = item?._tag === "Union" ? item.types[0] : undefined;
  if (found?._tag !== "Objects") return undefined;
  const [input, , data] = found.propertySignatures.map(({ type: field }) => field);
  if (input?._tag !== "Objects" || data === undefined) return undefined;
  return `BulkResults<${typeText(input, indent)}, ${typeText(data, indent)}>`;
};

const bulkResults = `
/** The results of a bulk route, in the order of its inputs. */
export interface BulkResults<Input, Found> {
  readonly results: ReadonlyArray<
    | { readonly input: Input; readonly found: true; readonly data: Found; readonly error: null }
    | { readonly input: Input; readonly found: false; readonly data: null; readonly error: BulkItemError }
  >;
  readonly count: number;
  readonly foundCount: number;
  /** Number of results with LINK_NOT_FOUND */
  readonly notFoundCount: number;
  /** Number of results with another error */
  readonly errorCount: number;
  readonly resolved: boolean;
}
`;

/** Returns the text of a type. If the type is a union that contains objects, each member is on its own line. */
const elementText = (type: Representation, indent: string): string => {
  if (type._tag !== "Union" || type.types.every(({ _tag }) => _tag !== "Objects"))
    return typeText(type, indent);
  const members = type.types.map((each) => `\n${indent}  | ${typeText(each, `${indent}    `)}`);
  return `${members.join("")}\n${indent}`;
};

const propertiesOf = (type: Representation, inner: string): ReadonlyArray<string> => {
  if (type._tag !== "Objects") return [];
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
  return [...properties, ...indexes];
};

const objectText = (type: SchemaRepresentation.Objects, indent: string): string => {
  const [only, ...others] = propertiesOf(type, `${indent}  `);
  const isShort = only !== undefined && others.length === 0 && /^ *readonly [^\n{]*;\n$/.test(only);
  return isShort ? `{ ${only.trim().slice(0, -1)} }` : `{\n${[only, ...others].join("")}${indent}}`;
};

interface Property {
  readonly name: string;
  readonly text: string;
  readonly description?: string | undefined;
}

const maxWidth = 110;
const commentWidth = 121;

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
  if (line.length <= commentWidth) return line;
  const wrapped = description.match(new RegExp(`.{1,${commentWidth - indent.length - 3}}(?: |$)`, "g")) ?? [];
  return `${indent}/**\n${wrapped.map((text) => `${indent} * ${text.trimEnd()}\n`).join("")}${indent} */\n`;
};
