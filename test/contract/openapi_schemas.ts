/** Checks answers against the published OpenAPI document. */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Answer, Json, Send } from "../support/http.ts";

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

/**
 * Adds `additionalProperties: false` to the object schemas of the document. Clients must accept new fields, but these
 * tests must notice undocumented ones.
 */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed);
  if (!isObject(value)) return value;
  const parts = Object.fromEntries(Object.entries(value).map(([name, part]) => [name, closed(part)]));
  return "type" in value && isObject(value["properties"]) ? { ...parts, additionalProperties: false } : parts;
};

let served: Promise<Json> | undefined;

/**
 * Reads the document from the first server of this process. Making it takes longer than most tests, and documents differ
 * only by the URL of their server and by the routes that are compatible with other services.
 */
export const servedDocument = (send: Send): Promise<Json> =>
  (served ??= send("GET /openapi.json", { from: "198.18.255.2" }).then(({ body }) => body));

type Checker = (method: string, path: string, answer: Answer) => string | null;

/** Kept for the other test files of this process, since a checker compiles each schema at its first use. */
const made = new Map<string, Checker>();

/**
 * Returns a function that checks an answer. The function returns null if the answer matches the document, or else a
 * description of the mismatch.
 */
export const answerChecker = (document: Json): Checker => {
  // Each server writes its own URL into the document.
  const content = JSON.stringify({ ...document, servers: null });
  const checker = made.get(content) ?? makeChecker(document);
  made.set(content, checker);
  return checker;
};

const makeChecker = (document: Json): Checker => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(closed(document) as Json, "openapi");

  return (method, path, { status, headers, text, body }) => {
    const contentType = headers["content-type"] ?? "";
    const response = document["paths"]?.[path]?.[method.toLowerCase()]?.["responses"]?.[String(status)];
    const shared: unknown = response?.["$ref"];
    const place =
      typeof shared === "string"
        ? shared.slice("#/".length).split("/")
        : ["paths", path, method.toLowerCase(), "responses", String(status)];
    const pointer = [...place, "content", contentType, "schema"]
      .map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"))
      .join("/");
    const validate = ajv.getSchema(`openapi#/${pointer}`);
    if (validate === undefined)
      return `the document has no answer ${status} ${contentType} of ${method} ${path}`;
    return validate(contentType === "application/json" ? body : text) === true
      ? null
      : ajv.errorsText(validate.errors);
  };
};
