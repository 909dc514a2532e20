import { Context, Data, Effect } from "effect";
import type { DeliveryError } from "./webhook.ts";

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookAnswer {
  readonly status: number;
  /** The content type, at most 100 characters; null or omitted for none. */
  readonly type?: string | null;
  /** The `Retry-After` of a 429 or 503 answer, in milliseconds, or null. */
  readonly retryAfter: number | null;
}

/** The receiver did not answer. @internal */
export class WebhookUnanswered extends Data.TaggedError("WebhookUnanswered")<{
  readonly error: Exclude<DeliveryError, "status">;
}> {}

/** Sends only to public addresses. A program without an adapter sends nothing. */
export const WebhookSender = Context.Reference<{
  /**
   * Resolves the host name of a URL, and returns why nothing can be sent there, or null. A name that cannot be resolved
   * is no reason, because it is resolved again whenever something is sent.
   */
  readonly problemOf: (url: string) => Effect.Effect<string | null>;

  /** Sends a POST. The answer must begin within ten seconds. Redirects are answers and not followed. */
  readonly send: (request: WebhookRequest) => Effect.Effect<WebhookAnswer, WebhookUnanswered>;
}>("@accountlink/core/WebhookSender", {
  defaultValue: () => ({
    problemOf: () => Effect.succeed(null),
    send: () => Effect.fail(new WebhookUnanswered({ error: "connection" })),
  }),
});
