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

/**
 * The request does not come from the service, or is too old, so answer it with 400; or it cannot be verified, since the
 * secret or the headers are none. The message says which.
 */
export class InvalidWebhook extends Error {
  override readonly name = "InvalidWebhook";
}

/** How many seconds the request's timestamp may be in the past or in the future. */
const tolerance = 300;

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (unit) => unit.charCodeAt(0));

/** Base64 of at least 24 bytes, with or without its padding. */
const secretForm = /^(?:whsec_)?((?:[A-Za-z0-9+/]{4}){8,}(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?)$/;

const keyBytes = (secret: string) => {
  const [, base64] = secretForm.exec(secret) ?? [];
  if (base64 === undefined) {
    throw new InvalidWebhook(
      'Cannot verify a webhook: its secret is none, expected "whsec_" and base64 as it was shown',
    );
  }
  return bytesOf(base64);
};

const eventOf = (id: string, body: string): WebhookEvent => {
  let event: unknown;
  try {
    event = JSON.parse(body);
  } catch {
    event = null;
  }
  if (typeof event !== "object" || event === null || Array.isArray(event))
    throw new InvalidWebhook("Cannot read a webhook: its body is no JSON object");
  return { ...event, id } as WebhookEvent;
};

/**
 * Verifies a webhook request and returns its event. Throws `InvalidWebhook`, which says why, if the request is not signed
 * with the secret, if its timestamp is more than five minutes off, or if its body is no JSON object.
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
  if (typeof request.headers?.get !== "function") {
    throw new InvalidWebhook(
      "Cannot verify a webhook: its headers are no Headers, expected those of a Request",
    );
  }
  const keyed = keyBytes(secret);
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map(
    (name) => request.headers.get(`webhook-${name}`) ?? "",
  ) as [string, string, string];
  const body = await request.text();
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", keyed, hmac, false, ["verify"]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const checked = signatures.split(" ").map(async (signature) => {
    const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature) ?? [];
    return base64 !== undefined && crypto.subtle.verify("HMAC", key, bytesOf(base64), signed);
  });
  const isSigned = (await Promise.all(checked)).includes(true);
  // The signature does not tell where the timestamp ends.
  if (!isSigned || !/^\d+$/.test(timestamp))
    throw new InvalidWebhook("The request is not signed with the secret");
  const off = Math.abs(Math.round(Date.now() / 1_000) - Number(timestamp));
  if (off > tolerance) {
    throw new InvalidWebhook(
      `The request is signed, but its time is ${off} seconds off this clock, expected at most ${tolerance}`,
    );
  }
  return eventOf(id, body);
};
