/**
 * What sends webhooks, within the networks that the configuration opens.
 */
import { NodeWebhookSender } from "@accountlink/webhook-sender";
import type { Config } from "../config/config.ts";

export const webhookSenderLayer = (config: Config) =>
  NodeWebhookSender.layer({ networks: config.ACCOUNTLINK_WEBHOOK_NETWORKS });
