/** Parses a response into data or an error. */
import type { Meta, RouteId } from "./contract.ts";
import { AccountLinkError, type ErrorCode, type ErrorDetails } from "./errors.ts";

/** A response body of the service; every field may be missing. */
export interface Envelope {
  readonly data?: unknown;
  readonly error?: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly details: ErrorDetails[ErrorCode];
  };
  readonly meta?: Meta;
}

/** Parses a body; anything other than a JSON object counts as an empty envelope. */
export const envelopeIn = (text: string): Envelope => {
  try {
    return Object(JSON.parse(text)) as Envelope;
  } catch {
    return {};
  }
};

export const refusalOf = (
  route: RouteId,
  { status, headers }: Response,
  { error, meta }: Envelope,
): AccountLinkError => {
  // The error of a proxy may have a number as its code.
  const refusal = typeof error?.code === "string" && typeof error.message === "string" ? error : undefined;
  return new AccountLinkError({
    code: refusal?.code ?? "UNEXPECTED_RESPONSE",
    message: refusal?.message ?? `The answer with status ${status} is not one of the service`,
    details: detailsIn(refusal?.details),
    route,
    status,
    requestId: meta?.requestId ?? headers.get("x-request-id"),
    retryAfter: secondsIn(headers.get("retry-after")),
  });
};

/** Returns details that are an object; null for others, which no answer of the service has. */
const detailsIn = (details: unknown): ErrorDetails[ErrorCode] =>
  typeof details === "object" && !Array.isArray(details)
    ? ((details ?? null) as ErrorDetails[ErrorCode])
    : null;

/** Parses `Retry-After`: seconds from the service, or a date from a proxy. Anything else tells nothing. */
const secondsIn = (retryAfter: string | null): number | null => {
  if (retryAfter === null) return null;
  if (/^\d+(?:\.\d+)?$/.test(retryAfter)) return Number(retryAfter);
  // `Date.parse` takes -60 for a year.
  const time = /^[A-Z]/i.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, Math.ceil((time - Date.now()) / 1_000));
};

/** Returns null if the call fails with this code. */
export const orNull = <A>(code: ErrorCode, call: Promise<A>): Promise<A | null> =>
  call.catch((error: unknown) => {
    if (error instanceof AccountLinkError && error.code === code) return null;
    throw error;
  });

export const unanswered = (route: RouteId, cause: unknown): AccountLinkError => {
  const isLate = cause instanceof DOMException && cause.name === "TimeoutError";
  return new AccountLinkError({
    code: isLate ? "TIMEOUT" : "NETWORK_ERROR",
    message: isLate ? "The service did not answer in time" : "The service cannot be reached",
    details: null,
    route,
    status: null,
    requestId: null,
    retryAfter: null,
    cause,
  });
};
