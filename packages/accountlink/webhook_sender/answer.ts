/**
 * Interprets a receiver's response. Reads the body up to a limit and discards it, so that the connection can be reused.
 */
import type { IncomingMessage } from "node:http";
import type { Millis } from "@accountlink/core/timestamp";
import type { WebhookAnswer } from "@accountlink/core/webhooks";

/** The maximum number of bytes that are read from a body. */
const longestBody = 65_536;

/** @param deadline how long to wait for the end of the body, in milliseconds */
export const discardBody = (incoming: IncomingMessage, deadline: number): void => {
  let received = 0;
  const late = setTimeout(() => incoming.destroy(), deadline).unref();
  incoming
    .on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > longestBody) incoming.destroy();
    })
    .on("close", () => clearTimeout(late))
    // Ignore the error: the status, which decides the result, arrived before the body.
    .on("error", () => {});
};

export const answerOf = ({ statusCode = 0, headers }: IncomingMessage, now: Millis): WebhookAnswer => ({
  status: statusCode,
  type: headers["content-type"]?.slice(0, 100) ?? null,
  retryAfter: statusCode === 429 || statusCode === 503 ? waitOf(headers["retry-after"], now) : null,
});

/**
 * Parses `Retry-After`, which is a number of seconds or a date. Returns the wait in milliseconds; null if the text is
 * missing or invalid.
 */
const waitOf = (text: string | undefined, now: Millis): number | null => {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
};
