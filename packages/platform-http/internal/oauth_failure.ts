/**
 * What a sign-in failed of. The library's errors hold tokens and codes; nothing of them but a name is kept.
 */
import { PlatformUnavailable, ProofDenied, ProofInvalid } from "@accountlink/core";
import {
  AuthorizationResponseError,
  OperationProcessingError,
  PARSE_ERROR,
  RESPONSE_IS_NOT_CONFORM,
  RESPONSE_IS_NOT_JSON,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import { RequestFailed } from "../request_failed.ts";

/** Errors of the token endpoint that no user can do anything about: it is down, or this service is misconfigured. */
const unavailableErrors: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "invalid_client",
  "unauthorized_client",
]);

/** Answers that are none, such as the page of a proxy. */
const unreadable: ReadonlySet<string | undefined> = new Set([
  PARSE_ERROR,
  RESPONSE_IS_NOT_CONFORM,
  RESPONSE_IS_NOT_JSON,
]);

/** Says what an error of the library, or of the requests it made, means for the user. */
export const failureOf = (
  operation: string,
  error: unknown,
): ProofDenied | ProofInvalid | PlatformUnavailable => {
  const unavailable = (cause: unknown) => new PlatformUnavailable({ operation, cause });

  if (error instanceof RequestFailed) return unavailable(error);
  if (error instanceof WWWAuthenticateChallengeError) {
    return unavailable(new RequestFailed({ reason: "status", status: error.status }));
  }
  // The browser brings it, and can make it up: it is no evidence that the platform is down.
  if (error instanceof AuthorizationResponseError) {
    return error.error === "access_denied"
      ? new ProofDenied()
      : new ProofInvalid({ reason: named(error.error) });
  }
  if (error instanceof ResponseBodyError) {
    if (error.error === "access_denied") return new ProofDenied();
    const reason = named(error.error);
    return unavailableErrors.has(reason)
      ? unavailable(`The platform refuses with "${reason}"`)
      : new ProofInvalid({ reason });
  }
  if (error instanceof OperationProcessingError && unreadable.has(error.code)) {
    return unavailable(new RequestFailed({ reason: "unreadable" }));
  }
  return new ProofInvalid({
    reason: error instanceof OperationProcessingError ? named(error.code) : "unknown",
  });
};

/** A name as the standards and the library write them; anything else may hold what nobody should read. */
const named = (text: string | undefined): string =>
  text !== undefined && /^[A-Za-z_]{1,64}$/.test(text) ? text : "unknown";
