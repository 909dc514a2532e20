/** Sends webhooks from this process. Requires `node:https`: Node 20 or newer, Deno or Bun. */
import { parseNetwork } from "@accountlink/core/addresses";
import { Array, Layer, Option } from "effect";
import * as Accept from "./accept.ts";
import { InvalidOptions, problemsOf, type WebhookSending } from "./options.ts";
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
export const sendWebhooks = (options: { readonly networks?: ReadonlyArray<string> } = {}): WebhookSending => {
  const problems = webhookProblems(options);
  return problems.length > 0
    ? Layer.effectDiscard(new InvalidOptions({ problems }))
    : NodeWebhookSender.layer({ networks: Array.getSomes((options.networks ?? []).map(parseNetwork)) });
};

const network = Accept.textThat((text) => Option.isSome(parseNetwork(text)), 'a CIDR such as "10.0.0.0/8"');
const webhookProblems = problemsOf(
  "sendWebhooks",
  Accept.fields({ networks: Accept.maybe(Accept.listOf(network)) }),
);
