import { Context, Data, Effect } from "effect";
import { isStorable } from "../storable_text.ts";
import type { DeliveryError } from "./webhook.ts";

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookAnswer {
  readonly status: number;
  /** The content type of the answer, at most 100 characters; null or omitted if the answer has none. */
  readonly type?: string | null;
  /** The `Retry-After` of a 429 or 503 answer, in milliseconds, or null. */
  readonly retryAfter: number | null;
}

/** The receiver did not answer. @internal */
export class WebhookUnanswered extends Data.TaggedError("WebhookUnanswered")<{
  readonly error: Exclude<DeliveryError, "status">;
}> {}

/** Sends requests to webhooks, but only to public addresses. Without an adapter, every attempt to send fails. */
export const WebhookSender = Context.Reference<{
  /**
   * Resolves the host name of a URL, and returns why the service must not send to this URL, or null if it may. A name
   * that cannot be resolved is no problem here, because the name is resolved again before each attempt to send.
   */
  readonly problemOf: (url: string) => Effect.Effect<string | null>;

  /**
   * Sends a POST request. The answer must begin within ten seconds. A redirect counts as the answer and is not
   * followed.
   */
  readonly send: (request: WebhookRequest) => Effect.Effect<WebhookAnswer, WebhookUnanswered>;
}>("@accountlink/core/WebhookSender", {
  defaultValue: () => ({
    problemOf: () => Effect.succeed(null),
    send: () => new WebhookUnanswered({ error: "connection" }),
  }),
});

const longestUrl = 2_000;

/** Returns why a text cannot be the URL of a webhook; null if it can. @internal */
export const webhookUrlProblem = (text: string): string | null => {
  if (Array.from(text).length > longestUrl) return `expected at most ${longestUrl} characters`;
  if (!/^https?:\/\/[^\s\p{Cc}]+$/iu.test(text) || !isStorable(text) || !URL.canParse(text)) {
    return "expected an absolute https URL";
  }
  const { username, password, port } = new URL(text);
  if (username !== "" || password !== "") return "expected a URL without a user and a password";
  return port === "0" ? "expected a port from 1 to 65535" : null;
};
