import { Effect } from "effect";
import { InvalidParameter, type ParameterProblem } from "../errors.ts";
import type { ApiKey } from "../keys/api_key.ts";
import { maxRedirectLength } from "../origin.ts";
import { isStorable } from "../storable_text.ts";

/**
 * Returns the problems of a redirect that `checkRedirect` would report.
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

/**
 * Checks that a redirect is an absolute http or https URL of at most 2,048 characters, that the key lists its origin,
 * and that a store can hold it.
 *
 * @param redirect null if the session has no redirect
 */
export const checkRedirect = (
  key: Pick<ApiKey, "redirectOrigins">,
  redirect: string | null,
): Effect.Effect<void, InvalidParameter> => {
  const problems = redirectProblems(key, redirect);
  return problems.length === 0 ? Effect.void : Effect.fail(new InvalidParameter({ parameters: problems }));
};

const problemOf = (redirect: string, redirectOrigins: ReadonlyArray<string>): string | null => {
  if (!isStorable(redirect)) return "expected well-formed text without NUL";
  const url = URL.canParse(redirect) ? new URL(redirect) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) return "expected an absolute http or https URL";
  if (Array.from(redirect).length > maxRedirectLength) {
    return `expected at most ${maxRedirectLength} characters`;
  }
  return redirectOrigins.includes(url.origin) ? null : "expected an origin on the redirect list of the key";
};
