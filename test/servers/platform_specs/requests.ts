/** Checks requests against the platforms' own documents. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { Effect, type Scope } from "effect";
import {
  type HeardRequest,
  type HttpAnswering,
  type HttpTestServer,
  startHttpServer,
} from "../http_server.ts";
import { missingDocuments, type Operation, operationsOn, type Platform, type Schema } from "./documents.ts";

/** Routes that the documents do not have, or that were left out when they were trimmed. */
const undocumented = {
  discord: /^\/(oauth2\/|users\/@me\/connections$)/,
  roblox: /^\/((apis\/(oauth|game-passes)|economy)\/|users\/v1\/users$)/,
} satisfies Record<Platform, RegExp>;

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

const compiled = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

const mistakesIn = (what: string, value: unknown, schema: Schema, { document }: Operation) => {
  const check = compiled.get(schema) ?? ajv.compile({ ...schema, components: document.components });
  compiled.set(schema, check);
  if (check(value)) return [];
  return (check.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
};

/** Reads a parameter as the type that its schema names. */
const valueOf = (text: string, { type, items }: Schema): unknown => {
  if (type === "array") return text.split(",").map((part) => valueOf(part, items ?? {}));
  if ((type === "integer" || type === "number") && /^-?\d+$/.test(text)) return Number(text);
  return type === "boolean" && /^(true|false)$/.test(text) ? text === "true" : text;
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const operationOf = (platform: Platform, { method, path }: Pick<HeardRequest, "method" | "path">) =>
  operationsOn(platform).find(({ id, path: shape }) => id.startsWith(`${method} `) && shape.test(path));

/**
 * Returns the faults of a request.
 *
 * @param request its path is without the prefix of the API; for Roblox, the name of the service is the first segment
 */
export const requestMistakes = (platform: Platform, request: HeardRequest): ReadonlyArray<string> => {
  if (missingDocuments !== null || undocumented[platform].test(request.path)) return [];
  const operation = operationOf(platform, request);
  if (operation === undefined) return ["the platform has no such operation"];
  const path = operation.path.exec(request.path)?.groups ?? {};
  const known = new Set(operation.parameters.map(({ name }) => name));
  const parameters = operation.parameters.flatMap((parameter) => {
    const text =
      parameter.in === "path"
        ? decodeURIComponent(path[parameter.name] ?? "")
        : request.query.get(parameter.name);
    if (text === null) return parameter.required ? [`${parameter.name} is missing`] : [];
    return mistakesIn(parameter.name, valueOf(text, parameter.schema), parameter.schema, operation);
  });
  const unknown = [...request.query.keys()].filter((name) => !known.has(name));
  const body =
    operation.body === undefined
      ? request.body === ""
        ? []
        : ["a body is not expected"]
      : mistakesIn("body", jsonOf(request.body), operation.body, operation);
  return [...parameters, ...unknown.map((name) => `${name} is not a parameter`), ...body];
};

/**
 * Starts a server in place of a platform. A test in whose scope the server runs fails if a request is not as the
 * platform's document says.
 *
 * @param pathOf the path as `requestMistakes` wants it
 */
export const startPlatformServer = Effect.fnUntraced(function* (
  platform: Platform,
  pathOf: (path: string) => string,
  answer: (request: HeardRequest) => HttpAnswering | Promise<HttpAnswering>,
): Effect.fn.Return<HttpTestServer, never, Scope.Scope> {
  const mistakes: Array<string> = [];
  yield* Effect.addFinalizer(() =>
    mistakes.length === 0 ? Effect.void : Effect.die(new Error(mistakes.join("\n"))),
  );
  return yield* startHttpServer((request) => {
    const found = requestMistakes(platform, { ...request, path: pathOf(request.path) });
    mistakes.push(...found.map((mistake) => `${request.method} ${request.path}: ${mistake}`));
    return answer(request);
  });
});
