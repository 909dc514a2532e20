/** Verifies webhook requests according to Standard Webhooks 1.0, with Web Crypto. */
import type { FeedEvent } from "./contract.ts";

interface WebhookScope {
  readonly pid: string;
  /** The guild of the scope; null if the scope covers all guilds. */
  readonly guildId: string | null;
}

type Happening =
  | {
      readonly [Type in FeedEvent["type"]]: Pick<Extract<FeedEvent, { type: Type }>, "type" | "data">;
    }[FeedEvent["type"]]
  | { readonly type: "test"; readonly data: Readonly<Record<string, never>> };

/** An event that a webhook sent. */
export type WebhookEvent = Happening & {
  /** The same ID in every attempt to deliver the event: skip events that you have seen. */
  readonly id: string;
  /** When the event happened, ISO 8601. */
  readonly timestamp: string;
  readonly scope: WebhookScope;
};

/** The request does not come from the service, or is too old. Answer it with 400. */
export class InvalidWebhook extends Error {
  override readonly name = "InvalidWebhook";
}

/** How many seconds the request's timestamp may be in the past or in the future. */
const tolerance = 300;

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));

/**
 * Verifies a webhook request and returns its event. Throws `InvalidWebhook` if the request is not signed with the
 * secret, or if its timestamp is more than five minutes off.
 *
 * @param request the request as received; its body is read
 * @param secret `whsec_…`, as it was shown when the webhook was created
 * @example
 * ```ts
 * import { InvalidWebhook, verifyWebhook } from "@accountlink/client";
 *
 * const secret = `whsec_${btoa("0123456789abcdef0123456789abcdef")}`;
 * const forged = new Request("https://example.com/links", { method: "POST", body: "{}" });
 * (await verifyWebhook(forged, secret).catch((error: unknown) => error)) instanceof InvalidWebhook; // true
 * ```
 */
export const verifyWebhook = async (
  request: Pick<Request, "headers" | "text">,
  secret: string,
): Promise<WebhookEvent> => {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map(
    (name) => request.headers.get(`webhook-${name}`) ?? "",
  ) as [string, string, string];
  const body = await request.text();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytesOf(secret.replace("whsec_", "")), hmac, false, [
    "verify",
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const checked = signatures.split(" ").map(async (signature) => {
    const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? [];
    return base64 !== undefined && crypto.subtle.verify("HMAC", key, bytesOf(base64), signed);
  });
  const isSigned = (await Promise.all(checked)).includes(true);
  const isRecent = Math.abs(Date.now() / 1_000 - Number(timestamp)) <= tolerance;
  if (!isSigned || !isRecent)
    throw new InvalidWebhook("The request is not signed by the service, or too old");
  return { id, ...(JSON.parse(body) as Omit<WebhookEvent, "id">) } as WebhookEvent;
};
