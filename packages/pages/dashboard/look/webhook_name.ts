import type { Webhook } from "@accountlink/core/webhooks";

/** The name of a webhook for its owner: its description, or the host of its URL. */
export const webhookName = ({ description, url }: Pick<Webhook, "description" | "url">): string =>
  description === "" ? new URL(url).host : description;
