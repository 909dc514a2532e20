/**
 * Maps OAuth errors to the errors of the port. The library's errors contain tokens and codes, so only the error code
 * is kept.
 */
import { PlatformUnavailable } from "@accountlink/core";
import { ProofDenied, ProofInvalid } from "@accountlink/core/platforms";
import {
  AuthorizationResponseError,
  OperationProcessingError,
  PARSE_ERROR,
  RESPONSE_IS_NOT_CONFORM,
  RESPONSE_IS_NOT_JSON,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "oauth4webapi";
import { RequestFailed } from "../resilience/request_failed.ts";

/** Token endpoint errors that the user did not cause: the platform is down, or this service is misconfigured. */
const unavailableErrors: ReadonlySet<string> = new Set([
  "server_error",
  "temporarily_unavailable",
  "invalid_client",
  "unauthorized_client",
]);

/** The library's error codes for responses that are not OAuth, such as a proxy's error page. */
const unreadable: ReadonlySet<string | undefined> = new Set([
  PARSE_ERROR,
  RESPONSE_IS_NOT_CONFORM,
  RESPONSE_IS_NOT_JSON,
]);

/** Maps an error of the library, or of a request that the library sent, to an error of the port. */
export const failureOf = (
  operation: string,
  error: unknown,
): ProofDenied | ProofInvalid | PlatformUnavailable => {
  const unavailable = (cause: unknown) => new PlatformUnavailable({ operation, cause });

  if (error instanceof RequestFailed) return unavailable(error);
  if (error instanceof WWWAuthenticateChallengeError) {
    return unavailable(new RequestFailed({ reason: "status", status: error.status }));
  }
  // This error comes from the URL of the callback. The browser can forge it, so it does not prove that the platform is
  // down.
  if (error instanceof AuthorizationResponseError) {
    return error.error === "access_denied"
      ? new ProofDenied()
      : new ProofInvalid({ reason: safeCode(error.error) });
  }
  if (error instanceof ResponseBodyError) {
    if (error.error === "access_denied") return new ProofDenied();
    const reason = safeCode(error.error);
    return unavailableErrors.has(reason)
      ? unavailable(`The platform refuses with "${reason}"`)
      : new ProofInvalid({ reason });
  }
  if (error instanceof OperationProcessingError && unreadable.has(error.code)) {
    return unavailable(new RequestFailed({ reason: "unreadable" }));
  }
  return new ProofInvalid({
    reason: error instanceof OperationProcessingError ? safeCode(error.code) : "unknown",
  });
};

/** Returns the text if it looks like an error code, and "unknown" otherwise, since other texts may contain secrets. */
const safeCode = (text: string | undefined): string =>
  text !== undefined && /^[A-Za-z_]{1,64}$/.test(text) ? text : "unknown";
