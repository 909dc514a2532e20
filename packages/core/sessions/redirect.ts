import type { ParameterProblem } from "../errors.ts";
import type { ApiKey } from "../keys/api_key.ts";
import { maxRedirectLength } from "../origin.ts";
import { isStorable } from "../storable_text.ts";

/**
 * Returns the problem of a redirect, unless it is an absolute http or https URL of at most 2,048 characters, the key
 * lists its origin, and a store can hold it.
 *
 * @param redirect null if the session has no redirect
 * @internal
 */
export const redirectProblems = (
  { redirectOrigins }: Pick<ApiKey, "redirectOrigins">,
  redirect: string | null,
): ReadonlyArray<ParameterProblem> => {
  const reason = redirect === null ? null : problemOf(redirect, redirectOrigins);
  return reason === null ? [] : [{ name: "redirect", reason }];
};

const problemOf = (redirect: string, redirectOrigins: ReadonlyArray<string>): string | null => {
  if (!isStorable(redirect)) return "expected well-formed text without NUL";
  // The parser of URLs also reads `https:game.example` and a URL after a blank, which are not absolute URLs.
  const url = /^https?:\/\//i.test(redirect) ? URL.parse(redirect) : null;
  if (url === null) return "expected an absolute http or https URL";
  if (Array.from(redirect).length > maxRedirectLength) {
    return `expected at most ${maxRedirectLength} characters`;
  }
  return redirectOrigins.includes(url.origin) ? null : "expected an origin on the redirect list of the key";
};
