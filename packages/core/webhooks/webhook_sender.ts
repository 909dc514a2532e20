/** The port that sends webhooks. */
import { Context, Data, Effect } from "effect";
import type { DeliveryError } from "./webhook.ts";

export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface WebhookAnswer {
  readonly status: number;
  /** What a 429 or 503 asks for, in milliseconds; null for nothing. */
  readonly retryAfter: number | null;
}

/**
 * There was no answer.
 *
 * @internal
 */
export class WebhookUnanswered extends Data.TaggedError("WebhookUnanswered")<{
  readonly error: Exclude<DeliveryError, "status">;
}> {}

/** Sends to public addresses only. A program without an adapter sends nothing. */
export const WebhookSender = Context.Reference<{
  /**
   * Why nothing would be sent to a URL, as its name resolves now; null if something would. A name that cannot be
   * resolved is checked when something is sent.
   */
  readonly problemOf: (url: string) => Effect.Effect<string | null>;

  /** Sends a POST. The answer has to begin within ten seconds; a redirect is one. */
  readonly send: (request: WebhookRequest) => Effect.Effect<WebhookAnswer, WebhookUnanswered>;
}>("@accountlink/core/WebhookSender", {
  defaultValue: () => ({
    problemOf: () => Effect.succeed(null),
    send: () => Effect.fail(new WebhookUnanswered({ error: "connection" })),
  }),
});
