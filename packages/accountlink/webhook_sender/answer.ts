/**
 * What a receiver's answer means. Its body is read to its end, so that the connection can be used again, but not far,
 * and not kept.
 */
import type { IncomingMessage } from "node:http";
import type { Millis } from "@accountlink/core/timestamp";
import type { WebhookAnswer } from "@accountlink/core/webhooks";

/** How much of a body is read, in bytes. */
const longestBody = 65_536;

/** @param deadline how much longer the body may take, in milliseconds */
export const discardBody = (incoming: IncomingMessage, deadline: number): void => {
  let received = 0;
  const late = setTimeout(() => incoming.destroy(), deadline).unref();
  incoming
    .on("data", (chunk: Buffer) => {
      received += chunk.length;
      if (received > longestBody) incoming.destroy();
    })
    .on("close", () => clearTimeout(late))
    // The answer was known before its body broke off.
    .on("error", () => {});
};

export const answerOf = ({ statusCode = 0, headers }: IncomingMessage, now: Millis): WebhookAnswer => ({
  status: statusCode,
  retryAfter: statusCode === 429 || statusCode === 503 ? waitOf(headers["retry-after"], now) : null,
});

/** The wait that a `Retry-After` asks for, in seconds or as a date; null for any other text. */
const waitOf = (text: string | undefined, now: Millis): number | null => {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text.trim())) return Number(text) * 1_000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? null : Math.max(0, until - now);
};
