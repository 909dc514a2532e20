/** Sends webhooks from this process. Requires `node:https`: Node 20 or newer, Deno or Bun. */
import { parseNetwork } from "@accountlink/core/addresses";
import { Effect, Layer, Option } from "effect";
import { InvalidOptions, type WebhookSending } from "./options.ts";
import { NodeWebhookSender } from "./webhook_sender/mod.ts";

/**
 * Sends webhooks to public internet addresses while the process runs. Processes on one storage share the work.
 *
 * @param networks private networks, as CIDRs, that webhooks may reach too, also over http
 * @example
 * ```ts
 * import { createAccountLink } from "accountlink";
 * import { sendWebhooks } from "accountlink/webhooks";
 *
 * const al = await createAccountLink({ gameUserExists: () => true, webhooks: sendWebhooks() });
 * const { webhook } = await al.webhooks.create({ url: "https://links.invalid/events" });
 * (await al.webhooks.test(webhook.id)).error; // "name"
 * await al.close();
 * ```
 */
export const sendWebhooks = ({
  networks = [],
}: {
  readonly networks?: ReadonlyArray<string>;
} = {}): WebhookSending => {
  const parsed = networks.map(parseNetwork);
  const wrong = networks.filter((_, index) => Option.isNone(parsed[index] ?? Option.none()));
  return wrong.length > 0
    ? Layer.effectDiscard(Effect.fail(new InvalidOptions({ problems: wrong.map(problemOf) })))
    : NodeWebhookSender.layer({ networks: parsed.flatMap((network) => Option.toArray(network)) });
};

const problemOf = (network: string): string =>
  `networks of webhooks has "${network}", expected a CIDR such as "10.0.0.0/8"`;
