/** Generates unique IDs, so that tests can share a store. */
import { ChatId, KeyId, Pid } from "@accountlink/core";
import { type FlowId, newUlid, SessionId, type SignInId } from "@accountlink/core/ids";
import type { WebhookId } from "@accountlink/core/webhooks";

/** 32 random characters of 0-9a-f. @internal */
export const uniqueText = (): string => crypto.randomUUID().replaceAll("-", "");

/** @internal */
export const uniqueChatId = (): ChatId => ChatId.make(BigInt(`0x${uniqueText().slice(0, 24)}`).toString());

/** @internal */
export const uniquePid = (): Pid => Pid.make(`pid_${uniqueText()}`);

/** @internal */
export const uniqueKeyId = (): KeyId => KeyId.make(uniqueText().slice(0, 12));

/** @internal */
export const uniqueSessionId = (): SessionId =>
  SessionId.make(`vs_${`${uniqueText()}${uniqueText()}`.slice(0, 43)}`);

/** @internal */
export const uniqueFlowId = (): FlowId => uniqueText() as FlowId;

/** @internal */
export const uniqueWebhookId = (): WebhookId => `wh_${uniqueText().slice(0, 20)}` as WebhookId;

/**
 * @param at the timestamp in the ID, in milliseconds
 *
 * @internal
 */
export const uniqueEventId = (at = 0): string => `evt_${newUlid(at)}`;

/** @internal */
export const uniqueSignInId = (): SignInId => uniqueText() as SignInId;
