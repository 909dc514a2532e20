/** The answer of a token endpoint: the fields that a sign-in reads, and what the log says of a bad one. */
import type { PlatformUnavailable } from "@accountlink/core";
import { atMostEvery } from "@accountlink/core/monotonic_millis";
import type { ProofDenied, ProofInvalid } from "@accountlink/core/platforms";
import { hourMs } from "@accountlink/core/timestamp";
import { Effect, Result } from "effect";
import { Base64Url } from "effect/encoding";
import { INVALID_RESPONSE, OperationProcessingError } from "oauth4webapi";
import { RequestFailed } from "../resilience/request_failed.ts";

const unusable = (field: string) =>
  new RequestFailed({
    reason: "unreadable",
    wrong: { route: "the exchange of a code", field: `"${field}"` },
  });

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

/**
 * Returns a response to the exchange of a code with only what a sign-in needs of it, since many issuers answer with nulls
 * where OAuth wants nothing. Throws `RequestFailed` if a needed field is missing.
 *
 * @returns `original`: the ID token as the issuer signed it, if its subject is a number, which the response has as text
 */
export const withoutUnneeded = async (
  response: Response,
  needsIdToken: boolean,
): Promise<{ readonly response: Response; readonly original: string | null }> => {
  if (response.status !== 200) return { response, original: null };
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null);
  // The library says what an answer is that is no JSON object.
  if (typeof body !== "object" || body === null || Array.isArray(body)) return { response, original: null };
  const { access_token: access, id_token: signed, scope } = body as Record<string, unknown>;
  const [needed, field] = needsIdToken ? [signed, "id_token"] : [access, "access_token"];
  if (!isText(needed)) throw unusable(field);
  const readable = needsIdToken ? withTextSubject(needed) : null;
  const answer = {
    access_token: isText(access) ? access : "none",
    token_type: "bearer",
    ...(readable !== null && { id_token: readable }),
    ...(isText(scope) && { scope }),
  };
  return { response: Response.json(answer), original: readable === needed ? null : needed };
};

/** Returns an ID token whose subject is text, with the signature of the original. */
const withTextSubject = (token: string): string => {
  const [header, payload = "", ...rest] = token.split(".");
  const decoded = Base64Url.decodeString(payload);
  let claims: { readonly sub?: unknown } | null = null;
  try {
    claims = Result.isSuccess(decoded) ? JSON.parse(decoded.success) : null;
  } catch {
    return token;
  }
  if (typeof claims?.sub !== "number") return token;
  // A greater number was rounded, so it may be somebody else's.
  if (!Number.isSafeInteger(claims.sub)) throw unusable("sub");
  const changed = Base64Url.encode(JSON.stringify({ ...claims, sub: String(claims.sub) }));
  return [header, changed, ...rest].join(".");
};

/** The claims without which an ID token says nothing. */
const neededClaims = /"(sub|iss|aud|exp|iat)"/;

/** Tells an ID token that lacks a claim, which no user can change, from one that is refused. */
export const processingFailure = (error: unknown): unknown => {
  if (!(error instanceof OperationProcessingError) || error.code !== INVALID_RESPONSE) return error;
  const claim = neededClaims.exec(error.message)?.[1];
  return claim === undefined ? error : unusable(claim);
};

/** Makes a function that logs which field of an answer cannot be used, once an hour. */
export const makeTellUnusable = (platform: string) => {
  const onceAnHour = atMostEvery(hourMs);
  return (error: PlatformUnavailable | ProofDenied | ProofInvalid): Effect.Effect<void> => {
    if (error._tag !== "PlatformUnavailable" || !(error.cause instanceof RequestFailed)) return Effect.void;
    const { wrong, message } = error.cause;
    if (wrong === undefined) return Effect.void;
    return onceAnHour(
      Effect.annotateLogs(Effect.logWarning(`Cannot sign users in: ${message}`), { platform }),
    );
  };
};
