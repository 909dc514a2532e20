/** Writes the contract of v2 as Python: types, routes, and a method for each route. */
import { createClient } from "@accountlink/client";
import { EnvelopeV2, errorTable, type Route } from "@accountlink/http-api";
import { Option } from "effect";
import {
  type ContractTypes,
  contractTypes,
  dataOf,
  descriptionOf,
  type Representation,
  textIn,
} from "../../../tools/contract_types.ts";

interface Method {
  readonly name: string;
  readonly route: Route;
  /** The error code for which the Python method returns None and raises no exception. */
  readonly missing: string | undefined;
  /** The field of the answer's `data` that the method returns; undefined if it returns the whole `data`. */
  readonly field: string | undefined;
}

type Methods = ReadonlyArray<readonly [group: string, methods: ReadonlyArray<Method>]>;

/** Methods of the TypeScript client that Python has in handwritten code, because they send several requests or none. */
const handwritten = new Set(["poll", "watch", "wait", "redirectUrl"]);
const handwrittenRoutes = ["streamEvents", "streamSession", "redirectSession"];

/**
 * Calls every method of the TypeScript client, to learn the route that the method requests and the result that it
 * returns.
 */
const clientMethods = async (types: ContractTypes): Promise<Methods> => {
  let response = new Response();
  let requested = "";
  const client = createClient({
    url: "http://localhost",
    fetch: () => Promise.resolve(response),
    onAnswer: ({ route }) => {
      requested = route;
    },
  });
  const fields = types.v2.flatMap((route) =>
    fieldsOf(dataOf(route, types), types).map(({ name }) => String(name)),
  );
  const data = Object.fromEntries(fields.map((name) => [name, name]));
  const groups: Array<Methods[number]> = [];
  for (const [group, calls] of Object.entries(client)) {
    const methods: Array<Method> = [];
    for (const [name, call] of Object.entries<(...ids: ReadonlyArray<string>) => Promise<unknown>>({
      ...calls,
    })) {
      if (handwritten.has(name)) continue;
      const resultOf = (status: number, body: object) => {
        response = Response.json(body, { status });
        return call("1", "2", "3").catch(() => undefined);
      };
      const field = await resultOf(200, { data });
      const route = routeOf(requested, types);
      let missing: string | undefined;
      for (const code of route.errors ?? [])
        if ((await resultOf(404, { error: { code, message: "" } })) === null) missing = code;
      methods.push({
        name: snake(name),
        route,
        missing,
        field: typeof field === "string" ? field : undefined,
      });
    }
    groups.push([capitalized(group), methods]);
  }
  const called = groups.flatMap(([, methods]) => methods.map(({ route }) => route.id));
  const covered = new Set([...called, ...handwrittenRoutes]);
  const uncalled = types.v2.filter(({ id }) => !covered.has(id));
  if (uncalled.length > 0)
    throw new Error(`The TypeScript client has no method for ${uncalled.map(({ id }) => id).join()}`);
  return groups;
};

const routeOf = (id: string, { v2 }: ContractTypes): Route => {
  const route = v2.find((each) => each.id === id);
  if (route === undefined) throw new Error(`Cannot write a method: v2 has no route "${id}"`);
  return route;
};

const quoted = (value: unknown): string => JSON.stringify(value);
const capitalized = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1);

/**
 * Converts contract types to Python types. An object type without a name is named after the type and the field that
 * contain it.
 */
const typeWriter = () => {
  const classes: Array<string> = [];

  const typeText = (type: Representation, place: string): string => {
    switch (type._tag) {
      case "Reference":
        return type.$ref;
      case "String":
        return "str";
      case "Boolean":
        return "bool";
      case "Null":
        return "None";
      case "Unknown":
        return "Any";
      case "Number":
        return isInteger(type) ? "int" : "float";
      case "Literal":
        return `Literal[${type.literal === true ? "True" : type.literal === false ? "False" : quoted(type.literal)}]`;
      case "Union":
        return unionText(
          type.types.map((each, index) => typeText(each, `${place}${index === 0 ? "" : index + 1}`)),
        );
      case "Arrays":
        return `list[${type.rest.map((each) => typeText(each, `${place}Item`)).join()}]`;
      case "Objects": {
        const [index] = type.indexSignatures;
        if (index !== undefined) return `dict[str, ${typeText(index.type, place)}]`;
        write(place, type);
        return place;
      }
      default:
        throw new Error(`Cannot write a type of Python: found "${type._tag}"`);
    }
  };

  const write = (name: string, type: Extract<Representation, { _tag: "Objects" }>) => {
    const fields = type.propertySignatures.map((property) => {
      const text = typeText(property.type, `${name}${capitalized(String(property.name))}`);
      const about = textIn(property.annotations) ?? descriptionOf(property.type);
      return `    ${String(property.name)}: ${property.isOptional ? `NotRequired[${text}]` : text}\n${docstring(about, "    ")}`;
    });
    classes.push(`class ${name}(TypedDict):\n${docstring(descriptionOf(type), "    ")}${fields.join("")}`);
  };

  return { classes, typeText };
};

const isInteger = (type: Representation): boolean =>
  type._tag === "Number" && JSON.stringify(type.checks).includes("effect/schema/isInt");

/** Merges all literals of a union into one `Literal`, and puts `None` last. */
const unionText = (members: ReadonlyArray<string>): string => {
  const literals = members.flatMap((member) => /^Literal\[(.*)\]$/.exec(member)?.[1] ?? []);
  const others = members.filter((member) => !member.startsWith("Literal["));
  return [
    ...others.filter((each) => each !== "None"),
    ...(literals.length === 0 ? [] : [`Literal[${literals.join(", ")}]`]),
    ...others.filter((each) => each === "None"),
  ].join(" | ");
};

const docstring = (text: string | undefined, indent: string): string =>
  text === undefined ? "" : `${indent}"""${text.replaceAll(/\bnull\b/gi, "None")}"""\n`;

/** Returns the Python name for the type of a route's data, if the contract has no name for the type. */
const dataPlace = ({ id }: Route): string => `${capitalized(id)}Data`;

/** `LINK_NOT_FOUND` becomes `LinkNotFound`. */
const camel = (code: string): string =>
  code.toLowerCase().replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Returns the source of the module with types and routes. */
export const pythonContract = (): string => {
  const types = contractTypes();
  const { classes, typeText } = typeWriter();
  const aliases: Array<string> = [];
  for (const [name, type] of Object.entries(types.named)) {
    const text = typeText(type, name);
    if (text !== name) aliases.push(`${name} = ${text}\n${docstring(descriptionOf(type), "")}`);
  }
  for (const route of types.v2) {
    const data = dataOf(route, types);
    if (data !== undefined) typeText(data, dataPlace(route));
  }
  const codes = types.codes.map((code) => {
    typeText(types.details(code), `${camel(code)}Details`);
    return `    ${quoted(code)},  # ${errorTable[code].when}\n`;
  });
  const routes = types.v2.map(
    ({ id, method, path, isIdempotent, parameters }) =>
      `    ${quoted(id)}: Route(${quoted(method)}, ${quoted(path)}, ${isIdempotent === true ? "True" : "False"}, (${Object.keys(
        parameters,
      )
        .map((name) => `${quoted(name)}, `)
        .join("")
        .trimEnd()})),\n`,
  );
  return `"""The contract of v2. Generated from the routes of @accountlink/http-api."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Id = Union[str, int]
"""An ID that a method takes: digits, as text or as an integer"""

${classes.map((text) => `\n${text}\n`).join("")}
${aliases.join("\n")}
ServiceCode = Literal[
${codes.join("")}]
"""The codes with which the service refuses a request"""

SERVICE_VERSION = ${quoted(EnvelopeV2.serviceVersions.at(-1))}
"""The dated contract that these types follow"""


class Route(NamedTuple):
    method: str
    path: str
    is_idempotent: bool
    parameters: tuple[str, ...]


ROUTES: dict[str, Route] = {
${routes.join("")}}
`;
};

/** `guildId` becomes `guild_id`, and `from` becomes `from_`. */
const snake = (name: string): string =>
  name === "from" ? "from_" : name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the source of the module with the methods of the asynchronous client. */
export const pythonMethods = async (): Promise<string> => {
  const types = contractTypes();
  const classes = (await clientMethods(types)).map(
    ([group, methods]) =>
      `\n\nclass Async${group}Methods:
    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller
${methods.map((method) => methodText(method, types)).join("")}`,
  );
  const body = classes.join("");
  const used = ["Id", ...Object.keys(types.named), ...types.v2.map(dataPlace)].filter((name) =>
    new RegExp(`\\b${name}\\b`).test(body),
  );
  return `"""A method for each route of v2. Generated from the routes of @accountlink/http-api."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ._async_caller import AsyncCaller
from ._requests import OMITTED
from .contract import (
${used.map((name) => `    ${name},\n`).join("")})
${body}`;
};

const methodText = ({ name, route, missing, field }: Method, types: ContractTypes): string => {
  const { typeText } = typeWriter();
  const data = dataOf(route, types) ?? types.success(route);
  const part = fieldsOf(data, types).find((each) => each.name === field)?.type ?? data;
  const sent = Object.keys(route.parameters).map((parameter) => `${quoted(parameter)}: ${snake(parameter)}`);
  const options = [
    ...(missing === undefined ? [] : [`missing=${quoted(missing)}`]),
    ...(route.isIdempotent === true ? ["idempotency_key=idempotency_key"] : []),
  ];
  const call = `await self._caller.call(
            ${[quoted(route.id), `{${sent.join(", ")}}`, ...options].join(",\n            ")},
        )`;
  const none = missing === undefined ? "" : "; None if there is none";
  return `
    async def ${name}(
        ${argumentsOf(route, types).join(",\n        ")},
    ) -> ${typeText(part, dataPlace(route))}${missing === undefined ? "" : " | None"}:
        """${route.summary}${none}. \`${route.method} ${route.path}\`"""
        return ${field === undefined ? call : `(${call})[${quoted(field)}]`}
`;
};

const fieldsOf = (data: Representation | undefined, types: ContractTypes) => {
  const found = data === undefined ? undefined : types.resolve(data);
  return found?._tag === "Objects" ? found.propertySignatures : [];
};

/**
 * The parameters of a Python method. Required values are positional. Optional values, and a value that must be `true`,
 * are keyword-only.
 */
const argumentsOf = (route: Route, types: ContractTypes): ReadonlyArray<string> => {
  const { typeText } = typeWriter();
  const required: Array<string> = [];
  const named: Array<string> = [];
  for (const [parameter, shape] of Object.entries(route.parameters)) {
    const text = typeText(types.parameter(shape), "Any");
    const isId = /^(?:Chat|Game|Guild)Id$/.test(text) || parameter === "clientId";
    const type = isId ? "Id" : text.replace("list[str]", "Iterable[Id]");
    if (Option.isSome(shape.fallback)) named.push(`${snake(parameter)}: ${type} | None = OMITTED`);
    else if (type === "Literal[True]") named.unshift(`${snake(parameter)}: ${type}`);
    else required.push(`${snake(parameter)}: ${type}`);
  }
  if (route.isIdempotent === true) named.push("idempotency_key: str | None = None");
  return ["self", ...required, ...(named.length > 0 ? ["*"] : []), ...named];
};

/** Converts a module of the asynchronous client to the synchronous client. */
export const synchronous = (file: string, source: string): string =>
  `# Written from ${file}.\n${source
    .replaceAll(/\basync (def|for|with)\b/g, "$1")
    .replaceAll(/\bawait /g, "")
    .replaceAll("_async_", "_")
    .replaceAll("asyncio.sleep", "time.sleep")
    .replaceAll("asyncio.Lock", "threading.Lock")
    .replaceAll("import asyncio\n", source.includes("asyncio.Lock") ? "import threading\n" : "import time\n")
    .replaceAll("asynchronous", "synchronous")
    .replaceAll(/\b__a(enter|exit)__/g, "__$1__")
    .replaceAll(/\bAsync([A-Z])/g, "$1")}`;
