export * as NodeWebhookSender from "./node_webhook_sender.ts";
