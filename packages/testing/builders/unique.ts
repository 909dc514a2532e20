/** Generates unique IDs, so that tests can share a store. */
import { ChatId, KeyId, Pid } from "@accountlink/core";
import { type FlowId, SessionId, type SignInId } from "@accountlink/core/ids";
import { newUlid } from "@accountlink/core/ulid";
import type { WebhookId } from "@accountlink/core/webhooks";

/**
 * 32 random characters of 0-9a-f.
 *
 * @example
 * ```ts
 * const users = new Set([uniqueChatId(), uniqueChatId()]);
 * users.size; // 2
 * [uniquePid(), uniqueKeyId(), uniqueSessionId()].map((id) => id.slice(0, 3)).includes("pid"); // true
 * [uniqueWebhookId(), uniqueEventId()].map((id) => id.length); // [23, 30]
 * [uniqueText(), uniqueFlowId(), uniqueSignInId()].every((id) => id.length >= 32); // true
 * ```
 */
export const uniqueText = (): string => crypto.randomUUID().replaceAll("-", "");

export const uniqueChatId = (): ChatId => ChatId.make(BigInt(`0x${uniqueText().slice(0, 24)}`).toString());

export const uniquePid = (): Pid => Pid.make(`pid_${uniqueText()}`);

export const uniqueKeyId = (): KeyId => KeyId.make(uniqueText().slice(0, 12));

export const uniqueSessionId = (): SessionId =>
  SessionId.make(`vs_${`${uniqueText()}${uniqueText()}`.slice(0, 43)}`);

export const uniqueFlowId = (): FlowId => uniqueText() as FlowId;

export const uniqueWebhookId = (): WebhookId => `wh_${uniqueText().slice(0, 20)}` as WebhookId;

/** @param at the timestamp in the ID, in milliseconds */
export const uniqueEventId = (at = 0): string => `evt_${newUlid(at)}`;

export const uniqueSignInId = (): SignInId => uniqueText() as SignInId;
