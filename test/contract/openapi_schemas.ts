/**
 * The published OpenAPI document as a judge of answers.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Answer, Json } from "../support/http.ts";

/** Makes a check of answers against the document; it gives what does not fit, or null. */
export const answerChecker = (
  document: Json,
): ((method: string, path: string, answer: Answer) => string | null) => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, "openapi");

  return (method, path, { status, headers, text, body }) => {
    const contentType = headers["content-type"] ?? "";
    const place = [
      "paths",
      path,
      method.toLowerCase(),
      "responses",
      String(status),
      "content",
      contentType,
      "schema",
    ];
    const pointer = place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1")).join("/");
    const validate = ajv.getSchema(`openapi#/${pointer}`);
    if (validate === undefined)
      return `the document has no answer ${status} ${contentType} of ${method} ${path}`;
    return validate(contentType === "application/json" ? body : text) === true
      ? null
      : ajv.errorsText(validate.errors);
  };
};
