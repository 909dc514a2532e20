import { InvalidBody } from "@accountlink/core/errors";
import { Effect, Predicate } from "effect";
import type { HttpRequest } from "../http_app.ts";

/** The largest accepted body, in bytes. */
export const maxBodySize = 65_536;

/** Takes the place of the value if a name occurs more than once in a JSON body. */
export const repeated = Symbol("repeated");

export type JsonObject = { readonly [name: PropertyKey]: unknown };

const tooLarge = new InvalidBody({
  problem: "too_large",
  reason: `the body is larger than ${maxBodySize} bytes`,
});
const jsonType = "application/json";
const otherType = new InvalidBody({
  problem: "content_type",
  reason: `expected the content type ${jsonType}`,
});
const encoded = new InvalidBody({ problem: "content_type", reason: "expected no content encoding" });
const notAnObject = (cause?: unknown) =>
  new InvalidBody({ problem: "content", reason: "expected a JSON object", cause });

const typeOf = (request: HttpRequest): string | undefined =>
  request.header("content-type")?.split(";", 1)[0]?.trim().toLowerCase();

const isEncoded = (request: HttpRequest): boolean =>
  (request.header("content-encoding") ?? "identity") !== "identity";

export const readJsonObject = (request: HttpRequest): Effect.Effect<JsonObject, InvalidBody> =>
  Effect.flatMap(readJson(request), (body) =>
    isList(body) ? Effect.fail(notAnObject()) : Effect.succeed(body),
  );

export const readJson = (
  request: HttpRequest,
): Effect.Effect<JsonObject | ReadonlyArray<unknown>, InvalidBody> => {
  if ((typeOf(request) ?? jsonType) !== jsonType) return Effect.fail(otherType);
  if (isEncoded(request)) return Effect.fail(encoded);
  if (Number(request.header("content-length") ?? 0) > maxBodySize) return Effect.fail(tooLarge);
  return Effect.flatMap(bytesOf(request), parse);
};

/** The largest body that is a CSV file, in bytes. */
const maxCsvSize = 2_000_000;

/** Reads a body of the type `text/csv`; undefined for other bodies. */
export const readCsv = (request: HttpRequest): Effect.Effect<string, InvalidBody> | undefined => {
  if (typeOf(request) !== "text/csv") return undefined;
  if (isEncoded(request)) return Effect.fail(encoded);
  return Effect.map(
    Effect.mapError(
      request.readBody(maxCsvSize),
      () => new InvalidBody({ problem: "too_large", reason: `the file is larger than ${maxCsvSize} bytes` }),
    ),
    (bytes) => new TextDecoder().decode(bytes),
  );
};

/**
 * Searches a body for parameters. The body may be missing or have any format. A parameter counts as sent if the body
 * contains its name anywhere, because a deletion that ignored the parameter could delete more than its sender meant. A
 * body that is too large to read is refused.
 *
 * @param names the parameters to find
 */
export const readAnyFields = (
  request: HttpRequest,
  names: ReadonlyArray<string>,
): Effect.Effect<JsonObject, InvalidBody> =>
  Effect.map(bytesOf(request), (bytes) => {
    const text = new TextDecoder().decode(bytes);
    return Object.fromEntries(names.flatMap((name) => (text.includes(name) ? [[name, text]] : [])));
  });

const bytesOf = (request: HttpRequest): Effect.Effect<Uint8Array, InvalidBody> =>
  Effect.mapError(request.readBody(maxBodySize), () => tooLarge);

const utf8 = new TextDecoder("utf-8", { fatal: true });

export const isList = (body: JsonObject | ReadonlyArray<unknown>): body is ReadonlyArray<unknown> =>
  Array.isArray(body);

const parse = (bytes: Uint8Array): Effect.Effect<JsonObject | ReadonlyArray<unknown>, InvalidBody> => {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return Effect.succeed(value);
    return Predicate.isReadonlyObject(value)
      ? Effect.succeed(markRepeated(value, text))
      : Effect.fail(notAnObject());
  } catch (cause) {
    return Effect.fail(notAnObject(cause));
  }
};

/** Marks repeated names, because `JSON.parse` silently keeps the last value. */
const markRepeated = (value: JsonObject, text: string): JsonObject => {
  // Each member of a JSON object has a colon. If the text has only as many colons as the object has names, no name is
  // repeated.
  if (text.split(":").length - 1 === Object.keys(value).length) return value;
  const seen = new Set<string>();
  const marked: Record<string, typeof repeated> = {};
  for (const name of topLevelNames(text)) {
    if (seen.has(name)) marked[name] = repeated;
    seen.add(name);
  }
  return { ...value, ...marked };
};

const tokens = /"(?:[^"\\]|\\.)*"|[{}[\]:]/g;

/** The names of the outermost object of a JSON text, in order. */
const topLevelNames = (text: string): ReadonlyArray<string> => {
  const names: Array<string> = [];
  let depth = 0;
  let last = "";
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token === ":" && depth === 1) names.push(JSON.parse(last) as string);
    last = token;
  }
  return names;
};
