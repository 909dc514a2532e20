/**
 * How a request presents its key.
 */

const scheme = /^bearer(?: |$)/i;

/** The token of an `Authorization` header: null when there is none, the whole value when it is no bearer token. */
export const bearerToken = (header: string | undefined): string | null => {
  if (header === undefined) return null;
  const token = (scheme.test(header) ? header.slice(6) : header).trim();
  return token === "" ? null : token;
};
