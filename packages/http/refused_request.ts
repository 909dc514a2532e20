/**
 * Requests that the server which carries them refuses, such as those that are not valid HTTP.
 */
import type { PublicError } from "@accountlink/core";
import { Context } from "effect";

/**
 * Why the request is refused before it is routed; null for one that is not. The application answers it in the envelope
 * of its path.
 */
export const RefusedRequest = Context.Reference<PublicError | null>("@accountlink/http/RefusedRequest", {
  defaultValue: () => null,
});
