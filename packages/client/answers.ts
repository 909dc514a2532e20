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
): AccountLinkError =>
  new AccountLinkError({
    code: error?.code ?? "UNEXPECTED_RESPONSE",
    message: error?.message ?? `The answer with status ${status} is not one of the service`,
    details: error?.details ?? null,
    route,
    status,
    requestId: meta?.requestId ?? headers.get("x-request-id"),
    retryAfter: secondsIn(headers.get("retry-after")),
  });

/** Parses `Retry-After`: seconds from the service, or a date from a proxy. */
const secondsIn = (retryAfter: string | null): number | null => {
  if (retryAfter === null) return null;
  const seconds = Number(retryAfter);
  if (!Number.isNaN(seconds)) return seconds;
  return Math.max(0, Math.ceil((Date.parse(retryAfter) - Date.now()) / 1_000)) || 0;
};

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
