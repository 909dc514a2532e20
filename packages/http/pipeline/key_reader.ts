import type { Credential } from "@accountlink/http-api";
import type { HttpRequest } from "../http_request.ts";

/** Stands for credentials with another scheme. It is not a key, so it counts as a wrong one. */
const otherScheme = "other";

const schemes = { Bearer: /^bearer(?: |$)/i, Bot: /^bot(?: |$)/i };

/** Reads the key from a header value; null without a key. */
const keyIn = (value: string | undefined, scheme: Credential["scheme"]): string | null => {
  if (value === undefined) return null;
  if (scheme === null) return value.trim() || null;
  const key = schemes[scheme].test(value) ? value.slice(scheme.length).trim() : value.trim() && otherScheme;
  return key === "" ? null : key;
};

const bearer: ReadonlyArray<Credential> = [{ header: "authorization", scheme: "Bearer" }];

/** Returns a function that reads the key from the first header that has one; null if none has. */
export const keyReader =
  (credentials = bearer) =>
  (request: Pick<HttpRequest, "header">): string | null => {
    for (const { header, scheme } of credentials) {
      const key = keyIn(request.header(header), scheme);
      if (key !== null) return key;
    }
    return null;
  };
