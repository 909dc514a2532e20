/**
 * The `Authorization` header.
 */

const scheme = /^bearer(?: |$)/i;

/** Stands for credentials of another scheme: not a key, so it counts as a wrong one. */
const otherScheme = "other";

/** Reads the bearer token of the header; null for none. */
export const bearerToken = (header: string | undefined): string | null => {
  if (header === undefined) return null;
  const token = scheme.test(header) ? header.slice(6).trim() : header.trim() && otherScheme;
  return token === "" ? null : token;
};
