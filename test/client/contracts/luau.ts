/** Writes the part of the contract of v2 that the Luau module knows: its codes, types and routes. */
import { EnvelopeV2, type Route } from "@accountlink/http-api";
import { Option } from "effect";
import {
  type ContractTypes,
  contractTypes,
  dataOf,
  type Representation,
} from "../../../tools/contract_types.ts";

const used = ["getGame", "bulkGame", "deleteGame", "createSession", "getSession", "cancelSession"];

/** Leaves out profiles (`resolved`), because the Luau client does not request them. */
const isLeftOut = (name: PropertyKey): boolean => name === "resolved";

const begin = "--#region The contract of v2, written from the routes of @accountlink/http-api\n";
const end = "--#endregion\n";

/** Returns the source of the Luau client with newly generated codes, types and routes. */
export const withLuauContract = (source: string): string => {
  const [before, rest = ""] = source.split(begin);
  return `${before}${begin}${luauContract()}${end}${rest.split(end)[1]}`;
};

const luauContract = (): string => {
  const types = contractTypes();
  const routes = used.map((id) => {
    const route = types.v2.find((each) => each.id === id);
    if (route === undefined) throw new Error(`Cannot write the contract of Luau: v2 has no route "${id}"`);
    return route;
  });
  const named = new Map<string, string>();
  for (const route of routes) {
    const data = dataOf(route, types);
    if (data !== undefined) typeText(data, types, named, "");
  }
  return `export type ServiceCode =
${types.codes.map((code) => `\t| "${code}"${detailsComment(types.details(code))}\n`).join("")}
${[...named].map(([name, text]) => `export type ${name} = ${text}\n`).join("\n")}
local serviceVersion = "${EnvelopeV2.serviceVersions.at(-1)}"
local routes = {
${routes.map(routeText).join("")}}
`;
};

/** A comment with the values that the `details` of an error code may have. */
const detailsComment = (details: Representation): string => {
  const fields = details._tag === "Objects" ? details.propertySignatures : [];
  return fields
    .filter(({ type }) => type._tag === "Union")
    .map(
      ({ name, type }) =>
        ` -- ${String(name)}: ${JSON.stringify(type)
          .match(/(?<="literal":")\w+/g)
          ?.join(", ")}`,
    )
    .join("");
};

const routeText = ({ id, method, path, isIdempotent, parameters }: Route): string => {
  const names = Object.entries(parameters).map(
    ([name, { fallback }]) => `${name}${Option.isSome(fallback) ? "?" : ""}`,
  );
  return `\t-- ${names.join(", ")}
\t${id} = { method = "${method}", path = "${path}", isIdempotent = ${isIdempotent === true} },
`;
};

const typeText = (
  type: Representation,
  types: ContractTypes,
  named: Map<string, string>,
  indent: string,
): string => {
  const inner = (each: Representation, more = "") => typeText(each, types, named, indent + more);
  switch (type._tag) {
    case "Reference": {
      const target = types.resolve(type);
      if (target._tag === "String") return "string";
      if (!named.has(type.$ref)) {
        // Write the types of the fields before the type that uses them.
        const text = typeText(target, types, named, "");
        named.set(type.$ref, text);
      }
      return type.$ref;
    }
    case "Literal":
      return JSON.stringify(type.literal);
    case "Union": {
      const members = type.types.filter(({ _tag }) => _tag !== "Null").map((each) => inner(each));
      const text = members.join(" | ");
      if (members.length === type.types.length) return text;
      return members.length === 1 ? `${text}?` : `(${text})?`;
    }
    case "Arrays":
      return `{ ${type.rest.map((each) => inner(each)).join()} }`;
    case "Objects": {
      const fields = type.propertySignatures.filter(({ name }) => !isLeftOut(name));
      const lines = fields.map(
        ({ name, type: value, isOptional }) =>
          `${indent}\t${String(name)}: ${inner(value, "\t")}${isOptional ? "?" : ""},\n`,
      );
      return `{\n${lines.join("")}${indent}}`;
    }
    case "String":
    case "Number":
    case "Boolean":
      return type._tag.toLowerCase();
    case "Null":
      return "nil";
    default:
      return "any";
  }
};
