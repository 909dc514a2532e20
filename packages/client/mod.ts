/**
 * A client of v2 without dependencies.
 *
 * @example
 * ```ts
 * import { routes, serviceVersion } from "@accountlink/client";
 *
 * // What a proxy for the pages of a game passes on.
 * const reads = Object.values(routes).filter(({ method }) => method === "GET");
 * reads.some(({ path }) => path === "/v2/chat"); // true
 * serviceVersion; // "2026-01-01"
 * ```
 */
export * from "./client.ts";
export type * from "./contract.ts";
export * from "./errors.ts";
export type { EventOptions, FollowedEvent } from "./feed.ts";
export * from "./options.ts";
export * from "./routes.ts";
export type { PollOptions } from "./session_reads.ts";
export { InvalidWebhook, verifyWebhook, type WebhookEvent } from "./webhooks.ts";
