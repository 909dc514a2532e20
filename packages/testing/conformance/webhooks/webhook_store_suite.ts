import type { StoragePorts } from "@accountlink/core";
import { type SuiteOptions, suite } from "../suite.ts";
import { deliveries } from "./deliveries.ts";
import { webhooks } from "./webhooks.ts";

/** Tests a `WebhookStore` with the other storage ports, because writes to those ports append the events to deliver. */
export const webhookStoreSuite = (options: SuiteOptions<StoragePorts>): void =>
  suite("WebhookStore", options, { ...webhooks, ...deliveries });
