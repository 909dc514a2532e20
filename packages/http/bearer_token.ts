/**
 * How a request presents its key.
 */

const scheme = /^bearer(?: |$)/i;

/** Stands for credentials that are no bearer token. It is no key, so it counts as a wrong one. */
const otherScheme = "other";

/** The token of an `Authorization` header, or null when there is none. */
export const bearerToken = (header: string | undefined): string | null => {
  if (header === undefined) return null;
  const token = scheme.test(header) ? header.slice(6).trim() : header.trim() && otherScheme;
  return token === "" ? null : token;
};
