/** Sends webhooks over HTTP, to public addresses only. */
export * as NodeWebhookSender from "./node_webhook_sender.ts";
